// kevo-worker-torch.so: what a Python process of the torch backend cannot do in Python: mapping the shared
// pages, waiting for a call without taking processor time, and giving up its rights. kevo_torch.py loads it
// by ctypes. A process uses it after its fork.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "fitness/sandbox/limit_memory.hpp"
#include "fitness/sandbox/lock_down.hpp"
#include "fitness/sandbox/own_files.hpp"
#include "fitness/torch/main/serve_calls.hpp"
#include "fitness/worker/worker_side.hpp"

namespace side = kevo::worker_side;

namespace {

// The state of a worker process: one for each process, made by kevo_worker_open.
kevo::control_page* page = nullptr;
side::region arena;
side::region parameters;
bool several_threads = false;
std::string failure;

const char* map_parameters(int descriptor, bool writable) {
  parameters = side::map_descriptor(descriptor, writable, false);
  ::close(descriptor);
  return parameters.data == nullptr ? "the parameters of the reference cannot be mapped" : nullptr;
}

// The heap gives nothing back, but takes some calls until each tensor finds the memory of an earlier one.
// Until then it grows into pages that are there, as a process that has run for a while has them.
void grow_heap(std::size_t bytes) {
  void* const block = std::malloc(bytes);
  if (block == nullptr) return;
  const auto of_page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + of_page - 1) / of_page * of_page;
  const auto end = (reinterpret_cast<std::uintptr_t>(block) + bytes) / of_page * of_page;
  auto* const first = reinterpret_cast<char*>(begin);
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which older headers do not have
  if (end > begin && ::madvise(first, end - begin, populate_write) != 0) {
    for (auto at = begin; at < end; at += of_page) *reinterpret_cast<volatile char*>(at) = 0;
  }
  std::free(block);
}

}  // namespace

#define KEVO_WORKER extern "C" __attribute__((visibility("default")))

/// A /tmp of the process' own. @return 1, or 0 where the kernel does not allow it
KEVO_WORKER int kevo_worker_own_files(std::uint64_t bytes) {
  return kevo::take_own_files(bytes) ? 1 : 0;
}

/// Maps the pages, binds the process to its processors, caps its memory and restricts its system calls.
/// @param state descriptor of the parameters of the reference; -1: there are none
/// @param compiler socket of the process that compiles, which may be written; -1: there is none
/// @param memory_bytes that the process may have beyond what it has; 0: any
/// @param writes whether the parameters are written rather than read
/// @param files whether the process has a /tmp of its own, and may write to it
/// @return null, or why it failed
KEVO_WORKER const char* kevo_worker_open(int control, int arena_descriptor, int state, int compiler,
                                         int threads, const char* cpus, std::uint64_t memory_bytes,
                                         int writes, int files) {
  side::bind_to(cpus);
  const auto shared = side::map_descriptor(control);
  arena = side::map_descriptor(arena_descriptor);
  if (shared.size < sizeof(kevo::control_page) || arena.data == nullptr)
    return "the shared memory cannot be mapped";
  if (state >= 0) {
    if (const char* wrong = map_parameters(state, writes != 0)) return wrong;
  }
  ::close(control);
  ::close(arena_descriptor);
  page = reinterpret_cast<kevo::control_page*>(shared.data);
  several_threads = threads > 1;
  side::touch_pages(arena);
  try {
    if (memory_bytes > 0) grow_heap(kevo::spare_heap_bytes(arena.size));
    if (memory_bytes > 0) kevo::limit_further_addresses(memory_bytes + side::spare_addresses(threads));
    if (files != 0) {
      kevo::lock_down_with_files(threads);
    } else {
      kevo::lock_down(threads, false, compiler);
    }
  } catch (const std::exception& problem) {
    failure = problem.what();
    return failure.c_str();
  }
  return nullptr;
}

/// Maps the parameters of the reference alone, to be read. @return null, or why it failed
KEVO_WORKER const char* kevo_worker_parameters(int descriptor) {
  return map_parameters(descriptor, false);
}
KEVO_WORKER void* kevo_worker_state() {
  return parameters.data;
}

/// The program is loaded and calls may come.
KEVO_WORKER void kevo_worker_ready() {
  page->claim.store(static_cast<std::uint32_t>(kevo::worker_claim::ready), std::memory_order_release);
}
/// Serves calls until Python raises an exception, which Python finds when this returns. Holds Python's lock.
KEVO_WORKER int kevo_worker_serve(const kevo::torch::call_tools* tools,
                                  const kevo::torch::tensor_kind* inputs, std::size_t input_count,
                                  const kevo::torch::tensor_kind* outputs, std::size_t output_count) {
  return kevo::torch::serve_calls(*page, arena, several_threads, *tools, {inputs, input_count},
                                  {outputs, output_count})
             ? 1
             : 0;
}
/// Waits to be ended.
KEVO_WORKER void kevo_worker_rest() {
  side::calls(*page, several_threads).next();
}
/// A remark for the controller, which does not end the process.
KEVO_WORKER void kevo_worker_note(const char* text) {
  std::strncpy(page->message, text, sizeof page->message - 1);
}
/// Ends the process. @param claim kevo::worker_claim
KEVO_WORKER void kevo_worker_fail(std::uint32_t claim, const char* text) {
  if (page == nullptr) ::_exit(3);
  side::give_up(*page, static_cast<kevo::worker_claim>(claim), text);
}
