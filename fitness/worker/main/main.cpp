// kevo-worker-cpu: runs one candidate in the sandbox. The first process forks a worker whenever it is asked
// (fork_requests.hpp) and never loads the candidate. A worker shares a control page and an arena with the
// controller and nothing else; what it says is believed by nobody. Usage: kevo-worker-cpu OBJECT THREADS
// CPUS, descriptor 3; CPUS is a list such as 2,3, or "any".

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <exception>
#include <fcntl.h>
#include <link.h>
#include <optional>
#include <string>
#include <unistd.h>

#include "fitness/sandbox/limit_memory.hpp"
#include "fitness/sandbox/lock_down.hpp"
#include "fitness/worker/main/fork_requests.hpp"
#include "fitness/worker/main/interposed.hpp"
#include "fitness/worker/main/random_addresses.hpp"
#include "fitness/worker/protocol.hpp"
#include "fitness/worker/worker_side.hpp"

namespace {

using kevo::worker_side::give_up;

[[noreturn]] void serve(kevo::control_page& page, const kevo::worker_side::region& arena,
                        kevo::entry_function entry, bool threads) {
  void* pointers[kevo::most_pointers];
  kevo::worker_side::calls calls(page, threads);
  for (;;) {
    const auto& call = calls.next();
    for (std::uint32_t i = 0; i < call.pointers; ++i) pointers[i] = arena.data + call.offsets[i];
    entry(pointers, call.axes.data(), call.scalars.data());
    calls.done();
    kevo::worker_side::read_pages(arena, page.next_begin.load(std::memory_order_relaxed),
                                  page.next_bytes.load(std::memory_order_relaxed));
  }
}

// Where the entry of an object lies, relative to where the object is loaded; 0 if it has none. Read from the
// file and before the object is loaded: it has no name, which another function could have, and no code of the
// object can change it.
Elf64_Addr entry_address_of(const char* path) {
  Elf64_Ehdr header = {};
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  const bool whole = file >= 0 && ::read(file, &header, sizeof header) == sizeof header;
  if (file >= 0) ::close(file);
  return whole && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 ? header.e_entry : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool error_output = argc == 5 && std::strcmp(argv[4], kevo::error_output_argument) == 0;
  if (argc != 4 && !error_output) {
    std::fputs("usage: kevo-worker-cpu OBJECT THREADS CPUS [error-output] (internal; started by kevo)\n",
               stderr);
    return 2;
  }
  const int threads = std::atoi(argv[2]);
  std::optional<kevo::prepared_lock_down> filter;
  std::string no_filter;
  try {
    filter.emplace(threads, error_output);
  } catch (const std::exception& failure) {
    no_filter = failure.what();
  }
  kevo::fill_holes();
  const auto request = kevo::next_fork_request();  // returns in a process of its own

  namespace side = kevo::worker_side;
  side::bind_to(argv[3]);
  kevo::scatter_memory();
  const auto control = side::map_descriptor(request.control);
  const auto arena = side::map_descriptor(request.arena);
  if (control.size < sizeof(kevo::control_page) || arena.data == nullptr) {
    std::fputs("kevo-worker-cpu: cannot map the shared memory\n", stderr);
    return 2;
  }
  ::close(request.control);
  ::close(request.arena);
  auto& page = *reinterpret_cast<kevo::control_page*>(control.data);
  side::touch_pages(arena);
  kevo::interpose(page);
  const auto entry_address = entry_address_of(argv[1]);
  if (!filter) give_up(page, kevo::worker_claim::lock_down_failed, no_filter.c_str());
  try {
    // Private memory is capped from outside; shared memory, and what is made read-only again, by this alone.
    if (const auto memory = kevo::private_memory_limit())
      kevo::limit_further_addresses(*memory + side::spare_addresses(threads));
    filter->set();  // before loading: constructors of the candidate run there
  } catch (const std::exception& failure) {
    give_up(page, kevo::worker_claim::lock_down_failed, failure.what());
  }
  void* object = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) give_up(page, kevo::worker_claim::load_failed, ::dlerror());
  const link_map* map = nullptr;
  if (entry_address == 0 || ::dlinfo(object, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0)
    give_up(page, kevo::worker_claim::load_failed, "the object has no entry");
  const auto entry = reinterpret_cast<kevo::entry_function>(map->l_addr + entry_address);
  kevo::take_own_pages(object);
  page.claim.store(static_cast<std::uint32_t>(kevo::worker_claim::ready), std::memory_order_release);
  side::wake_controller(page.claim);
  kevo::on_scattered_stack([&] { serve(page, arena, entry, threads > 1); });
}
