#include "fitness/oracle/sum_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

#include "fitness/oracle/compare.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"

namespace {

const kevo::element_type& float32 = *kevo::find_element_type("float32");

kevo::tolerance sums() {
  kevo::tolerance rule;
  rule.rule = "accumulation";
  rule.scale = "scale";
  return rule;
}

float rounded_to_tf32(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x0fffU + ((bits >> 13U) & 1U)) & 0xffffe000U;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

std::vector<float> drawn(std::size_t count, const kevo::generator& recipe, kevo::rng& random) {
  const auto bytes = kevo::generate_elements(float32, count, recipe, kevo::variety::plain,
                                             kevo::variety_strength::full, random);
  std::vector<float> values(count);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct product_sums {
  kevo::expected_output expected;
  std::vector<double> scale;
  std::vector<double> plain;    // in order, in float32
  std::vector<double> rounded;  // the same with inputs rounded to TF32
};

product_sums sums_of_products(std::size_t outputs, std::int64_t length, const kevo::generator& recipe,
                              kevo::rng& random) {
  product_sums made;
  for (std::size_t i = 0; i < outputs; ++i) {
    const auto a = drawn(static_cast<std::size_t>(length), recipe, random);
    const auto b = drawn(static_cast<std::size_t>(length), recipe, random);
    double exact = 0;
    double scale = 0;
    float plain = 0;
    float rounded = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double term = static_cast<double>(a[k]) * static_cast<double>(b[k]);
      exact += term;
      scale += std::abs(term);
      plain += a[k] * b[k];
      rounded += rounded_to_tf32(a[k]) * rounded_to_tf32(b[k]);
    }
    made.expected.values.push_back(exact);
    made.scale.push_back(scale);
    made.plain.push_back(static_cast<double>(plain));
    made.rounded.push_back(static_cast<double>(rounded));
  }
  return made;
}

bool is_accepted(const product_sums& made, const std::vector<double>& got) {
  std::vector<std::byte> bytes(got.size() * float32.size);
  kevo::store_values(float32, got, bytes.data());
  return kevo::check_output(float32, bytes, made.expected).accepted;
}

}  // namespace

TEST_CASE("sums of up to a million products: a plain loop is right, inputs rounded to TF32 are wrong") {
  kevo::rng random(41);
  for (const std::int64_t length : {1, 7, 64, 1024, 4096, 32768, 1 << 20}) {
    const std::size_t outputs = length > 100000 ? 16 : 64;
    for (const auto& recipe : {kevo::generator{"normal", 0, 1}, kevo::generator{"uniform", -3, 3}}) {
      REQUIRE(kevo::has_random_signs(recipe));
      auto made = sums_of_products(outputs, length, recipe, random);
      kevo::set_bounds(made.expected, float32, sums(), made.scale, length, true);
      CAPTURE(length);
      CAPTURE(recipe.kind);
      CHECK(is_accepted(made, made.plain));
      CHECK_FALSE(is_accepted(made, made.rounded));
    }
  }
}

TEST_CASE("short sums in order keep a distance from the narrower bound") {
  kevo::rng random(42);
  for (const std::int64_t length : {1, 2, 3, 5, 8, 16, 64, 300}) {
    const auto made =
        sums_of_products(static_cast<std::size_t>(2000000 / length / 4), length, {"normal", 0, 1}, random);
    const auto bound = kevo::bound_sums(float32, sums(), length);
    double worst = 0;
    for (std::size_t i = 0; i < made.plain.size(); ++i)
      worst = std::max(worst, std::abs(made.plain[i] - made.expected.values[i]) / made.scale[i]);
    CAPTURE(length);
    CHECK(worst < 0.8 * std::max(bound.cancelling, 8 * float32.unit_roundoff));
    CHECK(bound.cancelling == bound.slope);  // what tells TF32 already stays as it is
  }
}

TEST_CASE("sums that do not cancel keep the wide bound, whatever the signs of the inputs") {
  constexpr std::int64_t length = 65536;
  kevo::expected_output expected;
  expected.values = {65000, 66000};  // sums of squares
  kevo::set_bounds(expected, float32, sums(), std::vector<double>{65000, 66000}, length, true);
  CHECK(expected.bounds[0] == doctest::Approx(4 * float32.unit_roundoff * 256 * 65000));
  expected.values = {250, -300};
  kevo::set_bounds(expected, float32, sums(), std::vector<double>{65000, 66000}, length, false);
  CHECK(expected.bounds[0] == doctest::Approx(4 * float32.unit_roundoff * 256 * 65000));
  kevo::set_bounds(expected, float32, sums(), std::vector<double>{65000, 66000}, length, true);
  CHECK(expected.bounds[0] == doctest::Approx(16 * float32.unit_roundoff * 65000));
}

TEST_CASE("generators of either sign are told from the others") {
  CHECK(kevo::has_random_signs({"normal", 0, 2}));
  CHECK(kevo::has_random_signs({"uniform", -0.5, 0.5}));
  CHECK_FALSE(kevo::has_random_signs({"normal", 1, 2}));
  CHECK_FALSE(kevo::has_random_signs({"uniform", 0, 1}));
  CHECK_FALSE(kevo::has_random_signs({"uniform", 0, 0}));
  CHECK_FALSE(kevo::has_random_signs({"zipf", -1, 1}));
}
