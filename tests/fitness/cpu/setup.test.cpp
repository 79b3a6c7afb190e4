// timeout: 300
// one processor
// What a candidate may take besides its calls: threads, loads and first calls, of one evaluation together.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cpu/cpu_fitness.hpp"
#include "tests/fitness/cpu/line_task.hpp"

using namespace line_task;

namespace {

kevo::evaluation checked(kevo::cpu_settings settings, const std::string& source) {
  kevo::cpu_fitness fitness(example(), std::move(settings));
  return fitness.evaluate(
      {.program = std::make_shared<kevo::program>(kevo::single_file_program("cpp", "kernel.cpp", source)),
       .wanted = kevo::evaluation_stage::checked});
}

const std::string with_threads = R"(
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>
extern "C" void run(const float* x, float* y, std::int64_t N) {
  // As many at once as can be had, until TRIED.
  std::vector<std::jthread> all;
  try {
    for (int i = 0; i < TRIED; ++i) all.emplace_back([] {});
  } catch (const std::system_error&) {
  }
  const bool enough = all.size() >= LEAST && all.size() <= MOST;
  for (std::int64_t i = 0; i < N; ++i) y[i] = enough ? 2 * x[i] + 1 : 0;
})";

std::string threads(int tried, int least, int most) {
  return "#define TRIED " + std::to_string(tried) + "\n#define LEAST " + std::to_string(least) +
         "\n#define MOST " + std::to_string(most) + "\n" + with_threads;
}

}  // namespace

TEST_CASE("threads are as many as the task's settings allow, with room for those that are ending") {
  auto settings = fixture::settings({});
  settings.threads = 2;
  CHECK(checked(settings, threads(2, 2, 2)).valid());
}

TEST_CASE("a bomb of threads stays small") {
  auto settings = fixture::settings({});
  settings.threads = 2;
  auto bomb = threads(200, 1, 8);
  bomb.replace(bomb.find("[] {}"), 5, "[](std::stop_token stop) { while (!stop.stop_requested()) {} }");
  const auto e = checked(settings, bomb);
  CHECK_MESSAGE(e.valid(), e.feedback);
}

TEST_CASE("first calls may take long, but not all of them together") {
  const std::string tunes = R"(
#include <cstdint>
#include <ctime>
extern "C" void run(const float* x, float* y, std::int64_t N) {
  static std::int64_t known = 0;
  const timespec while_it_tunes{1, 500000000};
  if (known != N) nanosleep(&while_it_tunes, nullptr);
  known = N;
  for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i] + 1;
})";
  auto settings = fixture::settings({});
  CHECK(checked(settings, tunes).valid());  // 0.5 s beyond the limit of any call, twice
  settings.limits.first_calls_s = 0.75;
  CHECK(checked(settings, tunes).outcome == kevo::outcome::timed_out);
}

TEST_CASE("a load may take long, but not all loads together") {
  const std::string slow_to_load = R"(
#include <cstdint>
#include <ctime>
static const bool late = [] {
  const timespec while_it_loads{0, 700000000};
  return nanosleep(&while_it_loads, nullptr) == 0;
}();
extern "C" void run(const float* x, float* y, std::int64_t N) {
  for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i] + 1;
})";
  auto settings = fixture::settings({});
  CHECK(checked(settings, slow_to_load).valid());
  settings.limits.loads_s = 0.5;
  const auto e = checked(settings, slow_to_load);
  CHECK(e.outcome == kevo::outcome::launch_failed);
  CHECK(e.feedback.find("more than 0.5 s") != std::string::npos);
}
