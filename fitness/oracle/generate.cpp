#include "fitness/oracle/generate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <sys/random.h>

#include <kevo/error.hpp>

namespace kevo {
namespace {

std::vector<double> standard_normals(std::size_t count, rng& random) {
  std::vector<double> values(count + (count & 1U));
  for (std::size_t i = 0; i < values.size(); i += 2) {  // Box-Muller, both of the pair
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 6.283185307179586 * random.uniform();
    values[i] = radius * std::cos(angle);
    values[i + 1] = radius * std::sin(angle);
  }
  values.resize(count);
  return values;
}

// `x` with three significant bits. Adding one long number to itself over and over makes rounding errors that
// all have the same sign, which no tolerance for honest sums foresees; products and sums of short ones are
// exact.
double short_number(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(fraction * 8) / 8, exponent);
}

std::vector<double> normals(std::size_t count, const generator& recipe, variety v, bool full, rng& random) {
  auto values = standard_normals(count, random);
  double scale = 1;
  double shift = 0;
  if (v == variety::scaled) scale = std::exp2(full ? random.uniform(-6, 4) : random.uniform(-3, 0));
  if (v == variety::shifted) shift = (full ? 4 : 0.5) * (random.chance(0.5) ? 1 : -1);
  if (v == variety::heavy_tailed) {  // Student's t with 2 degrees of freedom, cut
    for (auto& x : values) {
      x = std::clamp(x / std::sqrt(-std::log(1 - random.uniform())), full ? -64.0 : -4.0, full ? 64.0 : 4.0);
    }
  }
  if (v == variety::constant) std::fill(values.begin(), values.end(), values.empty() ? 0.0 : values.front());
  for (auto& x : values) x = recipe.a + recipe.b * (scale * x + shift);
  if (v == variety::constant) {
    for (auto& x : values) x = short_number(x);
  }
  return values;
}

// Places in [0, 1), bent by the variety.
std::vector<double> places(std::size_t count, variety v, rng& random) {
  std::vector<double> values(count);
  double width = 1;
  double start = 0;
  if (v == variety::scaled) width = 1.0 / 16;
  if (v == variety::shifted) {
    width = 0.5;
    start = 0.5;
  }
  if (v == variety::constant) {
    start = random.uniform();
    width = 0;
  }
  const bool upper = random.chance(0.5);
  for (auto& x : values) {
    x = random.uniform();
    if (v == variety::heavy_tailed) {  // most of them near one end
      x = x * x * x * x;
      if (upper) x = std::nextafter(1 - x, 0.0);
    }
    x = start + width * x;
  }
  return values;
}

std::vector<std::int64_t> integers(std::size_t count, const generator& recipe, variety v, rng& random) {
  const auto low = static_cast<std::int64_t>(std::ceil(recipe.a));
  const auto high = static_cast<std::int64_t>(std::floor(recipe.b));
  if (high < low) throw error(error_code::input, "generator 'integers' has an empty range");
  std::vector<std::int64_t> values(count);
  if (v == variety::plain) {
    for (auto& x : values) x = random.integer(low, high);
    return values;
  }
  const auto bent = places(count, v, random);
  const double width = static_cast<double>(high) - static_cast<double>(low) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::clamp(low + static_cast<std::int64_t>(bent[i] * width), low, high);
  }
  return values;
}

std::vector<std::int64_t> permutation(std::size_t count, variety v, rng& random) {
  std::vector<std::int64_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  if (v == variety::scaled && count > 1) {  // nearly in order
    for (std::size_t i = 0; i < count / 16 + 1; ++i) {
      std::swap(values[random.below(count)], values[random.below(count)]);
    }
  } else if (v == variety::shifted && count > 0) {
    std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(random.below(count)),
                values.end());
  } else if (v == variety::constant) {
    std::reverse(values.begin(), values.end());
  } else {
    random.shuffle<std::int64_t>(values);
  }
  return values;
}

std::vector<std::int64_t> offsets(std::size_t count, const generator& recipe, variety v, rng& random) {
  auto values = integers(count, {"integers", 0, recipe.a}, v, random);
  if (values.empty()) return values;
  values.front() = 0;
  values.back() = static_cast<std::int64_t>(recipe.a);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

std::string_view to_string(variety v) {
  constexpr std::string_view names[variety_count] = {"plain", "scaled", "shifted", "heavy tailed",
                                                     "constant"};
  return names[static_cast<std::size_t>(v)];
}

const generator& generator_of(const tensor& input, const workload& w) {
  const auto it = w.generate.find(input.name);
  return it == w.generate.end() ? input.generate : it->second;
}

std::vector<std::byte> generate_elements(const element_type& type, std::size_t count, const generator& recipe,
                                         variety v, variety_strength strength, rng& random) {
  std::vector<std::byte> bytes(count * type.size);
  const auto keep = [&](const auto& values) { store_values(type, values, bytes.data()); };
  using reals = std::span<const double>;
  using whole = std::span<const std::int64_t>;
  if (type.kind == element_kind::boolean && (recipe.kind == "normal" || recipe.kind == "uniform")) {
    keep(whole(integers(count, {"integers", 0, 1}, v, random)));
  } else if (recipe.kind == "normal") {
    auto values = normals(count, recipe, v, strength == variety_strength::full, random);
    if (type.kind == element_kind::real) {  // a narrow type must not see infinity
      for (auto& x : values) x = std::clamp(x, -type.largest, type.largest);
    }
    keep(reals(values));
  } else if (recipe.kind == "uniform") {
    auto values = places(count, v, random);
    for (auto& x : values) {
      x = recipe.a + (recipe.b - recipe.a) * x;
      if (v == variety::constant) x = std::clamp(short_number(x), recipe.a, recipe.b);
    }
    keep(reals(values));
  } else if (recipe.kind == "integers") {
    keep(whole(integers(count, recipe, v, random)));
  } else if (recipe.kind == "permutation") {
    keep(whole(permutation(count, v, random)));
  } else if (recipe.kind == "offsets") {
    keep(whole(offsets(count, recipe, v, random)));
  } else {
    throw error(error_code::input, "generator '" + recipe.kind + "' is not known", {},
                "normal, uniform, integers, permutation, offsets");
  }
  return bytes;
}

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    throw error(error_code::environment, "the system's random source does not answer");
  }
  return seed;
}

}  // namespace kevo
