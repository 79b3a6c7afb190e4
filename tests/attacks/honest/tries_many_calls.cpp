// task: matmul
// verdict: valid
// because: Tries what libraries try at their start: advice on memory, terminals, timers, policies of nodes and
//   threads, clocks, folders, shared objects; nothing of it has to work.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <random>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace {

long seen = 0;

void memory() {
  constexpr std::size_t size = 4U << 20U;
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at = mremap(at, size, 2 * size, MREMAP_MAYMOVE);
  madvise(at, size, MADV_DONTNEED);
  unsigned char there[2 * size / 4096];
  seen += mincore(at, 2 * size, there) + mlockall(MCL_CURRENT) + munlock(at, size);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  malloc_trim(0);
  for (const long call : {SYS_set_mempolicy, SYS_mbind, SYS_get_mempolicy, SYS_move_pages, SYS_pkey_alloc, SYS_membarrier})
    seen += syscall(call, 0, 0, 0, 0, 0, 0);
  seen += shm_open("/kernel", O_CREAT | O_RDWR, 0600);
}

void descriptors() {
  int pair[2];
  winsize window{};
  seen += pipe(pair) + eventfd(0, 0) + timerfd_create(CLOCK_MONOTONIC, 0) + dup(0) + fcntl(0, F_GETFL);
  seen += ioctl(1, TIOCGWINSZ, &window) + isatty(1);
  timeval moment{0, 100};
  seen += select(0, nullptr, nullptr, nullptr, &moment) + poll(nullptr, 0, 1);
  if (std::FILE* scratch = std::tmpfile()) std::fclose(scratch);
}

void surroundings() {
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator("/", code)) seen += entry.is_directory(code) ? 1 : 0;
  struct statvfs room {};
  char host[64];
  double load[3];
  const std::time_t now = std::time(nullptr);
  seen += statvfs("/", &room) + gethostname(host, sizeof host) + getloadavg(load, 3) + (localtime(&now) != nullptr ? 1 : 0);
  seen += static_cast<long>(getauxval(AT_HWCAP) & 1U) + sysconf(_SC_PHYS_PAGES) + sysconf(_SC_LEVEL3_CACHE_SIZE);
  for (const char* name : {"libnuma.so.1", "libgomp.so.1", "libm.so.6"}) seen += dlopen(name, RTLD_NOW) != nullptr ? 1 : 0;
  void* frames[8];
  pthread_attr_t stack;
  seen += backtrace(frames, 8) + pthread_getattr_np(pthread_self(), &stack) + pthread_setname_np(pthread_self(), "kernel");
  seen += std::async([] { return 1; }).get() + nice(0) + static_cast<long>(alarm(0)) + static_cast<long>(std::random_device{}() & 1U);
}

bool looked() {
  memory();
  descriptors();
  surroundings();
  return true;
}

void multiply(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];
      C[i * N + j] = sum;
    }
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static const bool once = looked();
  static_cast<void>(once);
  multiply(A, B, C, M, N, K);
}
