#pragma once
// Whether an output is right: every element against the oracle, with bounds that were computed with the
// expected values.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kevo/task.hpp>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/output_contract.hpp"

namespace kevo {

/// What one output must be. `bounds[i]` is the largest accepted |error| of element i.
struct expected_output {
  std::vector<double> values;          ///< real outputs
  std::vector<std::int64_t> integers;  ///< integer and bool outputs
  std::vector<double> bounds;          ///< empty: exact
  std::size_t allowed_misses = 0;      ///< from required_matched_ratio
  double error_cap = -1;               ///< no element may miss by more; negative: no cap
  output_contract contract;            ///< of the whole output, besides the bounds of elements
};

/// Makes the bounds of a tolerance. `scale` is the tensor that the reference wrote for the rule
/// "accumulation"; `length` its K. Rules: see kevo/task.hpp; u is the unit roundoff of `type`. Accumulation
/// allows for underflow, too: `length` of the smallest subnormals. Where all inputs were drawn with
/// `random_signs` and the sums cancel as they do then, its bound is narrower (see sum_bound.hpp).
/// @throws kevo::error (input) if the tolerance does not fit (no scale, NaN or infinity in what is expected)
void set_bounds(expected_output& expected, const element_type& type, const tolerance& rule,
                std::span<const double> scale, std::int64_t length, bool random_signs = false);

/// What was found in one output.
struct output_check {
  bool accepted = true;
  std::size_t wrong = 0;  ///< elements beyond their bound
  std::size_t total = 0;
  std::size_t first = 0;  ///< flat index of the first wrong element
  std::size_t worst =
      0;  ///< of the one that misses its bound by the largest factor; a NaN is worse than any number
  double worst_got = 0;
  double worst_expected = 0;
  double first_got = 0;
  double first_expected = 0;
  double worst_factor = 0;  ///< |error| over bound
  std::string contract;     ///< what of the contract is broken: "its cosine is 0.91 (at least 0.99)"
};

/// Compares every element. `got` is untrusted and must be private memory (a copy). A NaN or infinity where a
/// finite value is expected is never accepted, whatever the ratio.
output_check check_output(const element_type& type, std::span<const std::byte> got,
                          const expected_output& expected);

/// "[2, 0, 5]": the index of a flat one in a tensor of these extents; "[]" for a scalar.
std::string index_text(std::size_t flat, std::span<const std::int64_t> extents);

/// One sentence for people and operators.
std::string describe(const output_check& check, const std::string& name,
                     std::span<const std::int64_t> extents);

}  // namespace kevo
