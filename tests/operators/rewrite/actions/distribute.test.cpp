// `distribute` makes two loops of one.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("distribute makes two loops of one, unless its parts share a variable") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string two = R"(#include <cstdint>
extern "C" void run(const float* A, float* B, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    B[i] = 2 * A[i];
    C[i] = B[i] + 1;
  }
}
)";
  const tries all = tried(parser, two, "distribute");
  REQUIRE(all.made.size() == 1);
  const std::string header = "  for (int64_t i = 0; i < N; ++i) {\n";
  CHECK(contains(all.made.front(),
                 header + "    B[i] = 2 * A[i];\n  }\n" + header + "    C[i] = B[i] + 1;\n  }\n"));
  CHECK(tried(parser, all.made.front(), "distribute").offered.empty());

  const std::string shared = R"(#include <cstdint>
extern "C" void run(const float* A, const float* B, float* C, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    const float x = 2 * A[i];
    C[i] = x + B[i];
  }
}
)";
  const std::vector<std::string> why = {"a part needs a variable of the other one"};
  CHECK(tried(parser, shared, "distribute").refused == why);

  const std::string shifted = R"(#include <cstdint>
extern "C" void run(const float* A, float* B, float* C, int64_t N) {
  for (int64_t i = 1; i < N; ++i) {
    C[i] = B[i - 1];
    B[i] = 2 * A[i];
  }
}
)";
  CHECK(tried(parser, shifted, "distribute").made.empty());
}
