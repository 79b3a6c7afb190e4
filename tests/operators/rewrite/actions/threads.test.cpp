// `threads` shares the iterations of an outermost loop among threads.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("threads shares an outermost loop among the threads that the run allows") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string rows = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = A[j];
  }
}
)";
  const setting two_threads{nullptr, 2};
  const tries all = tried(parser, rows, "threads", two_threads);
  REQUIRE(all.made.size() == 1);
  CHECK(contains(all.made.front(),
                 "  #pragma omp parallel for num_threads(2)\n  for (int64_t i = 0; i < M; ++i) {\n"));
  CHECK(tried(parser, all.made.front(), "threads", two_threads).offered.empty());
  CHECK(tried(parser, rows, "threads").offered.empty());

  const std::string prefix_sums = R"(#include <cstdint>
extern "C" void run(const float* A, float* C, int64_t N) {
  for (int64_t i = 1; i < N; ++i) C[i] = C[i - 1] + A[i];
}
)";
  const std::vector<std::string> why = {"an iteration uses what another one writes to C[i]"};
  CHECK(tried(parser, prefix_sums, "threads", two_threads).refused == why);
}
