// `keep` keeps the memory of a std::vector from call to call.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("keep keeps the memory of local vectors of the kernel, with their values where they have some") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string vectors = R"(#include <cstdint>
#include <vector>
extern "C" void run(const float* A, float* C, int64_t N) {
  std::vector<float> twice(N);
  std::vector<float> ones(N, 1.0F);
  for (int64_t i = 0; i < N; ++i) twice[i] = 2 * A[i];
  for (int64_t i = 0; i < N; ++i) C[i] = twice[i] + ones[i];
}
)";
  const tries all = tried(parser, vectors, "keep");
  REQUIRE(all.made.size() == 2);
  CHECK(contains(all.made[0], "  static std::vector<float> twice;\n  twice.resize(N);\n"));
  CHECK(contains(all.made[1], "  static std::vector<float> ones;\n  ones.assign(N, 1.0F);\n"));
  CHECK(tried(parser, all.made[0], "keep").offered.size() == 1);

  const std::string others = R"(#include <cstdint>
#include <vector>
float last(int64_t N) {
  std::vector<float> of_another_function(N);
  return of_another_function[N - 1];
}
extern "C" void run(float* C, int64_t N) {
  std::vector<float> without_size;
  C[0] = last(N);
}
)";
  CHECK(tried(parser, others, "keep").offered.empty());
}
