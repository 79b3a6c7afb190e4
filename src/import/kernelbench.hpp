#pragma once
// Tasks from KernelBench's files: a class Model, get_inputs() and get_init_inputs(). The files are the user's
// own copy of the suite.

#include <functional>
#include <string>
#include <vector>

#include <kevo/fitness/sandbox.hpp>

namespace kevo {

/// How to import.
struct kernelbench_import {
  std::string from;    ///< a file, or a folder of which all files are taken that define get_inputs
  std::string to;      ///< folder in which each task gets a folder of its own; made if it does not exist
  std::string python;  ///< as torch_settings::python
  sandbox_mode sandbox = sandbox_mode::required;
  bool check = true;  ///< whether each task's tolerance is tested with controls, and tightened where it
                      ///< accepts mutants
  std::string device = "cpu";  ///< where the controls run: "cpu" or "cuda"; extents are found out on the CPU
  double seconds = 60;         ///< of a processor, for finding out which extents of a file may vary
  int jobs = 0;  ///< number of files at the same time; 0: as many as processors and memory allow
  /// Where the configurations of models are that files ask of transformers by name (see model_configs.hpp);
  /// empty: Hugging Face's own cache.
  std::string models = {};
  bool given_size_only = false;  ///< no hidden workload has another size than the file's
  bool small = false;            ///< sizes that a processor can call many times replace those of the file
  std::function<void(const struct imported_task&)> done =
      {};  ///< told of each file as soon as it is finished, one at a time
};

/// What became of one file.
struct imported_task {
  std::string source;               ///< the file
  std::string name;                 ///< of the task
  std::string file;                 ///< of the task; empty if the file could not be imported
  std::string problem;              ///< why not
  std::vector<std::string> varies;  ///< axes whose hidden workloads have other sizes; empty: none could
  std::vector<std::string> made;    ///< inputs that get_inputs of the file makes in every call
  bool all_made =
      false;  ///< it makes all of them, because the reference gives NaN or infinity for kevo's own
  std::vector<std::string>
      dropped;  ///< hidden sizes at which the reference itself is not accepted, with the reason
  std::vector<std::string> guessed;   ///< inputs whose distribution was guessed from their elements
  std::vector<std::string> accepted;  ///< wrong outputs (controls) that the tolerance of the task accepts
  double tolerance = 0;               ///< relative, and absolute but for `widened`; 0: exact
  double given_tolerance = 0;         ///< KernelBench's own
  std::vector<std::string> models;    ///< of transformers, whose weights are drawn and not loaded
  double widened = 1;  ///< the absolute tolerance is so many times the relative one: more for long sums, less
                       ///< where the outputs are smaller than at the sizes of the test
  bool checked = false;
  std::string tested_with;  ///< the sizes with which `checked` was found out; empty: those of the file
  std::string untested;     ///< why the tolerance could not be tested
  bool unaccepted = false;  ///< the same: at the size of the test the reference itself was not accepted
  bool late = false;        ///< whether `seconds` ended before all extents had been tried
  std::vector<std::string>
      lost;            ///< what inputs have in common beyond a distribution, which the task has not
  double seconds = 0;  ///< that it took
};

/// Imports; a file that cannot be imported is told in its result. @throws kevo::error: input (no such file,
/// nothing to import), environment (no PyTorch, the folder cannot be written)
std::vector<imported_task> import_kernelbench(const kernelbench_import& what);

/// Writes `suite.yaml` for `kevo bench` into the folder of the import: all tasks of it.
/// @returns the file; empty if nothing was imported
std::string write_kernelbench_suite(const kernelbench_import& what, const std::vector<imported_task>& all);

}  // namespace kevo
