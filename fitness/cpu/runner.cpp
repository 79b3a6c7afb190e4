#include "fitness/cpu/runner.hpp"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cpu/explain_failure.hpp"
#include "fitness/oracle/load_failure.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

std::string tail(const std::string& text, std::size_t most = 500) {
  return text.size() <= most ? text : "..." + text.substr(text.size() - most);
}

// Of the arena: a call's addresses are not those of the call before. Lines that controller and worker wrote a
// moment ago pass from one processor to the other slowly (calls on 24 kB took 38 us with 3 slots, 15 with 8
// and more), so that small buffers have many slots.
std::size_t slots_for(const std::vector<buffer_shape>& buffers) {
  constexpr std::size_t bytes = 2U << 20U;
  return std::clamp<std::size_t>(bytes / arena::slot_bytes(buffers), 3, 12);
}

// The end of a worker process, seen from outside.
call_failure failure_from_exit(const exit_report& report) {
  const std::string said = report.err.empty() ? "" : "; standard error: " + tail(report.err);
  switch (report.kind) {
    case exit_kind::signalled:
      if (report.signal == SIGSYS) {
        return {outcome::rejected, "forbidden system call",
                "the process was ended because it made a system call that the sandbox forbids" + said};
      }
      return {outcome::crashed, "crashed", "the process " + describe(report) + said,
              report.signal == SIGKILL};
    case exit_kind::exited:
      return {outcome::crashed, "ended without finishing",
              "the process " + describe(report) + " before the call had ended" + said};
    case exit_kind::timed_out:
      return {outcome::timed_out, "timed out", "the process " + describe(report), true};
    case exit_kind::output_exceeded:
      return {outcome::rejected, "wrote too much",
              "the output limit was exceeded; a kernel should print nothing"};
    case exit_kind::cancelled:
      return {outcome::timed_out, "timed out", "", true};
    case exit_kind::not_started:
      return {outcome::launch_failed, "could not be started", tail(report.err), true};
  }
  return {outcome::crashed, "crashed", ""};
}

// What the process said of its end, where it could: programs in Python end with an exception. A claim, which
// explains a failure that is one in any case.
std::optional<call_failure> claimed_failure(const worker_session& session) {
  if (session.last_claim() == worker_claim::call_failed)
    return call_failure{outcome::crashed, "raised an exception", session.message()};
  if (session.last_claim() == worker_claim::wrong_result)
    return call_failure{outcome::incorrect, "wrong result", session.message()};
  return std::nullopt;
}

failed_process process_of(const worker_session& session, const worker_settings& worker) {
  return {worker.threads, session.refused_threads(), worker.prepares};
}

}  // namespace

runner_times& runner_times::operator+=(const runner_times& other) {
  start_s += other.start_s;
  calls_s += other.calls_s;
  around_s += other.around_s;
  compare_s += other.compare_s;
  return *this;
}

runner_times& runner_times::operator-=(const runner_times& other) {
  start_s -= other.start_s;
  calls_s -= other.calls_s;
  around_s -= other.around_s;
  compare_s -= other.compare_s;
  return *this;
}

runner::runner(std::shared_ptr<const task> t, worker_settings worker, std::string object, rng random,
               bool verify)
    : task_(std::move(t)),
      worker_(std::move(worker)),
      object_(std::move(object)),
      object_in_use_(object_),
      random_(random),
      verify_(verify) {}

void runner::select(std::size_t workload) {
  workload_ = workload;
  buffers_ = candidate_buffers(*task_, task_->workloads[workload]);
  if (for_one_ && session_) restart();
  if (session_) session_->reshape(buffers_, slots_for(in_arena(worker_, buffers_)));
}

bool runner::saw(const std::shared_ptr<const content>& c) const {
  return std::find(seen_.begin(), seen_.end(), c) != seen_.end();
}

std::optional<call_failure> runner::failure_of(call_end end) const {
  switch (end) {
    case call_end::done:
      return std::nullopt;
    case call_end::load_failed:
      return call_failure{outcome::launch_failed, "could not be loaded",
                          explain_load_failure(session_->message()), session_->lock_down_failed()};
    case call_end::died:
      if (auto failure = claimed_failure(*session_)) return failure;
      return failure_from_exit(*session_->report());
    case call_end::timed_out:
      return call_failure{outcome::timed_out, "timed out", "", true};
    case call_end::stuck:
      if (session_->stood_still())
        return call_failure{outcome::rejected, "stopped itself",
                            "its first thread was stopped, or had ended, when the call had ended"};
      return call_failure{outcome::timed_out, "could not be stopped", "", true};
    case call_end::interrupted:
      throw error(error_code::interrupted, "the evaluation was stopped");
  }
  return std::nullopt;
}

std::optional<call_failure> runner::begin_process() {
  launch();
  return await();
}

file_waits runner::waits() {
  const auto now = loaded_ ? usage() : std::nullopt;
  if (now) {
    waits_.major_faults = std::max(waits_.major_faults, now->major_faults - loaded_->major_faults);
    waits_.read_bytes = std::max(waits_.read_bytes, now->read_bytes - loaded_->read_bytes);
  }
  return waits_;
}

void runner::end_process() {
  waits();
  loaded_.reset();
  session_.reset();
}

void runner::launch() {
  end_process();
  seen_.clear();
  called_.clear();
  const auto room = [this](const std::vector<buffer_shape>& buffers) {
    const auto inside = in_arena(worker_, buffers);
    return slots_for(inside) * arena::slot_bytes(inside);
  };
  std::size_t bytes = room(buffers_);
  if (!for_one_) {
    for (const auto& w : task_->workloads) bytes = std::max(bytes, room(candidate_buffers(*task_, w)));
  }
  auto worker = worker_;
  if (setup_.loads_s > 0)
    worker.load_limit_s = std::clamp(setup_.loads_s - loads_s_, 0.0, worker.load_limit_s);
  arena_bytes_ = bytes;
  launched_ = std::chrono::steady_clock::now();
  const bool by_parent = !worker.start;
  if (by_parent && (!parent_ || !parent_->usable()))
    parent_ = std::make_shared<worker_parent>(worker, object_in_use_);
  // A process that somebody else forks may leave others behind, so that its memory is not used again.
  session_ = std::make_unique<worker_session>(
      worker, parent_, by_parent && pool_ ? lent_arena(pool_, bytes) : lent_arena(bytes));
  times_.start_s += seconds_since(launched_);
  loading_ = true;
}

// A slow constructor runs in every process of an evaluation, and the processors are held meanwhile: all loads
// together are bounded, too.
std::optional<call_failure> runner::await() {
  if (!loading_) return std::nullopt;
  loading_ = false;
  const bool last = setup_.loads_s > 0 && setup_.loads_s - loads_s_ < worker_.load_limit_s;
  const auto awaited = std::chrono::steady_clock::now();
  const auto end = session_->load();
  const double start_s = seconds_since(launched_);
  latest_start_s_ = start_s;
  start_s_ = start_s_ > 0 ? std::min(start_s_, start_s) : start_s;
  loads_s_ += start_s;
  times_.start_s += seconds_since(awaited);
  if (last && end == call_end::timed_out) {
    return call_failure{outcome::launch_failed, "takes too long to load",
                        fmt::format("loading it took more than {:g} s in all processes of one evaluation "
                                    "together; move the work of static constructors into the first call",
                                    setup_.loads_s)};
  }
  if (auto failure = failure_of(end)) {
    explain_failure(*failure, process_of(*session_, worker_));
    return failure;
  }
  session_->reshape(buffers_, slots_for(in_arena(worker_, buffers_)));
  loaded_ = session_->usage();
  remark_ = session_->remark();
  return std::nullopt;
}

// A first call may choose a variant by trying: it has longer, within what all first calls have together.
std::chrono::nanoseconds runner::first_limit(std::chrono::nanoseconds limit) const {
  if (called_.contains(workload_)) return limit;
  const double left_s = std::max(0.0, setup_.first_calls_s - first_calls_s_);
  const double usual_s = std::chrono::duration<double>(limit).count();
  const double longer_s = std::min(setup_.first_call_s, usual_s + left_s);
  if (longer_s <= usual_s) return limit;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(longer_s * 1e9));
}

void runner::compare_by_suite(const slot_layout& layout, const std::shared_ptr<const content>& given) {
  constexpr std::uint64_t most_compared = 16;  // later calls are timed ones
  const bool compares = compares_by_suite_ && by_suite_.calls < most_compared;
  if ((!compares && !keeps_results_) || given->kind != variety::plain || given->borrowed ||
      task_->workloads[workload_].hidden)
    return;
  if (keeps_results_) {
    auto& kept = kept_[given];
    kept.clear();
    for (std::size_t i = 0; i < task_->outputs.size(); ++i) {
      const auto bytes = session_->output(layout, i);
      kept.emplace_back(bytes.begin(), bytes.end());
    }
  }
  if (!compares) return;
  const auto theirs = theirs_->find(given);
  if (theirs == theirs_->end() && !theirs_->empty()) return;
  std::uint64_t misses = 0;
  for (std::size_t i = 0; i < task_->outputs.size(); ++i) {
    const auto& type = element_type_of(task_->outputs[i]);
    const auto got = session_->output(layout, i);
    misses += theirs_->empty() ? suite_misses(type, got, given->outputs[i])
                               : suite_misses(type, got, std::span<const std::byte>(theirs->second[i]));
  }
  by_suite_.add(misses);
}

std::optional<call_failure> runner::verify(const slot_layout& layout,
                                           const std::shared_ptr<const content>& given) {
  const content& expected = *given;
  const auto axes = axis_values(*task_, task_->workloads[workload_]);
  compare_by_suite(layout, given);
  for (std::size_t i = 0; i < task_->outputs.size(); ++i) {
    const auto& output = task_->outputs[i];
    const auto check =
        check_output(element_type_of(output), session_->output(layout, i), expected.outputs[i]);
    if (!check.accepted) {
      // Numbers would tell what another workload, perhaps a hidden one, is made of.
      return call_failure{
          outcome::incorrect, "wrong result",
          expected.rows ? "(with input data in which a few rows are unlike the others)"
          : expected.borrowed
              ? "(with input data of another generator)"
              : fmt::format("{} (input data: {})", describe(check, output.name, extents(output, axes)),
                            to_string(expected.kind))};
    }
  }
  return std::nullopt;
}

namespace {

// So many may be there between calls: `threads` that work, and one that waits for them.
std::optional<call_failure> too_many_threads(int found, int threads) {
  if (threads == 1 || found <= threads + 1) return std::nullopt;
  return call_failure{outcome::rejected, "keeps more threads than it may have",
                      fmt::format("it has {} threads after a call; fitness.threads is {}", found, threads)};
}

/// "the first byte lies 4 bytes behind the end of Y".
std::string place_of_damage(const task& t, const slot_damage& damage) {
  std::vector<std::string> names;  // of the buffers, in their order
  for (const auto& input : t.inputs) {
    if (!input.scalar) names.push_back(input.name);
  }
  for (const auto& output : t.outputs) names.push_back(output.name);
  if (damage.buffer >= names.size()) return "memory outside of the output buffers was changed";
  return fmt::format("the first byte that was changed lies {} {} {} {}", damage.distance,
                     damage.distance == 1 ? "byte" : "bytes",
                     damage.before ? "before the beginning of" : "behind the end of", names[damage.buffer]);
}

std::optional<call_failure> tampering_failure(const task& t, bool early, const slot_damage& damage) {
  if (damage.guards)
    return call_failure{outcome::rejected, "wrote outside of its outputs", place_of_damage(t, damage)};
  if (damage.inputs) return call_failure{outcome::rejected, "changed its inputs", ""};
  if (early) {
    return call_failure{outcome::rejected, "signalled done before the work was done",
                        "the output still changed after the call had returned"};
  }
  return std::nullopt;
}

std::string limit_text(std::chrono::nanoseconds limit) {
  return fmt::format("a call may take {:.3g} s here", std::chrono::duration<double>(limit).count());
}

const call_failure serves_itself = {
    outcome::rejected, "serves its calls itself",
    "its process does not wait for calls where kevo's own code does, which calls the program"};
const call_failure unreadable_result = {outcome::incorrect, "wrong result",
                                        "its result cannot be read where it is said to lie: several elements "
                                        "are one place, or it is no memory of "
                                        "the program"};

}  // namespace

call_time runner::isolated(const std::shared_ptr<const content>& given, std::chrono::nanoseconds limit,
                           const std::optional<rng>& places) {
  const bool needed = !session_ || session_->report() || (verify_ && saw(given));
  if (auto failure = needed ? begin_process() : await()) return {.failure = failure};
  if (verify_) seen_.push_back(given);
  const bool cold = task_->workloads[workload_].cache == "cold";
  if (places) session_->place_next(*places);
  const auto start = std::chrono::steady_clock::now();
  // Drawn from a copy, which lies at the same address for both programs of a pair: each draw writes to the
  // generator, and where that lies changes a call of 2 us by up to 0.5 %, the same in all pairs.
  rng draws = random_;
  const auto most = first_limit(limit);
  const auto call = session_->run_isolated(given->call(), draws, most, cold);
  random_ = draws;
  times_.calls_s += 1e-9 * call.ns;
  times_.around_s += seconds_since(start) - 1e-9 * call.ns;
  if (called_.insert(workload_).second)
    first_calls_s_ += std::max(0.0, 1e-9 * (call.whole_ns - static_cast<double>(limit.count())));
  call_time result{.ns = call.ns,
                   .whole_ns = call.whole_ns,
                   .disturbed = call.disturbed,
                   .late = call.late,
                   .accounted = call.accounted,
                   .beside_ns = call.beside_ns,
                   .prepared_ns = call.prepared_ns};
  result.failure = failure_of(call.end);
  if (result.failure && call.end == call_end::timed_out) result.failure->detail = limit_text(most);
  if (!result.failure && verify_) {
    result.failure = tampering_failure(*task_, call.early, call.damage);
    if (!result.failure && call.unreadable) result.failure = unreadable_result;
    if (!result.failure && call.served_elsewhere) result.failure = serves_itself;
    if (!result.failure) result.failure = too_many_threads(call.threads, worker_.threads);
    const auto comparing = std::chrono::steady_clock::now();
    if (!result.failure) result.failure = verify(call.layout, given);
    times_.compare_s += seconds_since(comparing);
  }
  if (result.failure) explain_failure(*result.failure, process_of(*session_, worker_));
  if (result.failure) restart();
  return result;
}

call_time runner::unjudged(const content& one, const content& other, std::chrono::nanoseconds limit) {
  need_process();
  auto inputs = one.inputs;
  const auto axes = axis_values(*task_, task_->workloads[workload_]);
  std::size_t place = 0;
  for (const auto& input : task_->inputs) {
    if (input.scalar) continue;
    auto& bytes = inputs[place];
    const auto& theirs = other.inputs[place++];
    const auto shape = extents(input, axes);
    // Whole rows, since a row may be more than its elements: weights of a sum. Integers may be places in
    // other inputs.
    const auto rows = shape.empty() ? 0U : static_cast<std::uint64_t>(shape.front());
    if (element_type_of(input).kind != element_kind::real || rows < 2) continue;
    const std::size_t row = bytes.size() / rows;
    auto from = random_.below(rows + 1);
    auto to = random_.below(rows + 1);
    if (from > to) std::swap(from, to);
    std::copy(theirs.begin() + static_cast<std::ptrdiff_t>(from * row),
              theirs.begin() + static_cast<std::ptrdiff_t>(to * row),
              bytes.begin() + static_cast<std::ptrdiff_t>(from * row));
  }
  const bool cold = task_->workloads[workload_].cache == "cold";
  rng draws = random_;
  const auto call = session_->run_isolated({inputs, one.axes, one.scalars}, draws, limit, cold);
  random_ = draws;
  times_.calls_s += 1e-9 * call.ns;
  call_time result{.ns = call.ns, .whole_ns = call.whole_ns};
  result.failure = failure_of(call.end);
  if (result.failure) restart();
  return result;
}

void runner::settle() {
  if (session_) session_->settle();
}

void runner::need_process() {
  if (session_ && !session_->report()) return;
  if (const auto failure = begin_process())
    throw error(error_code::environment,
                "a worker process could not be started: " + failure->reason + " " + failure->detail);
}

void runner::begin_from_rest() {
  need_process();
  session_->begin_from_rest();
}

bool runner::delivered() {
  need_process();
  return session_->clock_of(task_->workloads[workload_].cache == "cold") == call_clock::delivered;
}

void runner::restart() {
  end_process();
  loading_ = false;
  for_one_ = false;
}

void runner::renew() {
  restart();
  parent_.reset();
}

void runner::place_at(std::vector<std::string> objects) {
  placed_ = std::move(objects);
  placement_ = 0;
  object_in_use_ = object_;
  renew();
}

void runner::restart_for_pair() {
  if (!placed_.empty()) {
    object_in_use_ = placed_[placement_++ % placed_.size()];
    return renew();
  }
  if (worker_.start || addresses_can_be_fixed(worker_.sandbox)) return restart();
  renew();  // each parent has addresses of its own, and so does each pair then
}

void runner::launch_for_one() {
  for_one_ = true;
  launch();
}

}  // namespace kevo
