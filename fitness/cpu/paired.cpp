#include "fitness/cpu/paired.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

namespace kevo {
namespace {

constexpr double quarter_ns = 3e6;  // of each quarter of a block, where calls are that short
constexpr double most_calls = 64;   // of each quarter

constexpr int pacer_calls = 12;  // beside each quarter of a block
constexpr std::size_t pacer_calls_kept = 36;
constexpr double least_resolution_ns = 500;
constexpr double most_resolution_ns =
    5e3;  // a busy machine widens intervals; it must not make all times equal

[[noreturn]] void trusted_failed(const char* who, const call_failure& failure) {
  throw error(error_code::environment, std::string("the ") + who + " failed while it was timed (" +
                                           failure.reason + " " + failure.detail +
                                           "); it worked before, so that the fault is in the machine");
}

}  // namespace

pairing_plan plan_pairing(double candidate_ns, double baseline_ns, std::size_t contents) {
  pairing_plan plan;
  const double most = std::clamp(static_cast<double>(contents) / 2 - 1, 1.0, most_calls);
  const auto count = [&](double ns) {
    return static_cast<int>(std::clamp(std::ceil(quarter_ns / std::max(ns, 1.0)), 1.0, most));
  };
  plan.candidate_calls = count(candidate_ns);
  plan.baseline_calls = count(baseline_ns);
  // Nearly equal programs are treated exactly alike.
  if (candidate_ns < 2 * baseline_ns && baseline_ns < 2 * candidate_ns) {
    plan.candidate_calls = plan.baseline_calls = std::max(plan.candidate_calls, plan.baseline_calls);
  }
  plan.half = candidate_ns > 3 * baseline_ns && candidate_ns > 50e6;
  return plan;
}

content_list shuffled_mixture(const content_list& contents, rng& random) {
  content_list plain;
  content_list others;
  for (const auto& c : contents) (c->kind == variety::plain && !c->borrowed ? plain : others).push_back(c);
  random.shuffle<std::shared_ptr<const content>>(plain);
  random.shuffle<std::shared_ptr<const content>>(others);
  content_list order;
  while (order.size() < contents.size()) {
    const std::size_t begin = order.size();
    for (const auto& [from, share] :
         {std::pair(&plain, std::size_t{5}), std::pair(&others, std::size_t{3})}) {
      const std::size_t count = std::min(share, from->size());
      order.insert(order.end(), from->end() - static_cast<std::ptrdiff_t>(count), from->end());
      from->resize(from->size() - count);
    }
    random.shuffle<std::shared_ptr<const content>>(std::span(order).subspan(begin));
  }
  return order;
}

void call_boundary::add(const call_time& pacer) {
  // Less than the pace means that something else had the processor for a while: of this call, processor time
  // tells nothing.
  if (const double cost = pacer.whole_ns - pace_ns; cost > 0) costs_.push_back(cost);
  if (costs_.size() > pacer_calls_kept) costs_.erase(costs_.begin());
}

double call_boundary::cost_ns() const {
  return costs_.empty() ? 0 : median(costs_);
}

double call_boundary::resolution_ns() const {
  const double spread = costs_.empty() ? 0 : quantile(costs_, 0.75) - quantile(costs_, 0.25);
  return std::clamp(spread, least_resolution_ns, most_resolution_ns);
}

paired_timer::paired_timer(runner& candidate, runner& baseline, runner& pacer, std::size_t workload,
                           const content_list& contents, pairing_plan plan, std::chrono::nanoseconds limit,
                           rng random)
    : candidate_(&candidate),
      baseline_(&baseline),
      pacer_(&pacer),
      workload_(workload),
      contents_(&contents),
      plan_(plan),
      limit_(limit),
      random_(random) {}

void paired_timer::select() {
  for (auto* program : {candidate_, baseline_, pacer_}) program->select(workload_);
}

// For the next calls of both programs. They do not overlap until all have been used; then processes begin
// afresh.
paired_timer::contents_of_calls paired_timer::next_contents() {
  const auto count = static_cast<std::size_t>(std::max(plan_.candidate_calls, plan_.baseline_calls));
  if (place_ + count > cycle_.size()) {
    cycle_ = shuffled_mixture(*contents_, random_);
    place_ = 1;
    candidate_->restart();
    baseline_->restart();
  }
  place_ += count;
  return std::span(cycle_).subspan(place_ - count, count);
}

// The time per call in nanoseconds, at least the resolution.
std::variant<double, call_failure> paired_timer::read(runner& program, contents_of_calls given, int calls) {
  // A process that has just been started has its first call untimed, so that code and pages are there.
  if (!program.running()) {
    if (auto warm = program.isolated(cycle_.front(), limit_); warm.failure) return *warm.failure;
  }
  const double cost = boundary_.cost_ns();
  std::vector<double> times;
  for (const auto& c : given.first(static_cast<std::size_t>(calls))) {
    const auto time = program.isolated(c, limit_);
    if (time.failure) return *time.failure;
    times.push_back(time.whole_ns - cost);
  }
  const double typical = median(times);
  too_short_ |= typical < resolution_ns();
  return std::max(typical, resolution_ns());
}

void paired_timer::pace() {
  for (int i = 0; i < pacer_calls; ++i) {
    const auto time = pacer_->isolated((*contents_)[static_cast<std::size_t>(i) % contents_->size()], limit_);
    if (time.failure) trusted_failed("pacing program", *time.failure);
    boundary_.add(time);
  }
}

double paired_timer::baseline_time(contents_of_calls given) {
  const auto once = read(*baseline_, given, plan_.baseline_calls);
  if (const auto* failure = std::get_if<call_failure>(&once)) trusted_failed("baseline", *failure);
  return std::get<double>(once);
}

std::optional<call_failure> paired_timer::block() {
  double b = 0;
  double c = 0;
  // B C C B and C B B C in turn, the pacer before each.
  const bool baseline_outside = pairs_.size() % 2 == 0;
  const auto order =
      plan_.half ? std::vector<bool>{true, false} : std::vector<bool>{true, false, false, true};
  const double share = 1 / (0.5 * static_cast<double>(order.size()));
  contents_of_calls given;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % 2 == 0) given = next_contents();
    pace();
    if (plan_.half ? order[i] : order[i] == baseline_outside) {
      b += share * baseline_time(given);
      continue;
    }
    const auto once = candidate_time(given);
    if (const auto* failure = std::get_if<call_failure>(&once)) return *failure;
    c += share * std::get<double>(once);
  }
  pairs_.push_back({c, b});
  return std::nullopt;
}

std::variant<double, call_failure> paired_timer::sustained(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<double> times;
  while (times.size() < 3 || elapsed_s() < seconds) {
    pace();
    const auto once = candidate_time(next_contents());
    if (const auto* failure = std::get_if<call_failure>(&once)) return *failure;
    times.push_back(std::get<double>(once));
  }
  const auto last = std::span(times).last(std::max<std::size_t>(1, times.size() / 3));
  return median({last.begin(), last.end()});
}

}  // namespace kevo
