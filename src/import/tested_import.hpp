#pragma once
// Tasks from files whose test makes the inputs (KernelBench-X, TritonBench): the test is executed in the
// sandbox, with PyTorch on the CPU, and what it calls becomes the workloads.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kevo/fitness/sandbox.hpp>
#include <kevo/program.hpp>
#include <kevo/settings_node.hpp>

#include "src/import/suite_import.hpp"

namespace kevo {

namespace torch {
class python_server;
}

/// How such a suite is imported.
struct tested_import {
  std::string python;  ///< as torch_settings::python
  sandbox_mode sandbox = sandbox_mode::required;
  bool drafts = false;           ///< whether the files are only split: nothing is executed
  bool given_size_only = false;  ///< no hidden workload has a size that the test does not have
  bool check = true;  ///< whether each task's tolerance is tested with controls, and tightened where it
                      ///< accepts wrong outputs
  std::string device = "cpu";  ///< where the controls run: "cpu" or "cuda"
  double seconds = 60;  ///< of a processor, for executing the test of a file, again for choosing contents and
                        ///< sizes, and (estimated) for the controls
  std::function<void(const suite_import_task&)> done =
      {};  ///< told of each problem as soon as it is finished
};

namespace importing {

/// One problem, split into its parts.
struct tested_file {
  std::string name;                  ///< of the file, without its ending
  std::string reference;             ///< text of the first part
  std::string test;                  ///< text of the second part
  std::string entry;                 ///< the function that a candidate replaces; empty: it is searched for
  std::vector<source_file> helpers;  ///< files of the suite that the test imports
};

/// How far a tolerance is from the usual one, and whether the reference computes in the types of the task.
struct tolerance_attempt {
  double factor = 1;
  bool narrow = false;
};

/// Completes drafts. All problems share one process that has imported PyTorch.
class test_runner {
 public:
  /// @throws kevo::error (environment) without PyTorch
  explicit test_runner(const tested_import& how);

  /// Executes the test and writes FOLDER/task.yaml: `draft`, completed. FOLDER has reference.py already.
  /// Says in `made` what became of it; its `problem` is why it is still a draft.
  void complete(const tested_file& file, const settings_node& draft, const std::string& folder,
                suite_import_task& made);

 private:
  /// @param costs of a call of each workload, in seconds of a processor
  void test_tolerance(const std::string& file, bool contract, tolerance_attempt tried,
                      const std::function<void(const tolerance_attempt&)>& write,
                      const std::vector<double>& costs, suite_import_task& made);

  tested_import how_;
  std::shared_ptr<torch::python_server> server_;
};

}  // namespace importing
}  // namespace kevo
