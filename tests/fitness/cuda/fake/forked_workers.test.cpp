// Workers that another process forks, as those of programs in Python: several begin together, while nothing
// is timed. A process of this test forks them here, and counts.

#include <atomic>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/cuda/measure/worker_source.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace kevo::cuda;

namespace {

// Prepares all text before the fork: other threads run, so that the child may only make system calls.
kevo::forked_process fork_worker(const std::string& uuid, int region, int arena, std::uint64_t arena_bytes) {
  const std::string program = KEVO_BINARY_DIR "/kevo-worker-cuda";
  const std::string bytes = std::to_string(arena_bytes);
  int told[2];
  REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    constexpr int aside = 100;  // from here on nothing is in the way of the two places
    const int from[2] = {::fcntl(region, F_DUPFD_CLOEXEC, aside), ::fcntl(arena, F_DUPFD_CLOEXEC, aside)};
    ::dup2(from[0], control_descriptor);
    ::dup2(from[1], arena_descriptor);
    ::execl(program.c_str(), program.c_str(), uuid.c_str(), bytes.c_str(), nullptr);
    ::_exit(1);
  }
  ::close(told[1]);
  return {process, kevo::detail::descriptor(told[0])};
}

}  // namespace

TEST_CASE("of workers that are forked several begin together, and none while something is timed") {
  const fake_gpu gpu;
  device_client device(0);
  cuda_compiler compiler;
  device.set_trusted_kernels(compile_trusted_kernels(compiler, device.facts().architecture()));
  std::atomic<int> begun = 0;
  worker_options options;
  options.fork = [&](int region, int arena, std::uint64_t bytes) {
    ++begun;
    return fork_worker(device.facts().uuid, region, arena, bytes);
  };
  worker_source workers(device, options, 4U << 20U, 3);
  workers.fresh();  // there is none: three begin, and this is one of them
  workers.settle();
  CHECK(begun == 3);
  workers.fresh(true);
  workers.fresh(true);
  workers.settle();
  CHECK(begun == 3);  // no other begins beside the last one, which is timed
  workers.replace();
  workers.settle();
  CHECK(begun == 6);
  workers.replace();  // they are there
  workers.settle();
  CHECK(begun == 6);
  workers.fresh();
  workers.replace();
  workers.settle();
  CHECK(begun == 7);
  for (int i = 0; i < 3; ++i) workers.fresh(true);
  workers.settle();
  CHECK(begun == 7);
  workers.fresh(true);  // whoever needs another one needs more
  workers.settle();
  CHECK(begun == 10);
  workers.fresh();
  workers.fresh();  // beside checks the next ones begin when the last one is taken
  workers.settle();
  CHECK(begun == 13);
  CHECK(workers.running());
}
