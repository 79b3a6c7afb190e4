// The layout of calls in the arena, and what is poison in it.
#include "fitness/worker/arena.hpp"

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

namespace {

// Sizes that are no multiples of a line, and an input behind the output.
const std::vector<kevo::buffer_shape> buffers = {{1000, false}, {0, false}, {777, true}, {64, false}};

std::vector<std::vector<std::byte>> inputs() {
  std::vector<std::vector<std::byte>> result;
  for (const std::size_t size : {1000U, 0U, 64U}) result.emplace_back(size, std::byte{0x11});
  return result;
}

}  // namespace

TEST_CASE("whether inputs are poisoned first or filled at once, all else is poison") {
  kevo::rng random(1);
  for (const bool at_once : {false, true}) {
    kevo::arena memory(2 * kevo::arena::slot_bytes(buffers));
    memory.reshape(buffers);
    for (std::size_t call = 0; call < 50; ++call) {
      std::memset(memory.at(0), 0xff, memory.memory().size());
      const auto layout = memory.prepare(call % 2, random, at_once);
      const auto given = inputs();
      memory.fill_inputs(layout, given);
      CHECK_FALSE(memory.inspect(layout, given).any());
      const auto secret = memory.draw_lines(layout, 1000, random);
      CHECK(memory.poisoned(layout, secret));
      // Any byte outside of the buffers is a guard.
      *memory.at(layout.offsets[0] + 1000) ^= std::byte{1};
      CHECK(memory.inspect(layout, given).guards);
      CHECK(memory.inspect(layout, given).buffer == 0);
      CHECK(memory.inspect(layout, given).distance == 1);
      CHECK_FALSE(memory.inspect(layout, given).before);
      *memory.at(layout.offsets[0] + 1000) ^= std::byte{1};
      *memory.at(layout.offsets[2] - 4) ^= std::byte{1};
      CHECK(memory.inspect(layout, given).buffer == 2);
      CHECK(memory.inspect(layout, given).distance == 4);
      CHECK(memory.inspect(layout, given).before);
      *memory.at(layout.offsets[2] - 4) ^= std::byte{1};
      *memory.at(layout.end - 1) ^= std::byte{1};
      CHECK(memory.inspect(layout, given).guards);
    }
  }
}

TEST_CASE("calls with equal places lie alike in both programs, and are poisoned differently") {
  kevo::rng random(3);
  kevo::arena one(2 * kevo::arena::slot_bytes(buffers));
  kevo::arena other(2 * kevo::arena::slot_bytes(buffers));
  one.reshape(buffers);
  other.reshape(buffers);
  std::vector<std::size_t> first;
  for (std::uint64_t call = 0; call < 20; ++call) {
    auto places = kevo::rng(7).split(call);
    auto the_same = places;
    const auto a = one.prepare(0, random, false, &places);
    const auto b = other.prepare(0, random, false, &the_same);
    CHECK(a.offsets == b.offsets);
    CHECK(a.poison != b.poison);
    if (call == 0) first = a.offsets;
    if (call == 1) CHECK(a.offsets != first);
  }
}
