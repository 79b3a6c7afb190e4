// timeout: 120
// serial
// The standard library's parallel algorithms, which run on oneTBB.
#include <filesystem>
#include <memory>

#include <doctest/doctest.h>

#include "fitness/cpu/cpu_fitness.hpp"
#include "tests/fitness/cpu/line_task.hpp"
#include "tests/support/skip.hpp"

TEST_CASE("parallel algorithms are built and run where -ltbb is among the flags") {
  if (!std::filesystem::exists("/usr/include/tbb/tbb.h")) {
    kevo_test::skip("oneTBB is not installed (package libtbb-dev)");
    return;
  }
  auto settings = line_task::fixture::settings({});
  settings.threads = 2;
  settings.flags = {"-O2", "-std=c++20", "-ltbb"};
  kevo::cpu_fitness fitness(line_task::example(), settings);
  const auto e = fitness.evaluate(
      {.program = std::make_shared<kevo::program>(kevo::single_file_program("cpp", "kernel.cpp", R"(
#include <algorithm>
#include <cstdint>
#include <execution>
extern "C" void run(const float* x, float* y, std::int64_t N) {
  std::transform(std::execution::par, x, x + N, y, [](float one) { return 2 * one + 1; });
})")),
       .wanted = kevo::evaluation_stage::checked});
  CHECK_MESSAGE(e.valid(), e.feedback);
}
