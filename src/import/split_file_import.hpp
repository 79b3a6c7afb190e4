#pragma once
// Suites whose problems are Python files in two parts, a reference and a test that makes the inputs:
// TritonBench and KernelBench-X. tested_import.hpp executes the tests; docs/import.md describes what becomes
// of the problems.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/import/suite_import.hpp"
#include "src/import/tested_import.hpp"

namespace kevo {

namespace importing {

/// A file of such a suite, split at its line of '#'.
struct split_file {
  std::string reference;
  std::string test;
  std::vector<std::string> functions;  ///< defined by the reference at its outermost level, in order
  std::string test_function;           ///< the first "test_..." that the test defines; may be empty
  std::size_t cases = 0;  ///< results that the test stores under a name of its own, as far as its text tells
};

/// Splits the text of a file; nothing without exactly one line of 146 '#', or else exactly one of
/// at least 100.
std::optional<split_file> split_at_hashes(std::string_view text);

/// The function that a candidate replaces: the one that is named like the file, else "kernel_function", else
/// the last one that the test calls; empty if there is none.
std::string entry_of(const split_file& file, const std::string& stem);

}  // namespace importing

/// PATH is a folder with the files (data/TritonBench_T_v1, data/TritonBench_G_v1). What the suite says of
/// each problem is read from PATH.jsonl or PATH.json, if there is one. Writes OUTPUT/NAME with reference.py,
/// test.py and problem.json, and task.yaml if the test can be executed and gives workloads; otherwise
/// task.draft.yaml, which a person has to complete. OUTPUT/suite.yaml names the tasks.
/// @throws kevo::error as import_flashinfer, and environment without PyTorch unless only drafts are wanted
suite_import import_tritonbench(const std::string& path, const std::string& output, const tested_import& how);

/// The same for KernelBench-X: PATH is data/kernelbenchx, with a folder for each category, and PATH_v1.json
/// beside it.
suite_import import_kernelbench_x(const std::string& path, const std::string& output,
                                  const tested_import& how);

}  // namespace kevo
