#include "fitness/oracle/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/oracle/sum_bound.hpp"

namespace kevo {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A bound that every finite error keeps, and no infinite one.
constexpr double widest_bound = std::numeric_limits<double>::max();

// Infinity means "never accepted".
double factor_of(double got, double expected, double bound) {
  if (got == expected) return 0;  // also -inf where it is expected
  const double miss = std::abs(got - expected);
  if (!(miss < infinity)) return infinity;
  return bound > 0 ? miss / bound : infinity;
}

std::size_t allowed_misses(double ratio, std::size_t total) {
  const double share = std::clamp(1 - ratio, 0.0, 1.0);
  return static_cast<std::size_t>(std::floor(share * static_cast<double>(total) + 1e-9));
}

// The fast answer for the usual case: all is well.
template <class T>
std::size_t count_misses(std::span<const std::byte> got, const expected_output& expected) {
  std::size_t misses = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    T element;
    std::memcpy(&element, got.data() + i * sizeof(T), sizeof(T));
    const double miss = std::abs(static_cast<double>(element) - expected.values[i]);
    misses += static_cast<std::size_t>(!(miss <= expected.bounds[i]));  // NaN misses
  }
  return misses;
}

output_check judge(const expected_output& expected, std::span<const double> got, auto&& expected_at,
                   auto&& factor_at) {
  output_check result;
  result.total = got.size();
  bool never = false;
  bool capped = true;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double factor = factor_at(i);
    if (factor <= 1) continue;
    const double want = expected_at(i);
    if (result.wrong == 0) {
      result.first = i;
      result.first_got = got[i];
      result.first_expected = want;
    }
    if (result.wrong == 0 || factor > result.worst_factor) {
      result.worst = i;
      result.worst_factor = factor;
      result.worst_got = got[i];
      result.worst_expected = want;
    }
    ++result.wrong;
    if (!std::isfinite(got[i]) || !std::isfinite(want)) never = true;
    if (expected.error_cap >= 0 && !(std::abs(got[i] - want) <= expected.error_cap)) capped = false;
  }
  if (expected.error_cap >= 0 && capped) {  // the cap holds for accepted elements, too
    for (std::size_t i = 0; i < got.size() && capped; ++i) {
      if (got[i] != expected_at(i) && !(std::abs(got[i] - expected_at(i)) <= expected.error_cap)) {
        capped = false;
        if (result.wrong == 0) {
          result.first = result.worst = i;
          result.first_got = result.worst_got = got[i];
          result.first_expected = result.worst_expected = expected_at(i);
          result.wrong = 1;
        }
      }
    }
  }
  result.accepted = !never && capped && result.wrong <= expected.allowed_misses;
  return result;
}

}  // namespace

void set_bounds(expected_output& expected, const element_type& type, const tolerance& rule,
                std::span<const double> scale, std::int64_t length, bool random_signs) {
  const bool real = type.kind == element_kind::real;
  const std::size_t total = real ? expected.values.size() : expected.integers.size();
  expected.allowed_misses = allowed_misses(rule.required_matched_ratio, total);
  expected.error_cap = rule.max_error_cap.value_or(-1);
  if (real) {
    for (const double x : expected.values) {
      if (std::isfinite(x) || (rule.allow_negative_inf && x == -infinity)) continue;
      throw error(error_code::input, "the reference computes NaN or infinity", {},
                  "choose a generator whose values the reference can handle, or set allow_negative_inf");
    }
  }
  expected.bounds.clear();
  expected.contract = {rule.min_cosine, rule.max_relative_l1, rule.max_rmse};
  if (rule.rule == "exact") {
    if (real) expected.bounds.assign(total, 0);
    return;
  }
  expected.bounds.resize(total);
  if (rule.rule == "bounds") {
    for (std::size_t i = 0; i < total; ++i) {
      const double want = real ? expected.values[i] : static_cast<double>(expected.integers[i]);
      expected.bounds[i] = std::isfinite(want) ? rule.max_atol + rule.max_rtol * std::abs(want) : 0;
    }
    return;
  }
  if (rule.rule == "finite") {
    for (std::size_t i = 0; i < total; ++i)
      expected.bounds[i] = !real || std::isfinite(expected.values[i]) ? widest_bound : 0;
    return;
  }
  if (rule.rule != "accumulation")
    throw error(error_code::input, "tolerance rule '" + rule.rule + "' is unknown", {},
                "the rules are bounds, accumulation, exact and finite");
  if (!real)
    throw error(error_code::input, "the rule 'accumulation' is for floating-point outputs only", {},
                "write rule: exact");
  if (scale.size() != total)
    throw error(error_code::input, "the rule 'accumulation' needs one scale value for each output element",
                {}, "give the scale tensor of the reference the shape of the output");
  double results = 0;
  double scales = 0;
  for (std::size_t i = 0; i < total; ++i) {
    if (!(scale[i] >= 0) || !std::isfinite(scale[i])) {
      throw error(error_code::input,
                  "the scale tensor of the reference contains a negative value, NaN or infinity", {},
                  "let the reference write the sum of the absolute terms of each element");
    }
    if (std::isfinite(expected.values[i])) results += expected.values[i] * expected.values[i];
    scales += scale[i] * scale[i];
  }
  const auto bound = bound_sums(type, rule, length);
  const double slope = random_signs && sums_cancel(bound, results, scales) ? bound.cancelling : bound.slope;
  for (std::size_t i = 0; i < total; ++i) expected.bounds[i] = slope * scale[i] + bound.underflow;
}

namespace {

output_check check_elements(const element_type& type, std::span<const std::byte> got,
                            const expected_output& expected) {
  if (type.kind == element_kind::real) {
    const std::size_t total = expected.values.size();
    if (got.size() != total * type.size) return {.accepted = false, .wrong = total, .total = total};
    if (expected.error_cap < 0) {
      const bool fine = (type.name == "float32" && count_misses<float>(got, expected) == 0) ||
                        (type.name == "float64" && count_misses<double>(got, expected) == 0);
      if (fine) return {.accepted = true, .wrong = 0, .total = total};
    }
    const auto values = load_reals(type, got);
    return judge(
        expected, values, [&](std::size_t i) { return expected.values[i]; },
        [&](std::size_t i) { return factor_of(values[i], expected.values[i], expected.bounds[i]); });
  }
  const std::size_t total = expected.integers.size();
  if (got.size() != total * type.size) return {.accepted = false, .wrong = total, .total = total};
  const auto values = load_integers(type, got);
  if (expected.bounds.empty() && values == expected.integers)
    return {.accepted = true, .wrong = 0, .total = total};
  const std::vector<double> reals(values.begin(), values.end());
  return judge(
      expected, reals, [&](std::size_t i) { return static_cast<double>(expected.integers[i]); },
      [&](std::size_t i) {
        if (values[i] == expected.integers[i]) return 0.0;
        const double bound = expected.bounds.empty() ? 0 : expected.bounds[i];
        const __int128 miss = static_cast<__int128>(values[i]) - expected.integers[i];
        const auto size = static_cast<double>(miss < 0 ? -miss : miss);
        return bound > 0 ? size / bound : infinity;
      });
}

}  // namespace

output_check check_output(const element_type& type, std::span<const std::byte> got,
                          const expected_output& expected) {
  auto result = check_elements(type, got, expected);
  if (!result.accepted || !expected.contract.any()) return result;
  contract_sums sums;
  if (type.kind == element_kind::real) {
    const auto values = load_reals(type, got);
    for (std::size_t i = 0; i < values.size(); ++i) sums.add(values[i], expected.values[i]);
  } else {
    const auto values = load_integers(type, got);
    for (std::size_t i = 0; i < values.size(); ++i)
      sums.add(static_cast<double>(values[i]), static_cast<double>(expected.integers[i]));
  }
  result.contract = broken_part(expected.contract, sums, result.total);
  result.accepted = result.contract.empty();
  return result;
}

std::string index_text(std::size_t flat, std::span<const std::int64_t> extents) {
  std::vector<std::size_t> index(extents.size());
  for (std::size_t i = extents.size(); i-- > 0;) {
    const auto extent = static_cast<std::size_t>(std::max<std::int64_t>(extents[i], 1));
    index[i] = flat % extent;
    flat /= extent;
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string describe(const output_check& check, const std::string& name,
                     std::span<const std::int64_t> extents) {
  if (check.accepted) return fmt::format("output {} is correct", name);
  if (!check.contract.empty()) return fmt::format("output {}: {}", name, check.contract);
  std::string text = fmt::format(
      "output {}: {} of {} elements are wrong; first at {}: got {:.9g}, expected {:.9g}", name, check.wrong,
      check.total, index_text(check.first, extents), check.first_got, check.first_expected);
  if (check.worst != check.first) {
    text += fmt::format("; worst at {}: got {:.9g}, expected {:.9g}", index_text(check.worst, extents),
                        check.worst_got, check.worst_expected);
  }
  if (std::isfinite(check.worst_factor) && check.worst_factor > 0) {
    text += fmt::format(" ({:.3g} times the tolerance)", check.worst_factor);
  }
  return text;
}

}  // namespace kevo
