#pragma once
// A program of a run as a folder that other programs can link: source, machine code, launcher, build files,
// a test against the reference, and a card with what was measured. Documented in docs/bundle.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/task.hpp>

#include "fitness/sandbox/sandbox.hpp"
#include "src/journal/journal.hpp"

namespace kevo {

/// What is done about the time that a bundle in C++ or of PyTorch takes, compared with what the run measured.
enum class bundle_timing : std::uint8_t {
  required,  ///< the bundle is built and timed, and not written if it takes another time
  told,      ///< it is built, timed and written, with what was found
  off,       ///< it is neither built nor timed
};

/// The bundle takes the time of the run's object if the interval of their ratio lies between these.
inline constexpr interval equal_time{0.97, 1.03};

struct bundle_options {
  std::optional<candidate_id> candidate;  ///< nothing: the champion, or the best valid candidate
  /// Of target, namespace and files. Empty: the task's name after "kevo_", so that no function or target of
  /// the program that it is linked into has it.
  std::string name;
  /// Of the compilers, which read the sources, and of the timed program.
  sandbox_mode sandbox = sandbox_mode::required;
  bundle_timing timing = bundle_timing::required;
  wait_listener waiting{};  ///< told of the processes that the timing waits for; may be empty
};

/// What was written.
struct bundle_summary {
  candidate_id candidate = no_candidate;
  std::string name;
  /// CUDA: whether the machine code is one that this run built and measured (it is in the run's cache).
  std::optional<bool> as_measured;
  /// C++, PyTorch: the time of a call in the bundle, as a part of that of the run's program.
  std::optional<estimate> time_ratio;
  std::vector<std::string> remarks;  ///< what a user should know: no test, no PyTorch extension, ...
};

/// Writes a bundle into `directory`, which must be empty or not exist. Programs in C++, of PyTorch, and
/// in CUDA with launch lines; CUDA is compiled again, which needs NVRTC and no GPU.
/// @throws kevo::error: input for a program or a candidate of which no bundle can be made, and for a bundle
/// that takes another time than the run's object; usage for a folder that is not empty, environment if there
/// is no NVRTC or a file cannot be written
bundle_summary export_bundle(const journal& record, const task& t, const std::string& directory,
                             const bundle_options& options = {});

}  // namespace kevo
