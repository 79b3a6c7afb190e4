#pragma once
// Data sets of FlashInfer-Bench and SOL-ExecBench as folders of tasks. docs/import.md describes both.

#include <string>

#include "src/import/suite_import.hpp"

namespace kevo {

/// Reads PATH, which is the root of a data set (definitions/, workloads/, solutions/, blob/) or one
/// Definition file, and writes OUTPUT/NAME for each Definition: task.json, task.jsonl with the workloads,
/// blob/ with the contents of inputs from files, and solutions/. Nothing is executed. A workload or solution
/// that kevo cannot take is left out and named in the report, as is a Definition without a workload that kevo
/// can take.
/// @throws kevo::error: input (there is no data set; OUTPUT holds other files), environment (cannot write)
suite_import import_flashinfer(const std::string& path, const std::string& output);

/// The same for SOL-ExecBench: PATH is a problem (definition.json, workload.jsonl, solution*.json) or a
/// folder with problems at any depth.
suite_import import_sol(const std::string& path, const std::string& output);

}  // namespace kevo
