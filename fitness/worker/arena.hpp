#pragma once
// Where the buffers of calls lie in the shared arena: slots, each with guard zones around every buffer and
// addresses that change with every call.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/worker/shared_memory.hpp"

namespace kevo {

/// One buffer of a call.
struct buffer_shape {
  std::size_t bytes = 0;
  bool output = false;
};

/// A slot that was laid out for one call.
struct slot_layout {
  std::size_t begin = 0;  ///< in the arena [bytes]
  std::size_t end = 0;
  std::vector<std::size_t> offsets;       ///< of each buffer in the arena, multiples of 64
  std::array<std::uint64_t, 8> poison{};  ///< the pattern of one cache line
};

/// A few secret cache lines (or less, where an output is smaller) of a slot's outputs.
struct secret_lines {
  struct line {
    std::size_t offset = 0;  ///< in the arena
    std::size_t size = 0;    ///< up to 64
  };
  std::vector<line> lines;
};

/// What the guards and inputs of a slot say after a call.
struct slot_damage {
  bool guards = false;  ///< something outside of every buffer was written
  bool inputs = false;
  /// With `guards`: the first byte that was written lies so far from this buffer, behind its end or before
  /// its beginning, whichever is nearer.
  std::size_t buffer = 0;
  std::size_t distance = 0;  ///< [bytes] 1: the next byte
  bool before = false;
  bool any() const { return guards || inputs; }
};

/// The arena of one worker. Not thread-safe.
class arena {
 public:
  /// Zone before, between and after buffers, at least. [bytes]
  static constexpr std::size_t guard = 4096;

  /// `capacity` bytes, without buffers yet. @throws kevo::error (environment)
  explicit arena(std::size_t capacity);
  /// From now on calls have these buffers, in at most `most_slots` slots.
  /// @throws kevo::error (internal) if not even one slot fits
  void reshape(std::vector<buffer_shape> buffers, std::size_t most_slots = std::size_t(-1));
  /// The size of the memory of an arena of this capacity: whole pages. [bytes]
  static std::size_t memory_for(std::size_t capacity);
  /// Bytes of one slot with these buffers.
  static std::size_t slot_bytes(std::span<const buffer_shape> buffers);

  const std::vector<buffer_shape>& buffers() const { return buffers_; }
  std::size_t slots() const { return slots_; }
  const shared_memory& memory() const { return memory_; }
  std::byte* at(std::size_t offset) const { return memory_.data() + offset; }

  /// Lays the buffers out anew, at places drawn from `places`, or from `random` without them, and poisons the
  /// slot with a new pattern: the whole slot, or all but the inputs where these are filled at once.
  slot_layout prepare(std::size_t slot, rng& random, bool inputs_follow = false, rng* places = nullptr) const;
  /// Writes the slot's pattern into its outputs once more, so that their lines are in this processor's caches
  /// and in no other's.
  void poison_outputs(const slot_layout& layout) const;
  /// Copies the contents of the inputs in (in the order of the input buffers).
  void fill_inputs(const slot_layout& layout, std::span<const std::vector<std::byte>> inputs) const;
  /// Overwrites a line of each page of each input, at a place that is drawn.
  void spoil_inputs(const slot_layout& layout, rng& random) const;
  /// Draws `count` lines from the outputs, each output in proportion to its size, the last line of each among
  /// them.
  secret_lines draw_lines(const slot_layout& layout, std::size_t count, rng& random) const;
  /// Copies lines to private memory, as fast as can be.
  void snapshot(const secret_lines& lines, std::byte* target) const;
  /// Whether a snapshot shows the same as the arena does now.
  bool same(const secret_lines& lines, const std::byte* snapshot) const;
  /// Whether the lines in the arena still hold the slot's poison.
  bool poisoned(const slot_layout& layout, const secret_lines& lines) const;
  /// Compares guards with the poison and inputs with what was copied in.
  slot_damage inspect(const slot_layout& layout, std::span<const std::vector<std::byte>> inputs) const;
  /// Throws the slot's cache lines out of every cache of the machine (x86: clflush, which other processors
  /// obey, too). False where the machine has no such instruction.
  bool evict(const slot_layout& layout) const;

 private:
  void poison(std::size_t begin, std::size_t end, const slot_layout& layout) const;
  bool holds_poison(std::size_t begin, std::size_t end, const slot_layout& layout) const;
  void find_damage(std::size_t begin, std::size_t next, const slot_layout& layout, slot_damage& damage) const;

  std::vector<buffer_shape> buffers_;
  std::size_t slot_bytes_ = 0;
  std::size_t slots_ = 0;
  shared_memory memory_;
};

}  // namespace kevo
