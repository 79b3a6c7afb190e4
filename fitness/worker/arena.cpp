#include "fitness/worker/arena.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <kevo/error.hpp>

namespace kevo {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t page = 4096;

constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

std::size_t arena::slot_bytes(std::span<const buffer_shape> buffers) {
  // Room to move each buffer by up to a page, besides the guards.
  std::size_t total = guard;
  for (const auto& buffer : buffers) total += round_up(buffer.bytes, line) + page + guard;
  return round_up(total, page);
}

std::size_t arena::memory_for(std::size_t capacity) {
  return round_up(capacity, page);
}

arena::arena(std::size_t capacity) : memory_("kevo-arena", memory_for(capacity)) {}

void arena::reshape(std::vector<buffer_shape> buffers, std::size_t most_slots) {
  buffers_ = std::move(buffers);
  slot_bytes_ = slot_bytes(buffers_);
  slots_ = std::min(memory_.size() / slot_bytes_, most_slots);
  if (slots_ == 0) throw error(error_code::internal, "the arena is too small for one call");
}

// Whole lines: `begin` and `end` are rounded outwards.
void arena::poison(std::size_t begin, std::size_t end, const slot_layout& layout) const {
  for (std::size_t i = begin / line * line; i < end; i += line)
    std::memcpy(at(i), layout.poison.data(), line);
}

slot_layout arena::prepare(std::size_t slot, rng& random, bool inputs_follow, rng* places) const {
  slot_layout layout;
  layout.begin = slot * slot_bytes_;
  layout.end = layout.begin + slot_bytes_;
  for (auto& word : layout.poison) word = random();
  std::size_t place = layout.begin;
  for (const auto& buffer : buffers_) {
    place += guard + line * (places != nullptr ? *places : random).below(page / line);
    layout.offsets.push_back(place);
    place += round_up(buffer.bytes, line);
  }
  std::size_t from = layout.begin;
  for (std::size_t i = 0; inputs_follow && i < buffers_.size(); ++i) {
    if (buffers_[i].output) continue;
    poison(from, layout.offsets[i], layout);
    from = layout.offsets[i] + buffers_[i].bytes / line * line;  // its last, incomplete line ends with poison
  }
  poison(from, layout.end, layout);
  return layout;
}

void arena::poison_outputs(const slot_layout& layout) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!buffers_[i].output) continue;
    poison(layout.offsets[i], layout.offsets[i] + buffers_[i].bytes, layout);
  }
}

void arena::fill_inputs(const slot_layout& layout, std::span<const std::vector<std::byte>> inputs) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].output || buffers_[i].bytes == 0) {
      next += buffers_[i].output ? 0 : 1;
      continue;
    }
    std::memcpy(at(layout.offsets[i]), inputs[next++].data(), buffers_[i].bytes);
  }
}

void arena::spoil_inputs(const slot_layout& layout, rng& random) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].output) continue;
    const std::size_t end = layout.offsets[i] + buffers_[i].bytes;
    for (std::size_t begin = layout.offsets[i]; begin < end;) {
      const std::size_t next = std::min(end, (begin / page + 1) * page);
      const std::size_t chosen = begin + line * random.below((next - begin + line - 1) / line);
      poison(chosen, std::min(chosen + line, next), layout);
      begin = next;
    }
  }
}

secret_lines arena::draw_lines(const slot_layout& layout, std::size_t count, rng& random) const {
  std::size_t total = 0;
  for (const auto& buffer : buffers_) total += buffer.output ? round_up(buffer.bytes, line) / line : 0;
  secret_lines result;
  const auto add = [&](std::size_t buffer, std::size_t index) {
    const std::size_t begin = index * line;
    result.lines.push_back({layout.offsets[buffer] + begin, std::min(line, buffers_[buffer].bytes - begin)});
  };
  const auto add_flat = [&](std::size_t flat) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!buffers_[i].output) continue;
      const std::size_t lines = round_up(buffers_[i].bytes, line) / line;
      if (flat < lines) return add(i, flat);
      flat -= lines;
    }
  };
  if (total <= count) {
    for (std::size_t i = 0; i < total; ++i) add_flat(i);
  } else {
    for (std::size_t i = 0; i < count; ++i) add_flat(random.below(total));
    for (std::size_t i = 0; i < buffers_.size(); ++i) {  // what an ordered kernel writes last
      if (buffers_[i].output && buffers_[i].bytes > 0) add(i, (buffers_[i].bytes - 1) / line);
    }
    std::swap(result.lines.front(), result.lines.back());
  }
  return result;
}

void arena::snapshot(const secret_lines& lines, std::byte* target) const {
  for (const auto& l : lines.lines) {
    std::memcpy(target, at(l.offset), l.size);
    target += line;
  }
}

bool arena::same(const secret_lines& lines, const std::byte* snapshot) const {
  for (const auto& l : lines.lines) {
    if (std::memcmp(snapshot, at(l.offset), l.size) != 0) return false;
    snapshot += line;
  }
  return true;
}

bool arena::poisoned(const slot_layout& layout, const secret_lines& lines) const {
  return std::all_of(lines.lines.begin(), lines.lines.end(), [&](const secret_lines::line& l) {
    return std::memcmp(layout.poison.data(), at(l.offset), l.size) == 0;
  });
}

bool arena::holds_poison(std::size_t begin, std::size_t end, const slot_layout& layout) const {
  const auto* poison = reinterpret_cast<const std::byte*>(layout.poison.data());
  while (begin < end) {
    const std::size_t phase = (begin - layout.begin) % line;
    const std::size_t size = std::min(line - phase, end - begin);
    if (std::memcmp(at(begin), poison + phase, size) != 0) return false;
    begin += size;
  }
  return true;
}

/// Looks at the guard that begins at `begin` and ends with buffer number `next`, or with the slot.
void arena::find_damage(std::size_t begin, std::size_t next, const slot_layout& layout,
                        slot_damage& damage) const {
  const std::size_t end = next < buffers_.size() ? layout.offsets[next] : layout.end;
  if (holds_poison(begin, end, layout)) return;
  damage.guards = true;
  std::size_t first = begin;
  while (first + 1 < end && holds_poison(first, first + 1, layout)) ++first;
  damage.before = next == 0 || (next < buffers_.size() && end - first < first - begin + 1);
  damage.buffer = damage.before ? next : next - 1;
  damage.distance = damage.before ? end - first : first - begin + 1;
}

slot_damage arena::inspect(const slot_layout& layout, std::span<const std::vector<std::byte>> inputs) const {
  slot_damage damage;
  std::size_t place = layout.begin;
  std::size_t next = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!damage.guards) find_damage(place, i, layout, damage);
    place = layout.offsets[i] + buffers_[i].bytes;
    if (buffers_[i].output) continue;
    const auto& input = inputs[next++];
    damage.inputs |=
        buffers_[i].bytes > 0 && std::memcmp(at(layout.offsets[i]), input.data(), buffers_[i].bytes) != 0;
  }
  if (!damage.guards) find_damage(place, buffers_.size(), layout, damage);
  return damage;
}

bool arena::evict(const slot_layout& layout) const {
#if defined(__x86_64__)
  _mm_mfence();
  for (std::size_t i = layout.begin; i < layout.end; i += line) _mm_clflush(at(i));
  _mm_mfence();
  return true;
#else
  static_cast<void>(layout);
  return false;
#endif
}

}  // namespace kevo
