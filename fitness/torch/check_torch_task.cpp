#include "fitness/torch/check_torch_task.hpp"

#include <utility>

#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/check_by_programs.hpp"
#include "fitness/torch/torch_programs.hpp"

namespace kevo::torch {

torch_programs_of programs_on_cpu(const std::shared_ptr<const task>& t, const torch_settings& settings,
                                  std::shared_ptr<python_server> server) {
  auto whole = with_baseline(t);
  if (!server)
    server = std::make_shared<python_server>(find_torch(settings.python, contains(settings.sandbox)),
                                             settings.sandbox, settings.helper);
  auto kind = std::make_shared<const program_kind>(torch_programs(whole, settings, std::move(server)));
  return {std::move(whole), bench_settings(settings), std::move(kind)};
}

task_report check_torch_task(const std::shared_ptr<const task>& t, const torch_settings& settings,
                             std::shared_ptr<python_server> server, std::stop_token stop) {
  if (settings.device != "cpu") return check_by_programs(t, settings, std::move(stop));
  const auto by = programs_on_cpu(t, settings, std::move(server));
  return check_task(by.whole, by.settings, std::move(stop), by.kind);
}

}  // namespace kevo::torch
