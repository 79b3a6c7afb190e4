#pragma once
// What an importer did with a suite, task by task.

#include <cstddef>
#include <string>
#include <vector>

namespace kevo {

struct suite_import_task {
  std::string name;
  std::string folder;  ///< empty if it was not imported
  std::string category;
  std::size_t workloads = 0;
  std::size_t solutions = 0;
  bool draft = false;     ///< the task has to be completed: its inputs are made by code of the suite
  std::size_t cases = 0;  ///< of a draft: test cases, as far as the text of the test tells
  std::string problem;  ///< of a draft: why it is not a task that runs; empty if nothing was tried. Untrusted
  double tolerance = 0;  ///< of a task whose test was executed: relative, the widest of its outputs; 0: exact
  std::vector<std::string> accepted;  ///< wrong outputs (controls) that its tolerance accepts
  bool checked = false;               ///< whether its tolerance was tested
  std::string tested_with{};          ///< sizes with which it was, where these are smaller than the suite's
  std::string untested{};             ///< why it was not. Untrusted text
  double seconds = 0;                 ///< that it took
  /// Why it was not imported, or what of it: one sentence each. Untrusted text.
  std::vector<std::string> notes;
};

struct suite_import {
  std::string suite;       ///< "flashinfer", "sol", ...
  std::string output;      ///< folder of the tasks
  std::string suite_file;  ///< for `kevo bench`; empty if no task was imported
  std::vector<suite_import_task> tasks;
  std::string untested{};  ///< why no tolerance was tested, where it is one reason for all tasks
  /// Files of the suite that belong to no task, and why: one sentence each. Untrusted text.
  std::vector<std::string> notes{};
  std::size_t imported() const;
  std::size_t drafts() const;
};

}  // namespace kevo
