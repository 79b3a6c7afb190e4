// A worker whose process is set up in advance leaves the device alone until it is told to begin.

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/cuda/measure/worker_source.hpp"
#include "fitness/cuda/worker/process.hpp"
#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace kevo::cuda;
using namespace std::chrono_literals;

namespace {

bool ready_within(const kevo::cuda::worker_process& worker, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!worker.ready() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(5ms);
  return worker.ready();
}

}  // namespace

TEST_CASE("a worker makes no context before it is told to begin") {
  const fake_gpu gpu;
  device_client device(0);
  const auto arena = device.open_arena(4U << 20U);
  for (const bool hosted : {false, true}) {
    kevo::cuda::worker_process worker({.sandbox = toy::sandbox_here(), .hosted = hosted}, device.facts(),
                                      arena.memory.get(), arena.bytes);
    CHECK_FALSE(ready_within(worker, 500ms));
    CHECK(!worker.report());  // it lives, and waits
    worker.begin();
    CHECK(ready_within(worker, 60s));
  }
}

TEST_CASE("an arena that was closed is gone, and others stay") {
  const fake_gpu gpu;
  device_client device(0);
  const auto first = device.open_arena(4U << 20U);
  const auto second = device.open_arena(4U << 20U);
  device.close_arena(first.number);
  CHECK_THROWS_WITH_AS(device.detach(first.number), doctest::Contains("there is no such arena"), kevo::error);
  CHECK_NOTHROW(device.detach(second.number));
}

TEST_CASE("workers that come in advance are as good as those that are started when they are needed") {
  const fake_gpu gpu;
  device_client device(0);
  cuda_compiler compiler;
  device.set_trusted_kernels(compile_trusted_kernels(compiler, device.facts().architecture()));
  for (const std::size_t ahead : {0U, 1U, 2U}) {
    worker_source workers(device, {.sandbox = toy::sandbox_here()}, 4U << 20U, ahead);
    device_time_spent spent;
    workers.account(&spent);
    for (int round = 0; round < 4; ++round) {
      workers.fresh();
      CHECK(workers.running());
      CHECK(workers.death() == "did not answer");  // it lives
      workers.settle();
      if (round > 0) workers.replace();
      workers.end();
      CHECK_FALSE(workers.running());
    }
    CHECK(spent.workers_s > 0);
    CHECK(spent.starts_s + spent.ends_s <= spent.workers_s);
  }
}
