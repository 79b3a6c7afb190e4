#pragma once
// Where the elements of a result lie, of a program in Python that names the place of its results: what of a
// claim is possible, and how it is copied.

#include <cstdint>
#include <string>
#include <vector>

#include "fitness/cuda/wire/worker_protocol.hpp"

namespace kevo::cuda {

/// Rows of the same size, at equal distances. Copied one behind the other they are all elements of a result,
/// each once.
struct result_place {
  std::uint64_t offset = 0;  ///< of the first row in its block [bytes]
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t pitch = 0;  ///< from one row to the next [bytes]
  /// Where in the copied rows an element of the result is: the extents of its shape, then, for each of them,
  /// the distance of neighbours. [elements] Empty: the rows are in the order of the shape.
  std::vector<std::uint64_t> order;

  std::uint64_t bytes() const { return rows * row_bytes; }
  /// Behind its last row, in its block. [bytes]
  std::uint64_t end() const { return rows == 0 ? offset : offset + (rows - 1) * pitch + row_bytes; }
  friend bool operator==(const result_place&, const result_place&) = default;
};

/// Checks a claim, whatever its words say, but for its block. Pure.
/// @param count elements that the result must have @param element_bytes the size of each
/// @return what is wrong with it; empty if nothing is
std::string place_of(const result_claim& claim, std::uint64_t count, std::uint64_t element_bytes,
                     result_place& made);

}  // namespace kevo::cuda
