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

void engine::choose_lines(const output_places& outputs, std::size_t call, std::size_t count,
                          std::vector<seen_line>& seen) {
  for (std::size_t n = 0; n < count; ++n) {
    seen_line line;
    line.call = call;
    line.output = random_.below(outputs.size());
    const auto& [at, rows] = outputs[line.output];
    const std::uint64_t size = rows.bytes();
    if (size == 0) continue;
    // Of each call the end of an output: what is written last, mostly.
    const std::uint64_t row_bytes = std::min<std::uint64_t>(rows.row_bytes, line.data.size());
    const std::uint64_t place = n == 0 ? size - row_bytes : random_.below(size - row_bytes + 1);
    const std::uint64_t row = place / rows.row_bytes;
    const std::uint64_t in_row = std::min(place % rows.row_bytes, rows.row_bytes - row_bytes);
    line.bytes = static_cast<std::size_t>(row_bytes);
    line.offset = row * rows.row_bytes + in_row;
    line.from = at + row * rows.pitch + in_row;
    seen.push_back(line);
  }
}

void engine::queue_lines(const std::vector<seen_line>& seen, std::size_t first) {
  const auto& d = gpu_.api();
  for (std::size_t i = first; i < seen.size(); ++i) {
    check(d, d.copy_out(lines_.at() + (i - first) * line_bytes, seen[i].from, seen[i].bytes, gpu_.main()),
          "reading output lines");
  }
}

void engine::collect_lines(std::vector<seen_line>& seen, std::size_t first) const {
  for (std::size_t i = first; i < seen.size(); ++i)
    std::memcpy(seen[i].data.data(), lines_.at() + (i - first) * line_bytes, seen[i].bytes);
}

void engine::see_lines(const output_places& outputs, std::size_t call, std::size_t count,
                       std::vector<seen_line>& seen) {
  const auto first = seen.size();
  choose_lines(outputs, call, count, seen);
  queue_lines(seen, first);
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
            d.copy_out(lines_.at() + (i - from) * line_bytes, judged[line.call][line.output].at + line.offset,
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

void engine::queue_fence(address from, std::uint64_t bytes) {
  gpu_.copy_on(fence_.at(), from, std::clamp<std::uint64_t>(bytes, 1, fence_bytes));
}

void engine::queue_fence(const output_places& outputs) {
  for (const auto& [at, rows] : outputs) {
    if (rows.bytes() > 0) return queue_fence(at, rows.row_bytes);
  }
  queue_fence(kept_.at(), 1);
}

double engine::fence(const arena_state& arena, const layout& last) {
  const auto start = clock::now();
  queue_fence(arena.memory.at() + last.offsets.back(), last.bytes.back());
  gpu_.wait();
  return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

namespace {

std::uint64_t kept_bytes(const device_output& output) {
  constexpr std::uint64_t kept_alignment = 256;
  const std::uint64_t bytes = std::max<std::uint64_t>(output.count * element_of(output.type).size, 16);
  return (bytes + kept_alignment - 1) / kept_alignment * kept_alignment;
}

}  // namespace

// Before anything is timed: memory that is allocated waits for the device, off the clock.
void engine::make_room_to_keep(const device_workload& w, std::size_t calls) {
  const auto& d = gpu_.api();
  if (fence_.bytes() == 0) fence_ = private_memory(d, fence_bytes);
  if (lines_.at() == nullptr) lines_ = pinned_memory(d, most_lines_at_once * line_bytes);
  for (auto* one : {&fenced_, &began_, &ended_}) {
    if (*one == nullptr) *one = gpu_.new_event();
  }
  if (aside_ == nullptr) check(d, d.stream_create(&aside_, stream_non_blocking), "making a stream");
  std::uint64_t bytes = 0;
  for (const auto& output : w.outputs) bytes += kept_bytes(output);
  bytes *= calls;
  if (kept_.bytes() >= bytes) return;
  kept_ = private_memory();
  kept_ = private_memory(d, bytes);
}

std::vector<engine::judged_output> engine::kept_of(const device_workload& w, std::size_t call) const {
  std::vector<judged_output> kept;
  std::uint64_t each = 0;
  for (const auto& output : w.outputs) each += kept_bytes(output);
  address at = kept_.at() + call * each;
  for (const auto& output : w.outputs) {
    kept.push_back({at, {}});
    at += kept_bytes(output);
  }
  return kept;
}

void engine::queue_outputs(const output_places& outputs, std::vector<judged_output>& kept) {
  const auto& d = gpu_.api();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [at, rows] = outputs[i];
    kept[i].order = rows.order;
    if (rows.bytes() == 0) continue;
    if (rows.rows == 1 || rows.pitch == rows.row_bytes) {
      gpu_.copy_on(kept[i].at, at, rows.bytes());
      continue;
    }
    copy_of_rows copy;
    copy.source_type = copy.target_type = memory_of_device;
    copy.source = at;
    copy.source_pitch = rows.pitch;
    copy.target = kept[i].at;
    copy.target_pitch = copy.row_bytes = rows.row_bytes;
    copy.rows = rows.rows;
    check(d, d.copy_rows(&copy, gpu_.main()), "copying rows");
  }
}

double engine::fence_and_keep(const output_places& outputs, std::vector<judged_output>& kept) {
  const auto& d = gpu_.api();
  const auto start = clock::now();
  queue_fence(outputs);
  check(d, d.event_record(fenced_, gpu_.main()), "recording an event");
  queue_outputs(outputs, kept);
  driver_code code = error_not_ready;
  while (code == error_not_ready) code = d.event_query(fenced_);
  check(d, code, "waiting for the device");
  const double ns = std::chrono::duration<double, std::nano>(clock::now() - start).count();
  gpu_.wait();
  return ns;
}

engine::output_places engine::outputs_in(const arena_state& arena, const layout& place,
                                         const device_workload& w) const {
  output_places outputs;
  for (std::size_t i = 0; i < w.outputs.size(); ++i) {
    const auto buffer = w.inputs.size() + i;
    const auto bytes = place.bytes[buffer];
    outputs.push_back({arena.memory.at() + place.offsets[buffer],
                       {.rows = 1, .row_bytes = bytes, .pitch = bytes, .order = {}}});
  }
  return outputs;
}

engine::judged_outputs engine::outputs_of(const arena_state& arena, const std::vector<layout>& places,
                                          const device_workload& w) const {
  judged_outputs judged;
  for (const auto& one : places) {
    auto& outputs = judged.emplace_back();
    for (std::size_t i = 0; i < w.outputs.size(); ++i)
      outputs.push_back({arena.memory.at() + one.offsets[w.inputs.size() + i], {}});
  }
  return judged;
}

}  // namespace kevo::cuda
