#pragma once
// Tensors from files of other programs: NumPy's .npy, safetensors and Matrix Market. Files are
// untrusted: every size in them is checked before it is used.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/error.hpp>

namespace kevo {

/// A tensor as a file holds it.
struct file_tensor {
  std::string dtype;                ///< a name of kevo's: "float32", "int64", ...
  std::vector<std::int64_t> shape;  ///< outermost first; empty for a single number
  std::vector<std::byte> bytes;     ///< elements, row major, little-endian
};

/// A tensor in the format .npy, versions 1 to 3. Fortran order, big-endian elements and types that are not
/// plain numbers are refused. @param file for messages
/// @throws kevo::error (input) with the reason
file_tensor parse_npy(std::string_view contents, const std::string& file);

/// The tensor `key` of a file in the format safetensors. Gaps and overlaps of other tensors do not matter.
/// @throws kevo::error (input) with the reason, or with the names of the tensors where `key` is none of them
file_tensor parse_safetensors(std::string_view contents, const std::string& key, const std::string& file);

/// A sparse matrix in compressed rows; columns ascend within a row.
struct sparse_matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> row_start;  ///< rows + 1 offsets
  std::vector<std::int64_t> column;
  std::vector<double> value;  ///< 1 for each element of a pattern
};

/// A matrix in the coordinate format of Matrix Market: real, integer or pattern; general, symmetric or
/// skew-symmetric (both halves are stored). Entries that are given twice are refused.
/// @throws kevo::error (input) with line and reason
sparse_matrix parse_matrix_market(std::string_view contents, const std::string& file);

}  // namespace kevo
