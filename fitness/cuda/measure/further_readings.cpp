#include "fitness/cuda/measure/further_readings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/cpu/uneven.hpp"
#include "fitness/cuda/measure/two_clocks.hpp"

namespace kevo::cuda {
namespace {

// A process that can be given fewer contents needs all of them for its pairs.
constexpr std::uint32_t least_contents = 16;
// And with fewer than these there is nothing left for a timed call behind a first one and an untimed one.
constexpr std::uint32_t least_contents_of_process = 3;
// Calls that an arena holds: an untimed one and a timed one, and what one process can do all readings with.
constexpr std::uint32_t least_room = 2;
constexpr std::uint32_t usual_room = 8;
constexpr std::uint32_t usual_host_pairs = 4;  // as many as a first look has of device times
constexpr std::uint32_t least_host_pairs = 2;
constexpr std::uint32_t most_host_calls = 6;
constexpr std::uint32_t most_host_calls_of_score = 16;
constexpr std::uint32_t most_busy_calls = 8;
// So many values tell what some calls or some blocks have in common.
constexpr std::size_t enough_pairs = 8;
constexpr std::size_t enough_blocks = 3;
// The change of contexts before a busy call takes some 100 us, and varies by some.
constexpr double least_free_ns = 4e3;
constexpr double least_free_share = 0.02;
constexpr double least_uneven_ns = 300;
constexpr double least_uneven_share = 0.01;
constexpr double standard_errors = 4;
// A context one of whose streams waits for another keeps the device for the whole of its turn, 2 ms on an
// H200 (measured: 2.4 ms with the changes of contexts), although it does nothing there. Nothing can be said
// of such calls: work in so long a turn looks the same.
constexpr double turn_ns = 1.5e6;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// By how much the calls are longer in the mean than the time that counts.
double excess_over_middle(const std::vector<double>& times) {
  return mean_of(times) - middle_mean(times);
}

std::vector<double> without_turns(const std::vector<double>& busy, double held_ns) {
  std::vector<double> rest;
  for (const double one : busy) {
    if (one - held_ns < turn_ns) rest.push_back(one);
  }
  return rest;
}

std::vector<double> part(const std::vector<double>& all, std::size_t number, std::size_t parts) {
  const std::size_t each = all.size() / parts;
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(number * each);
  return {from, from + static_cast<std::ptrdiff_t>(each)};
}

}  // namespace

further_plan plan_further(std::uint32_t contents, std::uint32_t room, bool as_score) {
  further_plan plan;
  if (contents < least_contents_of_process || room < least_room) return plan;
  if (contents < least_contents || room < usual_room) {
    plan.host_process = true;
    const std::uint32_t timed = std::min(contents - 1, room) - 1;
    plan.host_pairs = std::min(timed, least_host_pairs);
    plan.host_calls = std::min(timed / plan.host_pairs, most_host_calls);
    return plan;
  }
  // A tenth for the busy calls; for the host times a fifth, or half where they are the score.
  plan.busy_calls = std::min({contents / 10, most_busy_calls, room - 1});
  plan.host_pairs = contents >= 2 * least_contents ? usual_host_pairs : least_host_pairs;
  const std::uint32_t share = as_score ? contents / 2 : contents / 5;
  const std::uint32_t most = std::min(share, room - 1) / plan.host_pairs;
  plan.host_calls = std::clamp(most, 1U, as_score ? most_host_calls_of_score : most_host_calls);
  return plan;
}

double certain_excess(const std::vector<double>& candidate, const std::vector<double>& baseline,
                      double least_ns) {
  if (candidate.empty() || baseline.empty()) return 0;
  // A reading in three may have a call that was held up, by however much. What a program does shows in most.
  if (quantile(candidate, 0.25) < quantile(baseline, 0.75)) return 0;
  const double of_baseline = error_of_middle(baseline);
  const double error = std::hypot(trusted_error(candidate, of_baseline, least_ns), of_baseline);
  const double excess = median(candidate) - median(baseline);
  return excess > least_ns + standard_errors * error ? excess : 0;
}

void further_readings::excesses::add(const std::vector<double>& candidate_calls,
                                     const std::vector<double>& baseline_calls) {
  const double longer = middle_mean(candidate_calls) / std::max(middle_mean(baseline_calls), 1.0);
  candidate.push_back(excess_over_middle(candidate_calls));
  // What befalls calls does so in proportion to their time, or to their number.
  baseline.push_back(std::max(excess_over_middle(baseline_calls), 0.0) * std::max(longer, 1.0));
}

double further_readings::excesses::certain(double call_ns) const {
  if (candidate.size() < enough_pairs) return 0;
  return certain_excess(candidate, baseline, std::max(least_uneven_ns, least_uneven_share * call_ns));
}

void further_readings::add_pair(const std::vector<double>& candidate, const std::vector<double>& baseline) {
  if (candidate.empty() || baseline.empty()) return;
  times_.push_back(middle_mean(candidate));
  uneven_.add(candidate, baseline);
}

void further_readings::add_block(const call_times& candidate, const call_times& baseline) {
  if (!candidate.busy.empty() && !baseline.busy.empty() && !candidate.held.empty() &&
      !baseline.held.empty()) {
    const double held_ns = median(candidate.held);
    const auto told = without_turns(candidate.busy, held_ns);
    if (2 * told.size() < candidate.busy.size()) {
      ++untold_blocks_;
    } else {
      candidate_busy_.push_back(median(told) - held_ns);
      baseline_busy_.push_back(median(baseline.busy) - median(baseline.held));
      if (!baseline.early.empty()) early_.push_back(median(baseline.early) - median(baseline.busy));
    }
  }
  const std::size_t parts = plan_.host_pairs;
  if (parts == 0 || baseline.idle.empty() || candidate.host.size() < parts || baseline.host.size() < parts)
    return;
  idle_.push_back(middle_mean(baseline.idle));
  if (!candidate.around.empty() && !baseline.around.empty()) {
    candidate_around_.push_back(middle_mean(candidate.around));
    baseline_around_.push_back(middle_mean(baseline.around));
  }
  const double around_ns = median(idle_);
  for (std::size_t i = 0; i < parts; ++i) {
    const auto candidate_part = part(candidate.host, i, parts);
    const auto baseline_part = part(baseline.host, i, parts);
    // The clock of the trusted side resolves no less than a microsecond between two processes.
    const auto time_of = [&](const std::vector<double>& all) {
      return std::max(middle_mean(all) - around_ns, 1e3);
    };
    host_pairs_.push_back({time_of(candidate_part), time_of(baseline_part)});
    host_uneven_.add(candidate_part, baseline_part);
  }
}

std::vector<timing_pair> further_readings::host_pairs() const {
  auto shown = host_pairs_;
  std::vector<double> times;
  for (const auto& pair : shown) times.push_back(pair.candidate_ns);
  if (times.empty()) return shown;
  double added = host_uneven_.certain(median(times));
  if (candidate_around_.size() >= enough_blocks)
    added += certain_excess(candidate_around_, baseline_around_,
                            std::max(least_free_ns, least_free_share * median(times)));
  for (auto& pair : shown) pair.candidate_ns += added;
  return shown;
}

double further_readings::free_ns() const {
  if (times_.empty() || candidate_busy_.size() < enough_blocks) return 0;
  const double least = std::max(least_free_ns, least_free_share * median(times_));
  // Both programs have the same change of contexts in a busy call.
  const double excess = certain_excess(candidate_busy_, baseline_busy_, least);
  if (excess == 0) return 0;
  // Work that was begun early makes the device change contexts more often, which is not the program's time.
  return std::max(excess - (early_.empty() ? 0 : std::max(median(early_), 0.0)), least);
}

std::optional<timing_pair> further_readings::busy_excess() const {
  if (candidate_busy_.empty()) return std::nullopt;
  return timing_pair{.candidate_ns = median(candidate_busy_), .baseline_ns = median(baseline_busy_)};
}

double further_readings::uneven_ns() const {
  return times_.empty() ? 0 : uneven_.certain(median(times_));
}

}  // namespace kevo::cuda
