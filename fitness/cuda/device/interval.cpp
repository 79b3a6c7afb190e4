// Intervals: many distinct calls, one by one, timed from outside. Between calls the trusted context copies
// and does nothing else, for its kernels would cost the worker a change of contexts.

#include <algorithm>
#include <chrono>

#include <kevo/error.hpp>

#include "fitness/cuda/device/engine.hpp"

namespace kevo::cuda {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t chunk_bytes = 4U << 20U;
// Lines in all of an interval, and the least of one call: one that signals early does so again and again.
constexpr std::size_t lines_of_interval = 64;
constexpr std::size_t least_lines_of_interval = 4;
constexpr std::size_t most_lines = 16;

// How long a held call may take to be launched. Code that waits for its own work launches the rest after its
// release: where that is so again and again, there is no use in waiting.
constexpr auto launch_patience = std::chrono::milliseconds(3);
constexpr auto short_patience = std::chrono::microseconds(300);
constexpr int most_unlaunched = 3;
// The clock of an H100 does not fall within so short a rest.
constexpr auto shortest_rest = std::chrono::milliseconds(3);
// Between "done" and the word that the program's stream has written.
constexpr auto word_patience = std::chrono::seconds(1);

std::size_t lines_of(std::size_t calls) {
  return std::clamp(lines_of_interval / std::max<std::size_t>(calls, 1), least_lines_of_interval, most_lines);
}

double ns_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

}  // namespace

// Reads twice the size of the cache and writes one small place again and again, so that what is left in the
// cache is clean.
void engine::flush_cache_by_copies() {
  const std::uint64_t half = flush_.bytes() / 2;
  const std::uint64_t chunk = std::min(chunk_bytes, half);
  for (std::uint64_t at = half; at + chunk <= 2 * half; at += chunk)
    gpu_.copy_on(flush_.at(), flush_.at() + at, chunk);
}

void engine::keep_busy(std::chrono::nanoseconds time) {
  constexpr int rounds = 4000;  // about a millisecond
  const std::uint64_t threads =
      std::uint64_t{16} * 256 * static_cast<std::uint64_t>(gpu_.facts().multiprocessors);
  const auto end = clock::now() + time;
  while (clock::now() < end && threads * sizeof(float) <= flush_.bytes()) {
    gpu_.over("kevo_multiply_add", threads, flush_.at(), 0.999F, 0.001F, rounds);
    gpu_.wait();
  }
}

std::chrono::nanoseconds engine::busy_before(const call_wanted& wanted) const {
  const bool rested = clock::now() - worked_until_ > shortest_rest;
  return std::chrono::nanoseconds(rested ? wanted.busy_ns : wanted.busy_ns / 4);
}

void engine::bring_inputs(const arena_state& arena, const call_wanted& wanted, const layout& place,
                          std::uint32_t content) {
  const auto& from = content_of(wanted.workload, content);
  for (std::size_t i = 0; i < from.inputs.size(); ++i)
    gpu_.copy_on(arena.memory.at() + place.offsets[i], from.inputs[i].at(), place.bytes[i]);
  if (wanted.cold) flush_cache_by_copies();
}

// What Python needs to launch a call varies by 100 us from one interval to the next, and so does what this
// process needs to see that a call has ended (docs/torch.md). So a held call is launched before its clock
// runs, there is nothing to compute then, for its inputs are poison, and its work waits for the word that is
// written behind them; and all that the trusted side does in a call is queued at its beginning: the inputs,
// and then between two events of its own context the word, a wait for the word that the program's stream
// writes at its end, the secret lines, and a fence. A program that writes that word too early is one that
// says "done" too early. Copies of the inputs vary by microseconds, so the clock begins behind them: a
// program that computes before it is let (call_wanted::busy_until_begin shows it) would hide behind them
// either way.
//
// Where a program in Python names the place of its results, it does so when it has launched all work. Memory
// that is not open yet is opened then, off the clock. Of a call that was not launched in time the place is
// known only at "done"; until then it is taken to be that of the call before, and where it is another one,
// all that comes behind the program's word is queued anew, on the clock.
worker_answer engine::held_call(arena_state& arena, const call_wanted& wanted,
                                const std::vector<layout>& places, std::size_t k, held_state& state,
                                std::vector<seen_line>& seen, std::vector<judged_output>* kept, double& ns) {
  const auto& d = gpu_.api();
  const auto& w = task_.workloads[wanted.workload];
  const address words = arena.memory.at();
  const auto first = seen.size();
  const bool finds = wanted.named && !wanted.empty;
  output_places outputs;
  if (!finds) outputs = wanted.named ? outputs_of_empty(w, k) : outputs_in(arena, places[k], w);
  std::string wrong;
  if (wanted.busy_until_begin) occupation_.begin(gpu_, aside_);
  std::uint32_t word = 0;
  bool launched = false;
  const auto queue_end = [&] {
    seen.resize(first);
    choose_lines(outputs, k, lines_of(places.size()), seen);
    check(d, d.stream_wait_value(gpu_.main(), words + held_end, word, wait_equal), "waiting for a call");
    queue_lines(seen, first);
    queue_fence(outputs);
    check(d, d.event_record(ended_, gpu_.main()), "recording an event");
    if (kept != nullptr) queue_outputs(outputs, *kept);
  };
  auto answer = arena.worker->held_step(
      places[k].offsets, state.unlaunched < most_unlaunched ? launch_patience : short_patience,
      [&](std::uint64_t request) {
        word = held_word(request);
        if (finds && launched) wrong = find_results(arena, w, wanted.trusted, outputs);
        if (finds && !launched) outputs = state.before;
        occupation_.end();
        bring_inputs(arena, wanted, places[k], wanted.contents[k]);
        check(d, d.event_record(began_, gpu_.main()), "recording an event");
        check(d, d.stream_write_value(gpu_.main(), words, word, 0), "letting a call begin");
        if (!outputs.empty()) queue_end();
      },
      std::chrono::nanoseconds(wanted.limit_ns / wanted.contents.size()), launched,
      wanted.idle    ? step_kind::idle
      : wanted.touch ? step_kind::touched
                     : step_kind::usual);
  occupation_.end();  // where the process has died before the call began
  state.unlaunched += launched ? 0 : 1;
  if (word == 0) return answer;
  const auto await_end = [&] {
    const auto deadline = clock::now() + word_patience;
    while (answer.end == call_end::done && d.event_query(ended_) == error_not_ready) {
      if (clock::now() > deadline)
        answer = {call_end::contradiction, 0, "signalled its end before the work in its stream had ended"};
    }
  };
  if (!outputs.empty()) await_end();
  if (finds && !launched && answer.end == call_end::done) {
    const auto expected = std::move(outputs);
    wrong = find_results(arena, w, wanted.trusted, outputs);
    if (wrong.empty() && outputs != expected) {
      queue_end();
      await_end();
    }
  }
  if (answer.end == call_end::done && !wrong.empty()) answer = {call_end::contradiction, 0, wrong};
  if (answer.end != call_end::done) {
    // What waits for the program's word would wait for ever.
    check(d, d.stream_write_value(aside_, words + held_end, word, 0), "ending a call");
    return answer;
  }
  collect_lines(seen, first);
  ns = gpu_.elapsed_ns(began_, ended_);
  if (finds) state.before = std::move(outputs);
  // What the process did on the device before its call began is time of the call.
  if (wanted.busy_until_begin) ns += occupation_.elsewhere_ns();
  return answer;
}

// Held calls: their clock stands still while the next one is launched.
call_result engine::run_held_interval(arena_state& arena, const call_wanted& wanted,
                                      std::vector<layout>& places, std::vector<seen_line>& seen,
                                      judged_outputs& judged) {
  const auto& w = task_.workloads[wanted.workload];
  call_result result;
  if (!wanted.named) judged = outputs_of(arena, places, w);
  held_state state;
  for (std::size_t k = 0; k < places.size(); ++k) {
    double ns = 0;
    // What lies in the arena stays there behind calls that are on the clock; the last one has none.
    if (wanted.named || k + 1 == places.size()) {
      judged.resize(k);
      judged.push_back(kept_of(w, wanted.named ? k : 0));
    }
    const bool keeps = wanted.named || k + 1 == places.size();
    result.answer = held_call(arena, wanted, places, k, state, seen, keeps ? &judged[k] : nullptr, ns);
    if (result.answer.end == call_end::done && wanted.named) {
      gpu_.wait();  // the result is kept before the program goes on
      if (!wanted.empty) result.answer = prove_blocks(arena, state.before);
    }
    if (result.answer.end != call_end::done) {
      places.resize(k + 1);
      return result;
    }
    if (k < wanted.untimed) continue;
    result.each_outside_ns.push_back(ns);
    result.outside_ns += ns;
  }
  gpu_.wait();
  result.calls_ns = result.outside_ns;
  return result;
}

call_result engine::run_interval(arena_state& arena, const call_wanted& wanted, std::vector<layout>& places,
                                 std::vector<seen_line>& seen, judged_outputs& judged) {
  const auto& w = task_.workloads[wanted.workload];
  call_result result;
  const std::size_t lines = lines_of(places.size());
  result.answer = arena.worker->wake();
  if (result.answer.end != call_end::done) return result;
  if (wanted.held) return run_held_interval(arena, wanted, places, seen, judged);
  const auto limit = std::chrono::nanoseconds(wanted.limit_ns / std::max<std::size_t>(places.size(), 1));
  auto start = clock::now();
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto begun = clock::now();
    if (k == wanted.untimed) start = begun;
    // What is asked of call k reaches the device only now that call k - 1 has ended, as far as was seen.
    bring_inputs(arena, wanted, places[k], wanted.contents[k]);
    gpu_.wait();
    if (wanted.touch) result.answer = arena.worker->touch();
    const auto asked = clock::now();
    if (result.answer.end == call_end::done)
      result.answer = arena.worker->step(wanted.hosted ? 0 : static_cast<std::uint32_t>(k), places[k].offsets,
                                         limit, wanted.idle ? step_kind::idle : step_kind::usual);
    if (result.answer.end != call_end::done) {
      places.resize(k + 1);
      return result;
    }
    if (k >= wanted.untimed) {
      result.each_call_ns.push_back(ns_between(asked, clock::now()));
      result.calls_ns += result.each_call_ns.back();
    }
    output_places outputs;
    if (wanted.named) {
      result.answer = see_named(arena, wanted, k, lines, seen, outputs);
    } else {
      see_lines(outputs_in(arena, places[k], w), k, lines, seen);
    }
    if (k >= wanted.untimed) result.each_outside_ns.push_back(ns_between(begun, clock::now()));
    if (!wanted.named) continue;
    if (result.answer.end == call_end::done) {
      judged.push_back(kept_of(w, k));
      queue_outputs(outputs, judged.back());
      gpu_.wait();
      if (!wanted.empty) result.answer = prove_blocks(arena, outputs);
    }
    if (result.answer.end != call_end::done) {
      places.resize(k + 1);
      return result;
    }
  }
  if (wanted.named) {
    for (const auto ns : result.each_outside_ns) result.outside_ns += ns;
    return result;
  }
  const double before_fence_ns = ns_between(start, clock::now());
  // The last call's outputs are judged where host code that goes on cannot reach them; the others lie in
  // front of copies and calls that were on the clock.
  judged = outputs_of(arena, places, w);
  judged.back() = kept_of(w, 0);
  result.fence_ns = fence_and_keep(outputs_in(arena, places.back(), w), judged.back());
  result.outside_ns = before_fence_ns + result.fence_ns;
  result.each_outside_ns.back() += result.fence_ns;
  return result;
}

call_result engine::interval(const call_wanted& wanted) {
  auto& arena = at(wanted.arena);
  if (!arena.worker) throw error(error_code::internal, "the arena has no worker");
  if (wanted.workload >= task_.workloads.size())
    throw error(error_code::internal, "there is no such workload");
  const auto& w = task_.workloads[wanted.workload];
  if (wanted.what.inputs != w.inputs.size() || wanted.what.outputs != w.outputs.size() ||
      wanted.contents.size() <= wanted.untimed || wanted.contents.size() > most_slots)
    throw error(error_code::internal, "a plan does not fit its workload");
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  auto places = lay_out(arena, w, wanted, begin, end);
  const auto plan_bytes = encode(wanted.what);
  call_result result;
  // A hosted program learns of a place when its call begins; the graph of a declared one needs it before, and
  // its device code sees nothing of that.
  for (std::size_t k = 0; k < (wanted.hosted ? 1 : places.size()); ++k) {
    result.answer = arena.worker->prepare(static_cast<std::uint32_t>(k), plan_bytes,
                                          wanted.hosted ? std::vector<std::uint64_t>{} : places[k].offsets,
                                          {}, true, std::chrono::seconds(20));
    if (result.answer.end != call_end::done) return result;
  }
  make_room_to_keep(w, wanted.named ? places.size() : 1);
  uncover(arena);
  const std::uint64_t seed = random_();
  const std::uint64_t first = begin / 8;
  const std::uint64_t words = (end - begin) / 8;
  gpu_.over("kevo_poison", words, arena.memory.at() + begin, first, words, seed);
  gpu_.api().reset_persisting_l2();
  if (wanted.cold) flush_cache();
  gpu_.wait();
  const double begin_clock_mhz = clock_before(wanted);
  if (wanted.held) {
    for (const auto word : {arena.memory.at(), arena.memory.at() + held_end})
      check(gpu_.api(), gpu_.api().stream_write_value(gpu_.main(), word, 0, 0), "holding calls");
    gpu_.wait();
  }
  if (wanted.busy_ns > 0) keep_busy(busy_before(wanted));

  std::vector<seen_line> seen;
  judged_outputs judged;
  result = run_interval(arena, wanted, places, seen, judged);
  const bool shows_results = wanted.named && wanted.trusted && (!wanted.empty || wanted.idle);
  if (shows_results && result.answer.end == call_end::done) cover(arena);
  result.event_ns = result.calls_ns;
  if (wanted.hosted) result.remark = arena.worker->remark();
  if (result.answer.end != call_end::done) return result;
  result.begin_clock_mhz = begin_clock_mhz;
  result.clock_mhz = clock_mhz();
  if (!wanted.empty && wanted.verify) {
    result.early = changed(seen, judged);
    verify(arena, places, wanted, begin, end, seed, judged, result);
    if (wanted.fingerprint) result.fingerprint = fingerprint(w, judged);
  }
  worked_until_ = clock::now();
  return result;
}

}  // namespace kevo::cuda
