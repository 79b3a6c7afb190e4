// `fuse` makes one loop of two neighbours with the same header.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("fuse makes one loop of two, unless one needs what the other one writes elsewhere") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto two_loops = [](const std::string& second) {
    return "#include <cstdint>\nextern \"C\" void run(const float* A, float* B, float* C, int64_t M, int64_t "
           "N) {\n"
           "  for (int64_t i = 0; i < N; ++i) B[i] = 2 * A[i];\n" +
           second + "}\n";
  };
  const tries all = tried(parser, two_loops("  for (int64_t j = 0; j < N; ++j) C[j] = B[j] + 1;\n"), "fuse");
  REQUIRE(all.made.size() == 1);
  CHECK(
      contains(all.made.front(),
               "  for (int64_t i = 0; i < N; ++i) {\n    B[i] = 2 * A[i];\n    {\n      C[i] = B[i] + 1;\n"));
  CHECK_FALSE(contains(all.made.front(), "int64_t j"));
  CHECK(tried(parser, all.made.front(), "fuse").offered.empty());

  const std::string backwards = two_loops("  for (int64_t i = 0; i < N; ++i) C[i] = B[N - 1 - i];\n");
  const std::vector<std::string> why = {"a part needs what the other one writes"};
  CHECK(tried(parser, backwards, "fuse").refused == why);
  const std::string longer = two_loops("  for (int64_t i = 0; i < M; ++i) C[i] = B[i];\n");
  CHECK(tried(parser, longer, "fuse").offered.empty());
}
