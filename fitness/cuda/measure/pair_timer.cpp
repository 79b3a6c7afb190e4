#include "fitness/cuda/measure/pair_timer.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/cuda/measure/two_clocks.hpp"
#include "fitness/timing/sustained_time.hpp"
#include "fitness/timing/trusted_timeout.hpp"

namespace kevo::cuda {
namespace {

// The trusted clock minus events is constant within about a microsecond (docs/gpu.md); a descheduled thread
// adds more.
constexpr double usual_tolerance_ns = 3e3;
constexpr double admitted_tolerance_ns = 1.5e3;  // of a call, the mean of many
// What programs differ by in how they end, as far as events do not show it; of a call.
constexpr double usual_allowance_ns = 500;
constexpr double admitted_allowance_ns = 150;
constexpr double usual_constant_ns = 8e3;
// Programs that draw much power make the device lower its clock, and the programs beside them do not. Before
// each reading the device then rests so long, after so many blocks in which its clock has changed.
struct rest_of_device {
  int after_changes;
  std::chrono::milliseconds time;
};
constexpr rest_of_device rests[] = {{8, std::chrono::milliseconds(60)}, {4, std::chrono::milliseconds(15)}};
// How long the clock of a rested device is measured before a reading; after a reading it is 20 us.
constexpr std::chrono::microseconds careful_clock(100);
// A copy on a quiet device takes some 10 us, and a descheduled thread adds to it.
constexpr double fence_tolerance_ns = 10e3;
constexpr double fence_tolerance_share = 1.5;
// A busy host adds some microseconds to the calls of one process and not to those of another one. What is
// hidden from the events is more than that if it is more than so much time and so large a share of the call,
// or most of the call.
constexpr double grave_ns = 10e3;
constexpr double grave_share = 0.05;

}  // namespace

pair_timer::pair_timer(program_runner& candidate, program_runner& baseline, std::size_t workload,
                       reading_plan plan, std::chrono::nanoseconds limit)
    : candidate_(&candidate),
      baseline_(&baseline),
      workload_(workload),
      plan_(plan),
      limit_(limit),
      further_(plan.further) {}

void pair_timer::use_intervals(program_runner* empty) {
  by_intervals_ = true;
  empty_ = empty;
}

double pair_timer::resolution_ns() const {
  if (constants_.size() < 4) return 0;
  auto sorted = constants_;
  std::sort(sorted.begin(), sorted.end());
  return (sorted[3 * (sorted.size() - 1) / 4] - sorted[(sorted.size() - 1) / 4]) / plan_.calls;
}

double pair_timer::constant_ns() const {
  if (constants_.empty()) return usual_constant_ns;
  return median(constants_);
}

// What lies around the calls of a process: the changes of contexts, which differ by a microsecond and more
// from process to process and hardly within one. Only kevo's own code runs then: nothing but a lack of memory
// can be the doing of a candidate.
std::optional<call_failure> pair_timer::read_nothing(program_runner& program, std::uint32_t content) {
  const auto time = program.nothing_of(workload_, content, plan_.calls, plan_.cold, limit_, plan_.untimed);
  if (time.failure && time.failure->room) return time.failure;
  if (time.failure) trusted_failed("kevo's own code in a process without a program", *time.failure);
  keep_clocks(time);
  constants_.push_back(interval_time(time));
  (&program == baseline_ ? baseline_nothing_ns_ : candidate_nothing_ns_) = constants_.back();
  return std::nullopt;
}

void pair_timer::read_empty() {
  if (!empty_->running()) {
    if (const auto warm = empty_->interval(workload_, 1, plan_.cold, limit_); warm.failure)
      trusted_failed("the empty program", *warm.failure);
  }
  const auto time =
      empty_->interval(workload_, plan_.calls, plan_.cold, limit_, content_use::once, plan_.untimed);
  if (time.failure) trusted_failed("the empty program", *time.failure);
  keep_clocks(time);
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
pair_timer::block_contents pair_timer::draw_block() {
  const std::size_t each = plan_.calls + plan_.untimed;
  candidate_->restart();
  const auto wanted = static_cast<std::uint32_t>(plan_.pairs * each + 1);
  auto chosen = candidate_->draw(workload_, wanted + plan_.further.contents());
  block_contents block;
  const auto take = [&](std::vector<std::uint32_t>& list, std::size_t count) {
    if (count == 0 || chosen.size() < wanted + count) return;
    list.assign(chosen.end() - static_cast<std::ptrdiff_t>(count), chosen.end());
    chosen.resize(chosen.size() - count);
  };
  const auto& further = plan_.further;
  take(block.host, further.host_process ? 0 : further.host_contents());
  take(block.busy, further.busy_contents());
  if (chosen.size() > wanted) chosen.resize(wanted);
  auto& drawn = block.pairs;
  // Where there are few contents, fewer pairs; where there is one only, it is also that of the untimed call.
  const std::size_t pairs = std::clamp<std::size_t>((chosen.size() - 1) / each, 1, plan_.pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto from = chosen.begin() + static_cast<std::ptrdiff_t>(i * each);
    const auto count = std::min(each, std::max<std::size_t>(chosen.size() - 1, 1) - i * each);
    drawn.push_back({.timed = {from, from + static_cast<std::ptrdiff_t>(count)}, .warm_up = {chosen.back()}});
  }
  return block;
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
  keep_clocks(time);
  if (!trusted) ++readings_;
  shortest_ns_ = shortest_ns_ > 0 ? std::min(shortest_ns_, time.outside_ns) : time.outside_ns;
  // A time of nothing or less becomes 1 ns; the check of the minimum time judges it.
  const double around_ns = empty_ != nullptr ? constant_ns()
                           : trusted         ? baseline_nothing_ns_
                                             : candidate_nothing_ns_;
  return {std::max(interval_time(time) - around_ns, 1.0) / time.calls, false, std::nullopt,
          time.each_outside_ns};
}

// Calls of programs in Python are held up now and then, by a millisecond.
double pair_timer::interval_time(const gpu_time& time) const {
  if (!plan_.slow_start || time.each_outside_ns.empty()) return time.outside_ns;
  return middle_mean(time.each_outside_ns) * time.calls;
}

// One measurement by both clocks. Work that went on behind "done" held the fence up, and counts.
pair_timer::reading pair_timer::concluded(const gpu_time& time, bool trusted) {
  if (time.failure) return {0, false, time.failure};
  keep_clocks(time);
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
  const double hidden_ns = excess + late_ns - constant_ns();
  if (!checked.agree && hidden_ns > std::min(event_ns, std::max(grave_ns, grave_share * event_ns)))
    ++grave_disagreements_;
  // A clock that was late is no evidence against a program, which has no host code to make it late.
  if (!checked.agree && time.preempted) {
    ++late_disagreements_;
    return {checked.ns, true, std::nullopt};
  }
  excesses_.push_back(excess + late_ns);
  if (!checked.agree) ++disagreements_;
  if (trusted_clock_alone_) return {event_ns + std::max(0.0, hidden_ns), time.unblocked, std::nullopt};
  return {checked.ns, time.unblocked || !checked.agree, std::nullopt};
}

double pair_timer::reading_tolerance_ns() const {
  return plan_.calls > 1 ? admitted_tolerance_ns : usual_tolerance_ns;
}

// What all readings together say of time that the events do not show.
void pair_timer::show_pairs() {
  // A reading of the trusted clock has it already.
  hidden_ns_ =
      by_intervals() || trusted_clock_alone_
          ? 0
          : hidden_time(excesses_, constants_, plan_.calls > 1 ? admitted_allowance_ns : usual_allowance_ns);
  shown_pairs_ = pairs_;
  const double added_ns = hidden_ns_ + further_.added_ns();
  for (auto& pair : shown_pairs_) pair.candidate_ns += added_ns;
}

void pair_timer::keep_clocks(const gpu_time& time) {
  if (time.clock_mhz > 0) end_clocks_.push_back(time.clock_mhz);
  if (time.begin_clock_mhz > 0) begin_clocks_.push_back(time.begin_clock_mhz);
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
  program.measure_clock_before(pause == rests[0].time ? careful_clock : std::chrono::nanoseconds(0));
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

void pair_timer::renew() {
  candidate_->restart();
  if (baseline_->kind() == program_kind::declared || plan_.slow_start) baseline_->restart();
}

// The candidate once more, on contents that it may have seen.
pair_timer::reading pair_timer::read_again() {
  if (auto failure = warm_up(*candidate_, draw())) return {0, false, failure};
  constexpr auto again = content_use::again;
  if (!by_intervals())
    return concluded(candidate_->time(workload_, plan_.calls, plan_.cold, limit_, again), false);
  const auto time = candidate_->interval(workload_, plan_.calls, plan_.cold, limit_, again, plan_.untimed);
  if (time.failure) return {0, false, time.failure};
  const double around_ns = empty_ != nullptr ? constant_ns() : candidate_nothing_ns_;
  return {std::max(interval_time(time) - around_ns, 1.0) / time.calls, false, std::nullopt};
}

std::variant<double, call_failure> pair_timer::sustained(double seconds) {
  return sustained_time(seconds, [this]() -> std::variant<double, call_failure> {
    const auto once = read_again();
    if (once.failure) return *once.failure;
    return once.ns;
  });
}

}  // namespace kevo::cuda
