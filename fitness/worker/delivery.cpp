#include "fitness/worker/delivery.hpp"

#include <algorithm>
#include <cstring>

namespace kevo {
namespace {

constexpr std::size_t lines_of(std::size_t bytes) {
  return (bytes + delivery::line_bytes - 1) / delivery::line_bytes;
}

// Eight bytes each from another place: no number is longer, and a line would be known again by its first
// bytes.
void mix(std::byte* to, std::size_t bytes, std::span<const std::byte> from, rng& random) {
  constexpr std::size_t unit = 8;
  const std::size_t units = from.size() / unit;
  if (units == 0) return;
  const std::uint64_t drawn = random();
  std::size_t at = static_cast<std::size_t>(drawn >> 32U) % units;
  const std::size_t step =
      1 + static_cast<std::size_t>(drawn & 0xffffffffU) % std::max<std::size_t>(units - 1, 1);
  for (std::size_t i = 0; i < bytes; i += unit) {
    std::memcpy(to + i, from.data() + at * unit, std::min(unit, bytes - i));
    at += step;
    if (at >= units) at -= units;
  }
}

}  // namespace

void delivery::prepare(const arena& memory, const slot_layout& layout,
                       std::span<const std::vector<std::byte>> inputs, rng random) {
  std::swap(copy_, earlier_);
  copy_.sizes.clear();
  std::size_t lines = 0;
  for (const auto& input : inputs) {
    copy_.sizes.push_back(input.size());
    lines += lines_of(input.size());
  }
  copy_.lines.resize(lines);
  const bool has_decoys = copy_.sizes == earlier_.sizes;
  blocks_.clear();
  last_.clear();
  const auto& buffers = memory.buffers();
  std::size_t input = 0;
  std::size_t line = 0;  // of the copy
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].output) continue;
    const auto& given = inputs[input++];
    if (given.empty()) continue;
    auto* const to = memory.at(layout.offsets[i]);
    auto* const from = copy_.lines[line].bytes;
    std::memcpy(from, given.data(), given.size());
    const std::size_t shown = has_decoys ? given.size() : 0;
    const std::span<const std::byte> decoys(shown > 0 ? earlier_.lines[line].bytes : nullptr, shown);
    for (std::size_t begin = 0; begin < given.size(); begin += block_bytes) {
      const std::size_t bytes = std::min(block_bytes, given.size() - begin);
      const std::size_t chosen = begin + line_bytes * random.below(lines_of(bytes));
      const std::size_t width = std::min(line_bytes, begin + bytes - chosen);
      std::memcpy(from + chosen, layout.poison.data(), width);
      mix(from + chosen, width, decoys, random);
      blocks_.push_back({to + begin, from + begin, bytes});
      last_.push_back({to + chosen, given.data() + chosen, width});
    }
    line += lines_of(given.size());
  }
  random.shuffle<part>(blocks_);
  random.shuffle<part>(last_);
}

void delivery::touch() const {
  const auto read = [](const std::byte& byte) {
    static_cast<void>(*static_cast<const volatile std::byte*>(&byte));
  };
  for (const auto& one : blocks_) {
    for (std::size_t i = 0; i < one.bytes; i += line_bytes) read(one.from[i]);
  }
  for (const auto& one : last_) read(one.from[0]);
}

void delivery::write_blocks() const {
  for (const auto& one : blocks_) std::memcpy(one.to, one.from, one.bytes);
}

void delivery::write_last() const {
  for (const auto& one : last_) {
    // The copy of a whole line is a few instructions, because its size is known here.
    if (one.bytes == line_bytes)
      std::memcpy(one.to, one.from, line_bytes);
    else
      std::memcpy(one.to, one.from, one.bytes);
  }
}

}  // namespace kevo
