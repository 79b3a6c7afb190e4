#pragma once
// Results that a program returns in memory of its own. After a call the process says where they lie; the
// controller reads them there. What it says is a claim: it can only name memory, and the bytes are judged.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sys/types.h>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/process/read_memory.hpp"

namespace kevo {

/// One output of a task, as the programs of a kind return it.
struct result_kind {
  std::size_t element_bytes = 0;
  std::size_t rank = 0;
};

/// What a worker returns in memory of its own, but for calls of few bytes (`in_arena`, session.hpp).
struct own_results {
  std::size_t input_extents = 0;     ///< so many extents of a call are those of inputs, and come first
  std::vector<result_kind> outputs;  ///< empty: nothing is read
};

/// Some elements of one output in their logical order, which lie side by side in memory.
struct result_line {
  std::size_t output = 0;
  std::size_t first = 0;  ///< element
  std::size_t count = 0;
};

/// The results of one call after the other. Not thread-safe.
class result_reader {
 public:
  explicit result_reader(own_results what) : what_(std::move(what)) {}

  /// The next call has these extents. @throws kevo::error (internal) if there are too few
  void begin(std::span<const std::int64_t> extents);
  /// Bytes of all outputs of such a call.
  std::size_t bytes() const;
  std::size_t bytes_of(std::size_t output) const { return shapes_[output].bytes; }

  /// Draws about `count` lines, each output in proportion to its size, the last line of each among them.
  std::vector<result_line> draw_lines(std::size_t count, rng& random) const;

  /// Takes what the worker says: for each output the address of its first element, and the strides of all
  /// extents, in elements. @return false where that is nothing that can be read: several elements in one
  /// place, or too few words
  bool locate(std::span<const std::int64_t> claim);
  /// Reads lines as fast as can be. What is read of a line is cut to the elements that lie side by side.
  /// @param target 64 bytes for each line
  bool snapshot(pid_t process, std::span<result_line> lines, std::byte* target) const;
  /// Reads all outputs; they are kept until the next call.
  bool read(pid_t process);
  /// Whether a snapshot shows the same as what was read.
  bool same(std::span<const result_line> lines, const std::byte* snapshot) const;
  /// The elements of an output, row by row, as they were read.
  std::span<const std::byte> output(std::size_t index) const;

  /// Bytes of a line, at most.
  static constexpr std::size_t line_bytes = 64;

 private:
  struct shape_of_output {
    std::vector<std::int64_t> extents;
    std::size_t elements = 0;
    std::size_t bytes = 0;
  };
  struct result_place {
    std::uint64_t address = 0;
    std::vector<std::int64_t> strides;  // in elements
    std::size_t side_by_side = 0;       // from every multiple of this number on, so many elements
  };
  std::uint64_t address_of(std::size_t output, std::size_t element) const;
  bool read_strided(pid_t process, std::size_t output, std::byte* into);

  own_results what_;
  std::vector<shape_of_output> shapes_;
  std::vector<result_place> places_;
  std::vector<std::byte> kept_;
  std::vector<std::byte> span_;  // of a strided output
};

}  // namespace kevo
