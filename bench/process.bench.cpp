// What supervision costs: freezing one process, pausing a tree, starting a process with and without the
// sandbox.

#include "fitness/process/process.hpp"

#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include "fitness/sandbox/sandbox.hpp"

namespace {

kevo::launch_spec spinner(kevo::sandbox_mode mode) {
  kevo::launch_spec spec;
  spec.argv = {"/usr/bin/bash", "-c", "while :; do :; done"};
  spec.mounts = kevo::toolchain_mounts("/usr/bin/g++");
  spec.sandbox = mode;
  spec.limits.wall_s = 0;
  return spec;
}

void freeze_and_confirm(benchmark::State& state) {
  const auto child = kevo::launch(spinner(kevo::sandbox_mode::best));
  auto freezer = child.inner_freezer();
  ::usleep(200'000);
  for (auto _ : state) {
    if (!freezer.freeze_and_confirm()) state.SkipWithError("not frozen");
    state.PauseTiming();
    freezer.thaw();
    ::usleep(300);
    state.ResumeTiming();
  }
}
BENCHMARK(freeze_and_confirm)->Iterations(2000)->UseRealTime();

void confirm_alone(benchmark::State& state) {
  const auto child = kevo::launch(spinner(kevo::sandbox_mode::best));
  auto freezer = child.inner_freezer();
  freezer.freeze_and_confirm();
  for (auto _ : state) benchmark::DoNotOptimize(freezer.frozen());
}
BENCHMARK(confirm_alone)->UseRealTime();

void pause_and_resume_tree(benchmark::State& state) {
  auto child = kevo::launch(spinner(kevo::sandbox_mode::best));
  ::usleep(200'000);
  for (auto _ : state) {
    child.pause();
    child.resume();
  }
}
BENCHMARK(pause_and_resume_tree)->Iterations(200)->UseRealTime();

void start_and_wait(benchmark::State& state) {
  const auto mode = state.range(0) != 0 ? kevo::sandbox_mode::best : kevo::sandbox_mode::off;
  state.SetLabel(kevo::contains(mode) ? "bubblewrap" : "no namespaces");
  kevo::launch_spec spec;
  spec.argv = {"/usr/bin/true"};
  spec.mounts = kevo::toolchain_mounts("/usr/bin/g++");
  spec.sandbox = mode;
  for (auto _ : state) {
    if (!kevo::run(spec).ok()) state.SkipWithError("failed");
  }
}
BENCHMARK(start_and_wait)->Arg(0)->Arg(1)->Iterations(100)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
