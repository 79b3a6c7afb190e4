// `tile` runs the inner one of two loops in blocks, and the outer one once for each block.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("tile runs a loop in blocks whose size is tunable, and leaves blocks as they are") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string transposed = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[j * M + i] = A[i * N + j];
  }
}
)";
  const tries all = tried(parser, transposed, "tile");
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int tile_j = 64;  // kevo: {8, 16, 32, 48, 64, 96, 128, 192, 256, 512}\n"));
  CHECK(contains(made,
                 "  for (int64_t j_block = 0; j_block < N; j_block += tile_j) {\n    for (int64_t i = 0; i < "
                 "M; ++i) {\n"));
  // The last block may be smaller.
  CHECK(contains(made,
                 "for (int64_t j = j_block; j < (j_block + tile_j < N ? j_block + tile_j : N); ++j) {\n"));
  for (const auto& place : tried(parser, made, "tile").offered) CHECK_FALSE(contains(place, "loop i "));

  const std::string diagonal = R"(#include <cstdint>
extern "C" void run(float* C, int64_t M, int64_t N) {
  for (int64_t i = 1; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = C[(i - 1) * N + j + 1];
  }
}
)";
  const std::vector<std::string> why = {"an iteration uses what another one writes to C[i * N + j]"};
  CHECK(tried(parser, diagonal, "tile").refused == why);
}
