#include "fitness/oracle/suite_rule.hpp"

#include <cmath>

#include <fmt/format.h>

namespace kevo {

double suite_tolerance(const element_type& type) {
  if (type.kind != element_kind::real) return 0;
  return type.size <= 2 ? 1e-2 : 1e-4;
}

std::uint64_t suite_misses(const element_type& type, std::span<const std::byte> got,
                           const expected_output& expected) {
  std::uint64_t misses = 0;
  if (type.kind != element_kind::real) {
    const auto values = load_integers(type, got);
    for (std::size_t i = 0; i < values.size(); ++i) misses += values[i] != expected.integers[i] ? 1 : 0;
    return misses;
  }
  const double tolerance = suite_tolerance(type);
  const auto values = load_reals(type, got);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double want = expected.values[i];
    const bool near =
        values[i] == want || std::abs(values[i] - want) <= tolerance + tolerance * std::abs(want);
    misses += near ? 0 : 1;
  }
  return misses;
}

std::uint64_t suite_misses(const element_type& type, std::span<const std::byte> got,
                           std::span<const std::byte> theirs) {
  expected_output expected;
  if (type.kind == element_kind::real) {
    expected.values = load_reals(type, theirs);
  } else {
    expected.integers = load_integers(type, theirs);
  }
  return suite_misses(type, got, expected);
}

void tell_suite_rule(evaluation& e, const suite_verdict& verdict) {
  if (verdict.calls == 0) return;
  e.context["kernelbench_rule"] =
      verdict.refused == 0 ? fmt::format("accepts ({} calls)", verdict.calls)
                           : fmt::format("refuses ({} of {} calls)", verdict.refused, verdict.calls);
}

}  // namespace kevo
