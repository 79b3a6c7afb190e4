#pragma once
// Where the memory of a forked process lies.

#include <cstddef>

namespace kevo {

/// Fills the holes between what is mapped, where small mappings would otherwise always find the same places.
/// For the parent of processes that call `scatter_memory`.
void fill_holes();

/// A forked process has the addresses of its parent, and so of all its siblings. This moves what comes next,
/// in mappings and in the heap, by a random number of pages and lines, so that what depends on addresses
/// differs from process to process, and is in the differences between pairs. To be called before anything is
/// mapped that it should concern.
void scatter_memory();

/// A random number of bytes below `most`, a multiple of `unit`.
std::size_t random_offset(std::size_t most, std::size_t unit);

/// Gives this process pages of its own for the code and constants of a loaded object. All processes of a
/// program share those of its file otherwise: where in the machine's memory they lie changes what a call
/// takes by up to one per cent, which would be the same in every pair and in no difference between pairs. To
/// be called when the object has been loaded. Large objects are left as they are.
/// @param object as dlopen returns it
void take_own_pages(void* object);

/// Runs `work` some way further down the stack. A page at least is above it, as in most programs: the stack
/// begins close below the end of the addresses where the kernel does not draw them.
template <class Work>
void on_scattered_stack(Work&& work) {
  constexpr std::size_t least = 4096;
  // Touched, so that no guard page is skipped.
  auto* const room =
      static_cast<volatile char*>(__builtin_alloca(random_offset(std::size_t{64} << 10U, 16) + least));
  for (std::size_t i = 0; i < 16; ++i) room[i] = 0;
  work();
}

}  // namespace kevo
