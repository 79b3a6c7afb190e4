#pragma once
// How the inputs of a delivered call come into the arena, whose memory the worker may read all the time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/worker/arena.hpp"

namespace kevo {

/// The inputs are written in blocks, whose order is drawn. One line of each block, drawn too, comes after all
/// others; until then it holds a decoy, which comes with its block: values of the inputs of earlier calls,
/// from other places. A program that begins with a part of the inputs as soon as something is there, or has
/// changed, works with decoys, and is wrong. Not thread-safe.
class delivery {
 public:
  /// [bytes] Of a block, and of a line.
  static constexpr std::size_t block_bytes = 512;
  static constexpr std::size_t line_bytes = 64;

  /// Draws how the next call is delivered. @param inputs are read again by the other functions
  void prepare(const arena& memory, const slot_layout& layout, std::span<const std::vector<std::byte>> inputs,
               rng random);
  /// Fetches what is to be written into this processor's caches, so that it takes no longer than it has to.
  void touch() const;
  /// Writes all blocks, with decoys.
  void write_blocks() const;
  /// Writes the inputs' own values over the decoys.
  void write_last() const;

 private:
  struct part {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    std::size_t bytes = 0;
  };
  struct alignas(line_bytes) cache_line {
    std::byte bytes[line_bytes];
  };
  /// Inputs one after the other, each beginning with a line of its own, with decoys.
  struct copy {
    std::vector<std::size_t> sizes;
    std::vector<cache_line> lines;
  };

  std::vector<part> blocks_;
  std::vector<part> last_;  // a line of each block
  copy copy_;
  copy earlier_;  // that of the call before
};

}  // namespace kevo
