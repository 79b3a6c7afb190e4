// The blocks of a pair_timer: which readings make a pair, and which are thrown away.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cuda/measure/pair_timer.hpp"
#include "fitness/timing/trusted_timeout.hpp"

namespace kevo::cuda {
namespace {

constexpr double most_clock_change = 0.02;
constexpr int most_contested = 3;  // blocks, each in other processes
// Calls in one graph and calls alone must agree so far, besides what events resolve of a single call.
constexpr double modes_tolerance = 0.05;
constexpr double isolated_resolution_ns = 500;
constexpr int isolated_readings = 4;
constexpr int isolated_repeats = 5;

// Timed contents are of all varieties, of which a baseline was checked on a few: where it is wrong on another
// one, the tolerance is too tight more often than the machine is broken.
[[noreturn]] void baseline_failed(const call_failure& failure) {
  if (failure.outcome != outcome::incorrect) trusted_failed("the baseline", failure);
  throw error(
      error_code::input,
      "the baseline failed while it was timed (" + failure.reason + " " + failure.detail + ")",
      {.key = "tolerance"},
      "if it fails for one kind of input data only (scaled, constant, ...), the tolerance is too tight for "
      "these data; `kevo task check` tries more of them");
}

// What lies around calls that are not held, one by one.
std::vector<double> around_calls(const gpu_time& time) {
  std::vector<double> around;
  const auto count = std::min(time.each_call_ns.size(), time.each_outside_ns.size());
  for (std::size_t i = 0; i < count; ++i) around.push_back(time.each_outside_ns[i] - time.each_call_ns[i]);
  return around;
}

}  // namespace

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

// Of programs whose processes start slowly: half of the baseline's readings, all of the candidate's in one
// process, and the baseline's others. Each reading of the one has its pair with the same contents.
std::optional<call_failure> pair_timer::block_of_process() {
  begin_clocks_.clear();
  end_clocks_.clear();
  const auto end_candidate = [this] {
    if (!candidate_->running()) return;
    candidate_->restart();
    candidate_->workers().settle();
  };
  end_candidate();
  auto block = draw_block();
  const auto& contents = block.pairs;
  const auto content_of_nothing = contents.front().warm_up.front();
  if (empty_ != nullptr) {
    do read_empty();
    while (constants_.size() < least_constants);
  } else if (const auto failure = read_nothing(*baseline_, content_of_nothing)) {
    baseline_failed(*failure);
  }
  std::vector<timing_pair> read_pairs(contents.size());
  std::vector<std::vector<double>> candidate_each(contents.size());
  std::vector<std::vector<double>> baseline_each(contents.size());
  call_times candidate_times;
  call_times baseline_times;
  // In every other block the baseline's further readings come after the candidate's, as its readings do.
  const bool early = !plan_.further.host_process && contents.size() > 1 &&
                     (pairs_.size() / std::max<std::size_t>(plan_.pairs, 1)) % 2 == 0;
  const auto read_baseline = [&](std::size_t from, std::size_t to, bool further) {
    for (std::size_t i = from; i < to; ++i) {
      auto once = read(*baseline_, true, contents[i]);
      if (once.failure) baseline_failed(*once.failure);
      read_pairs[i].baseline_ns = once.ns;
      baseline_each[i] = std::move(once.each);
    }
    if (!further) return;
    if (const auto failure = read_further(*baseline_, block, baseline_times)) baseline_failed(*failure);
    read_trusted(block, baseline_times);
  };
  read_baseline(0, contents.size() / 2, early);
  if (empty_ == nullptr) {
    if (auto failure = read_nothing(*candidate_, content_of_nothing)) return failure;
  }
  for (std::size_t i = 0; i < contents.size(); ++i) {
    auto once = read(*candidate_, false, contents[i]);
    if (once.failure) return once.failure;
    read_pairs[i].candidate_ns = once.ns;
    candidate_each[i] = std::move(once.each);
  }
  if (plan_.further.host_process) {
    end_candidate();
    if (auto failure = begin_host_process(block)) return failure;
  }
  if (auto failure = read_further(*candidate_, block, candidate_times)) return failure;
  end_candidate();
  read_baseline(contents.size() / 2, contents.size(), !early);
  if (clock_changed()) {
    ++discarded_;
    require_some_pairs();
    return std::nullopt;
  }
  pairs_.insert(pairs_.end(), read_pairs.begin(), read_pairs.end());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    further_.add_pair(candidate_each[i], baseline_each[i]);
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(candidate_times.held, candidate_each[i]);
    append(baseline_times.held, baseline_each[i]);
  }
  further_.add_block(candidate_times, baseline_times);
  show_pairs();
  return std::nullopt;
}

// Another process of the candidate, which may be given contents that the one before has seen.
std::optional<call_failure> pair_timer::begin_host_process(block_contents& block) {
  auto chosen = candidate_->draw(workload_, plan_.further.host_contents() + 1);
  if (chosen.size() < 3) return std::nullopt;
  const drawn_contents first{.timed = {}, .warm_up = {chosen.back()}};
  chosen.pop_back();
  block.host = std::move(chosen);
  return warm_up(*candidate_, first);
}

// Readings of a block besides those of its pairs.
std::optional<call_failure> pair_timer::read_further(program_runner& program, const block_contents& contents,
                                                     call_times& times) {
  if (!contents.host.empty()) {
    auto time = program.interval_of(workload_, contents.host, plan_.cold, limit_, 1, call_mode::host);
    if (time.failure) return time.failure;
    keep_clocks(time);
    times.around = around_calls(time);
    times.host = std::move(time.each_call_ns);
  }
  if (contents.busy.empty()) return std::nullopt;
  auto time = program.interval_of(workload_, contents.busy, plan_.cold, limit_, 1, call_mode::busy);
  if (time.failure) return time.failure;
  keep_clocks(time);
  times.busy = std::move(time.each_outside_ns);
  return std::nullopt;
}

// What only kevo's own code in the process of a baseline can tell.
void pair_timer::read_trusted(const block_contents& contents, call_times& times) {
  const auto read_mode = [&](const std::vector<std::uint32_t>& list, call_mode mode) {
    auto time = baseline_->interval_of(workload_, list, plan_.cold, limit_, 1, mode);
    if (time.failure) baseline_failed(*time.failure);
    return time;
  };
  if (!contents.host.empty()) times.idle = read_mode(contents.host, call_mode::idle).each_call_ns;
  if (!contents.busy.empty()) times.early = read_mode(contents.busy, call_mode::early).each_outside_ns;
}

// Whether readings of a block were taken at different clocks of the device. A program that draws much power
// lowers the clock itself, and that is part of its time. So where the device rests before each reading, it is
// enough that all readings begin at the same clock: no program gains by what another one did to it.
bool pair_timer::clock_changed() {
  const auto differ = [](const std::vector<double>& clocks) {
    if (clocks.empty()) return false;
    const auto [least, most] = std::minmax_element(clocks.begin(), clocks.end());
    return *least < (1 - most_clock_change) * *most;
  };
  const bool changed = differ(begin_clocks_.empty() ? end_clocks_ : begin_clocks_);
  const auto rested_before = rest();
  clock_changes_ += changed ? 1 : 0;
  // What was lost before the device rested tells nothing about how often a pair is lost from now on.
  if (rest() != rested_before) discarded_before_ = discarded_ + 1;
  return changed;
}

std::optional<call_failure> pair_timer::block() {
  return begun_again([this] { return plan_.slow_start ? block_of_process() : block_of_turns(); },
                     [this] { ++discarded_; });
}

std::optional<call_failure> pair_timer::block_of_turns() {
  begin_clocks_.clear();
  end_clocks_.clear();
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
      baseline_failed(*once.failure);
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
  const int lost = discarded_ - discarded_before_;
  const bool hopeless = lost > most_lost();
  const int against = disagreements_ + (hopeless ? late_disagreements_ : 0);
  // Where the clocks also disagree about the baseline, the machine is the reason.
  if ((contested_ >= most_contested || hopeless) && 2 * against > readings_ &&
      against > 2 * trusted_disagreements_) {
    if (2 * grave_disagreements_ > against) return clocks_disagree();
    if (!trusted_clock_alone_) {
      use_trusted_clock_alone();
      return std::nullopt;
    }
  }
  if (!hopeless) return std::nullopt;
  // Too often for a time by events, too rarely for a suspicion.
  if (!trusted_clock_alone_ && 2 * disagreements_ >= lost) {
    use_trusted_clock_alone();
    return std::nullopt;
  }
  no_time();
}

// A reading is what the trusted clock saw, where that is the longer time, so that nobody gains by it.
void pair_timer::use_trusted_clock_alone() {
  trusted_clock_alone_ = true;
  discarded_before_ = discarded_;
  pairs_.clear();
  show_pairs();
}

call_failure pair_timer::clocks_disagree() const {
  return {
      outcome::suspect, "its events and the trusted clock disagree",
      fmt::format(
          "the events of the device and the trusted clock give different times for its calls: in {} of {} "
          "readings, {} of them by more than a busy host explains. The clock shows {:.1f} us more than the "
          "events "
          "for a call (median), and {:.1f} us more for a call of the baseline",
          disagreements_ + late_disagreements_, readings_, grave_disagreements_,
          excesses_.empty() ? 0.0 : median(excesses_) / 1e3, constant_ns() / 1e3),
      true, true};
}

int pair_timer::most_lost() const {
  return 12 + 2 * static_cast<int>(pairs_.size());
}

void pair_timer::require_some_pairs() const {
  if (discarded_ - discarded_before_ > most_lost()) no_time();
}

void pair_timer::no_time() const {
  throw unmeasurable(
      error_code::environment,
      fmt::format("no time can be measured: of {} blocks of readings {} were discarded. The device's "
                  "clock changed in {} of them, "
                  "kevo lost its processor in {} readings, and the two clocks disagreed in {} "
                  "readings of the candidate and {} "
                  "of the baseline",
                  discarded_ + static_cast<int>(pairs_.size()), discarded_, clock_changes_,
                  late_disagreements_, disagreements_, trusted_disagreements_),
      {},
      "end other programs on the device and on this machine, or build fewer candidates at once "
      "(run.parallel.builds)");
}

}  // namespace kevo::cuda
