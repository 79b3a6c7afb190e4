// timed
// timeout: 300
// How the rate of evaluations grows with the number of simulated GPUs, whose launches take real time, so that
// an evaluation mostly waits, as it does for a GPU. Verdicts do not depend on the number of devices. With
// KEVO_DEVICES_RATE=1 the rates of two and four devices are compared with that of one, which takes a minute
// on a machine that does nothing else; without it, the test shows that two devices measure at the same time.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

namespace {

bool whole_series() {
  return std::getenv("KEVO_DEVICES_RATE") != nullptr;
}

struct rated {
  double per_s = 0;
  int most = 0;                                 ///< evaluations that measured at the same time
  std::map<std::string, std::string> verdicts;  ///< by source
};

/// Evaluates the same programs with so many devices. @param timed valid programs whose evaluations are timed
rated rate_of(int devices, int timed, kevo::evaluation_stage wanted) {
  const fake_gpu gpus(whole_series() ? "launch_ms 16\n" : "launch_ms 4\n", devices);
  std::vector<int> numbers(static_cast<std::size_t>(devices));
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto all = kevo::cuda_fitness_pool(toy::task_of("scale.yaml"), toy::quick_settings(), numbers);
  rated found;
  int measuring = 0;
  std::mutex guard;
  const auto evaluate = [&](const std::string& source) {
    kevo::evaluation_request request;
    request.program = std::make_shared<const kevo::program>(kevo::program_of("cuda", source));
    request.wanted = wanted;
    request.measuring = [&](bool begins) {
      const std::scoped_lock lock(guard);
      measuring += begins ? 1 : -1;
      found.most = std::max(found.most, measuring);
    };
    const auto made = all.evaluate(request);
    const std::scoped_lock lock(guard);
    found.verdicts[source] = to_string(made.outcome);
  };
  const auto at_once = [&](int count, auto&& work) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([&work] { work(); });
  };
  at_once(devices, [&] { evaluate(toy::scale_source(25000)); });  // inputs and expected outputs are made
  for (const char* fault : {"wrong_value", "write_guard"}) evaluate(toy::scale_source(30000, fault));
  std::atomic<int> next = 0;
  const auto began = std::chrono::steady_clock::now();
  at_once(whole_series() ? devices : 2 * devices, [&] {
    for (int n = next++; n < timed; n = next++) evaluate(toy::scale_source(20000 + n));
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  found.per_s = timed / took.count();
  return found;
}

}  // namespace

TEST_CASE("each device measures one program at a time, and two measure two at the same time") {
  if (whole_series()) return;
  const rated one = rate_of(1, 2, kevo::evaluation_stage::checked);
  CHECK(one.most == 1);
  CHECK(one.verdicts.at(toy::scale_source(20000)) == "valid");
  CHECK(one.verdicts.at(toy::scale_source(30000, "wrong_value")) == "incorrect");
  const rated two = rate_of(2, 6, kevo::evaluation_stage::checked);
  CHECK(two.most == 2);
  for (const auto& [source, verdict] : one.verdicts) CHECK(two.verdicts.at(source) == verdict);
}

TEST_CASE("two devices evaluate 1.9 times as much as one, four 3.6 times, with the same verdicts") {
  if (!whole_series()) return;
  constexpr int timed = 8;
  const rated one = rate_of(1, timed, kevo::evaluation_stage::timed_short);
  for (const auto& [devices, wanted] : {std::pair(2, 1.9), std::pair(4, 3.6)}) {
    const rated several = rate_of(devices, timed, kevo::evaluation_stage::timed_short);
    MESSAGE(devices << " devices: " << several.per_s / one.per_s << " times the rate of one, which is "
                    << one.per_s << " a second");
    CHECK(several.per_s >= wanted * one.per_s);
    CHECK(several.verdicts == one.verdicts);
  }
}
