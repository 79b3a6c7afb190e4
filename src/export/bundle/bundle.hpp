#pragma once
// A program of a run as a folder that other programs can link: source, machine code, launcher, build files,
// a test against the reference, and a card with what was measured. Documented in docs/bundle.md.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kevo/task.hpp>

#include "fitness/sandbox/sandbox.hpp"
#include "src/journal/journal.hpp"

namespace kevo {

struct bundle_options {
  std::optional<candidate_id> candidate;  ///< nothing: the champion, or the best valid candidate
  std::string name;                       ///< of target, namespace and files; empty: the task's name
  /// CUDA: that of the compilers, which read the sources.
  sandbox_mode sandbox = sandbox_mode::required;
};

/// What was written.
struct bundle_summary {
  candidate_id candidate = no_candidate;
  std::string name;
  /// CUDA: whether the machine code is one that this run built and measured (it is in the run's cache).
  std::optional<bool> as_measured;
  std::vector<std::string> remarks;  ///< what a user should know: no test, no PyTorch extension, ...
};

/// Writes a bundle into `directory`, which must be empty or not exist. Programs in C++ and in CUDA with
/// launch lines; CUDA is compiled again, which needs NVRTC and no GPU.
/// @throws kevo::error: input for a program or a candidate of which no bundle can be made, usage for a folder
/// that is not empty, environment if there is no NVRTC or a file cannot be written
bundle_summary export_bundle(const journal& record, const task& t, const std::string& directory,
                             const bundle_options& options = {});

}  // namespace kevo
