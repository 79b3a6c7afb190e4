// What of the inputs of a delivered call is in the arena before they are all there.
#include "fitness/worker/delivery.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace {

// A last block and a last line that are not whole, an input of few bytes, and one of none.
const std::vector<kevo::buffer_shape> delivered_buffers = {
    {5000, false}, {0, false}, {777, true}, {64, false}, {3, false}};
constexpr std::size_t block_of_lines = kevo::delivery::block_bytes;
constexpr std::size_t line_of_cache = kevo::delivery::line_bytes;

// Of call number `call` alone, each eight bytes others.
std::vector<std::vector<std::byte>> inputs_of_call(std::uint64_t call) {
  std::vector<std::vector<std::byte>> result;
  for (const std::size_t size : {5000U, 0U, 64U, 3U}) {
    auto& input = result.emplace_back(size);
    for (std::size_t i = 0; i < size; i += 8) {
      const std::uint64_t value = (call << 32U) + result.size() * 10000 + i;
      std::memcpy(input.data() + i, &value, std::min<std::size_t>(8, size - i));
    }
  }
  return result;
}

// The lines of the first input in which the arena does not hold its values.
std::vector<std::size_t> wrong_lines(const kevo::arena& memory, const kevo::slot_layout& layout,
                                     const std::vector<std::byte>& input) {
  std::vector<std::size_t> wrong;
  for (std::size_t begin = 0; begin < input.size(); begin += line_of_cache) {
    const std::size_t bytes = std::min(line_of_cache, input.size() - begin);
    if (std::memcmp(memory.at(layout.offsets[0] + begin), input.data() + begin, bytes) != 0)
      wrong.push_back(begin / line_of_cache);
  }
  return wrong;
}

}  // namespace

TEST_CASE("until the last lines come, one of each block holds values of earlier calls") {
  kevo::rng random(1);
  kevo::arena memory(3 * kevo::arena::slot_bytes(delivered_buffers));
  memory.reshape(delivered_buffers);
  kevo::delivery delivery;
  std::set<std::size_t> chosen;  // of the first block
  for (std::uint64_t call = 0; call < 60; ++call) {
    const auto given = inputs_of_call(call);
    const auto layout = memory.prepare(call % 3, random);
    delivery.prepare(memory, layout, given, kevo::rng(random()));
    delivery.touch();
    CHECK(wrong_lines(memory, layout, given[0]).size() ==
          (given[0].size() + line_of_cache - 1) / line_of_cache);
    CHECK(std::memcmp(memory.at(layout.offsets[0]), layout.poison.data(), line_of_cache) == 0);

    delivery.write_blocks();
    const auto decoys = wrong_lines(memory, layout, given[0]);
    REQUIRE(decoys.size() == (given[0].size() + block_of_lines - 1) / block_of_lines);
    for (std::size_t i = 0; i < decoys.size(); ++i) {
      CHECK(decoys[i] * line_of_cache / block_of_lines == i);
      std::uint64_t value = 0;
      std::memcpy(&value, memory.at(layout.offsets[0] + decoys[i] * line_of_cache), sizeof value);
      if (call > 0) CHECK((value >> 32U) < call);
      if (call == 0) CHECK(value == layout.poison[0]);
    }
    chosen.insert(decoys.front());

    delivery.write_last();
    CHECK_FALSE(memory.inspect(layout, given).any());
  }
  CHECK(chosen.size() == block_of_lines / line_of_cache);
}

TEST_CASE("calls with equal draws are delivered alike, and others are not") {
  kevo::arena memory(2 * kevo::arena::slot_bytes(delivered_buffers));
  memory.reshape(delivered_buffers);
  kevo::rng random(2);
  const auto layout = memory.prepare(0, random);
  const auto decoys = [&](std::uint64_t seed) {
    kevo::delivery delivery;
    const auto given = inputs_of_call(7);
    delivery.prepare(memory, layout, given, kevo::rng(seed));
    delivery.write_blocks();
    return wrong_lines(memory, layout, given[0]);
  };
  CHECK(decoys(1) == decoys(1));
  CHECK(decoys(1) != decoys(2));
}
