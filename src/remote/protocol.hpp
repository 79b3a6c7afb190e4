#pragma once
// What passes between a client and `kevo serve`: a submission and the state of its evaluation, as JSON.
// docs/serve.md describes the fields for users.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

namespace kevo::remote {

/// A request for one evaluation.
struct submission {
  std::string task;     ///< name of a task that the server has; empty if the task is sent with the request
  std::string task_id;  ///< content id of the task that the client means; empty: whatever has that name
  /// A task that is sent with the request: the texts of its files by their relative names, and the name of
  /// the task file among them. Both are empty for a task by name.
  std::map<std::string, std::string> task_files;
  std::string task_file;
  /// A problem of KernelBench as Python text with a class `Model`; empty for the other kinds of task.
  std::string kernelbench;
  kevo::program program;
  evaluation_stage stage = evaluation_stage::timed_full;
  double best_speedup = 0;  ///< as evaluation_request::best_speedup
  /// Requests that differ in this text only are evaluated separately; with the same text they are one.
  std::string attempt;
  std::int64_t priority = 0;  ///< -100 to 100; higher ones first
  double deadline_s = 0;      ///< [s] from the submission; it is not begun after that. 0: none
  double limit_s = 0;         ///< [s] limit of the evaluation itself; 0: only those of the fitness function
  bool second_try = true;     ///< as evaluation_request::second_try
};

/// One JSON object on one line.
std::string to_json(const submission& what);

/// The inverse. @throws kevo::error (input) that names the key at fault
submission submission_from_json(std::string_view text);

/// Where an evaluation is on its way. The last three are final.
enum class progress : std::uint8_t { queued, running, done, failed, expired };
inline constexpr std::array<std::string_view, 5> progress_names = {"queued", "running", "done", "failed",
                                                                   "expired"};
inline constexpr std::string_view to_string(progress p) {
  return progress_names[static_cast<std::size_t>(p)];
}
inline constexpr std::optional<progress> parse_progress(std::string_view name) {
  for (std::size_t i = 0; i < progress_names.size(); ++i) {
    if (progress_names[i] == name) return static_cast<progress>(i);
  }
  return std::nullopt;
}
inline constexpr bool is_final(progress p) {
  return p != progress::queued && p != progress::running;
}

/// What a server says of a submission, as the client reads it.
struct state {
  std::string id;
  remote::progress progress = remote::progress::queued;
  double age_s = 0;  ///< [s] since the evaluation began; 0 before
  std::optional<kevo::evaluation> evaluation;
  std::string error_code;  ///< of a failed one: a name of kevo::error_code
  std::string error;       ///< of a failed one, or of a refused request
};

/// Reads the answer of a server. @throws kevo::error (input) for text that is no such answer
state state_from_json(std::string_view text);

}  // namespace kevo::remote
