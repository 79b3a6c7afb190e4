#pragma once
// Arenas for processes that come one after the other.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/worker/arena.hpp"

namespace kevo {

/// Lends arenas. The kernel takes milliseconds to find and map as much memory anew, so that an arena is
/// cleared and lent again. To whom falls to chance: where its pages lie is part of what differs between the
/// processes of a candidate and of the baseline, and would be the same in every pair if each kept its own.
/// Whoever gives an arena back guarantees that no process has it mapped any more. One thread at a time.
class arena_pool {
 public:
  explicit arena_pool(rng random) : random_(random) {}

  /// An arena of at least `capacity` bytes without buffers, every byte zero. Drawn from those of this size
  /// that were given back, once there are some; now and then a new one takes the place of an old one.
  /// @throws kevo::error (environment)
  arena take(std::size_t capacity);
  void give_back(arena&& used);
  /// Forgets all that were given back.
  void clear() { free_.clear(); }

  /// Whether memory of this machine's kernel is worth keeping: where it gives shared memory as huge pages, a
  /// program may have asked for them, and nothing must be left of that for the next.
  static bool keeps_nothing_else();

 private:
  struct size_class {
    std::size_t bytes = 0;
    std::size_t made = 0;
  };
  size_class& class_of(std::size_t bytes);

  rng random_;
  std::vector<arena> free_;
  std::vector<size_class> classes_;
};

/// An arena that goes back to its pool, if it has one.
class lent_arena {
 public:
  explicit lent_arena(std::size_t capacity) : arena_(capacity) {}
  lent_arena(std::shared_ptr<arena_pool> pool, std::size_t capacity)
      : arena_(pool->take(capacity)), pool_(std::move(pool)) {}
  lent_arena(lent_arena&&) noexcept = default;
  lent_arena& operator=(lent_arena&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(pool_, other.pool_);
    return *this;
  }
  lent_arena(const lent_arena&) = delete;
  lent_arena& operator=(const lent_arena&) = delete;
  ~lent_arena() {
    if (pool_) pool_->give_back(std::move(arena_));
  }
  arena& get() { return arena_; }
  const arena& get() const { return arena_; }

 private:
  arena arena_;
  std::shared_ptr<arena_pool> pool_;
};

}  // namespace kevo
