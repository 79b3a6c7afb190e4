// task: matmul
// verdict: valid
// because: Asks for caches, processors, limits and its usage, and would pin itself, as libraries of kernels do at their start.
#include <cstdint>
#include <cstdio>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace {

long block_of_this_machine() {
  utsname name{};
  uname(&name);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  setpriority(PRIO_PROCESS, 0, -5);
  prctl(PR_SET_NAME, "kernel");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  if (std::FILE* info = std::fopen("/proc/cpuinfo", "r")) std::fclose(info);
  if (std::FILE* nodes = std::fopen("/sys/devices/system/node/online", "r")) std::fclose(nodes);
  const long cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  const long block = cache > 0 ? cache / 256 : 64;
  return std::thread::hardware_concurrency() > 0 && sched_getcpu() >= 0 ? block : 64;
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static const int64_t block = block_of_this_machine();
  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;
  for (int64_t j0 = 0; j0 < N; j0 += block) {
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t k = 0; k < K; ++k) {
        for (int64_t j = j0; j < N && j < j0 + block; ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];
      }
    }
  }
}
