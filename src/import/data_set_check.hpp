#pragma once
// Tests the tolerances of a task from FlashInfer-Bench or SOL-ExecBench with wrong outputs, as
// `kevo task check` does: the reference is executed in the sandbox, at sizes that a processor can compute.

#include <memory>
#include <string>
#include <vector>

#include <kevo/fitness/torch.hpp>
#include <kevo/task.hpp>

#include "src/import/data_set_import.hpp"
#include "src/import/suite_import.hpp"

namespace kevo::importing {

/// Thread-safe.
class data_set_checker {
 public:
  /// @throws kevo::error (environment) without PyTorch
  explicit data_set_checker(const data_set_options& how);

  /// Tests FOLDER/task.json. A tolerance that accepts wrong outputs is narrowed in FOLDER/task.jsonl, at most
  /// a thousand times, for as long as this refuses more of them and the reference in the types of the task is
  /// accepted. Says in `made` what came of it.
  void check(suite_import_task& made) const;

 private:
  data_set_options how_;
  torch_settings settings_;
  std::shared_ptr<torch::python_server> server_;
};

}  // namespace kevo::importing
