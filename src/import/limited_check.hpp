#pragma once
// The test of a task with controls, with a time limit.

#include <memory>
#include <utility>

#include <kevo/fitness/torch.hpp>
#include <kevo/task.hpp>

#include "fitness/torch/check_torch_task.hpp"
#include "fitness/torch/python_server.hpp"

namespace kevo::importing {

/// Tests tasks as torch::check_torch_task does; a test ends after some seconds of a clock.
class limited_check {
 public:
  /// @param seconds of a clock, for each test
  limited_check(torch_settings settings, std::shared_ptr<torch::python_server> server, double seconds)
      : settings_(std::move(settings)), server_(std::move(server)), seconds_(seconds) {}

  /// @throws kevo::error: interrupted (the time was over), and as check_torch_task does
  task_report operator()(const task& t) const;

  double seconds() const { return seconds_; }

 private:
  torch_settings settings_;
  std::shared_ptr<torch::python_server> server_;
  double seconds_;
};

}  // namespace kevo::importing
