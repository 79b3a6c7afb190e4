// What the trusted side does when a call is said to be done: it reads secret lines of the outputs, which must
// be the ones that are judged, and it waits for whatever is still at work, on the clock.

#include <algorithm>
#include <chrono>
#include <cstring>

#include <kevo/error.hpp>

#include "fitness/cuda/device/engine.hpp"
#include "fitness/cuda/device/type_code.hpp"
#include "fitness/oracle/element_type.hpp"

namespace kevo::cuda {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t fence_bytes = 256;
constexpr std::size_t line_bytes = 32;
constexpr std::size_t most_lines_at_once = 64;

}  // namespace

void engine::choose_lines(const std::vector<layout>& places, std::size_t call, const device_workload& w,
                          std::size_t count, std::vector<seen_line>& seen) {
  for (std::size_t n = 0; n < count; ++n) {
    seen_line line;
    line.call = call;
    line.output = random_.below(w.outputs.size());
    const std::uint64_t size = places[call].bytes[w.inputs.size() + line.output];
    line.bytes = static_cast<std::size_t>(std::min<std::uint64_t>(size, line.data.size()));
    // Of each call the end of an output: what is written last, mostly.
    line.offset = n == 0 ? size - line.bytes : random_.below(size - line.bytes + 1);
    if (line.bytes > 0) seen.push_back(line);
  }
}

void engine::queue_lines(const arena_state& arena, const layout& place, const device_workload& w,
                         const std::vector<seen_line>& seen, std::size_t first) {
  const auto& d = gpu_.api();
  for (std::size_t i = first; i < seen.size(); ++i) {
    const auto from = arena.memory.at() + place.offsets[w.inputs.size() + seen[i].output] + seen[i].offset;
    check(d, d.copy_out(lines_.at() + (i - first) * line_bytes, from, seen[i].bytes, gpu_.main()),
          "reading output lines");
  }
}

void engine::collect_lines(std::vector<seen_line>& seen, std::size_t first) const {
  for (std::size_t i = first; i < seen.size(); ++i)
    std::memcpy(seen[i].data.data(), lines_.at() + (i - first) * line_bytes, seen[i].bytes);
}

void engine::see_lines(const arena_state& arena, const std::vector<layout>& places, std::size_t call,
                       const device_workload& w, std::size_t count, std::vector<seen_line>& seen) {
  const auto first = seen.size();
  choose_lines(places, call, w, count, seen);
  queue_lines(arena, places[call], w, seen, first);
  gpu_.wait();
  collect_lines(seen, first);
}

bool engine::changed(const std::vector<seen_line>& seen, const judged_outputs& judged) {
  const auto& d = gpu_.api();
  for (std::size_t from = 0; from < seen.size(); from += most_lines_at_once) {
    const std::size_t to = std::min(seen.size(), from + most_lines_at_once);
    for (std::size_t i = from; i < to; ++i) {
      const auto& line = seen[i];
      check(d,
            d.copy_out(lines_.at() + (i - from) * line_bytes, judged[line.call][line.output] + line.offset,
                       line.bytes, gpu_.main()),
            "reading output lines");
    }
    gpu_.wait();
    for (std::size_t i = from; i < to; ++i) {
      if (std::memcmp(lines_.at() + (i - from) * line_bytes, seen[i].data.data(), seen[i].bytes) != 0)
        return true;
    }
  }
  return false;
}

void engine::queue_fence(const arena_state& arena, const layout& last, std::size_t buffer) {
  gpu_.copy_on(fence_.at(), arena.memory.at() + last.offsets[buffer],
               std::clamp<std::uint64_t>(last.bytes[buffer], 1, fence_bytes));
}

double engine::fence(const arena_state& arena, const layout& last) {
  const auto start = clock::now();
  queue_fence(arena, last, last.offsets.size() - 1);
  gpu_.wait();
  return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

// Before anything is timed: memory that is allocated waits for the device, off the clock.
void engine::make_room_to_keep(const device_workload& w) {
  const auto& d = gpu_.api();
  if (fence_.bytes() == 0) fence_ = private_memory(d, fence_bytes);
  if (lines_.at() == nullptr) lines_ = pinned_memory(d, most_lines_at_once * line_bytes);
  for (auto* one : {&fenced_, &began_, &ended_}) {
    if (*one == nullptr) *one = gpu_.new_event();
  }
  if (aside_ == nullptr) check(d, d.stream_create(&aside_, stream_non_blocking), "making a stream");
  kept_.resize(std::max(kept_.size(), w.outputs.size()));
  for (std::size_t i = 0; i < w.outputs.size(); ++i) {
    const auto bytes = std::max<std::uint64_t>(w.outputs[i].count * element_of(w.outputs[i].type).size, 16);
    if (kept_[i].bytes() >= bytes) continue;
    kept_[i] = private_memory();
    kept_[i] = private_memory(d, bytes);
  }
}

void engine::queue_outputs(const arena_state& arena, const layout& last, const device_workload& w,
                           std::vector<address>& kept) {
  kept.clear();
  for (std::size_t i = 0; i < w.outputs.size(); ++i) {
    const auto place = w.inputs.size() + i;
    gpu_.copy_on(kept_[i].at(), arena.memory.at() + last.offsets[place], last.bytes[place]);
    kept.push_back(kept_[i].at());
  }
}

double engine::fence_and_keep(const arena_state& arena, const layout& last, const device_workload& w,
                              std::vector<address>& kept) {
  const auto& d = gpu_.api();
  const auto start = clock::now();
  queue_fence(arena, last, w.inputs.size());
  check(d, d.event_record(fenced_, gpu_.main()), "recording an event");
  queue_outputs(arena, last, w, kept);
  driver_code code = error_not_ready;
  while (code == error_not_ready) code = d.event_query(fenced_);
  check(d, code, "waiting for the device");
  const double ns = std::chrono::duration<double, std::nano>(clock::now() - start).count();
  gpu_.wait();
  return ns;
}

engine::judged_outputs engine::outputs_of(const arena_state& arena, const std::vector<layout>& places,
                                          const device_workload& w) const {
  judged_outputs judged;
  for (const auto& one : places) {
    auto& outputs = judged.emplace_back();
    for (std::size_t i = 0; i < w.outputs.size(); ++i)
      outputs.push_back(arena.memory.at() + one.offsets[w.inputs.size() + i]);
  }
  return judged;
}

}  // namespace kevo::cuda
