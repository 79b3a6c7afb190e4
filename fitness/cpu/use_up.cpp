// What processes may have stored for their timed calls is used up, and both programs are timed once more.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/cpu/paired.hpp"
#include "fitness/cpu/stored_work.hpp"
#include "fitness/cpu/uneven.hpp"
#include "fitness/timing/trusted_timeout.hpp"
#include "fitness/worker/protocol.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

constexpr double unusual_bytes = 8e6;  // processes of the same program differ by less
constexpr double much_bytes = 256e6;   // more than what modules of Python hold that a program imports

double median_of(const std::vector<timing_pair>& pairs, auto value) {
  std::vector<double> values;
  values.reserve(pairs.size());
  for (const auto& pair : pairs) values.push_back(value(pair));
  return median(values);
}

}  // namespace

// New processes of both programs, with their first calls.
std::variant<stored_work, call_failure> paired_timer::set_up_again() {
  begin_processes();
  if (load_failure_) return *load_failure_;
  begin_pacing();
  const auto first = candidate_->isolated(cycle_.front(), limit_);
  if (first.failure) return *first.failure;
  std::erase(unchecked_, cycle_.front());
  const auto usual = baseline_->isolated(cycle_.front(), limit_);
  if (usual.failure) trusted_failed("the baseline", *usual.failure);
  stored_work stored;
  // The second of two processes that start together waits for the first one; both have started alone, too.
  stored.set_up_ns = std::max(candidate_->latest_start_ns() - baseline_->start_ns(), 0.0) +
                     std::max(first.whole_ns - usual.whole_ns, 0.0);
  stored.bytes = std::max(candidate_->writable_bytes() - baseline_->writable_bytes() - unusual_bytes, 0.0);
  // What it stored there is not beyond what others have.
  if (warms_up_) stored.bytes += static_cast<double>(spare_heap_bytes(candidate_->arena_bytes()));
  return stored;
}

// Uses up what is stored and gives the ratio of the times of both programs after that, at least. @param calls
// set to how many calls the candidate's process has had
std::variant<double, call_failure> paired_timer::ratio_after(const stored_work& stored, double seconds,
                                                             int& calls) {
  const auto start = std::chrono::steady_clock::now();
  const double call_ns = median_of(pairs_, [](const auto& pair) { return pair.candidate_ns; });
  const double served = calls_served(stored, call_ns);
  const auto per_turn = static_cast<std::size_t>(std::max(plan_.candidate_calls, plan_.baseline_calls));
  // What it has seen: anything else would not be new to it later.
  const auto one = cycle_[0];
  const auto other = cycle_.size() > per_turn + 1 ? cycle_[1] : one;
  place_ = cycle_.size() > per_turn + 1 ? 2 : 1;
  if (other != one) {
    for (auto* program : {baseline_, candidate_}) {
      const auto time = program->isolated(other, limit_);
      if (program == baseline_ && time.failure) trusted_failed("the baseline", *time.failure);
      if (time.failure) return *time.failure;
    }
  }
  // Both programs are treated alike.
  for (calls = 0; calls < served && seconds_since(start) < seconds; ++calls) {
    // Rows of two inputs may not go together.
    if (const auto time = candidate_->unjudged(*one, *other, limit_); time.failure) return *time.failure;
    if (baseline_->unjudged(*one, *other, limit_).failure) return 0.0;
  }
  candidate_->settle();
  baseline_->settle();
  readings candidate;
  readings baseline;
  bool candidate_first = random_.chance(0.5);
  while (place_ + per_turn <= cycle_.size()) {
    const auto given = std::span(cycle_).subspan(place_, per_turn);
    place_ += per_turn;
    const auto places = rng(random_());
    for (int turn = 0; turn < 2; ++turn) {
      if ((turn == 0) == candidate_first) {
        const auto own = given.first(static_cast<std::size_t>(plan_.candidate_calls));
        if (auto failure = read(*candidate_, own, places, candidate)) return *failure;
        calls += plan_.candidate_calls;
      } else {
        const auto turn_of_it = given.first(static_cast<std::size_t>(plan_.baseline_calls));
        if (const auto failure = read(*baseline_, turn_of_it, places, baseline))
          trusted_failed("the baseline", *failure);
      }
    }
    candidate_first = !candidate_first;
  }
  // At least: a candidate could make its own times differ as it likes. On a busy machine the times of both
  // differ so much that nothing would be certain, and what was prepared would be free.
  constexpr double least_error = 0.01;
  constexpr double most_deducted = 0.1;
  const double theirs = settled(baseline);
  const double own = settled(candidate);
  const double their_error = std::max(error_of_middle(baseline.quiet) / theirs, least_error);
  const double own_error = std::min(error_of_middle(candidate.quiet) / own, 2 * their_error);
  return own / theirs * (1 - std::min(2 * (own_error + their_error), most_deducted));
}

std::variant<std::string, call_failure> paired_timer::use_up(double seconds) {
  if (pairs_.empty() || !warms_up_) return "";  // of PyTorch programs alone
  constexpr double least_rise = 0.03;
  constexpr double most_error = 0.05;
  constexpr int tries = 3;  // a process may be slow for other reasons
  const double call_ns = median_of(pairs_, [](const auto& pair) { return pair.candidate_ns; });
  const double usual = median_of(pairs_, [](const auto& p) { return p.candidate_ns / p.baseline_ns; });
  std::vector<double> ratios;
  for (const auto& pair : pairs_) ratios.push_back(pair.candidate_ns / pair.baseline_ns / usual);
  const double certain = 1 + least_rise + 2 * std::min(error_of_middle(ratios), most_error);
  const std::size_t timed = contents_of_process() - 1;
  double factor = 1e300;
  double shared_ns = 0;
  double calls_needed = 0;
  int calls = 0;
  for (int number = 0; number < tries; ++number) {
    const auto set_up = set_up_again();
    if (const auto* failure = std::get_if<call_failure>(&set_up)) return *failure;
    const auto& stored = std::get<stored_work>(set_up);
    calls_needed = calls_served(stored, call_ns);
    if (calls_needed <= static_cast<double>(timed)) return "";
    const auto ratio = ratio_after(stored, seconds, calls);
    // What it does with inputs that are no inputs of the task convicts nobody.
    if (std::holds_alternative<call_failure>(ratio)) return "";
    factor = std::min(factor, std::get<double>(ratio) / usual);
    shared_ns =
        calls < calls_needed &&
                stored.bytes - static_cast<double>(spare_heap_bytes(candidate_->arena_bytes())) > much_bytes
            ? stored.set_up_ns / calls
            : 0;
    if (factor < certain) break;
  }
  if (factor < certain) factor = 1;
  if (factor == 1 && shared_ns < least_rise * call_ns) return "";
  for (auto& pair : pairs_) pair.candidate_ns = pair.candidate_ns * factor + shared_ns;
  for (auto& even : even_) even = even * factor + shared_ns;
  if (factor > 1) {
    return fmt::format(
        "after {} calls in one process, a call takes {:.3g} times as long as before: what was "
        "prepared before the timed calls has been used up; the longer time counts",
        calls, factor);
  }
  return fmt::format(
      "what its processes prepare before the timed calls could serve {:.0f} of them, and {} were made: the "
      "{:.3g} ms of preparation count, shared out among these",
      calls_needed, calls, 1e-6 * shared_ns * calls);
}

}  // namespace kevo
