#include "fitness/cuda/measure/pair_timer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cuda/wire/worker_protocol.hpp"

namespace kevo::cuda {
namespace {

constexpr double goal_ns = 150e3;       // of one reading of several calls
constexpr double cold_goal_ns = 100e3;  // of the calls whose median is one cold reading
constexpr std::uint32_t most_calls = 32;
constexpr double shortest_ns = 500;  // a call that is planned for
// The trusted clock minus events is constant within about a microsecond (docs/gpu.md); a descheduled thread
// adds more.
constexpr double usual_tolerance_ns = 3e3;
constexpr double admitted_tolerance_ns = 1.5e3;  // of a call, the mean of many
constexpr double tolerance_share = 0.005;
// What programs differ by in how they end, as far as events do not show it; of a call.
constexpr double usual_allowance_ns = 500;
constexpr double admitted_allowance_ns = 150;
constexpr double usual_constant_ns = 8e3;
constexpr double most_clock_change = 0.02;
// Programs that draw much power make the device lower its clock, and the programs beside them do not. Before
// each reading the device then rests so long, after so many blocks in which its clock has changed.
struct rest_of_device {
  int after_changes;
  std::chrono::milliseconds time;
};
constexpr rest_of_device rests[] = {{8, std::chrono::milliseconds(60)}, {4, std::chrono::milliseconds(15)}};
constexpr int most_contested = 3;  // blocks, each in other processes
constexpr std::size_t least_constants = 3;
// A copy on a quiet device takes some 10 us, and a descheduled thread adds to it.
constexpr double fence_tolerance_ns = 10e3;
constexpr double fence_tolerance_share = 1.5;
// Calls in one graph and calls alone must agree so far, besides what events resolve of a single call.
constexpr double modes_tolerance = 0.05;
constexpr double isolated_resolution_ns = 500;
constexpr int isolated_readings = 4;
constexpr int isolated_repeats = 5;
constexpr double interval_ns = 2.2e6;  // at least 2 ms, and what the estimate of a call is wrong by

// Timed contents are of all varieties, of which a baseline was checked on a few: where it is wrong on another
// one, the tolerance is too tight more often than the machine is broken.
error failed_baseline(const call_failure& failure) {
  const std::string what =
      "the baseline failed while it was timed (" + failure.reason + " " + failure.detail + ")";
  if (failure.outcome == outcome::incorrect)
    return {
        error_code::input,
        what,
        {.key = "tolerance"},
        "if it fails for contents of one variety only (scaled, constant, ...), the tolerance is too tight "
        "for them; `kevo task check` tries more"};
  return {error_code::environment, what + ": the machine is not in order"};
}

}  // namespace

reading_plan plan_readings(double candidate_ns, double baseline_ns, bool cold, bool alone,
                           std::uint32_t contents, std::uint32_t room) {
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), shortest_ns);
  reading_plan plan;
  plan.cold = cold;
  if (cold || alone) {
    plan.repeats = static_cast<int>(std::clamp(std::ceil(cold_goal_ns / shorter), 1.0, 5.0));
    return plan;
  }
  // Half of them, so that one process serves a block of two readings.
  const double most =
      std::clamp(std::min<double>(contents / 2.0, room), 1.0, static_cast<double>(most_calls));
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(goal_ns / shorter), 1.0, most));
  return plan;
}

std::uint32_t most_calls_of_reading(double least_ns) {
  const double calls = std::ceil(goal_ns / std::max(least_ns, shortest_ns));
  return static_cast<std::uint32_t>(std::clamp(calls, 1.0, static_cast<double>(most_calls)));
}

reading_plan plan_intervals(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents,
                            std::uint32_t room) {
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), shortest_ns);
  reading_plan plan;
  plan.cold = cold;
  // One is for the untimed first call of a process.
  const double most = std::clamp(std::min<double>(contents, most_slots) - 1, 1.0, std::max<double>(room, 1));
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(interval_ns / shorter), 1.0, most));
  return plan;
}

reading_plan plan_python_intervals(double candidate_ns, double baseline_ns, bool cold, std::uint32_t contents,
                                   std::uint32_t room) {
  constexpr std::uint32_t first_calls = 4;
  constexpr std::uint32_t enough_contents = 100;
  reading_plan plan;
  plan.cold = cold;
  plan.slow_start = true;
  plan.pairs = contents >= enough_contents ? 4 : 2;
  // One process serves a block, and has one call more, its first.
  const auto most = std::min({(contents - 1) / plan.pairs, room, static_cast<std::uint32_t>(most_slots)});
  plan.untimed = std::min(first_calls, most / 4);
  const double shorter = std::max(std::min(candidate_ns, baseline_ns), shortest_ns);
  const double left = std::max(1.0, static_cast<double>(most) - plan.untimed);
  plan.calls = static_cast<std::uint32_t>(std::clamp(std::ceil(python_interval_ns / shorter), 1.0, left));
  return plan;
}

double middle_mean(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto quarter = static_cast<std::ptrdiff_t>(times.size() / 4);
  const auto from = times.begin() + quarter;
  const auto to = times.end() - quarter;
  return std::accumulate(from, to, 0.0) / static_cast<double>(to - from);
}

clock_check reconcile(double event_ns, double outside_ns, double constant_ns, double tolerance_ns) {
  const double seen = outside_ns - constant_ns;
  if (std::abs(seen - event_ns) <= tolerance_ns + tolerance_share * seen) return {event_ns, true};
  // Whatever is the truth, a claim never makes a call shorter than the trusted clock saw it.
  return {std::max(seen, event_ns), false};
}

double clock_excess(double outside_ns, double event_ns, int calls, const std::vector<double>& each_outside_ns,
                    const std::vector<double>& each_event_ns) {
  std::vector<double> excesses;
  for (std::size_t k = 0; k < each_outside_ns.size() && k < each_event_ns.size(); ++k)
    excesses.push_back(each_outside_ns[k] - each_event_ns[k]);
  if (excesses.empty()) return (outside_ns - event_ns) / std::max(calls, 1);
  std::sort(excesses.begin(), excesses.end());
  excesses.resize(excesses.size() - excesses.size() / 10);
  return std::accumulate(excesses.begin(), excesses.end(), 0.0) / static_cast<double>(excesses.size());
}

double hidden_time(const std::vector<double>& candidate_excess, const std::vector<double>& baseline_excess,
                   double allowance_ns) {
  if (candidate_excess.size() < 4 || baseline_excess.size() < 4) return 0;
  const auto error_of = [](const std::vector<double>& values) {
    const double middle = median(values);
    std::vector<double> distances;
    distances.reserve(values.size());
    for (const double value : values) distances.push_back(std::abs(value - middle));
    // Of a median: 1.25 standard deviations of one value, 1.48 median distances each, by the root of their
    // number.
    return 1.25 * 1.48 * median(distances) / std::sqrt(static_cast<double>(values.size()));
  };
  const double error = std::hypot(error_of(candidate_excess), error_of(baseline_excess));
  return std::max(0.0, median(candidate_excess) - median(baseline_excess) - 3 * error - allowance_ns);
}

pair_timer::pair_timer(program_runner& candidate, program_runner& baseline, std::size_t workload,
                       reading_plan plan, std::chrono::nanoseconds limit)
    : candidate_(&candidate), baseline_(&baseline), workload_(workload), plan_(plan), limit_(limit) {}

pair_timer::pair_timer(program_runner& candidate, program_runner& baseline, program_runner& empty,
                       std::size_t workload, reading_plan plan, std::chrono::nanoseconds limit)
    : pair_timer(candidate, baseline, workload, plan, limit) {
  empty_ = &empty;
}

double pair_timer::resolution_ns() const {
  if (constants_.size() < 4) return 0;
  auto sorted = constants_;
  std::sort(sorted.begin(), sorted.end());
  return (sorted[3 * (sorted.size() - 1) / 4] - sorted[(sorted.size() - 1) / 4]) / plan_.calls;
}

double pair_timer::constant_ns() const {
  if (constants_.empty()) return usual_constant_ns;
  // What the trusted side adds to held calls drifts by microseconds a second: the latest ones tell.
  const auto from = plan_.slow_start && constants_.size() > least_constants
                        ? constants_.end() - static_cast<std::ptrdiff_t>(least_constants)
                        : constants_.begin();
  return median({from, constants_.end()});
}

void pair_timer::read_empty() {
  if (!empty_->running()) {
    if (const auto warm = empty_->interval(workload_, 1, plan_.cold, limit_); warm.failure)
      throw error(error_code::environment, "the empty program failed: " + warm.failure->reason);
  }
  const auto time =
      empty_->interval(workload_, plan_.calls, plan_.cold, limit_, content_use::once, plan_.untimed);
  if (time.failure) throw error(error_code::environment, "the empty program failed: " + time.failure->reason);
  if (time.clock_mhz > 0) clocks_.push_back(time.clock_mhz);
  constants_.push_back(interval_time(time));
}

// What is drawn for the candidate its process has not seen; the last one is for a call that is not timed.
pair_timer::drawn_contents pair_timer::draw() {
  const auto wanted = plan_.calls * static_cast<std::uint32_t>(plan_.repeats) + plan_.untimed + 1;
  auto chosen = candidate_->draw(workload_, wanted);
  if (candidate_->running() && chosen.size() < wanted) {
    candidate_->restart();
    chosen = candidate_->draw(workload_, wanted);
  }
  drawn_contents drawn;
  drawn.warm_up.push_back(chosen.back());
  if (chosen.size() > 1) chosen.pop_back();  // where there is one only, it is both
  drawn.timed = std::move(chosen);
  return drawn;
}

// For the pairs of a block that one process of the candidate serves: it sees no content twice.
std::vector<pair_timer::drawn_contents> pair_timer::draw_block() {
  const std::size_t each = plan_.calls + plan_.untimed;
  candidate_->restart();
  const auto chosen = candidate_->draw(workload_, static_cast<std::uint32_t>(plan_.pairs * each + 1));
  std::vector<drawn_contents> drawn;
  // Where there are few contents, fewer pairs; where there is one only, it is also that of the untimed call.
  const std::size_t pairs = std::clamp<std::size_t>((chosen.size() - 1) / each, 1, plan_.pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto from = chosen.begin() + static_cast<std::ptrdiff_t>(i * each);
    const auto count = std::min(each, std::max<std::size_t>(chosen.size() - 1, 1) - i * each);
    drawn.push_back({.timed = {from, from + static_cast<std::ptrdiff_t>(count)}, .warm_up = {chosen.back()}});
  }
  return drawn;
}

// The first call of a process is untimed, and of hosted programs that of every size: host code makes handles
// and plans then, which cannot be done behind a kernel that holds the stream back.
std::optional<call_failure> pair_timer::warm_up(program_runner& program, const drawn_contents& contents) {
  const bool hosted = program.kind() == program_kind::hosted;
  if (program.running() && (!hosted || program.has_run(workload_))) return std::nullopt;
  // It may also try settings of its own then.
  const auto limit = hosted ? std::max(limit_, first_limit_) : limit_;
  return (hosted || by_intervals() ? program.interval_of(workload_, contents.warm_up, plan_.cold, limit)
                                   : program.time_of(workload_, contents.warm_up, plan_.cold, limit))
      .failure;
}

pair_timer::reading pair_timer::read_interval(program_runner& program, bool trusted,
                                              const drawn_contents& contents) {
  const auto time = program.interval_of(workload_, contents.timed, plan_.cold, limit_, plan_.untimed);
  if (time.failure) return {0, false, time.failure};
  if (time.clock_mhz > 0) clocks_.push_back(time.clock_mhz);
  if (!trusted) ++readings_;
  shortest_ns_ = shortest_ns_ > 0 ? std::min(shortest_ns_, time.outside_ns) : time.outside_ns;
  // What would be shorter than nothing is left to the floor to judge.
  return {std::max(interval_time(time) - constant_ns(), 1.0) / time.calls, false, std::nullopt};
}

// Calls of programs in Python are held up now and then, by a millisecond.
double pair_timer::interval_time(const gpu_time& time) const {
  if (!plan_.slow_start || time.each_outside_ns.empty()) return time.outside_ns;
  return middle_mean(time.each_outside_ns) * time.calls;
}

// One measurement by both clocks. Work that went on behind "done" held the fence up, and counts.
pair_timer::reading pair_timer::concluded(const gpu_time& time, bool trusted) {
  if (time.failure) return {0, false, time.failure};
  if (time.clock_mhz > 0) clocks_.push_back(time.clock_mhz);
  const double excess =
      clock_excess(time.outside_ns, time.event_ns, time.calls, time.each_outside_ns, time.each_event_ns);
  if (trusted) {
    const double trusted_ns = time.event_ns / time.calls;
    if (!reconcile(trusted_ns, trusted_ns + excess, constant_ns(), reading_tolerance_ns()).agree)
      ++trusted_disagreements_;
    constants_.push_back(excess);
    fences_.push_back(time.fence_ns);
    return {time.event_ns / time.calls, time.unblocked, std::nullopt};
  }
  ++readings_;
  const double usual_fence_ns =
      fences_.empty() ? fence_tolerance_ns : fence_tolerance_share * median(fences_);
  const double late_ns = std::max(0.0, time.fence_ns - usual_fence_ns - fence_tolerance_ns) / time.calls;
  const double event_ns = time.event_ns / time.calls;
  const auto checked =
      reconcile(event_ns, event_ns + excess + late_ns, constant_ns(), reading_tolerance_ns());
  // A clock that was late is no evidence against a program, which has no host code to make it late.
  if (!checked.agree && time.preempted) {
    ++late_disagreements_;
    return {checked.ns, true, std::nullopt};
  }
  excesses_.push_back(excess + late_ns);
  if (!checked.agree) ++disagreements_;
  return {checked.ns, time.unblocked || (!checked.agree && !trusted_clock_alone_), std::nullopt};
}

double pair_timer::reading_tolerance_ns() const {
  return plan_.calls > 1 ? admitted_tolerance_ns : usual_tolerance_ns;
}

// What all readings together say of time that the events do not show.
void pair_timer::show_pairs() {
  hidden_ns_ = by_intervals() ? 0
                              : hidden_time(excesses_, constants_,
                                            plan_.calls > 1 ? admitted_allowance_ns : usual_allowance_ns);
  shown_pairs_ = pairs_;
  for (auto& pair : shown_pairs_) pair.candidate_ns += hidden_ns_;
}

std::chrono::milliseconds pair_timer::rest() const {
  for (const auto& one : rests) {
    if (clock_changes_ >= one.after_changes) return one.time;
  }
  return {};
}

pair_timer::reading pair_timer::read(program_runner& program, bool trusted, const drawn_contents& contents) {
  if (auto failure = warm_up(program, contents)) return {0, false, failure};
  const auto pause = rest();
  if (by_intervals()) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    return read_interval(program, trusted, contents);
  }
  reading result;
  std::vector<double> times;
  for (auto at = contents.timed.begin(); at != contents.timed.end();) {
    const auto left = std::min<std::ptrdiff_t>(plan_.calls, contents.timed.end() - at);
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    auto one = concluded(program.time_of(workload_, {at, at + left}, plan_.cold, limit_), trusted);
    if (one.failure) return one;
    result.disturbed = result.disturbed || one.disturbed;
    times.push_back(one.ns);
    at += left;
  }
  result.ns = median(times);
  return result;
}

// Whether calls in one graph and calls by themselves stand in the same relation to the baseline's. Where they
// do not, all further calls are timed by themselves, and what was timed before is dropped.
std::optional<call_failure> pair_timer::compare_modes() {
  modes_compared_ = true;
  if (by_intervals() || plan_.calls <= 1 || pairs_.empty()) return std::nullopt;
  const auto calls = plan_.calls;
  plan_.calls = 1;
  plan_.repeats = isolated_repeats;
  // What the trusted clock adds is another for calls that are held back alone.
  auto constants = std::exchange(constants_, {});
  auto excesses = std::exchange(excesses_, {});
  std::vector<double> candidate;
  std::vector<double> baseline;
  for (int n = 0; n < isolated_readings; ++n) {
    const auto contents = draw();
    for (const bool trusted : {n % 2 == 0, n % 2 != 0}) {
      const auto once = read(trusted ? *baseline_ : *candidate_, trusted, contents);
      if (once.failure) return once.failure;
      (trusted ? baseline : candidate).push_back(once.ns);
    }
  }
  const double alone = median(baseline) / median(candidate);
  const double together = pairs_.back().baseline_ns / pairs_.back().candidate_ns;
  const double resolution = isolated_resolution_ns / std::min(median(baseline), median(candidate));
  if (together <= alone * (1 + modes_tolerance + resolution)) {
    plan_.calls = calls;
    plan_.repeats = 1;
    constants_ = std::move(constants);
    excesses_ = std::move(excesses);
    return std::nullopt;
  }
  modes_disagreed_ = true;
  pairs_.clear();
  shown_pairs_.clear();
  hidden_ns_ = 0;
  return std::nullopt;
}

void pair_timer::renew() {
  candidate_->restart();
  if (baseline_->kind() == program_kind::declared) baseline_->restart();
}

// The candidate once more, on contents that it may have seen.
pair_timer::reading pair_timer::read_again() {
  if (auto failure = warm_up(*candidate_, draw())) return {0, false, failure};
  constexpr auto again = content_use::again;
  if (!by_intervals())
    return concluded(candidate_->time(workload_, plan_.calls, plan_.cold, limit_, again), false);
  const auto time = candidate_->interval(workload_, plan_.calls, plan_.cold, limit_, again, plan_.untimed);
  if (time.failure) return {0, false, time.failure};
  return {std::max(interval_time(time) - constant_ns(), 1.0) / time.calls, false, std::nullopt};
}

std::variant<double, call_failure> pair_timer::sustained(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<double> times;
  while (times.size() < 3 || elapsed_s() < seconds) {
    const auto once = read_again();
    if (once.failure) return *once.failure;
    times.push_back(once.ns);
  }
  return median({times.end() - static_cast<std::ptrdiff_t>((times.size() + 2) / 3), times.end()});
}

// Of programs whose processes start slowly: half of the baseline's readings, all of the candidate's in one
// process, and the baseline's others. Each reading of the one has its pair with the same contents.
std::optional<call_failure> pair_timer::block_of_process() {
  clocks_.clear();
  const auto end_candidate = [this] {
    if (!candidate_->running()) return;
    candidate_->restart();
    candidate_->workers().settle();
  };
  end_candidate();
  do read_empty();
  while (constants_.size() < least_constants);
  const auto contents = draw_block();
  std::vector<timing_pair> read_pairs(contents.size());
  const auto read_baseline = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const auto once = read(*baseline_, true, contents[i]);
      if (once.failure) throw failed_baseline(*once.failure);
      read_pairs[i].baseline_ns = once.ns;
    }
  };
  read_baseline(0, contents.size() / 2);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto once = read(*candidate_, false, contents[i]);
    if (once.failure) return once.failure;
    read_pairs[i].candidate_ns = once.ns;
  }
  end_candidate();
  read_baseline(contents.size() / 2, contents.size());
  if (clock_changed()) {
    ++discarded_;
    require_some_pairs();
    return std::nullopt;
  }
  pairs_.insert(pairs_.end(), read_pairs.begin(), read_pairs.end());
  show_pairs();
  return std::nullopt;
}

// Whether the device's clock changed within a block; counts those in which it did.
bool pair_timer::clock_changed() {
  if (clocks_.empty()) return false;
  const auto [least, most] = std::minmax_element(clocks_.begin(), clocks_.end());
  const bool changed = *least < (1 - most_clock_change) * *most;
  clock_changes_ += changed ? 1 : 0;
  return changed;
}

std::optional<call_failure> pair_timer::block() {
  if (plan_.slow_start) return block_of_process();
  clocks_.clear();
  const int disagreed_before = disagreements_;
  // B C C B and C B B C in turn; the baseline first, for it tells what the trusted clock adds.
  const bool baseline_outside = (pairs_.size() + static_cast<std::size_t>(discarded_)) % 2 == 0;
  double b = 0;
  double c = 0;
  bool disturbed = false;
  // Whatever a candidate's host code may have left on the device ends with it, before anything else is timed.
  const auto end_candidate = [this] {
    if (!by_intervals() || candidate_->kind() != program_kind::hosted || !candidate_->running()) return;
    candidate_->restart();
    candidate_->workers().settle();
  };
  if (by_intervals()) {
    end_candidate();
    do read_empty();
    while (constants_.size() < least_constants);
  }
  drawn_contents contents;
  std::size_t number = 0;
  for (const bool outer : {true, false, false, true}) {
    const bool trusted = outer == baseline_outside;
    if (trusted) end_candidate();
    if (number++ % 2 == 0) contents = draw();
    const auto once = read(trusted ? *baseline_ : *candidate_, trusted, contents);
    if (once.failure) {
      if (!trusted) return once.failure;
      throw failed_baseline(*once.failure);
    }
    (trusted ? b : c) += 0.5 * once.ns;
    disturbed = disturbed || once.disturbed;
  }
  if (clock_changed()) disturbed = true;
  if (!disturbed && b > 0 && c > 0) {
    pairs_.push_back({c, b});
    show_pairs();
    return modes_compared_ ? std::nullopt : compare_modes();
  }
  ++discarded_;
  // It may be the process and not the program (one of a thousand honest settings was called suspect,
  // docs/gpu.md):
  // fresh ones show which.
  if (disagreements_ > disagreed_before) {
    ++contested_;
    renew();
  }
  const int lost = discarded_ - forgiven_;
  const bool hopeless = lost > 12 + 2 * static_cast<int>(pairs_.size());
  const int against = disagreements_ + (hopeless ? late_disagreements_ : 0);
  // Where the clocks also disagree about the baseline, the machine is the reason.
  if ((contested_ >= most_contested || hopeless) && 2 * against > readings_ &&
      against > 2 * trusted_disagreements_) {
    return call_failure{outcome::suspect, "its events and the trusted clock disagree",
                        "what the device says the call took is not what the trusted clock saw", true, true};
  }
  if (!hopeless) return std::nullopt;
  // Too often for a time by events, too rarely for a suspicion. Where they disagree, a reading is what the
  // trusted clock saw, which is the longer time, so that nobody gains by it.
  if (!trusted_clock_alone_ && 2 * disagreements_ >= lost) {
    trusted_clock_alone_ = true;
    forgiven_ = discarded_;
    return std::nullopt;
  }
  no_time();
}

void pair_timer::require_some_pairs() const {
  if (discarded_ > 12 + 2 * static_cast<int>(pairs_.size())) no_time();
}

void pair_timer::no_time() const {
  throw error(error_code::environment,
              fmt::format("no time can be taken: of {} blocks of readings {} were discarded. The device's "
                          "clock changed in {} of them, "
                          "kevo lost its processor in {} readings, and the two clocks disagreed in {} "
                          "readings of the candidate and {} "
                          "of the baseline",
                          discarded_ + static_cast<int>(pairs_.size()), discarded_, clock_changes_,
                          late_disagreements_, disagreements_, trusted_disagreements_),
              {},
              "end what else runs on the device and on this machine, or build fewer candidates at once "
              "(run.parallel.builds)");
}

}  // namespace kevo::cuda
