#pragma once
// The values of a program's tunables as features, for rankers that screen proposals.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <kevo/annotation.hpp>
#include <kevo/detail/fnv.hpp>
#include <kevo/error.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Computes features of a program from its tunables, so that a ranker can predict the effect of values that
/// it has not seen. The n-grams of a source do not show, for example, that 64 is greater than 32. A hash of
/// its name assigns each tunable to one of `features` features; tunables that share one are added. A number
/// is its logarithm to base 2 if all numbers of the domain are positive and the largest is at least four
/// times the smallest, or else the number itself; any other value is its position in the domain. All features
/// are 0 for a program without tunables, and for one whose annotations cannot be read. O(length of the
/// source). Thread-safe.
struct tunable_features {
  std::size_t features = 32;  ///< number of features; 0: none

  /// The features of a program: a vector of length `features`.
  std::vector<double> operator()(const program& source) const {
    std::vector<double> found(features, 0.0);
    if (features == 0) return found;
    try {
      for (const tunable& t : parse_annotations(source).tunables)
        found[detail::fnv1a(t.name) % features] += value_of(t);
    } catch (const error&) {
      found.assign(features, 0.0);  // the evaluation says what is wrong
    }
    return found;
  }

  /// The feature of one tunable, as described above.
  static double value_of(const tunable& t) {
    double least = 0, most = 0;
    for (std::size_t i = 0; i < t.domain.size(); ++i) {
      const auto number = number_of(t.domain[i]);
      if (!number) return static_cast<double>(t.current);
      least = i == 0 ? *number : std::min(least, *number);
      most = i == 0 ? *number : std::max(most, *number);
    }
    const double value = number_of(t.value).value_or(static_cast<double>(t.current));
    return least > 0 && most >= 4 * least && value > 0 ? std::log2(value) : value;
  }

 private:
  static std::optional<double> number_of(const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
    return number;
  }
};

}  // namespace kevo
