#include "fitness/oracle/output_contract.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace kevo {
namespace {

double cosine_of(const contract_sums& sums) {
  if (sums.got_squared == 0 && sums.wanted_squared == 0) return 1;
  const double lengths = std::sqrt(sums.got_squared) * std::sqrt(sums.wanted_squared);
  return lengths > 0 ? sums.product / lengths : 0;
}

double relative_error_of(const contract_sums& sums) {
  if (sums.error == 0) return 0;
  return sums.wanted > 0 ? sums.error / sums.wanted : std::numeric_limits<double>::infinity();
}

// kevo-device, which has no fmt, links this.
std::string said(const char* what, double found, const char* side, double limit) {
  char text[160];
  std::snprintf(text, sizeof text, "%s is %.6g (at %s %g)", what, found, side, limit);
  return text;
}

}  // namespace

// What is not a number does not hold.
std::string broken_part(const output_contract& contract, const contract_sums& sums, std::uint64_t elements) {
  // The rounding of the sums themselves.
  constexpr double rounding = 1e-12;
  if (contract.min_cosine && !(cosine_of(sums) >= *contract.min_cosine - rounding))
    return said("its cosine with the expected output", cosine_of(sums), "least", *contract.min_cosine);
  if (contract.max_relative_l1 && !(relative_error_of(sums) <= *contract.max_relative_l1))
    return said("its relative L1 error", relative_error_of(sums), "most", *contract.max_relative_l1);
  const double rmse =
      std::sqrt(sums.error_squared / static_cast<double>(std::max<std::uint64_t>(elements, 1)));
  if (contract.max_rmse && !(rmse <= *contract.max_rmse))
    return said("the root of its mean squared error", rmse, "most", *contract.max_rmse);
  return {};
}

}  // namespace kevo
