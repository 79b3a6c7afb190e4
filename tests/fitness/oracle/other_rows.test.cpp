#include "fitness/oracle/other_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace {

constexpr std::size_t length_of_row = 40;
constexpr auto all_of_row = static_cast<std::ptrdiff_t>(length_of_row);
const kevo::special_rows every_special = {true, true, true};

// Rows of a tensor drawn by the first recipe, of which some are replaced.
std::vector<std::vector<double>> changed_rows(std::size_t rows, const std::vector<kevo::generator>& recipes,
                                              const kevo::special_rows& special, kevo::rng& random) {
  const auto& type = *kevo::find_element_type("float32");
  auto bytes = kevo::generate_elements(type, rows * length_of_row, recipes.front(), kevo::variety::plain,
                                       kevo::variety_strength::mild, random);
  kevo::replace_rows(bytes, type, length_of_row, recipes, special, kevo::variety_strength::mild, random);
  const auto all = kevo::load_reals(type, bytes);
  std::vector<std::vector<double>> result;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * length_of_row);
    result.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length_of_row));
  }
  return result;
}

kevo::task with_output(const char* rule, double atol) {
  kevo::task t;
  kevo::tensor y;
  y.name = "y";
  y.dtype = "float32";
  t.outputs = {y};
  t.workloads.resize(1);
  t.tolerances[""].rule = rule;
  t.tolerances[""].max_atol = atol;
  return t;
}

}  // namespace

TEST_CASE("a few rows are by other generators, end far from the others, or are zero, subnormal or masked") {
  kevo::rng random(11);
  const std::vector<kevo::generator> recipes = {{"uniform", 0.5, 1}, {"normal", 1000, 1}};
  const auto count = [](const auto& row, const auto& which) {
    return std::count_if(row.begin(), row.end(), which);
  };
  std::set<std::ptrdiff_t> places;
  for (int i = 0; i < 20; ++i) {
    const auto rows = changed_rows(600, recipes, every_special, random);
    int unlike = 0;
    int zeros = 0;
    int subnormals = 0;
    int masked = 0;
    int far_ends = 0;
    for (const auto& row : rows) {
      const auto usual = count(row, [](double x) { return x >= 0.5 && x < 1; });
      if (usual == all_of_row) continue;
      ++unlike;
      const auto infinite =
          count(row, [](double x) { return x == -std::numeric_limits<double>::infinity(); });
      zeros += count(row, [](double x) { return x == 0; }) == all_of_row ? 1 : 0;
      subnormals += count(row, [](double x) { return std::abs(x) > 0 && std::abs(x) < 1e-38; }) > 1 ? 1 : 0;
      const auto largest = std::max_element(row.begin(), row.end());
      const bool far = usual == all_of_row - 1 && *largest > 800;
      far_ends += far ? 1 : 0;
      if (far) {
        CHECK(row.end() - largest <= 16);
        places.insert(row.end() - largest);
      }
      if (infinite == 0) continue;
      ++masked;
      CHECK(infinite < all_of_row);
    }
    // Two by a generator, of which those by the own one look like the others, and 37 with a far end.
    CHECK(unlike <= 2 + 37 + 5);
    CHECK(zeros == 1);
    CHECK(subnormals == 1);
    CHECK(masked == 3);
    CHECK(far_ends > 10);
    CHECK(far_ends <= 37);
  }
  CHECK(places.size() == 16);
}

TEST_CASE("a tensor has special rows of all kinds or of none, so that one content says what others need") {
  kevo::rng random(14);
  for (const std::size_t rows : {2, 5, 9, 10, 12, 40}) {
    for (int i = 0; i < 10; ++i) {
      int zeros = 0;
      int masked = 0;
      for (const auto& row : changed_rows(rows, {{"normal", 0, 1}}, every_special, random)) {
        zeros += std::all_of(row.begin(), row.end(), [](double x) { return x == 0; }) ? 1 : 0;
        masked += std::any_of(row.begin(), row.end(), [](double x) { return std::isinf(x); }) ? 1 : 0;
      }
      CHECK(zeros == (rows < 10 ? 0 : 1));
      CHECK(masked == (rows < 10 ? 0 : 3));
    }
  }
}

TEST_CASE("of a single row only the last element is another, and far from the usual") {
  kevo::rng random(12);
  for (int i = 0; i < 40; ++i) {
    const auto row =
        changed_rows(1, {{"uniform", 0.5, 1}, {"normal", 0, 1000}}, every_special, random).front();
    CHECK(std::all_of(row.begin(), row.end() - 1, [](double x) { return x >= 0.5 && x < 1; }));
    CHECK(std::isfinite(row.back()));
    CHECK(std::abs(row.back()) > 3000);
  }
}

TEST_CASE("numbers that no generator of the input draws are not in its rows") {
  kevo::rng random(13);
  for (int i = 0; i < 20; ++i) {
    for (const auto& row : changed_rows(300, {{"uniform", 1, 2}, {"uniform", 4, 5}}, every_special, random))
      CHECK(std::all_of(row.begin(), row.end(), [](double x) { return x >= 1 && x <= 5; }));
    for (const auto& row : changed_rows(300, {{"normal", 0, 1}}, {}, random))
      CHECK(std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); }));
  }
}

TEST_CASE("special rows are for tasks whose tolerance forgives what honest programs do with them") {
  CHECK(kevo::special_rows_for(with_output("bounds", 1e-12)).masks);
  CHECK(kevo::special_rows_for(with_output("bounds", 1e-12)).subnormals);
  CHECK_FALSE(kevo::special_rows_for(with_output("bounds", 0)).any());
  CHECK_FALSE(kevo::special_rows_for(with_output("accumulation", 1e-5)).any());
  auto fast = with_output("bounds", 1e-5);
  fast.tolerances[""].fast_math = true;
  CHECK_FALSE(kevo::special_rows_for(fast).masks);
  auto suite = with_output("bounds", 1e-12);
  suite.reference.emplace().language = "python";
  CHECK_FALSE(kevo::special_rows_for(suite).masks);
  CHECK(kevo::special_rows_for(fast).zeros);
}
