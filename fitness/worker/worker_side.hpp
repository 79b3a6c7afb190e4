#pragma once
// The worker's side of the pages that it shares with the controller. Linked into the worker programs.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "fitness/worker/protocol.hpp"

namespace kevo::worker_side {

/// Shared memory of this process.
struct region {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

/// Maps a whole descriptor; `data` is null if that fails.
/// @param populate all pages at once; a sparse file would become whole
region map_descriptor(int descriptor, bool writable = true, bool populate = true);

/// Binds this process to processors, a list such as "2,3"; anything else leaves it as it is. Before any page
/// is touched, so that memory is near those processors. Threads inherit it.
void bind_to(const char* list);

/// Page faults belong before the clock. The kernel need not have mapped all pages at once.
void touch_pages(const region& memory);

/// Reads a word of each page of `[begin, begin + bytes)`, as far as that is in the memory.
void read_pages(const region& memory, std::uint64_t begin, std::uint64_t bytes);

/// Says why there will be no (further) call, and ends the process.
[[noreturn]] void give_up(control_page& page, worker_claim claim, const char* message);

/// Addresses that are not memory: libraries, and of each thread a stack and the reserve of its heap. [bytes]
std::uint64_t spare_addresses(int threads);

/// The controller may sleep in a futex on a word of the page.
template <class Word>
void wake_controller(const std::atomic<Word>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// The calls of a worker, in order.
class calls {
 public:
  /// @param prepare called with the arguments of the next call, without scalars and before its inputs are
  /// there, whenever the controller asks for it
  calls(control_page& page, bool threads, std::function<void(const call_arguments&)> prepare = {})
      : page_(&page), threads_(threads), prepare_(std::move(prepare)) {}
  /// Returns when the next call may begin, with its arguments; answers the controller's pings meanwhile.
  const call_arguments& next();
  /// The call has ended: all its stores are visible.
  void done();

 private:
  control_page* page_;
  void answer(std::uint64_t asked);

  bool threads_;
  std::function<void(const call_arguments&)> prepare_;
  std::uint64_t ping_ = 0;
  std::uint64_t next_ = 1;
};

}  // namespace kevo::worker_side
