#include "fitness/cuda/device/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

#include "fitness/build/extension_words.hpp"
#include "fitness/cuda/device/type_code.hpp"
#include "fitness/machine/preemptions.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint64_t guard_bytes = 4096;
constexpr std::uint64_t alignment = 256;
constexpr std::size_t secret_lines = 16;
constexpr std::size_t lines_of_run = 64;  // of all admitted calls of a run together
constexpr std::size_t least_lines_of_run = 4;

std::uint64_t up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

// Of the timed contents this share is of another variety than the plain one, as those are that are checked.
constexpr double varied_share = 0.25;

}  // namespace

engine::engine(int ordinal) : gpu_(ordinal), random_(secret_seed()), found_(gpu_.api(), 64) {}

engine::arena_state& engine::at(std::uint32_t arena) {
  const auto it = arenas_.find(arena);
  if (it == arenas_.end()) throw error(error_code::internal, "there is no such arena");
  return it->second;
}
const engine::arena_state& engine::at(std::uint32_t arena) const {
  const auto it = arenas_.find(arena);
  if (it == arenas_.end()) throw error(error_code::internal, "there is no such arena");
  return it->second;
}

void engine::set_trusted_kernels(const compiled_module& kernels) {
  gpu_.load_trusted_kernels(kernels);
}

void engine::set_task(device_task t) {
  if (!gpu_.has_trusted_kernels()) throw error(error_code::internal, "the trusted kernels are not loaded");
  pools_.clear();
  task_ = std::move(t);
  // Before any candidate may hold the rest of the memory.
  if (flush_.bytes() == 0)
    flush_ =
        private_memory(gpu_.api(), up(std::max<std::uint64_t>(4 * gpu_.facts().l2_bytes, 64U << 20U), 4096));
  reference_ = loaded_module();
  if (const auto failure = reference_.load(gpu_.api(), task_.reference))
    throw error(error_code::input,
                "the reference cannot be loaded: " + failure.what + " " + text_of(gpu_.api(), failure.code));
  pools_.resize(task_.workloads.size());
}

reference_run engine::reference_for(const device_workload& w, std::uint32_t arena, std::string& remark) {
  auto* worker = arena == 0 ? nullptr : &at(arena);
  return [this, worker, &w, &remark](const std::vector<address>& buffers) {
    return worker == nullptr ? run_compiled_reference(w, buffers)
                             : run_reference_of(*worker, w, buffers, remark);
  };
}

contents_made engine::add(const content_given& given, std::span<const std::byte> inputs) {
  if (given.workload >= pools_.size() || given.kind >= variety_count)
    throw error(error_code::internal, "there is no such workload or variety");
  const auto& w = task_.workloads[given.workload];
  auto& pool = pools_[given.workload];
  contents_made made;
  device_content one;
  made.complaint = make_content(gpu_, reference_for(w, given.reference, made.remark), w,
                                static_cast<variety>(given.kind), random_(), inputs, one);
  if (made.complaint.empty()) (given.varied ? pool.varied : pool.timed).push_back(std::move(one));
  made.timed = static_cast<std::uint32_t>(pool.timed.size());
  made.varied = static_cast<std::uint32_t>(pool.varied.size());
  return made;
}

contents_made engine::make(const contents_wanted& wanted) {
  if (wanted.workload >= pools_.size()) throw error(error_code::internal, "there is no such workload");
  const auto& w = task_.workloads[wanted.workload];
  auto& pool = pools_[wanted.workload];
  const auto room = contents_in(wanted.most_bytes, content_bytes(w), wanted.varied);
  contents_made made;
  const auto reference = reference_for(w, wanted.reference, made.remark);
  const auto fill = [&](std::vector<device_content>& list, std::uint32_t count, bool varied) {
    while (list.size() < count && made.complaint.empty()) {
      // Workloads begin with different varieties, so that a few contents of each show all of them. What is
      // timed is drawn from the same ones, at places that nobody knows, so that a candidate cannot tell what
      // is timed by what it is.
      const std::size_t number = varied ? 2 * std::size_t{wanted.workload} + list.size()
                                        : random_.below(std::size_t{variety_count} - 1);
      const bool plain = !varied && !random_.chance(varied_share);
      const auto kind =
          plain ? variety::plain : static_cast<variety>(1 + number % (std::size_t{variety_count} - 1));
      device_content one;
      made.complaint = make_content(gpu_, reference, w, kind, random_(), {}, one);
      if (made.complaint.empty()) list.push_back(std::move(one));
    }
  };
  fill(pool.timed, std::min(wanted.timed, room.timed), false);
  fill(pool.varied, std::min(wanted.varied, room.varied), true);
  made.timed = static_cast<std::uint32_t>(pool.timed.size());
  made.varied = static_cast<std::uint32_t>(pool.varied.size());
  return made;
}

std::uint32_t engine::open_arena(std::uint64_t bytes) {
  arenas_.emplace(
      next_arena_,
      arena_state{exported_memory(gpu_.api(), gpu_.device(), bytes), nullptr, false, nullptr, {}, false, {}});
  return next_arena_++;
}

void engine::close_arena(std::uint32_t arena) {
  arenas_.erase(arena);
}

worker_answer engine::attach(std::uint32_t arena, detail::descriptor region, detail::descriptor process) {
  auto& state = at(arena);
  // Nothing that an earlier process of a candidate has left reaches the next one.
  gpu_.clear(state.memory.at(), state.memory.bytes());
  gpu_.wait();
  state.clean = true;
  state.worker = std::make_unique<worker_link>(std::move(region), std::move(process));
  state.blocks = std::make_unique<open_blocks>(gpu_.api());
  state.covered = false;
  if (auto answer = state.worker->wait_ready(std::chrono::seconds(30)); answer.end != call_end::done)
    return answer;
  return state.worker->load(0, gpu_.trusted_kernels_bytes(), std::chrono::seconds(30));
}

void engine::detach(std::uint32_t arena) {
  auto& state = at(arena);
  state.worker.reset();
  state.blocks.reset();
}

worker_answer engine::load(std::uint32_t arena, const compiled_module& candidate) {
  auto& state = at(arena);
  if (!state.worker) throw error(error_code::internal, "the arena has no worker");
  return state.worker->load(1, encode(candidate), std::chrono::seconds(30));
}

worker_answer engine::load_object(std::uint32_t arena, std::string_view object) {
  auto& state = at(arena);
  if (!state.worker) throw error(error_code::internal, "the arena has no worker");
  // A program of PyTorch that builds extensions waits for compilers first.
  const bool builds = names_extensions(object);
  // Billions of parameters are drawn. Quotes in a program's text have a backslash before them here.
  const bool draws = object.find(R"("models":true)") != std::string_view::npos;
  return state.worker->load(1, object, std::chrono::seconds(draws ? 300 : builds ? 120 : 30));
}

const device_content& engine::content_of(std::uint32_t workload, std::uint32_t number) const {
  const auto& pool = pools_[workload];
  const auto& list = number >= varied_base ? pool.varied : pool.timed;
  const auto index = number >= varied_base ? number - varied_base : number;
  if (index >= list.size()) throw error(error_code::internal, "there is no such content");
  return list[index];
}

// A window of the arena at a random place, all calls in it one after the other, guards around every buffer.
std::vector<engine::layout> engine::lay_out(const arena_state& arena, const device_workload& w,
                                            const call_wanted& wanted, std::uint64_t& begin,
                                            std::uint64_t& end) {
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> aligns;
  for (const auto& input : w.inputs) sizes.push_back(input.count * element_of(input.type).size);
  for (const auto& output : w.outputs) {
    if (!wanted.named) sizes.push_back(output.count * element_of(output.type).size);
  }
  aligns.assign(sizes.size(), alignment);
  for (const auto& space : wanted.what.workspaces) {
    sizes.push_back(space.bytes);
    aligns.push_back(std::max(alignment, space.align));
  }
  std::vector<layout> places;
  std::uint64_t at = guard_bytes;
  for (std::size_t k = 0; k < wanted.contents.size(); ++k) {
    layout one;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      at = up(at + alignment * random_.below(16), aligns[i]);
      one.offsets.push_back(at);
      one.bytes.push_back(sizes[i]);
      at = up(at + sizes[i], alignment) + guard_bytes;
    }
    places.push_back(std::move(one));
  }
  const std::uint64_t window = up(at, 4096);
  const std::uint64_t kept = wanted.held || wanted.touch ? held_bytes : 0;
  const std::uint64_t size = arena.memory.bytes() - kept;
  if (window > size)
    throw error(error_code::environment, "a call needs " + std::to_string(window >> 20U) +
                                             " MiB of device memory, its arena has " +
                                             std::to_string(size >> 20U));
  begin = kept + 4096 * random_.below((size - window) / 4096 + 1);
  end = begin + window;
  std::uint64_t largest = 4096;
  for (const auto a : aligns) largest = std::max(largest, a);
  begin = begin / largest * largest;  // keeps the alignment of workspaces
  end = begin + window;
  for (auto& one : places) {
    for (auto& offset : one.offsets) offset += begin;
  }
  return places;
}

void engine::flush_cache() {
  const std::uint64_t half = flush_.bytes() / 2;
  gpu_.over("kevo_flush_write", half / 16, flush_.at(), half / 16, ++flush_value_);
  gpu_.over("kevo_flush_read", half / 16, flush_.at() + half, half / 16, found_.at());
}

double engine::clock_before(const call_wanted& wanted) {
  return wanted.frequency_ns > 0 ? clock_mhz(wanted.frequency_ns) : 0;
}

double engine::clock_mhz(std::uint64_t ns) {
  std::uint64_t words[2] = {0, 1};
  gpu_.over("kevo_clock", 1, found_.at(), ns);
  gpu_.copy_out(words, found_.at(), sizeof words);
  return words[1] == 0 ? 0 : 1e3 * static_cast<double>(words[0]) / static_cast<double>(words[1]);
}

void engine::verify(const arena_state& arena, const std::vector<layout>& places, const call_wanted& wanted,
                    std::uint64_t begin, std::uint64_t end, std::uint64_t seed, const judged_outputs& judged,
                    call_result& result) {
  const auto& w = task_.workloads[wanted.workload];
  const address base = arena.memory.at();
  const auto counter = [&] {
    std::uint64_t value = 0;
    gpu_.copy_out(&value, found_.at(), sizeof value);
    return value != 0;
  };
  gpu_.clear(found_.at(), 64);
  std::uint64_t at = begin;
  const auto guard = [&](std::uint64_t to) {
    if (to > at) gpu_.over("kevo_check_poison", (to - at) / 8 + 1, base, at, to, seed, found_.at());
  };
  for (const auto& one : places) {
    for (std::size_t i = 0; i < one.offsets.size(); ++i) {
      guard(one.offsets[i]);
      at = one.offsets[i] + one.bytes[i];
    }
  }
  guard(end);
  result.guards = counter();
  gpu_.clear(found_.at(), 64);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto& content = content_of(wanted.workload, wanted.contents[k]);
    for (std::size_t i = 0; i < w.inputs.size(); ++i) {
      gpu_.over("kevo_differ", places[k].bytes[i] / 8 + 1, base + places[k].offsets[i],
                content.inputs[i].at(), places[k].bytes[i], found_.at());
    }
  }
  result.inputs = counter();
  for (std::size_t k = 0; k < places.size() && result.findings.empty(); ++k) {
    const auto& content = content_of(wanted.workload, wanted.contents[k]);
    const bool by_suite = places.size() == 1 && content.kind == variety::plain;
    for (std::size_t i = 0; by_suite && i < w.outputs.size(); ++i) {
      if (w.outputs[i].suite < 0) continue;
      const auto misses =
          suite_misses(gpu_, w.outputs[i], content, i, in_order(w.outputs[i], judged[k][i]), found_.at());
      result.suite_misses =
          std::max<std::int64_t>(result.suite_misses, 0) + static_cast<std::int64_t>(misses);
    }
    for (std::size_t i = 0; i < w.outputs.size(); ++i) {
      output_finding finding;
      const auto got = in_order(w.outputs[i], judged[k][i]);
      if (!accepted(gpu_, w.outputs[i], content, i, got, found_.at(), finding))
        result.findings.push_back(finding);
    }
  }
}

// By the host: outputs of any layout, and nothing new that runs on the device.
std::string engine::fingerprint(const device_workload& w, const judged_outputs& judged) {
  content_hasher hash;
  std::string bytes;
  for (const auto& outputs : judged) {
    for (std::size_t i = 0; i < w.outputs.size(); ++i) {
      bytes.resize(w.outputs[i].count * element_of(w.outputs[i].type).size);
      if (!bytes.empty()) gpu_.copy_out(bytes.data(), in_order(w.outputs[i], outputs[i]), bytes.size());
      hash.text(bytes);
    }
  }
  return to_string(hash.finish());
}

void engine::fill(arena_state& arena, const call_wanted& wanted, const std::vector<layout>& places,
                  std::uint64_t begin, std::uint64_t end, std::uint64_t seed,
                  const std::vector<std::array<std::uint64_t, 2>>& keys) {
  const auto& w = task_.workloads[wanted.workload];
  const address base = arena.memory.at();
  // What a candidate's device code may have left beside the window.
  if (!arena.clean && !wanted.trusted) {
    gpu_.clear(base, begin);
    gpu_.clear(base + end, arena.memory.bytes() - end);
  }
  arena.clean = false;
  gpu_.over("kevo_poison", (end - begin) / 8, base + begin, begin / 8, (end - begin) / 8, seed);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto& content = content_of(wanted.workload, wanted.contents[k]);
    for (std::size_t i = 0; i < w.inputs.size(); ++i) {
      const auto place = base + places[k].offsets[i];
      gpu_.copy_on(place, content.inputs[i].at(), places[k].bytes[i]);
      if (!keys.empty())
        gpu_.over("kevo_mask", places[k].bytes[i] / 16 + 1, place, places[k].bytes[i], std::uint64_t{i + 1},
                  keys[k][0], keys[k][1]);
    }
  }
}

// One call, or several in one graph that are trusted: held back together until the clock runs.
call_result engine::run_together(arena_state& arena, const call_wanted& wanted,
                                 const std::vector<layout>& places, std::vector<seen_line>& seen) {
  call_result result;
  const auto run = arena.worker->run(wanted.timed, std::chrono::nanoseconds(wanted.limit_ns));
  result.answer = run.answer;
  if (run.answer.end != call_end::done) return result;
  const std::size_t lines = std::max(secret_lines / places.size(), std::size_t{1});
  for (std::size_t k = places.size(); wanted.verify && k-- > 0;)
    see_lines(outputs_in(arena, places[k], task_.workloads[wanted.workload]), k, lines, seen);
  result.outside_ns = run.outside_ns;
  result.event_ns = run.event_ns;
  result.unblocked = run.unblocked;
  return result;
}

// Several calls in one graph, each admitted when the one before it has ended and its lines have been read.
call_result engine::run_admitted(arena_state& arena, const call_wanted& wanted,
                                 const std::vector<layout>& places,
                                 const std::vector<std::array<std::uint64_t, 2>>& keys,
                                 std::vector<seen_line>& seen) {
  call_result result;
  result.answer = arena.worker->begin_admitted();
  const std::size_t lines = std::clamp(lines_of_run / places.size(), least_lines_of_run, secret_lines);
  const auto limit = std::chrono::nanoseconds(wanted.limit_ns);
  for (std::size_t k = 0; k < places.size() && result.answer.end == call_end::done; ++k) {
    const auto call = arena.worker->admit(keys[k], limit);
    result.answer = call.answer;
    result.outside_ns += call.ns;
    result.each_outside_ns.push_back(call.ns);
    if (call.answer.end == call_end::done)
      see_lines(outputs_in(arena, places[k], task_.workloads[wanted.workload]), k, lines, seen);
  }
  if (result.answer.end != call_end::done) return result;
  const auto run = arena.worker->end_admitted();
  result.answer = run.answer;
  result.event_ns = run.event_ns;
  result.each_event_ns = run.each_event_ns;
  result.unblocked = run.unblocked;
  return result;
}

call_result engine::call(const call_wanted& wanted) {
  if (wanted.interval) return interval(wanted);
  auto& arena = at(wanted.arena);
  if (!arena.worker) throw error(error_code::internal, "the arena has no worker");
  if (wanted.workload >= task_.workloads.size())
    throw error(error_code::internal, "there is no such workload");
  const auto& w = task_.workloads[wanted.workload];
  call_result result;
  if (wanted.what.inputs != w.inputs.size() || wanted.what.outputs != w.outputs.size() ||
      wanted.contents.empty() || wanted.contents.size() > most_slots)
    throw error(error_code::internal, "a plan does not fit its workload");
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const auto places = lay_out(arena, w, wanted, begin, end);
  const auto plan_bytes = encode(wanted.what);
  // The host code of a trusted hosted program cannot wait within a graph.
  const bool admitted = places.size() > 1 && !wanted.hosted;
  std::vector<std::array<std::uint64_t, 2>> keys;
  for (std::size_t k = 0; k < places.size() && admitted; ++k) keys.push_back({random_(), random_()});
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::vector<std::uint64_t> masked;
    if (admitted) masked.assign(places[k].bytes.begin(), places[k].bytes.begin() + wanted.what.inputs);
    result.answer = arena.worker->prepare(static_cast<std::uint32_t>(k), plan_bytes, places[k].offsets,
                                          masked, false, std::chrono::seconds(20));
    if (result.answer.end != call_end::done) return result;
  }
  result.answer =
      arena.worker->join(static_cast<std::uint32_t>(places.size()), admitted, std::chrono::seconds(20));
  if (result.answer.end != call_end::done) return result;
  make_room_to_keep(w, 1);
  const std::uint64_t seed = random_();
  fill(arena, wanted, places, begin, end, seed, keys);
  gpu_.api().reset_persisting_l2();
  if (wanted.cold) flush_cache();
  gpu_.wait();
  const double begin_clock_mhz = clock_before(wanted);

  std::vector<seen_line> seen;
  const long preemptions = preemptions_of_thread();
  result =
      admitted ? run_admitted(arena, wanted, places, keys, seen) : run_together(arena, wanted, places, seen);
  if (result.answer.end != call_end::done) return result;
  result.fence_ns = fence(arena, places.back());
  result.preempted = preemptions_of_thread() != preemptions;
  result.begin_clock_mhz = begin_clock_mhz;
  if (wanted.timed) result.clock_mhz = clock_mhz();
  const auto judged = outputs_of(arena, places, w);
  if (wanted.verify) {
    result.early = changed(seen, judged);
    verify(arena, places, wanted, begin, end, seed, judged, result);
  }
  if (wanted.fingerprint) result.fingerprint = fingerprint(w, judged);
  return result;
}

}  // namespace kevo::cuda
