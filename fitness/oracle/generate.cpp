#include "fitness/oracle/generate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <sys/random.h>

#include <kevo/error.hpp>

#include "fitness/oracle/ragged.hpp"

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

// Patchy and spiked values, made of the simple varieties by `simple(count, variety)`, of the usual elements
// by `usual(count)` and of the far ones by `spike(usual element)`.
template <class Simple, class Usual, class Spike>
auto composed(std::size_t count, variety v, rng& random, const Simple& simple, const Usual& usual,
              const Spike& spike) {
  if (v == variety::spiked) {
    auto values = usual(count);
    for (const auto i : spike_places(count, random)) values[i] = spike(values[i]);
    return values;
  }
  auto values = simple(0, variety::plain);
  const auto bounds = patch_bounds(count, random);
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    const auto patch = simple(bounds[i] - bounds[i - 1], patch_variety(random));
    values.insert(values.end(), patch.begin(), patch.end());
  }
  return values;
}

bool is_composed(variety v) {
  return v == variety::patchy || v == variety::spiked;
}

std::vector<double> normals(std::size_t count, const generator& recipe, variety v, bool full, rng& random) {
  if (is_composed(v)) {
    // Of one magnitude: what is accurate by the norm of a matrix (Strassen) must not meet tiny rows beside
    // huge.
    const auto usual = [&](std::size_t n) {
      const double center = random.chance(0.5) ? 1 : -1;
      std::vector<double> values(n);
      for (auto& x : values)
        x = recipe.a + recipe.b * center * (1 + random.uniform(-jitter_of_usual, jitter_of_usual));
      return values;
    };
    const auto simple = [&](std::size_t n, variety kind) {
      if (kind == variety::constant) return usual(n);
      return normals(n, recipe, kind == variety::scaled ? variety::plain : kind, false, random);
    };
    double sign = random.chance(0.5) ? 1 : -1;
    const auto spike = [&](double) {
      const double far = full ? random.uniform(4, 16) : 4;
      sign = -sign;  // one of either sign: only a large one shows that a maximum was not subtracted
      return short_number(recipe.a + recipe.b * sign * far);
    };
    return composed(count, v, random, simple, usual, spike);
  }
  auto values = standard_normals(count, random);
  double scale = 1;
  double shift = 0;
  if (v == variety::scaled) scale = std::exp2(full ? random.uniform(-6, 4) : random.uniform(-3, 0));
  if (v == variety::shifted) shift = (full ? 4 : 0.5) * (random.chance(0.5) ? 1 : -1);
  if (v == variety::heavy_tailed) {  // Student's t with 2 degrees of freedom, cut
    for (auto& x : values) {
      x = std::clamp(x / std::sqrt(-std::log(1 - random.uniform())), full ? -8.0 : -4.0, full ? 8.0 : 4.0);
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
// @param real whether they become real numbers
std::vector<double> places(std::size_t count, variety v, rng& random, bool real) {
  if (is_composed(v)) {
    const double width_of_usual = real ? spread_of_usual : 0;
    const auto usual = [&](std::size_t n) {
      const double start = random.uniform() * (1 - width_of_usual);
      std::vector<double> values(n);
      for (auto& x : values) x = start + width_of_usual * random.uniform();
      return values;
    };
    const auto simple = [&](std::size_t n, variety kind) {
      if (real) return places(n, patch_of_uniform(kind), random, real);
      return kind == variety::constant ? usual(n) : places(n, kind, random, real);
    };
    const auto spike = [](double x) { return x < 0.5 ? std::nextafter(1.0, 0.0) : 0.0; };
    return composed(count, v, random, simple, usual, spike);
  }
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
  if (high < low)
    throw error(error_code::input, "generator 'integers' has an empty range", {},
                "write integers(a, b) with an integer from a to b");
  std::vector<std::int64_t> values(count);
  if (v == variety::plain) {
    for (auto& x : values) x = random.integer(low, high);
    return values;
  }
  const auto bent = places(count, v, random, false);
  const double width = static_cast<double>(high) - static_cast<double>(low) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::clamp(low + static_cast<std::int64_t>(bent[i] * width), low, high);
  }
  return values;
}

std::vector<std::int64_t> permutation(std::size_t count, variety v, rng& random) {
  std::vector<std::int64_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  if (v == variety::patchy) {  // in order from patch to patch, without order inside
    const auto bounds = patch_bounds(count, random);
    for (std::size_t i = 1; i < bounds.size(); ++i)
      random.shuffle<std::int64_t>(std::span(values).subspan(bounds[i - 1], bounds[i] - bounds[i - 1]));
  } else if (v == variety::spiked) {  // backwards but for a few
    std::reverse(values.begin(), values.end());
    for (const auto i : spike_places(count, random)) std::swap(values[i], values[random.below(count)]);
  } else if (v == variety::scaled && count > 1) {  // nearly in order
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
  if (!recipe.law.empty() || recipe.b > 0) return ragged_offsets(count, recipe, v, random);
  auto values = integers(count, {"integers", 0, recipe.a}, v, random);
  if (values.empty()) return values;
  values.front() = 0;
  values.back() = static_cast<std::int64_t>(recipe.a);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

std::string_view to_string(variety v) {
  constexpr std::string_view names[variety_count] = {"plain",    "scaled", "shifted", "heavy tailed",
                                                     "constant", "patchy", "spiked"};
  return names[static_cast<std::size_t>(v)];
}

std::vector<std::size_t> patch_bounds(std::size_t count, rng& random) {
  std::vector<std::size_t> bounds = {0, count};
  for (std::uint64_t patches = 2 + random.below(5); patches > 1 && count > 0; --patches)
    bounds.push_back(random.below(count));
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

variety patch_variety(rng& random) {
  return static_cast<variety>(random.below(static_cast<std::uint64_t>(variety::constant) + 1));
}

variety patch_of_uniform(variety drawn) {
  return drawn == variety::shifted ? variety::shifted : variety::plain;
}

std::vector<std::size_t> spike_places(std::size_t count, rng& random) {
  std::vector<std::size_t> found;
  // So few that a sample of a hundred elements seldom meets one.
  const std::size_t fewest = count < 64 ? 1 : 2;
  for (std::size_t i = 0; count > 0 && i < std::clamp<std::size_t>(count / 4096, fewest, 64); ++i)
    found.push_back(random.below(count));
  return found;
}

const generator& generator_of(const tensor& input, const workload& w) {
  const auto it = w.generate.find(input.name);
  return it == w.generate.end() ? input.generate : it->second;
}

std::vector<std::byte> generate_elements(const element_type& type, std::size_t count, const generator& recipe,
                                         variety v, variety_strength strength, rng& random,
                                         std::span<const std::int64_t> rows) {
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
    auto values = places(count, v, random, true);
    for (auto& x : values) {
      x = std::min(recipe.a + (recipe.b - recipe.a) * x, std::nextafter(recipe.b, recipe.a));
      if (v == variety::constant) x = std::clamp(short_number(x), recipe.a, recipe.b);
    }
    keep(reals(values));
  } else if (recipe.kind == "integers") {
    keep(whole(integers(count, recipe, v, random)));
  } else if (recipe.kind == "permutation") {
    keep(whole(permutation(count, v, random)));
  } else if (recipe.kind == "offsets") {
    keep(whole(offsets(count, recipe, v, random)));
  } else if (recipe.kind == "sorted") {
    auto values = integers(count, recipe, v, random);
    std::sort(values.begin(), values.end());
    keep(whole(values));
  } else if (recipe.kind == "zipf") {
    // The two varieties that speak of frequencies; the others are those of any integers.
    const bool own = v == variety::plain || v == variety::heavy_tailed;
    keep(whole(own ? zipf(count, recipe, v, random) : integers(count, recipe, v, random)));
  } else if (recipe.kind == "columns") {
    keep(whole(ragged_columns(count, recipe, v, random, rows)));
  } else {
    throw error(
        error_code::input, "generator '" + recipe.kind + "' is unknown", {},
        "the generators are normal, uniform, integers, sorted, zipf, permutation, offsets and columns");
  }
  return bytes;
}

std::vector<std::byte> redrawn(const element_type& type, std::span<const std::byte> given, variety v,
                               variety_strength strength, rng& random) {
  std::vector<std::byte> bytes(given.begin(), given.end());
  const std::size_t count = bytes.size() / type.size;
  const std::size_t only = count > 0 ? random.below(count) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = v == variety::constant ? only : random.below(count);
    std::memcpy(bytes.data() + i * type.size, given.data() + from * type.size, type.size);
  }
  if (v != variety::scaled || type.kind != element_kind::real) return bytes;
  const bool full = strength == variety_strength::full;
  const double scale = std::exp2(full ? random.uniform(-6, 4) : random.uniform(-3, 0));
  auto values = load_reals(type, bytes);
  for (auto& x : values) x = std::clamp(scale * x, -type.largest, type.largest);
  store_values(type, std::span<const double>(values), bytes.data());
  return bytes;
}

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    throw error(error_code::environment, "the random number source of the system failed");
  }
  return seed;
}

}  // namespace kevo
