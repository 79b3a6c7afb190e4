// What torch.allclose would say, with KernelBench's tolerances.
#include "fitness/oracle/suite_rule.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

namespace {

std::uint64_t misses_of(const std::vector<float>& got, const std::vector<double>& want) {
  std::vector<std::byte> bytes(got.size() * sizeof(float));
  std::memcpy(bytes.data(), got.data(), bytes.size());
  kevo::expected_output expected;
  expected.values = want;
  return kevo::suite_misses(*kevo::find_element_type("float32"), bytes, expected);
}

}  // namespace

TEST_CASE("an element may miss by 1e-4 absolutely plus 1e-4 relatively") {
  CHECK(misses_of({0.00009F, 10.0009F, -10.0009F}, {0, 10, -10}) == 0);
  CHECK(misses_of({0.00011F, 10.0012F, -10.0012F}, {0, 10, -10}) == 3);
  CHECK(misses_of({1, NAN, INFINITY}, {1, 1, 1}) == 2);
}

TEST_CASE("the tolerance is that of the type of the output") {
  CHECK(kevo::suite_tolerance(*kevo::find_element_type("float32")) == 1e-4);
  CHECK(kevo::suite_tolerance(*kevo::find_element_type("bfloat16")) == 1e-2);
  CHECK(kevo::suite_tolerance(*kevo::find_element_type("float16")) == 1e-2);
  CHECK(kevo::suite_tolerance(*kevo::find_element_type("int64")) == 0);
}

TEST_CASE("one call that is refused makes the verdict, and without calls there is none") {
  kevo::suite_verdict verdict;
  kevo::evaluation e;
  kevo::tell_suite_rule(e, verdict);
  CHECK(e.context.empty());
  verdict.add(0);
  verdict.add(0);
  kevo::tell_suite_rule(e, verdict);
  CHECK(e.context.at("kernelbench_rule") == "accepts (2 calls)");
  verdict.add(7);
  kevo::tell_suite_rule(e, verdict);
  CHECK(e.context.at("kernelbench_rule") == "refuses (1 of 3 calls)");
}
