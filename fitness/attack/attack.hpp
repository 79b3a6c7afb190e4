#pragma once
// Every exploit against one task, through the evaluator that a run would use, and what became of each.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/task.hpp>

#include "fitness/attack/exploit.hpp"

namespace kevo {

enum class attack_word : std::uint8_t {
  got_through,     ///< valid though it should not be, or faster than the honest program by a trick
  caught,          ///< not valid
  harmless,        ///< valid, and not faster than the honest program by what counts as a gain
  undecided,       ///< valid, and the interval of its speedup is too wide to tell
  not_applicable,  ///< could not be made for this task
  control,         ///< the honest program itself
};
std::string_view to_string(attack_word word);

/// What became of one exploit.
struct attack_finding {
  std::string name;
  std::string mechanism;
  exploit_aim aim = exploit_aim::outcome;
  attack_word word = attack_word::not_applicable;
  std::string why;                   ///< in words; may be empty
  bool expected = true;              ///< its outcome is among those that the exploit names
  std::optional<evaluation> result;  ///< the last evaluation; its speedup is over the honest program
};

struct attack_report {
  std::string task;
  std::string fitness;  ///< device, compiler, ... in a line
  std::vector<attack_finding> findings;
  std::size_t count(attack_word word) const;
};

struct attack_settings {
  /// Makes the evaluator of a task. Called once for each form of launch that is needed.
  std::function<any_fitness(std::shared_ptr<const task>)> fitness;
  /// A trick pays if the lower end of the speedup over the honest program is above this.
  double gain = 1.05;
  std::function<void(const attack_finding&)> told;  ///< each finding as it is there; may be empty
  std::stop_token stop;
  wait_listener waiting{};  ///< told of the processes that evaluations wait for; may be empty
};

/// Whether an exploit is written for tasks like this one: cpp for those with a native reference in C++,
/// declared and hosted for those in CUDA.
bool is_written_for(const exploit& attack, const task& t);

/// Of these programs the first that can stand inside exploits of this form, else the first one.
/// `programs` must not be empty.
const program& honest_for(exploit_form form, const std::vector<program>& programs);

/// Evaluates the exploits, each with the honest program as the baseline that it is interleaved with. What
/// seems to get through is evaluated once more by the full protocol in fresh processes, and that alone
/// counts.
/// @param honest honest programs of the task, which stand on their own; at least one
/// @throws kevo::error: input (an honest program does not build or is wrong), environment, interrupted
attack_report attack_task(const task& t, const std::vector<program>& honest,
                          const std::vector<exploit>& exploits, const attack_settings& settings);

}  // namespace kevo
