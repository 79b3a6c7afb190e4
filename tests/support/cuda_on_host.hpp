#pragma once
// Runs kernels in CUDA C++ on the CPU, for tests of their indices where there is no GPU: a program that is
// made of this header, the text of a kernel (see `text_for_host`), and calls of `launch`. The threads of a
// block are coroutines that run one after the other from barrier to barrier, so a barrier that is missing
// shows as memory that nobody has written yet; shared memory begins as NaN, and asynchronous copies arrive at
// the wait that they need, not before. Blocks run one after the other.

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <limits>
#include <ucontext.h>
#include <vector>

using std::max;
using std::min;

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline float2 make_float2(float x, float y) {
  return {x, y};
}

namespace host_cuda {

struct dim {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};
struct copy {
  float* to;
  const float* from;  ///< null: zeros
  int floats;
};
struct thread {
  ucontext_t context = {};  ///< begins the thread
  jmp_buf place = {};       ///< where it waits
  bool begun = false;
  std::vector<char> stack = std::vector<char>(std::size_t{64} << 10U);
  dim index;
  bool done = false;
  std::deque<std::vector<copy>> groups{1};  ///< the last one is not committed yet
};

inline constexpr std::size_t shared_floats = std::size_t{48} << 10U;
alignas(256) inline float shared_memory[shared_floats];
inline dim block;
inline thread* current = nullptr;
inline jmp_buf scheduler;
inline std::function<void()> kernel;

inline unsigned alive = 0;  ///< threads of the block that have not returned

// swapcontext would ask the kernel for the mask of signals at each change, which took most of the time; a
// jump needs no kernel.

/// Lets the thread run until it waits or has returned.
inline void resume(thread& one) {
  if (_setjmp(scheduler) != 0) return;
  if (one.begun) _longjmp(one.place, 1);
  one.begun = true;
  setcontext(&one.context);
}
/// Lets the other threads run.
inline void yield() {
  if (_setjmp(current->place) == 0) _longjmp(scheduler, 1);
}

/// Waits until `members` threads are at it. Threads that wait let the others run.
struct barrier {
  unsigned arrived = 0;
  unsigned generation = 0;
  void wait(unsigned members) {
    if (++arrived >= members) {
      arrived = 0;
      ++generation;
      return;
    }
    for (const unsigned mine = generation; mine == generation;) yield();
  }
};
inline barrier of_block;
inline barrier of_warp[32];
inline void meet_warp() {
  of_warp[current->index.x / 32].wait(32);
}
inline void begin() {
  kernel();
  current->done = true;
  --alive;
  _longjmp(scheduler, 1);
}

/// One block after the other, `threads` threads each.
inline void launch(dim grid, unsigned threads, std::function<void()> body) {
  kernel = std::move(body);
  std::vector<thread> all(threads);  // their stacks serve every block
  for (unsigned at = 0; at < grid.x * grid.y; ++at) {
    block = {at % grid.x, at / grid.x, 0};
    alive = threads;
    of_block = {};
    std::ranges::fill(of_warp, barrier());
    std::ranges::fill(shared_memory, std::numeric_limits<float>::quiet_NaN());
    for (unsigned i = 0; i < threads; ++i) {
      all[i].index = {i, 0, 0};
      all[i].begun = all[i].done = false;
      all[i].groups.assign(1, {});
      getcontext(&all[i].context);
      all[i].context.uc_stack.ss_sp = all[i].stack.data();
      all[i].context.uc_stack.ss_size = all[i].stack.size();
      makecontext(&all[i].context, begin, 0);
    }
    for (bool more = true; more;) {
      more = false;
      for (auto& one : all) {
        if (one.done) continue;
        current = &one;
        resume(one);
        more = more || !one.done;
      }
    }
  }
}

/// Memory of a device: aligned as kevo aligns it, and NaN at first.
template <class T = float>
T* memory(std::size_t count) {
  auto* made = static_cast<float*>(std::aligned_alloc(256, (4 * count + 255) / 256 * 256));
  std::fill_n(made, count, std::numeric_limits<float>::quiet_NaN());
  return reinterpret_cast<T*>(made);
}

}  // namespace host_cuda

template <int bytes>
void copy_async(float* to, const float* from, bool inside) {
  const auto aligned = [](const float* p) { return reinterpret_cast<std::uintptr_t>(p) % bytes == 0; };
  if (!aligned(to) || (inside && !aligned(from))) {
    std::puts("misaligned copy");
    std::abort();
  }
  host_cuda::current->groups.back().push_back({to, inside ? from : nullptr, bytes / 4});
}
inline void commit_copies() {
  host_cuda::current->groups.emplace_back();
}
template <int pending>
void wait_for_copies() {
  auto& groups = host_cuda::current->groups;
  for (; groups.size() > std::size_t{pending} + 1; groups.pop_front()) {
    for (const auto& one : groups.front()) {
      for (int i = 0; i < one.floats; ++i) one.to[i] = one.from != nullptr ? one.from[i] : 0.0F;
    }
  }
}
inline void __syncthreads() {
  host_cuda::of_block.wait(host_cuda::alive);
}  // NOLINT: CUDA's name
inline void __syncwarp() {
  host_cuda::meet_warp();
}  // NOLINT
inline void atomicAdd(float* to, float value) {
  *to += value;
}

#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define threadIdx (host_cuda::current->index)
#define blockIdx (host_cuda::block)
