#pragma once
// Element types of tensors. A task names its types by strings; this table has the properties of the types
// that kevo can compute with.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kevo {

/// The kind of number that an element is.
enum class dtype_kind { real, integer, unsigned_integer, boolean };

/// Properties of one element type.
struct dtype_info {
  std::string_view name;  ///< name as tasks write it, such as "float32"
  std::size_t size = 0;   ///< [bytes] size of an element
  dtype_kind kind = dtype_kind::real;
  /// The unit roundoff u: half the distance from 1 to the next larger number, which is the largest relative
  /// error of one rounding to nearest. 0 for integers and bool.
  double unit_roundoff = 0;
  std::string_view
      cpp_type;  ///< type of an element in a C++ candidate; float16 and bfloat16 are 16-bit words
};

/// All element types that kevo computes with.
inline constexpr std::array<dtype_info, 13> dtypes = {{
    {"float64", 8, dtype_kind::real, 0x1p-53, "double"},
    {"float32", 4, dtype_kind::real, 0x1p-24, "float"},
    {"float16", 2, dtype_kind::real, 0x1p-11, "std::uint16_t"},
    {"bfloat16", 2, dtype_kind::real, 0x1p-8, "std::uint16_t"},
    {"int64", 8, dtype_kind::integer, 0, "std::int64_t"},
    {"int32", 4, dtype_kind::integer, 0, "std::int32_t"},
    {"int16", 2, dtype_kind::integer, 0, "std::int16_t"},
    {"int8", 1, dtype_kind::integer, 0, "std::int8_t"},
    {"uint64", 8, dtype_kind::unsigned_integer, 0, "std::uint64_t"},
    {"uint32", 4, dtype_kind::unsigned_integer, 0, "std::uint32_t"},
    {"uint16", 2, dtype_kind::unsigned_integer, 0, "std::uint16_t"},
    {"uint8", 1, dtype_kind::unsigned_integer, 0, "std::uint8_t"},
    {"bool", 1, dtype_kind::boolean, 0, "bool"},
}};

/// Types of FlashInfer-Bench that kevo does not support yet.
inline constexpr std::array<std::string_view, 4> planned_dtypes = {"float8_e4m3fn", "float8_e4m3",
                                                                   "float8_e5m2", "float4_e2m1"};

/// The entry with this name; nothing if kevo does not know the type.
inline constexpr std::optional<dtype_info> find_dtype(std::string_view name) {
  for (const auto& entry : dtypes) {
    if (entry.name == name) return entry;
  }
  return std::nullopt;
}

/// The names of all types in `dtypes`, for hints in error messages.
inline constexpr std::array<std::string_view, dtypes.size()> dtype_names() {
  std::array<std::string_view, dtypes.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = dtypes[i].name;
  return names;
}

/// True for signed and unsigned integer types and bool, whose results the reference computes exactly.
inline constexpr bool is_exact(const dtype_info& type) {
  return type.kind != dtype_kind::real;
}

}  // namespace kevo
