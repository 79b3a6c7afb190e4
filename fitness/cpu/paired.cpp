#include "fitness/cpu/paired.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cpu/uneven.hpp"
#include "fitness/timing/sustained_time.hpp"
#include "fitness/timing/trusted_timeout.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

constexpr double turn_ns = 1e6;     // of calls in a turn
constexpr double turn_calls = 12;   // in a turn
constexpr double most_rounds = 10;  // in a block
constexpr double long_ns = 20e6;    // a call of which one in a block is enough: more pairs say more

// A worker that is awake has calls of less than 0.1 ms (session_calls.cpp); what is known of a call is rough.
constexpr double longest_surely_awake_ns = 70e3;

constexpr double most_processes = 6;   // of the candidate in a block with a slow baseline
constexpr double share_of_slow = 0.3;  // of the time of a slow baseline that these may take

constexpr int first_pacer_calls = 8;    // in the first block
constexpr int pacer_calls_of_long = 3;  // in each later block, where calls are long
constexpr double long_beside_pace_ns = 200e3;
constexpr std::size_t pacer_calls_kept = 36;
constexpr double least_resolution_ns = 500;
constexpr double most_resolution_ns =
    5e3;  // a busy machine widens intervals; it must not make all times equal

void keep_latest(std::vector<double>& values, double one) {
  values.push_back(one);
  if (values.size() > pacer_calls_kept) values.erase(values.begin());
}

}  // namespace

pairing_plan plan_pairing(double candidate_ns, double baseline_ns, std::size_t contents, double block_ns,
                          double start_ns) {
  pairing_plan plan;
  const double slower = std::max({candidate_ns, baseline_ns, 1.0});
  const double faster = std::max(std::min(candidate_ns, baseline_ns), 1.0);
  plan.half = slower > long_ns || block_ns <= 0;
  const double most = std::clamp(static_cast<double>(contents) / 2 - 1, 1.0, turn_calls);
  const auto count = [&](double ns) { return std::clamp(std::ceil(turn_ns / std::max(ns, 1.0)), 1.0, most); };
  if (faster >= long_beside_pace_ns) plan.pacer_calls = pacer_calls_of_long;
  double candidate_calls = count(candidate_ns);
  double baseline_calls = count(baseline_ns);
  // Nearly equal programs are treated exactly alike.
  if (slower < 2 * faster) {
    candidate_calls = baseline_calls = std::max(candidate_calls, baseline_calls);
    plan.from_rest = slower > longest_surely_awake_ns;
  }
  plan.candidate_calls = static_cast<int>(candidate_calls);
  plan.baseline_calls = static_cast<int>(baseline_calls);
  // Of each round a process is given two turns of contents that it has not seen.
  const double longest = std::max(candidate_calls, baseline_calls);
  const double room = std::floor((static_cast<double>(contents) - 1) / (2 * longest));
  const double round_ns = 2 * (candidate_calls * candidate_ns + baseline_calls * baseline_ns);
  if (!plan.half)
    plan.rounds = static_cast<int>(
        std::clamp(std::min(std::round(block_ns / std::max(round_ns, 1.0)), room), 1.0, most_rounds));
  // Each process has an untimed first call.
  const int turns = plan.half ? 1 : 2 * plan.rounds;
  const double of_candidate_ns = start_ns + (1 + turns * candidate_calls) * candidate_ns;
  const double of_baseline_ns = start_ns + (1 + turns * baseline_calls) * baseline_ns;
  if (block_ns > 0 && baseline_ns > long_ns) {
    plan.candidate_processes = static_cast<int>(
        std::clamp(std::floor(share_of_slow * of_baseline_ns / of_candidate_ns), 1.0, most_processes));
  }
  plan.pair_ns = of_baseline_ns + plan.candidate_processes * of_candidate_ns;
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
  if (pacer.accounted) {
    if (!pacer.disturbed) keep_latest(costs_, pacer.beside_ns);
    return;
  }
  // Less than the pace means that something else had the processor for a while: of this call, processor time
  // tells nothing.
  if (const double cost = pacer.whole_ns - pace_ns; cost > 0) keep_latest(costs_, cost);
}

double call_boundary::cost_ns() const {
  if (costs_.empty()) return 0;
  // Beside other work the real time of several threads contains waits, and more of them in one call than in
  // the next: taken off, those of the pacer would leave nothing of a call that did not wait.
  return spread_ns() > most_resolution_ns ? quantile(costs_, 0.1) : median(costs_);
}

double call_boundary::spread_ns() const {
  return costs_.empty() ? 0 : quantile(costs_, 0.75) - quantile(costs_, 0.25);
}

double call_boundary::resolution_ns() const {
  return std::clamp(spread_ns(), least_resolution_ns, most_resolution_ns);
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

// For the next calls of both programs; no process is given one twice.
paired_timer::contents_of_calls paired_timer::next_contents() {
  const auto count = static_cast<std::size_t>(std::max(plan_.candidate_calls, plan_.baseline_calls));
  if (place_ + count > cycle_.size()) begin_processes();
  place_ += count;
  return std::span(cycle_).subspan(place_ - count, count);
}

// Of one process, its untimed first call included.
std::size_t paired_timer::contents_of_process() const {
  const auto of_turn = static_cast<std::size_t>(std::max(plan_.candidate_calls, plan_.baseline_calls));
  const bool one_turn = plan_.half || plan_.candidate_processes > 1;
  return 1 + of_turn * (one_turn ? 1 : 2 * static_cast<std::size_t>(plan_.rounds));
}

// The first one is that of the untimed first call.
void paired_timer::shuffle_contents() {
  place_ = 1;
  if (source_) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t unchecked = unchecked_.empty() ? 0 : 1;
    cycle_ = shuffled_mixture(source_(contents_of_process() - unchecked), random_);
    if (unchecked > 0) cycle_.insert(cycle_.begin(), unchecked_.front());
    drawing_s_ += seconds_since(start);
    return;
  }
  cycle_ = shuffled_mixture(*contents_, random_);
  if (unchecked_.empty()) return;
  const auto found = std::find(cycle_.begin(), cycle_.end(), unchecked_.front());
  if (found != cycle_.end()) std::iter_swap(cycle_.begin(), found);
}

void paired_timer::begin_processes() {
  shuffle_contents();
  // The kernel hands memory out again in the order in which it came back, and a scheduler remembers how a
  // process began. If one program always came first, what that adds would be in every pair, and in no
  // difference between pairs: on a busy machine with 16 processors a program was 6 % faster than itself.
  candidate_->restart_for_pair();
  baseline_->restart_for_pair();
  // Both at once, and both are there before anything is timed.
  const bool candidate_first = random_.chance(0.5);
  runner& first = candidate_first ? *candidate_ : *baseline_;
  runner& second = candidate_first ? *baseline_ : *candidate_;
  first.launch_for_one();
  second.launch_for_one();
  const auto first_failure = first.await();
  const auto second_failure = second.await();
  load_failure_ = candidate_first ? first_failure : second_failure;
  if (const auto& failure = candidate_first ? second_failure : first_failure)
    trusted_failed("the baseline", *failure);
  if (!plan_.from_rest || load_failure_) return;
  candidate_->begin_from_rest();
  baseline_->begin_from_rest();
}

// A process that has just been started has its first calls untimed, so that code and pages are there. Modules
// that were traced are compiled in the third call, and PyTorch's heap uses its memory again after some.
std::optional<call_failure> paired_timer::begin_calls(runner& program) {
  constexpr int fewest = 3;
  constexpr int most = 10;
  constexpr double enough_s = 0.02;
  if (auto first = program.isolated(cycle_.front(), limit_); first.failure) return first.failure;
  if (&program == candidate_) std::erase(unchecked_, cycle_.front());
  if (!warms_up_) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  double call_ns = 0;
  for (int i = 0; i < most && (i < fewest || seconds_since(start) < enough_s); ++i) {
    auto further = program.unjudged(*cycle_.front(), *cycle_.front(), limit_);
    if (further.failure) return further.failure;
    call_ns = further.whole_ns;
  }
  return &program == candidate_ ? drain(call_ns) : std::nullopt;
}

// Uses up what the candidate's process may have stored for its timed calls, as far as a little time allows;
// `use_up` does more of it in confirmations. The inputs are rows of two that the process has had.
std::optional<call_failure> paired_timer::drain(double call_ns) {
  constexpr double unusual_bytes = 8e6;  // processes of the same program differ by less
  constexpr double most_s = 0.25;
  const double theirs = baseline_->writable_bytes();
  if (theirs <= 0 || place_ >= cycle_.size()) return std::nullopt;
  const stored_work stored = {.set_up_ns = 0, .bytes = candidate_->writable_bytes() - theirs - unusual_bytes};
  const double served = calls_served(stored, call_ns);
  if (served < static_cast<double>(cycle_.size())) return std::nullopt;
  const auto other = cycle_.back();
  cycle_.pop_back();  // no process has it twice
  if (auto seen = candidate_->isolated(other, limit_); seen.failure) return seen.failure;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < served && seconds_since(start) < most_s; ++i) {
    if (auto call = candidate_->unjudged(*cycle_.front(), *other, limit_); call.failure) return call.failure;
  }
  return std::nullopt;
}

// One turn: adds what its calls took.
std::optional<call_failure> paired_timer::read(runner& program, contents_of_calls given, const rng& places,
                                               readings& times) {
  if (!program.warm()) {
    if (auto failure = begin_calls(program)) return failure;
  }
  const double cost = delivered_ ? 0 : boundary_.cost_ns();
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto time = program.isolated(given[i], limit_, places.split(i));
    if (time.failure) return *time.failure;
    (time.disturbed ? times.disturbed : times.quiet).push_back(time.whole_ns - cost);
    times.prepared.push_back(time.prepared_ns);
    if (time.accounted && !time.disturbed) times.beside.push_back(time.beside_ns);
    if (time.late || !time.disturbed)
      (time.late ? times.late : times.whole)
          .push_back(time.whole_ns + time.beside_ns + time.prepared_ns - cost);
  }
  program.settle();
  return std::nullopt;
}

std::vector<double> paired_timer::readings::comparable_with(const readings& other) const {
  auto times = whole;
  if (from_rest() == other.from_rest()) times.insert(times.end(), late.begin(), late.end());
  return times;
}

// The time per call in nanoseconds, at least the resolution. Where the controller lost its processor its
// clock was late. A candidate has no part in that, so that those calls can be left out, unless few others are
// there.
double paired_timer::settled(const readings& times) {
  auto used = times.quiet;
  if (2 * times.quiet.size() < times.disturbed.size())
    used.insert(used.end(), times.disturbed.begin(), times.disturbed.end());
  const double typical = median(used);
  too_short_ |= typical < resolution_ns();
  return std::max(typical, resolution_ns());
}

void paired_timer::pace() {
  if (delivered_) pacer_->begin_from_rest();
  const int calls = boundary_.empty() ? first_pacer_calls : plan_.pacer_calls;
  for (int i = 0; i < calls; ++i) {
    const auto time = pacer_->isolated((*contents_)[static_cast<std::size_t>(i) % contents_->size()], limit_);
    if (time.failure) trusted_failed("the pacing program", *time.failure);
    if (!delivered_ || time.accounted) boundary_.add(time);
  }
}

void paired_timer::begin_pacing() {
  delivered_ = pacer_->delivered();
  if (!delivered_) pace();
}

// What the candidate worked before each call, when it only had to make tensors around buffers without inputs,
// more than the baseline did: work of the call. It differs from process to process of one program, so that
// only what most blocks show counts, and what errors explain is nothing.
double paired_timer::worked_before(const readings& candidate, const readings& baseline) {
  constexpr double least_ns = 200;
  constexpr std::size_t enough = 4;
  const double usual = median(baseline.prepared);
  before_.push_back(median(candidate.prepared) - usual);
  usual_before_.push_back(usual);
  const double error =
      before_.size() >= enough
          ? trusted_error(before_, error_of_middle(usual_before_), least_ns)
          : trusted_error(candidate.prepared, error_of_middle(baseline.prepared), least_ns) + usual;
  const double excess = median(before_);
  return excess > least_ns + 2 * error ? excess : 0;
}

// What the candidate worked in each call beside the call, more than the baseline or the pacer did. All wake
// up and fall asleep, which takes each about as long, so that less than a microsecond or two, or than
// differences between blocks explain, is nothing.
double paired_timer::worked_beside(const readings& candidate, const readings& baseline, double call_ns) {
  constexpr double least_ns = 2e3;
  constexpr double least_share = 0.01;  // of a call
  constexpr double least_error_ns = 500;
  constexpr std::size_t enough = 4;
  const std::size_t calls = candidate.quiet.size() + candidate.disturbed.size();
  if (candidate.beside.empty() || 3 * candidate.beside.size() < calls) return 0;
  if (baseline.beside.empty()) pace();
  if (baseline.beside.empty() && boundary_.empty()) return 0;
  const double usual = baseline.beside.empty() ? boundary_.cost_ns() : median(baseline.beside);
  beside_.push_back(median(candidate.beside) - usual);
  usual_beside_.push_back(usual);
  double error = error_of_middle(candidate.beside);
  if (beside_.size() >= enough) {
    const double blocks = std::sqrt(static_cast<double>(beside_.size()));
    const double of_machine = std::max(error_of_middle(usual_beside_), boundary_.spread_ns() / blocks);
    error = trusted_error(beside_, of_machine, least_error_ns);
  } else if (!baseline.beside.empty()) {
    error += error_of_middle(baseline.beside);
  }
  const double excess = median(beside_);
  return excess > std::max(least_ns, least_share * call_ns) + 2 * error ? excess : 0;
}

// What is known by now is told of all pairs.
void paired_timer::add_pair(const readings& candidate, const readings& baseline, double candidate_ns,
                            double uneven_ns) {
  even_.push_back(candidate_ns + worked_beside(candidate, baseline, candidate_ns));
  const double before = worked_before(candidate, baseline);
  // Of all that was worked, as the times that it is compared with.
  const double worked_ns = candidate_ns + median(candidate.prepared);
  const double usual_ns = usual_excess(baseline.comparable_with(candidate), worked_ns);
  uneven_.push_back(uneven_ns - usual_ns);
  usually_uneven_.push_back(usual_ns);
  pairs_.push_back({0, settled(baseline)});
  const double in_some = worked_in_some_calls(uneven_, usually_uneven_, median(even_));
  for (std::size_t i = 0; i < pairs_.size(); ++i) pairs_[i].candidate_ns = even_[i] + before + in_some;
}

std::optional<call_failure> paired_timer::block() {
  return begun_again(
      [this] { return plan_.candidate_processes > 1 ? block_of_processes() : block_of_turns(); },
      [this] { ++discarded_; });
}

// One process after the other has its turn, each alone: the baseline's at a place that is drawn, so that
// neither program comes first in general. Each has its own contents and its own places of buffers, whose
// effects cancel out in the candidate's time.
std::optional<call_failure> paired_timer::block_of_processes() {
  candidate_->restart_for_pair();
  baseline_->restart_for_pair();
  begin_pacing();
  const auto turn_of_baseline =
      static_cast<int>(random_.below(static_cast<std::uint64_t>(plan_.candidate_processes) + 1));
  readings baseline;
  readings all;  // of the candidate's processes
  std::vector<double> times;
  std::vector<readings> each;
  for (int turn = 0; turn <= plan_.candidate_processes; ++turn) {
    const bool slow = turn == turn_of_baseline;
    runner& program = slow ? *baseline_ : *candidate_;
    shuffle_contents();
    program.launch_for_one();
    if (auto failure = program.await()) {
      if (slow) trusted_failed("the baseline", *failure);
      return failure;
    }
    const auto given = std::span(cycle_).subspan(
        1, static_cast<std::size_t>(slow ? plan_.baseline_calls : plan_.candidate_calls));
    readings candidate;
    if (auto failure = read(program, given, rng(random_()), slow ? baseline : candidate)) {
      if (slow) trusted_failed("the baseline", *failure);
      return failure;
    }
    if (!slow) {
      times.push_back(settled(candidate));
      all.quiet.insert(all.quiet.end(), candidate.quiet.begin(), candidate.quiet.end());
      all.disturbed.insert(all.disturbed.end(), candidate.disturbed.begin(), candidate.disturbed.end());
      all.beside.insert(all.beside.end(), candidate.beside.begin(), candidate.beside.end());
      all.prepared.insert(all.prepared.end(), candidate.prepared.begin(), candidate.prepared.end());
      each.push_back(std::move(candidate));
    }
    // The candidate's next process has its code elsewhere, where it is timed at several places.
    if (slow)
      program.restart();
    else
      program.restart_for_pair();
  }
  std::vector<double> uneven;
  uneven.reserve(each.size());
  for (const auto& one : each) uneven.push_back(excess_of_mean(one.comparable_with(baseline)));
  add_pair(all, baseline, pseudo_median(times), median(uneven));
  return std::nullopt;
}

std::optional<call_failure> paired_timer::block_of_turns() {
  const bool baseline_outside = pairs_.size() % 2 == 0;
  auto order = std::vector<bool>{true, false, false, true};
  if (plan_.half) order = {true, false};
  begin_processes();
  if (load_failure_) return load_failure_;
  begin_pacing();
  readings baseline;
  readings candidate;
  contents_of_calls given;
  rng places;
  for (int round = 0; round < plan_.rounds; ++round) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i % 2 == 0) {
        given = next_contents();
        places = rng(random_());
      }
      if (load_failure_) return load_failure_;
      if (order[i] == baseline_outside) {
        const auto turn = given.first(static_cast<std::size_t>(plan_.baseline_calls));
        if (const auto failure = read(*baseline_, turn, places, baseline))
          trusted_failed("the baseline", *failure);
      } else {
        const auto turn = given.first(static_cast<std::size_t>(plan_.candidate_calls));
        if (auto failure = read(*candidate_, turn, places, candidate)) return failure;
      }
    }
  }
  add_pair(candidate, baseline, settled(candidate), excess_of_mean(candidate.comparable_with(baseline)));
  return std::nullopt;
}

std::variant<double, call_failure> paired_timer::sustained(double seconds) {
  begin_processes();
  return sustained_time(seconds, [this]() -> std::variant<double, call_failure> {
    begun_again([this] { begin_pacing(); }, [] {});
    readings times;
    const auto turn = next_contents().first(static_cast<std::size_t>(plan_.candidate_calls));
    if (load_failure_) return *load_failure_;
    if (const auto failure = read(*candidate_, turn, rng(random_()), times)) return *failure;
    return settled(times);
  });
}

}  // namespace kevo
