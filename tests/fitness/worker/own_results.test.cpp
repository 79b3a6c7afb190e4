// Results that lie in the memory of another process: what a worker may say of them, and how they are read.
#include "fitness/worker/own_results.hpp"

#include <csignal>
#include <cstring>
#include <numeric>
#include <span>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/process/read_memory.hpp"

namespace {

using claim = std::vector<std::int64_t>;

// A process that stands still with a copy of this memory.
struct still_process {
  pid_t id;
  still_process() : id(::fork()) {
    if (id == 0) {
      for (;;) ::pause();
    }
  }
  still_process(const still_process&) = delete;
  still_process& operator=(const still_process&) = delete;
  ~still_process() {
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
  }
};

std::int64_t address_of(const void* place) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(place));
}

std::vector<float> floats_of(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// One output of 4 x 6 floats behind an input of two extents.
kevo::result_reader reader_of_24() {
  kevo::result_reader reader({.input_extents = 2, .outputs = {{.element_bytes = 4, .rank = 2}}});
  reader.begin(claim{9, 9, 4, 6});
  return reader;
}

}  // namespace

TEST_CASE("results are read by their strides") {
  std::vector<float> memory(400);
  std::iota(memory.begin(), memory.end(), 0.0F);
  const still_process other;
  std::fill(memory.begin(), memory.end(), -1.0F);  // here; the other process has the numbers
  REQUIRE(kevo::may_read_memory(other.id));
  struct layout {
    std::int64_t rows, columns;
  };
  // Contiguous, transposed, part of a larger one, every third element, far apart.
  for (const auto [rows, columns] :
       {layout{6, 1}, layout{1, 4}, layout{10, 1}, layout{18, 3}, layout{90, 2}}) {
    auto reader = reader_of_24();
    CHECK(reader.bytes() == 96);
    REQUIRE(reader.locate(claim{address_of(memory.data() + 5), rows, columns}));
    REQUIRE(reader.read(other.id));
    const auto got = floats_of(reader.output(0));
    REQUIRE(got.size() == 24);
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 6; ++j)
        CHECK(got[static_cast<std::size_t>(6 * i + j)] == static_cast<float>(5 + rows * i + columns * j));
    }
    kevo::rng random(1);
    auto lines = reader.draw_lines(64, random);
    std::vector<std::byte> seen(lines.size() * kevo::result_reader::line_bytes);
    REQUIRE(reader.snapshot(other.id, lines, seen.data()));
    CHECK(reader.same(lines, seen.data()));
    seen[3] ^= std::byte{1};
    CHECK(!reader.same(lines, seen.data()));
  }
}

TEST_CASE("claims that are no result are refused") {
  std::vector<float> memory(400);
  const auto here = address_of(memory.data());
  auto reader = reader_of_24();
  CHECK(!reader.locate(claim{0, 6, 1}));
  CHECK(!reader.locate(claim{here, 0, 1}));   // expanded
  CHECK(!reader.locate(claim{here, 1, 1}));   // overlapping
  CHECK(!reader.locate(claim{here, 5, 1}));   // the last of a row is the first of the next
  CHECK(!reader.locate(claim{here, -6, 1}));  // backwards
  CHECK(!reader.locate(claim{here, 6}));      // too few words
  CHECK(!reader.locate(claim{-here, 6, 1}));  // the kernel's half
  CHECK(!reader.locate(claim{here, std::int64_t{1} << 62U, 1}));
  CHECK(reader.locate(claim{here, 1, 4}));
}

TEST_CASE("what is no memory of the process cannot be read") {
  const still_process other;
  auto reader = reader_of_24();
  REQUIRE(reader.locate(claim{4096, 6, 1}));
  CHECK(!reader.read(other.id));
  void* page = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  ::munmap(static_cast<std::byte*>(page) + 4096, 4096);
  const still_process with_page;
  REQUIRE(reader.locate(claim{address_of(page) + 4000, 6, 1}));
  CHECK(reader.read(with_page.id));
  REQUIRE(reader.locate(claim{address_of(page) + 4096 - 92, 6, 1}));  // its last element lies behind
  CHECK(!reader.read(with_page.id));
  ::munmap(page, 4096);
}

TEST_CASE("outputs without elements and without extents") {
  kevo::result_reader reader({.input_extents = 0, .outputs = {{4, 2}, {8, 0}}});
  reader.begin(claim{0, 5});
  CHECK(reader.bytes() == 8);
  const double value = 2.5;
  const still_process other;
  REQUIRE(reader.locate(claim{0, 5, 1, address_of(&value)}));
  REQUIRE(reader.read(other.id));
  CHECK(reader.output(0).empty());
  double got = 0;
  std::memcpy(&got, reader.output(1).data(), 8);
  CHECK(got == 2.5);
}

TEST_CASE("a large memory is read in several pieces") {
  std::vector<std::byte> memory(5U << 20U);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 31 >> 3U);
  std::vector<kevo::memory_piece> pieces;
  for (std::size_t i = 0; i + 4000 <= memory.size(); i += 4096)
    pieces.push_back({static_cast<std::uint64_t>(address_of(memory.data() + i)), 4000});
  REQUIRE(pieces.size() > 1024);
  std::vector<std::byte> got(pieces.size() * 4000);
  REQUIRE(kevo::read_memory(::getpid(), pieces, got.data()));
  for (std::size_t i = 0; i < pieces.size(); ++i)
    CHECK(std::memcmp(got.data() + 4000 * i, memory.data() + 4096 * i, 4000) == 0);
}
