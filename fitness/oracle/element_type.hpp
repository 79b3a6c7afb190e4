#pragma once
// The element types that a CPU task can hold: how they are laid out, how they round, what C++ calls them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <kevo/task.hpp>

namespace kevo {

enum class element_kind : std::uint8_t { real, integer, boolean };

/// What is known of a dtype. 16-bit floating types are uint16_t words in C++, bool is uint8_t.
struct element_type {
  std::string_view name;
  std::string_view c_type;
  std::size_t size = 0;  ///< bytes
  element_kind kind = element_kind::real;
  double unit_roundoff = 0;          ///< half the distance from 1 to the next number; 0 for integers
  double largest = 0;                ///< largest finite value
  double smallest = 0;               ///< real: smallest positive subnormal; integer: lowest value
  std::string_view lower_precision;  ///< the next narrower floating type; empty if there is none
};

/// The dtype of that name, or null if a CPU task cannot hold it.
const element_type* find_element_type(std::string_view name);

/// The dtype of a tensor. @throws kevo::error (input) naming tensor and known names if there is none
const element_type& element_type_of(const tensor& t);

/// Rounds values to the dtype (to nearest, ties to even; integers are truncated and clamped) and stores them
/// one after the other. `target` holds `values.size() * size` bytes.
void store_values(const element_type& type, std::span<const double> values, std::byte* target);
void store_values(const element_type& type, std::span<const std::int64_t> values, std::byte* target);

/// The inverse: exact for every dtype but int64 as double.
std::vector<double> load_reals(const element_type& type, std::span<const std::byte> bytes);
std::vector<std::int64_t> load_integers(const element_type& type, std::span<const std::byte> bytes);

/// One element as a double.
double load_real(const element_type& type, const std::byte* element);
std::int64_t load_integer(const element_type& type, const std::byte* element);

}  // namespace kevo
