#pragma once
// What a task may demand of a whole output: cosine, relative L1 error, root of the mean squared error, as
// suites of quantized operators do. Each is computed from six sums, so that a device can compute them, too.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace kevo {

struct output_contract {
  std::optional<double> min_cosine;
  std::optional<double> max_relative_l1;
  std::optional<double> max_rmse;

  bool any() const { return min_cosine || max_relative_l1 || max_rmse; }
};

/// Over all elements of an output.
struct contract_sums {
  double product = 0;         ///< got * expected
  double got_squared = 0;     ///< got^2
  double wanted_squared = 0;  ///< expected^2
  double error = 0;           ///< |got - expected|
  double wanted = 0;          ///< |expected|
  double error_squared = 0;   ///< (got - expected)^2

  /// Elements that are not finite are left to the rule of the elements.
  void add(double value, double expected) {
    if (!std::isfinite(value) || !std::isfinite(expected)) return;
    const double miss = value - expected;
    product += value * expected;
    got_squared += value * value;
    wanted_squared += expected * expected;
    error += std::abs(miss);
    wanted += std::abs(expected);
    error_squared += miss * miss;
  }
};

/// The first part that does not hold: "its cosine with the expected output is 0.91 (at least 0.99)"; empty:
/// all hold. Of two outputs of zeros the cosine is 1 and the relative error 0; of one of them alone, 0 and
/// infinity.
std::string broken_part(const output_contract& contract, const contract_sums& sums, std::uint64_t elements);

}  // namespace kevo
