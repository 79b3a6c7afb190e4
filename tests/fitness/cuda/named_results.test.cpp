// Results of programs in Python where the program has them: which claims can be true, how their elements are
// copied, and which memory of a process is open.
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

#include "fitness/cuda/device/open_blocks.hpp"
#include "fitness/cuda/wire/result_place.hpp"

using namespace kevo;
using namespace kevo::cuda;

namespace {

result_claim claim_of(std::uint64_t offset, const std::vector<std::uint64_t>& extents,
                      const std::vector<std::int64_t>& strides) {
  result_claim claim{};
  claim.offset = offset;
  claim.rank = static_cast<std::uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), claim.extents.begin());
  std::copy(strides.begin(), strides.end(), claim.strides.begin());
  return claim;
}

std::uint64_t product(const std::vector<std::uint64_t>& extents) {
  std::uint64_t all = 1;
  for (const auto extent : extents) all *= extent;
  return all;
}

result_place placed(std::uint64_t offset, const std::vector<std::uint64_t>& extents,
                    const std::vector<std::int64_t>& strides) {
  result_place place;
  const auto wrong = place_of(claim_of(offset, extents, strides), product(extents), 4, place);
  CHECK_MESSAGE(wrong.empty(), wrong);
  return place;
}

std::string refusal(std::uint64_t offset, const std::vector<std::uint64_t>& extents,
                    const std::vector<std::int64_t>& strides, std::uint64_t count) {
  result_place place;
  return place_of(claim_of(offset, extents, strides), count, 4, place);
}

// The elements of a result as the trusted process gets them: rows are copied, then put in order.
std::vector<int> elements_of(const std::vector<int>& block, const result_place& place, std::uint64_t count) {
  std::vector<int> kept;
  for (std::uint64_t row = 0; row < place.rows; ++row) {
    const auto first = (place.offset + row * place.pitch) / 4;
    kept.insert(kept.end(), block.begin() + static_cast<std::ptrdiff_t>(first),
                block.begin() + static_cast<std::ptrdiff_t>(first + place.row_bytes / 4));
  }
  if (place.order.empty()) return kept;
  const std::size_t rank = place.order.size() / 2;
  std::vector<int> ordered;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i;
    std::uint64_t at = 0;
    for (std::size_t d = rank; d-- > 0;) {
      at += rest % place.order[d] * place.order[rank + d];
      rest /= place.order[d];
    }
    ordered.push_back(kept.at(at));
  }
  return ordered;
}

// A driver that knows some blocks, and counts what is open.
struct known_memory {
  std::map<unsigned char, std::pair<address, std::size_t>> blocks;  // by the first byte of a handle
  std::map<address, int> open;
  int opened = 0;
};
known_memory* memory = nullptr;

driver made_driver() {
  driver d;
  d.ipc_open = [](address* result, ipc_handle handle, unsigned) -> driver_code {
    const auto found = memory->blocks.find(handle.bytes[0]);
    if (found == memory->blocks.end()) return error_invalid_value;
    *result = found->second.first;
    ++memory->open[*result];
    ++memory->opened;
    return success;
  };
  d.ipc_close = [](address at) -> driver_code {
    --memory->open[at];
    return success;
  };
  d.range_of = [](address* begin, std::size_t* bytes, address within) -> driver_code {
    for (const auto& [name, block] : memory->blocks) {
      if (block.first != within) continue;
      *begin = block.first;
      *bytes = block.second;
      return success;
    }
    return error_invalid_value;
  };
  return d;
}

result_claim claim_in(unsigned char handle, std::uint64_t number) {
  result_claim claim{};
  claim.handle[0] = handle;
  claim.block = number;
  return claim;
}

int all_open() {
  int all = 0;
  for (const auto& [at, count] : memory->open) all += count;
  return all;
}

}  // namespace

TEST_CASE("a dense result is one row, in its order or in another one") {
  const auto dense = placed(64, {3, 4, 5}, {20, 5, 1});
  CHECK(dense.offset == 64);
  CHECK(dense.rows == 1);
  CHECK(dense.bytes() == 240);
  CHECK(dense.order.empty());
  const auto transposed = placed(0, {4, 3}, {1, 4});
  CHECK(transposed.rows == 1);
  CHECK(transposed.bytes() == 48);
  CHECK_FALSE(transposed.order.empty());
  CHECK(placed(0, {}, {}).bytes() == 4);  // a number
  CHECK(placed(8, {0, 7}, {7, 1}).bytes() == 0);
  CHECK(placed(0, {1, 5, 1}, {-3, 1, 0}).order.empty());  // the strides of axes of one element say nothing
}

TEST_CASE("the elements of views come in the order of their shape, whatever the strides are") {
  std::vector<int> block(4000);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<int>(i);
  const std::vector<std::pair<std::vector<std::uint64_t>, std::vector<std::int64_t>>> views = {
      {{6, 7}, {7, 1}},
      {{6, 7}, {1, 6}},
      {{6, 7}, {20, 1}},
      {{6, 7}, {1, 20}},
      {{50}, {3}},
      {{4, 5}, {10, 2}},
      {{2, 3, 4}, {12, 4, 1}},
      {{2, 3, 4}, {1, 2, 6}},
      {{2, 3, 4}, {12, 1, 3}},
      {{2, 3, 4}, {100, 4, 1}},
      {{2, 3, 4}, {4, 100, 1}},
      {{5, 1, 9}, {40, 77, 1}},
      {{2, 2, 2, 3}, {12, 6, 3, 1}},
  };
  for (const auto& [extents, strides] : views) {
    const auto place = placed(12, extents, strides);
    std::vector<int> wanted;
    for (std::uint64_t i = 0; i < product(extents); ++i) {
      std::uint64_t rest = i;
      std::int64_t at = 3;
      for (std::size_t d = extents.size(); d-- > 0;) {
        at += static_cast<std::int64_t>(rest % extents[d]) * strides[d];
        rest /= extents[d];
      }
      wanted.push_back(block[static_cast<std::size_t>(at)]);
    }
    CHECK(elements_of(block, place, product(extents)) == wanted);
    CHECK(place.end() <= block.size() * 4);
  }
}

TEST_CASE("claims that cannot be true are refused, whatever their words say") {
  CHECK_FALSE(refusal(0, {4, 4}, {4, 1}, 15).empty());  // not as many as the task says
  CHECK_FALSE(refusal(0, {4, 4}, {0, 1}, 16).empty());  // one row for all
  CHECK_FALSE(refusal(0, {4, 4}, {1, 1}, 16).empty());  // rows that overlap
  CHECK_FALSE(refusal(0, {4, 4}, {3, 1}, 16).empty());
  CHECK_FALSE(refusal(0, {4, 4}, {-4, 1}, 16).empty());
  CHECK_FALSE(refusal(0, {4, 4}, {4, -1}, 16).empty());
  CHECK_FALSE(refusal(std::uint64_t{1} << 60U, {4, 4}, {4, 1}, 16).empty());
  CHECK_FALSE(refusal(0, {4, 4}, {std::int64_t{1} << 61, 1}, 16).empty());
  CHECK_FALSE(refusal(0, {4, 4}, {std::int64_t{1} << 40, 1}, 16).empty());
  CHECK_FALSE(refusal(0, {2, 3, 4}, {100, 10, 1}, 24).empty());  // rows at two distances
  CHECK_FALSE(refusal(0, {std::uint64_t{1} << 33U, std::uint64_t{1} << 33U}, {1, 1}, 4).empty());
  CHECK_FALSE(refusal(0, {std::uint64_t{1} << 63U, 2}, {1, 1}, 0).empty());  // a product of 2^64
  auto many = claim_of(0, {4}, {1});
  many.rank = most_rank + 1;
  result_place place;
  CHECK_FALSE(place_of(many, 4, 4, place).empty());
  many.rank = ~0U;
  CHECK_FALSE(place_of(many, 4, 4, place).empty());
}

TEST_CASE("no claim, however it is made up, has a place that leaves its block, or elements twice") {
  rng random(7);
  int taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::size_t rank = random.below(4);
    std::vector<std::uint64_t> extents;
    std::vector<std::int64_t> strides;
    for (std::size_t d = 0; d < rank; ++d) {
      extents.push_back(random.below(5));
      strides.push_back(static_cast<std::int64_t>(random.below(40)) - 4);
    }
    result_place place;
    const std::uint64_t offset = 4 * random.below(20);
    if (!place_of(claim_of(offset, extents, strides), product(extents), 4, place).empty()) continue;
    ++taken;
    CHECK(place.bytes() == 4 * product(extents));
    std::int64_t last = 0;
    for (std::size_t d = 0; d < rank; ++d)
      last += (static_cast<std::int64_t>(extents[d]) - 1) * (extents[d] > 1 ? strides[d] : 0);
    if (place.bytes() > 0) CHECK(place.end() == offset + 4 * static_cast<std::uint64_t>(last + 1));
    CHECK((place.rows <= 1 || place.pitch >= place.row_bytes));
  }
  CHECK(taken > 1000);
}

TEST_CASE("a block is opened once, and again only under another number or handle") {
  known_memory known;
  known.blocks = {{1, {0x1000, 512}}, {2, {0x2000, 256}}};
  memory = &known;
  const auto d = made_driver();
  {
    open_blocks blocks(d);
    auto* first = blocks.of(claim_in(1, 10));
    REQUIRE(first != nullptr);
    CHECK(first->at == 0x1000);
    CHECK(first->bytes == 512);
    CHECK_FALSE(first->proved);
    first->proved = true;
    CHECK(blocks.of(claim_in(1, 10))->proved);
    CHECK(known.opened == 1);
    CHECK(blocks.of(claim_in(9, 10)) == nullptr);  // there is no such memory
    CHECK_FALSE(blocks.of(claim_in(1, 11))->proved);
    CHECK(blocks.of(claim_in(2, 10))->bytes == 256);
    CHECK(blocks.size() == 3);
    CHECK(all_open() == 3);
  }
  CHECK(all_open() == 0);
}

TEST_CASE("a program that has its results in new memory in every call has a bounded number of blocks open") {
  known_memory known;
  for (int i = 0; i < 200; ++i)
    known.blocks[static_cast<unsigned char>(i)] = {0x10000 + 0x1000 * static_cast<address>(i), 4096};
  memory = &known;
  const auto d = made_driver();
  open_blocks blocks(d);
  for (int i = 0; i < 200; ++i) {
    blocks.begin_call();
    REQUIRE(blocks.of(claim_in(static_cast<unsigned char>(i), static_cast<std::uint64_t>(i))) != nullptr);
    blocks.close_old();
    CHECK(blocks.size() <= 32);
  }
  // Large ones are closed at once, but for those of the call at hand.
  for (auto& [name, block] : known.blocks) block.second = std::size_t{3} << 30U;
  for (int i = 0; i < 10; ++i) {
    blocks.begin_call();
    for (const std::uint64_t number : {1000U, 2000U})
      blocks.of(claim_in(static_cast<unsigned char>(i), number + static_cast<std::uint64_t>(i)));
    blocks.close_old();
  }
  CHECK(blocks.size() == 2);
  CHECK(all_open() == 2);
}
