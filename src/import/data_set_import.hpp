#pragma once
// Data sets of FlashInfer-Bench and SOL-ExecBench as folders of tasks. docs/import.md describes both.

#include <functional>
#include <string>

#include <kevo/fitness/sandbox.hpp>

#include "src/import/suite_import.hpp"

namespace kevo {

/// How a data set is imported.
struct data_set_options {
  std::string python{};  ///< as torch_settings::python
  sandbox_mode sandbox = sandbox_mode::required;
  /// Whether each task's tolerances are tested with controls, and narrowed where they accept wrong outputs.
  /// Without PyTorch nothing is tested, and the report says so.
  bool check = true;
  std::string device = "cpu";  ///< where the controls run: "cpu" or "cuda"
  double seconds = 120;        ///< longest time of a test, which is tried with smaller sizes then
  int jobs =
      0;  ///< number of tasks that are tested at the same time; 0: as many as processors and memory allow
  /// Told of each task as soon as it is finished, one at a time.
  std::function<void(const suite_import_task&)> done{};
};

/// Reads PATH, which is the root of a data set (definitions/, workloads/, solutions/, blob/) or one
/// Definition file, and writes OUTPUT/NAME for each Definition: task.json, task.jsonl with the workloads,
/// blob/ with the contents of inputs from files, and solutions/. Then tests the tolerances, for which
/// references are executed in the sandbox. A workload or solution that kevo cannot take is left out and named
/// in the report, as is a Definition without a workload that kevo can take.
/// @throws kevo::error: input (there is no data set; OUTPUT holds other files), environment (cannot write)
suite_import import_flashinfer(const std::string& path, const std::string& output,
                               const data_set_options& how = {});

/// The same for SOL-ExecBench: PATH is a problem (definition.json, workload.jsonl, solution*.json) or a
/// folder with problems at any depth.
suite_import import_sol(const std::string& path, const std::string& output, const data_set_options& how = {});

}  // namespace kevo
