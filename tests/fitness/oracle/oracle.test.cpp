#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/oracle/compare.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"

using doctest::Approx;
using kevo::find_element_type;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

kevo::tolerance accumulation() {
  kevo::tolerance t;
  t.rule = "accumulation";
  t.scale = "s";
  t.factor = 4;
  return t;
}
kevo::tolerance exact() {
  kevo::tolerance t;
  t.rule = "exact";
  return t;
}
kevo::tolerance bounds(double atol = 1e-5, double rtol = 1e-5, double ratio = 1) {
  kevo::tolerance t;
  t.max_atol = atol;
  t.max_rtol = rtol;
  t.required_matched_ratio = ratio;
  return t;
}

std::vector<std::byte> bytes_of(const char* type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * find_element_type(type)->size);
  kevo::store_values(*find_element_type(type), values, bytes.data());
  return bytes;
}

kevo::output_check check(const char* type, const std::vector<double>& got, const std::vector<double>& want,
                         const kevo::tolerance& rule, const std::vector<double>& scale = {},
                         std::int64_t length = 1) {
  kevo::expected_output expected;
  expected.values = want;
  kevo::set_bounds(expected, *find_element_type(type), rule, scale, length);
  return kevo::check_output(*find_element_type(type), bytes_of(type, got), expected);
}

}  // namespace

TEST_CASE("16-bit floating words hold what IEEE 754 and bfloat16 say") {
  const auto word = [](const char* type, double x) {
    std::uint16_t result = 0;
    std::memcpy(&result, bytes_of(type, {x}).data(), 2);
    return result;
  };
  CHECK(word("float16", 1.0) == 0x3c00);
  CHECK(word("float16", -2.0) == 0xc000);
  CHECK(word("float16", 65504.0) == 0x7bff);
  CHECK(word("float16", 65520.0) == 0x7c00);
  CHECK(word("float16", 0x1p-24) == 0x0001);
  CHECK(word("float16", 1 + 0x1p-11) == 0x3c00);  // ties to even
  CHECK(word("float16", 1 + 3 * 0x1p-11) == 0x3c02);
  CHECK(word("float16", 1 + 0x1p-11 + 0x1p-40) == 0x3c01);  // rounded once, not twice
  CHECK(word("float16", not_a_number) == 0x7e00);
  CHECK(word("bfloat16", 1.0) == 0x3f80);
  CHECK(word("bfloat16", -infinity) == 0xff80);
  CHECK(word("bfloat16", 1 + 0x1p-8) == 0x3f80);
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {  // every finite half comes back
    const auto half = static_cast<std::uint16_t>(bits);
    std::byte raw[2];
    std::memcpy(raw, &half, 2);
    REQUIRE(word("float16", kevo::load_real(*find_element_type("float16"), raw)) == half);
    if (bits < 0x7f80)
      REQUIRE(word("bfloat16", kevo::load_real(*find_element_type("bfloat16"), raw)) == half);
  }
}

TEST_CASE("integers are clamped, not wrapped, and unknown types are refused by name") {
  CHECK(kevo::load_integers(*find_element_type("int8"), bytes_of("int8", {300, -300, 5})) ==
        std::vector<std::int64_t>{127, -128, 5});
  CHECK(kevo::load_integers(*find_element_type("bool"), bytes_of("bool", {0.5, 0})) ==
        std::vector<std::int64_t>{1, 0});
  kevo::tensor t;
  t.name = "A";
  t.dtype = "float8_e4m3fn";
  CHECK_THROWS_WITH_AS(kevo::element_type_of(t), doctest::Contains("float8_e4m3fn"), kevo::error);
}

TEST_CASE("a spiked content is one value but for a few far ones, a patchy one changes at secret places") {
  kevo::rng random(9);
  const auto make = [&](kevo::variety kind) {
    return kevo::load_reals(*find_element_type("float32"),
                            kevo::generate_elements(*find_element_type("float32"), 8192, {"normal", 0, 1},
                                                    kind, kevo::variety_strength::full, random));
  };
  std::set<std::size_t> places;
  std::set<std::size_t> changes;
  for (int i = 0; i < 8; ++i) {
    const auto spiked = make(kevo::variety::spiked);
    auto sorted = spiked;
    std::sort(sorted.begin(), sorted.end());
    const double usual = sorted[sorted.size() / 2];
    std::size_t far = 0;
    for (std::size_t j = 0; j < spiked.size(); ++j) {
      if (std::abs(spiked[j] - usual) < 0.05) continue;
      ++far;
      places.insert(j);
      CHECK(std::abs(spiked[j]) >= 3.5);
    }
    CHECK(far >= 1);
    CHECK(far <= 64);
    // Of either sign: what leaves out a maximum is wrong beside a large element, not beside a small one.
    CHECK(sorted.front() < -3.5);
    CHECK(sorted.back() > 3.5);
    const auto bounds = kevo::patch_bounds(8192, random);
    CHECK(bounds.front() == 0);
    CHECK(bounds.back() == 8192);
    CHECK(std::is_sorted(bounds.begin(), bounds.end()));
    changes.insert(bounds.begin(), bounds.end());
    CHECK(make(kevo::variety::patchy).size() == 8192);
  }
  CHECK(places.size() > 8);
  CHECK(changes.size() > 10);
}

TEST_CASE("contents stay in the generator's domain, whatever the variety") {
  kevo::rng random(5);
  for (std::size_t v = 0; v < kevo::variety_count; ++v) {
    const auto kind = static_cast<kevo::variety>(v);
    const auto make = [&](const char* type, std::size_t n, const kevo::generator& g) {
      return kevo::generate_elements(*find_element_type(type), n, g, kind, kevo::variety_strength::full,
                                     random);
    };
    for (const double x :
         kevo::load_reals(*find_element_type("float32"), make("float32", 999, {"normal", 0, 1}))) {
      REQUIRE(std::isfinite(x));
    }
    for (const double x :
         kevo::load_reals(*find_element_type("float64"), make("float64", 999, {"uniform", 2, 3}))) {
      REQUIRE((x >= 2 && x < 3));
    }
    for (const auto x :
         kevo::load_integers(*find_element_type("int32"), make("int32", 999, {"integers", -3, 9}))) {
      REQUIRE((x >= -3 && x <= 9));
    }
    const auto p =
        kevo::load_integers(*find_element_type("int64"), make("int64", 100, {"permutation", 0, 0}));
    CHECK(std::set<std::int64_t>(p.begin(), p.end()).size() == 100);
    const auto o = kevo::load_integers(*find_element_type("int32"), make("int32", 17, {"offsets", 50, 0}));
    CHECK(std::is_sorted(o.begin(), o.end()));
    CHECK(o.front() == 0);
    CHECK(o.back() == 50);
    CHECK(make("float32", 0, {"normal", 0, 1}).empty());
  }
  CHECK_THROWS_AS(kevo::generate_elements(*find_element_type("float32"), 3, {"zip", 0, 1},
                                          kevo::variety::plain, kevo::variety_strength::full, random),
                  kevo::error);
}

TEST_CASE("ragged contents keep their laws and their limits, whatever the variety") {
  kevo::rng random(8);
  const auto& type = *find_element_type("int32");
  const auto make = [&](std::size_t n, const kevo::generator& g, kevo::variety v,
                        const std::vector<std::int64_t>& rows = {}) {
    return kevo::load_integers(
        type, kevo::generate_elements(type, n, g, v, kevo::variety_strength::full, random, rows));
  };
  for (std::size_t v = 0; v < kevo::variety_count; ++v) {
    const auto kind = static_cast<kevo::variety>(v);
    for (const char* law : {"", "equal", "uniform", "power_law"}) {
      CAPTURE(v);
      CAPTURE(law);
      kevo::generator rows;
      rows.kind = "offsets";
      rows.a = 900;
      rows.b = 40;
      rows.law = law;
      rows.parameter = 1.2;
      const auto offsets = make(102, rows, kind);
      REQUIRE(offsets.size() == 102);
      CHECK(offsets.front() == 0);
      CHECK(offsets.back() == 900);
      std::int64_t longest = 0;
      std::int64_t shortest = 900;
      for (std::size_t i = 1; i < offsets.size(); ++i) {
        longest = std::max(longest, offsets[i] - offsets[i - 1]);
        shortest = std::min(shortest, offsets[i] - offsets[i - 1]);
      }
      CHECK(shortest >= 0);
      CHECK(longest <= 40);
      if (std::string(law) == "equal") CHECK(longest - shortest <= 1);
      kevo::generator columns;
      columns.kind = "columns";
      columns.a = 41;
      columns.rows = "start";
      const auto found = make(900, columns, kind, offsets);
      for (std::size_t i = 1; i < offsets.size(); ++i) {
        for (auto k = static_cast<std::size_t>(offsets[i - 1]); k < static_cast<std::size_t>(offsets[i]);
             ++k) {
          REQUIRE((found[k] >= 0 && found[k] < 41));
          if (k > static_cast<std::size_t>(offsets[i - 1])) REQUIRE(found[k] > found[k - 1]);
        }
      }
    }
    kevo::generator frequent;
    frequent.kind = "zipf";
    frequent.a = 5;
    frequent.b = 1004;
    frequent.parameter = 1;
    for (const auto x : make(999, frequent, kind)) REQUIRE((x >= 5 && x <= 1004));
    frequent.a = 1005;
    CHECK_THROWS_AS(make(9, frequent, kind), kevo::error);  // no integer between them
    const auto sorted = make(999, {"sorted", -3, 90}, kind);
    CHECK(std::is_sorted(sorted.begin(), sorted.end()));
    CHECK(sorted.front() >= -3);
    CHECK(sorted.back() <= 90);
  }
  kevo::generator columns;
  columns.kind = "columns";
  columns.a = 3;
  CHECK_THROWS_AS(make(4, columns, kevo::variety::plain, {0, 4}), kevo::error);  // longer than the columns
  CHECK_THROWS_AS(make(4, columns, kevo::variety::plain, {0, 3, 1, 4}), kevo::error);
  // Those in the middle must not lead beyond the end before it is seen that they decrease.
  columns.a = 1'000'000;
  CHECK_THROWS_AS(make(4, columns, kevo::variety::plain, {0, 900'000, 4}), kevo::error);
  columns.a = 3;
  CHECK_THROWS_AS(make(4, columns, kevo::variety::plain, {0, 3}), kevo::error);  // not all of them
  CHECK_THROWS_AS(make(4, columns, kevo::variety::plain), kevo::error);
}

TEST_CASE("rows of a steep power law are filled to their limit") {
  // When only rows of tiny weight have room left, one more element costs the full ones 1e21 times theirs.
  kevo::generator rows;
  rows.kind = "offsets";
  rows.a = 240'000;
  rows.b = 32;
  rows.law = "power_law";
  rows.parameter = 10;
  kevo::rng random(9);
  const auto& type = *find_element_type("int32");
  const auto offsets =
      kevo::load_integers(type, kevo::generate_elements(type, 10'001, rows, kevo::variety::plain,
                                                        kevo::variety_strength::full, random));
  CHECK(offsets.back() == 240'000);
  bool within = true;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    within = within && offsets[i] >= offsets[i - 1] && offsets[i] - offsets[i - 1] <= 32;
  CHECK(within);
}

TEST_CASE("a power law makes a few long rows and a few frequent values, at places that change") {
  kevo::rng random(3);
  const auto& type = *find_element_type("int32");
  const auto make = [&](std::size_t n, const kevo::generator& g) {
    return kevo::load_integers(type, kevo::generate_elements(type, n, g, kevo::variety::plain,
                                                             kevo::variety_strength::full, random));
  };
  kevo::generator rows;
  rows.kind = "offsets";
  rows.a = 100000;
  rows.b = 0;
  rows.law = "power_law";
  rows.parameter = 1;
  std::set<std::size_t> places;
  for (int i = 0; i < 8; ++i) {
    const auto offsets = make(1001, rows);
    std::vector<std::int64_t> lengths;
    for (std::size_t k = 1; k < offsets.size(); ++k) lengths.push_back(offsets[k] - offsets[k - 1]);
    places.insert(
        static_cast<std::size_t>(std::max_element(lengths.begin(), lengths.end()) - lengths.begin()));
    std::sort(lengths.rbegin(), lengths.rend());
    // The harmonic number of 1000 is 7.485.
    CHECK(static_cast<double>(lengths[0]) == Approx(100000 / 7.485).epsilon(0.02));
    CHECK(static_cast<double>(lengths[9]) == Approx(10000 / 7.485).epsilon(0.02));
  }
  CHECK(places.size() > 4);
  kevo::generator values;
  values.kind = "zipf";
  values.a = 0;
  values.b = 999;
  values.parameter = 1;
  std::set<std::int64_t> frequent;
  for (int i = 0; i < 8; ++i) {
    std::vector<std::size_t> counts(1000, 0);
    for (const auto x : make(100000, values)) ++counts[static_cast<std::size_t>(x)];
    const auto first = std::max_element(counts.begin(), counts.end());
    frequent.insert(first - counts.begin());
    CHECK(static_cast<double>(*first) == Approx(100000 * std::log(2) / std::log(1001)).epsilon(0.05));
  }
  CHECK(frequent.size() > 4);
}

TEST_CASE("contents drawn from a file have its elements, in an order and a number that nobody knows") {
  kevo::rng random(4);
  const auto& type = *find_element_type("float32");
  const auto given = bytes_of("float32", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  std::set<std::vector<double>> seen;
  for (int i = 0; i < 8; ++i) {
    const auto values = kevo::load_reals(
        type, kevo::redrawn(type, given, kevo::variety::plain, kevo::variety_strength::full, random));
    REQUIRE(values.size() == 10);
    for (const double x : values) CHECK((x >= 1 && x <= 10 && x == std::floor(x)));
    seen.insert(values);
  }
  CHECK(seen.size() == 8);
}

TEST_CASE(
    "constant contents are short numbers: plain float32 sums of them do not drift beyond any tolerance") {
  const auto& type = *find_element_type("float32");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    kevo::rng random(seed);
    for (const kevo::generator& recipe :
         {kevo::generator{"normal", 0, 1}, kevo::generator{"uniform", 0.5, 1.5}}) {
      const auto bytes = kevo::generate_elements(type, 2, recipe, kevo::variety::constant,
                                                 kevo::variety_strength::full, random);
      float x[2];
      std::memcpy(x, bytes.data(), sizeof x);
      CHECK(x[0] == x[1]);
      float sum = 0;
      for (int k = 0; k < 4099; ++k) sum += x[0] * x[1];
      CHECK(sum == 4099.0 * x[0] * x[1]);
    }
  }
}

TEST_CASE("normal contents have the moments that were asked for") {
  kevo::rng random(9);
  const auto values =
      kevo::load_reals(*find_element_type("float64"),
                       kevo::generate_elements(*find_element_type("float64"), 40000, {"normal", 3, 2},
                                               kevo::variety::plain, kevo::variety_strength::full, random));
  double mean = 0;
  double square = 0;
  for (const double x : values) mean += x / 40000;
  for (const double x : values) square += (x - mean) * (x - mean) / 40000;
  CHECK(mean == Approx(3).epsilon(0.02));
  CHECK(square == Approx(4).epsilon(0.05));
}

TEST_CASE("accumulation: the bound grows with scale and the root of the length") {
  const auto rule = accumulation();
  const double u = 0x1p-24;
  const double bound = 4 * u * std::sqrt(100.0) * 50;
  CHECK(check("float32", {1 + 0.9 * bound}, {1}, rule, {50}, 100).accepted);
  CHECK_FALSE(check("float32", {1 + 1.2 * bound}, {1}, rule, {50}, 100).accepted);
  CHECK(check("float32", {0x1p-149}, {0}, rule, {0}, 1).accepted);  // one underflow
  CHECK_FALSE(check("float32", {0x1p-140}, {0}, rule, {0}, 1).accepted);
  CHECK_THROWS_AS(check("float32", {1}, {1}, rule, {}, 1), kevo::error);
  CHECK_THROWS_AS(check("float32", {1}, {1}, rule, {-1}, 1), kevo::error);
}

TEST_CASE("NaN and infinity never pass for a finite value, whatever the ratio") {
  auto rule = bounds(1e300, 1, 0);
  CHECK(check("float64", {5, 6}, {1, 2}, rule).accepted);
  CHECK_FALSE(check("float64", {not_a_number, 2}, {1, 2}, rule).accepted);
  CHECK_FALSE(check("float64", {infinity, 2}, {1, 2}, rule).accepted);
  CHECK_FALSE(check("float32", {-infinity, 2}, {1, 2}, rule).accepted);
  CHECK_THROWS_AS(check("float64", {not_a_number}, {not_a_number}, rule),
                  kevo::error);  // such a reference is no oracle
  rule.allow_negative_inf = true;
  CHECK(check("float64", {-infinity}, {-infinity}, rule).accepted);
  CHECK_FALSE(check("float64", {-1e300}, {-infinity}, rule).accepted);
  CHECK_FALSE(check("float64", {infinity}, {-infinity}, rule).accepted);
  CHECK_FALSE(check("float64", {not_a_number}, {-infinity}, rule).accepted);
}

TEST_CASE("ratio and cap") {
  auto rule = bounds(0.1, 0, 0.75);
  CHECK(check("float32", {1, 1, 1, 9}, {1, 1, 1, 1}, rule).accepted);
  CHECK_FALSE(check("float32", {1, 1, 9, 9}, {1, 1, 1, 1}, rule).accepted);
  rule.max_error_cap = 1;
  CHECK_FALSE(check("float32", {1, 1, 1, 9}, {1, 1, 1, 1}, rule).accepted);
  CHECK(check("float32", {1, 1, 1, 1.5}, {1, 1, 1, 1}, rule).accepted);
}

TEST_CASE("a contract of a whole output: cosine, relative L1 error, root of the mean squared error") {
  kevo::tolerance rule;
  rule.rule = "finite";
  rule.min_cosine = 0.99;
  CHECK(check("float32", {3, 4}, {3, 4}, rule).accepted);
  CHECK(check("float32", {6, 8}, {3, 4}, rule).accepted);      // a cosine does not see this
  const auto turned = check("float32", {4, 3}, {3, 4}, rule);  // 24 / 25
  CHECK_FALSE(turned.accepted);
  CHECK(turned.contract == "its cosine with the expected output is 0.96 (at least 0.99)");
  CHECK_FALSE(check("float32", {0, 0}, {3, 4}, rule).accepted);
  CHECK(check("float32", {0, 0}, {0, 0}, rule).accepted);
  rule.max_relative_l1 = 0.1;
  CHECK_FALSE(check("float32", {6, 8}, {3, 4}, rule).accepted);  // 7 / 7
  CHECK(check("float32", {3, 4.5}, {3, 4}, rule).accepted);      // 0.5 / 7
  rule.max_rmse = 0.3;
  CHECK_FALSE(check("float32", {3, 4.5}, {3, 4}, rule).accepted);  // sqrt(0.25 / 2) = 0.354
  CHECK(check("float32", {3, 4.4}, {3, 4}, rule).accepted);        // 0.283
  // What is not finite is never accepted, and what overflows the sums keeps no contract.
  for (const double bad : {infinity, -infinity, not_a_number})
    CHECK_FALSE(check("float32", {3, bad}, {3, 4}, rule).accepted);
  CHECK_FALSE(check("float64", {3, 1e300}, {3, 4}, rule).accepted);
  // Beside a rule of the elements both are demanded.
  rule.rule = "bounds";
  CHECK_FALSE(check("float32", {3, 4.4}, {3, 4}, rule).accepted);
}

TEST_CASE("exact integers, and bounds for them") {
  kevo::expected_output expected;
  expected.integers = {1, std::int64_t{1} << 60U};
  const auto& type = *find_element_type("int64");
  const auto judge = [&](std::vector<std::int64_t> got) {
    std::vector<std::byte> bytes(got.size() * 8);
    kevo::store_values(type, std::span<const std::int64_t>(got), bytes.data());
    return kevo::check_output(type, bytes, expected);
  };
  kevo::set_bounds(expected, type, exact(), {}, 1);
  CHECK(judge({1, std::int64_t{1} << 60U}).accepted);
  CHECK_FALSE(judge({1, (std::int64_t{1} << 60U) + 1}).accepted);  // lost in double, not here
  CHECK_FALSE(judge({1}).accepted);
  kevo::set_bounds(expected, type, bounds(1, 0), {}, 1);
  CHECK(judge({2, (std::int64_t{1} << 60U) - 1}).accepted);
  CHECK_FALSE(judge({3, std::int64_t{1} << 60U}).accepted);
}

TEST_CASE("a mismatch is told with its place") {
  const auto result = check("float32", {1, 2, 3, 4, 50, 7}, {1, 2, 3, 4, 5, 6}, bounds());
  CHECK(result.wrong == 2);
  const std::int64_t extents[] = {2, 3};
  const auto text = kevo::describe(result, "C", extents);
  CHECK(text.find("2 of 6") != std::string::npos);
  CHECK(text.find("[1, 1]: got 50, expected 5") != std::string::npos);
  CHECK(kevo::index_text(5, extents) == "[1, 2]");
  CHECK(kevo::index_text(0, {}) == "[]");
}
