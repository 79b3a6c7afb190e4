// timed
// Both times of a call, on the test double of the driver: readings that are not held and calls without the
// program, by the real kevo-device and kevo-worker-hosted. Time there is that of kernels and copies alone, so
// that both times of a program are the same.
// timeout: 600

#include <string>

#include <doctest/doctest.h>

#include "src/base/json/evaluation_json.hpp"
#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace kevo;

namespace {

std::string launching_of(int ns) {
  return "#define FAKE_NS " + std::to_string(ns) +
         "\n#include <cuda_runtime.h>\n#include <cstdint>\n"
         "__global__ void scale(const float* x, float* y, long long n) {\n"
         "  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) y[i] = 2 * x[i];\n}\n"
         "extern \"C\" int run(const float* x, float* y, int64_t N, cudaStream_t stream) {\n"
         "  scale<<<(N + 63) / 64, 64, 0, stream>>>(x, y, N);\n  return 0;\n}\n";
}

// A baseline with host code of its own, whose process also makes the calls without a program.
std::shared_ptr<const task> with_hosted_baseline() {
  auto t = *toy::task_of("scale.yaml");
  t.baselines = {{"hosted", program_of("cuda", launching_of(40000)), {}, false},
                 {"slower", program_of("cuda", launching_of(80000)), {}, false}};
  return std::make_shared<const task>(t);
}

}  // namespace

TEST_CASE("both times of a program with host code are measured where they are wanted") {
  const fake_gpu gpu;
  for (const bool host_counts : {false, true}) {
    auto settings = toy::quick_settings();
    settings.both_times = true;
    settings.host_time = host_counts;
    cuda_fitness fitness(with_hosted_baseline(), settings);
    for (const auto stage :
         {evaluation_stage::timed_short, evaluation_stage::timed_full, evaluation_stage::confirmed}) {
      const auto e = toy::evaluate(fitness, launching_of(20000), stage);
      REQUIRE_MESSAGE(e.valid(), e.feedback);
      CHECK(e.device_speedup == doctest::Approx(2).epsilon(0.03));
      CHECK(e.host_speedup == doctest::Approx(2).epsilon(0.05));
      // Few blocks: what a real host adds to one of them and not to another is in the interval.
      CHECK(e.host_speedup_interval.low > 1.5);
      CHECK(e.host_speedup_interval.high < 2.7);
      CHECK(e.speedup == (host_counts ? e.host_speedup : e.device_speedup));
      CHECK(e.score == e.speedup);
      CHECK(e.context.at("time") == (host_counts ? "host" : "device"));
      CHECK_FALSE(e.context.contains("work_in_some_calls"));
      CHECK(e.other_speedups.contains("slower") == (stage == evaluation_stage::confirmed));
      if (stage == evaluation_stage::confirmed) {
        // By the time that counts.
        CHECK(e.other_speedups.at("slower") == doctest::Approx(4).epsilon(0.05));
        const auto range = e.other_speedup_intervals.at("slower");
        CHECK(range.low < e.other_speedups.at("slower"));
        CHECK(range.high > e.other_speedups.at("slower"));
        CHECK(range.low > 2.5);
        CHECK(range.high < 6.5);
      }
      for (const auto& w : e.workloads) {
        if (w.hidden) {
          CHECK(w.host == time_figures{});
          continue;
        }
        CHECK(w.device.ns == doctest::Approx(20000).epsilon(0.03));
        CHECK(w.host.ns == doctest::Approx(20000).epsilon(0.05));
        CHECK(w.host.baseline_ns == doctest::Approx(40000).epsilon(0.05));
        CHECK(w.time_ns == (host_counts ? w.host.ns : w.device.ns));
      }
      const auto back = evaluation_from_json(to_json(e));
      CHECK(back.host_speedup == e.host_speedup);
    }
  }
}

TEST_CASE("one time is measured of a program with host code where both are not wanted") {
  const fake_gpu gpu;
  cuda_fitness fitness(with_hosted_baseline(), toy::quick_settings());
  const auto e = toy::evaluate(fitness, launching_of(20000));
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.host_speedup == 0);
  CHECK(e.device_speedup == 0);
  CHECK_FALSE(e.context.contains("time"));
}
