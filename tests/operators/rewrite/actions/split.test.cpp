// `split` adds up in several variables, because one sum waits for the addition before it.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("split makes several sums of one, but not of a recurrence or of a loop that is split already") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string sum = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  float sum = 0;
  for (int64_t i = 0; i < N; ++i) sum += A[i];
  C[0] = sum;
}
)";
  const tries all = tried(parser, sum, "split");
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int copies_i = 6;  // kevo: {1, 2, 3, 4, 5, 6, 8, 10, 12, 16}\n"));
  CHECK(contains(made, "float sum_parts[copies_i];\n"));
  CHECK(contains(made, "for (int64_t i = 0; i + copies_i <= N; i += copies_i) {\n"));
  CHECK(contains(made, "for (int i_copy = 0; i_copy < copies_i; ++i_copy) sum += sum_parts[i_copy];\n"));
  CHECK(contains(made, "for (int64_t i = N / copies_i * copies_i; i < N; ++i) {\n    sum += A[i];\n"));
  CHECK(tried(parser, made, "split").offered.empty());

  const std::string recurrence = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  float sum = 0;
  for (int64_t i = 0; i < N; ++i) sum = 0.5F * sum + A[i];
  C[0] = sum;
}
)";
  CHECK(tried(parser, recurrence, "split").offered.empty());
}
