#include "fitness/oracle/ragged.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <kevo/error.hpp>

namespace kevo {
namespace {

constexpr double exponent_of_heavy_tails = 2;

// The k-th of a random order of the rows has the weight k^-exponent.
std::vector<double> power_law(std::size_t rows, double exponent, rng& random) {
  std::vector<double> weights(rows);
  for (std::size_t k = 0; k < rows; ++k) weights[k] = std::pow(static_cast<double>(k + 1), -exponent);
  random.shuffle<double>(weights);
  return weights;
}

std::vector<double> usual_weights(std::size_t rows, const generator& recipe, rng& random) {
  if (recipe.law == "power_law") return power_law(rows, recipe.parameter, random);
  std::vector<double> weights(rows, 1);
  for (auto& w : weights) {
    if (recipe.law == "uniform") w = random.uniform(0, 2);
    if (recipe.law.empty()) w = -std::log(1 - random.uniform());  // as between uniform ends
  }
  return weights;
}

// What share of the elements each row wants.
std::vector<double> weights_of(std::size_t rows, const generator& recipe, variety v, rng& random) {
  if (recipe.law == "equal") return std::vector<double>(rows, 1);
  switch (v) {
    case variety::plain:
      break;
    case variety::scaled:  // rows of nearly one length
      return std::vector<double>(rows, 1);
    case variety::shifted: {  // empty rows first
      auto weights = usual_weights(rows, recipe, random);
      std::fill_n(weights.begin(), rows / 2, 0);
      return weights;
    }
    case variety::heavy_tailed:
      return power_law(rows, exponent_of_heavy_tails, random);
    case variety::constant: {  // one row has them all, as far as it may
      std::vector<double> weights(rows, 0);
      weights[random.below(rows)] = 1;
      return weights;
    }
    case variety::patchy: {
      std::vector<double> weights;
      const auto bounds = patch_bounds(rows, random);
      for (std::size_t i = 1; i < bounds.size(); ++i) {
        const std::size_t length = bounds[i] - bounds[i - 1];
        if (length == 0) continue;
        const auto patch = weights_of(length, recipe, patch_variety(random), random);
        weights.insert(weights.end(), patch.begin(), patch.end());
      }
      return weights;
    }
    case variety::spiked: {  // short rows but for a few long ones in secret places
      std::vector<double> weights(rows, 1);
      for (const auto i : spike_places(rows, random)) weights[i] = 1 + static_cast<double>(rows);
      return weights;
    }
  }
  return usual_weights(rows, recipe, random);
}

// `total` elements for rows of these weights, none longer than `most`.
std::vector<std::int64_t> apportioned(std::vector<double> weights, std::int64_t total, std::int64_t most,
                                      rng& random) {
  const std::size_t rows = weights.size();
  std::vector<std::int64_t> lengths(rows, 0);
  std::int64_t left = total;
  while (left > 0) {
    double all = 0;
    for (std::size_t i = 0; i < rows; ++i) all += lengths[i] < most ? weights[i] : 0;
    if (!(all > 0)) {  // only rows that want nothing have room
      std::fill(weights.begin(), weights.end(), 1.0);
      continue;
    }
    const std::int64_t before = left;
    const double per_weight = static_cast<double>(before) / all;
    for (std::size_t i = 0; i < rows; ++i) {
      if (lengths[i] >= most) continue;  // its weight is not in `all`
      // Compared as a real number: beside rows of tiny weight one may want more than an integer holds.
      const double share = weights[i] * per_weight;
      const auto wanted = share < static_cast<double>(left) ? static_cast<std::int64_t>(share) : left;
      const std::int64_t more = std::min({wanted, most - lengths[i], left});
      lengths[i] += more;
      left -= more;
    }
    if (left < before) continue;
    // Less than one for each: one more from a secret row on, until they are used up.
    const std::size_t start = random.below(rows);
    for (std::size_t i = 0; i < rows && left > 0; ++i) {
      const std::size_t row = (start + i) % rows;
      if (lengths[row] < most && weights[row] > 0) ++lengths[row], --left;
    }
  }
  return lengths;
}

// Distinct and ascending: numbers with repetition, each raised by its rank.
void fill_row(std::span<std::int64_t> row, std::int64_t columns, variety v, rng& random) {
  const auto length = static_cast<std::int64_t>(row.size());
  const std::int64_t room = columns - length;  // how far a number may be raised
  const double start = random.uniform();
  for (auto& c : row) {
    double place = random.uniform();
    if (v == variety::constant) place = start;                              // one block
    if (v == variety::scaled) place = start * (15.0 / 16) + place / 16;     // a narrow band
    if (v == variety::shifted) place = 0.5 + place / 2;                     // the upper half
    if (v == variety::heavy_tailed) place = place * place * place * place;  // most of them low
    c = std::min(room, static_cast<std::int64_t>(place * static_cast<double>(room + 1)));
  }
  std::sort(row.begin(), row.end());
  for (std::int64_t k = 0; k < length; ++k) row[static_cast<std::size_t>(k)] += k;
}

}  // namespace

std::vector<std::int64_t> ragged_offsets(std::size_t count, const generator& recipe, variety v, rng& random) {
  std::vector<std::int64_t> offsets(count, 0);
  const auto total = static_cast<std::int64_t>(recipe.a);
  const auto most = recipe.b > 0 ? static_cast<std::int64_t>(recipe.b) : total;
  const std::size_t rows = count > 0 ? count - 1 : 0;
  if (total > 0 && static_cast<double>(rows) * static_cast<double>(most) < static_cast<double>(total)) {
    throw error(error_code::input, "generator 'offsets': " + std::to_string(rows) + " rows of at most " +
                                       std::to_string(most) + " elements cannot hold " +
                                       std::to_string(total));
  }
  if (rows == 0) return offsets;
  const auto lengths = apportioned(weights_of(rows, recipe, v, random), total, most, random);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

std::vector<std::int64_t> ragged_columns(std::size_t count, const generator& recipe, variety v, rng& random,
                                         std::span<const std::int64_t> rows) {
  const auto columns = static_cast<std::int64_t>(recipe.a);
  const auto refuse = [&](const std::string& what) {
    throw error(error_code::input, "generator 'columns': the offsets in '" + recipe.rows + "' " + what);
  };
  if (rows.empty() || rows.front() != 0 || rows.back() != static_cast<std::int64_t>(count))
    refuse("do not run from 0 to the number of columns, " + std::to_string(count));
  // All of them before the first row is written: the ends alone do not bound those between them.
  if (!std::is_sorted(rows.begin(), rows.end())) refuse("decrease");
  std::vector<std::int64_t> values(count);
  const std::size_t all = rows.size() - 1;
  // Which rows depart from the others: stretches, or a few in secret places.
  std::vector<variety> kinds(all, v == variety::spiked ? variety::constant : v);
  if (v == variety::patchy) {
    const auto bounds = patch_bounds(all, random);
    for (std::size_t i = 1; i < bounds.size(); ++i)
      std::fill(kinds.begin() + static_cast<std::ptrdiff_t>(bounds[i - 1]),
                kinds.begin() + static_cast<std::ptrdiff_t>(bounds[i]), patch_variety(random));
  } else if (v == variety::spiked) {
    for (const auto i : spike_places(all, random)) kinds[i] = variety::plain;
  }
  for (std::size_t i = 0; i < all; ++i) {
    const std::int64_t length = rows[i + 1] - rows[i];
    if (length > columns) {
      refuse("have a row of " + std::to_string(length) + " elements, and there are only " +
             std::to_string(columns) + " columns");
    }
    fill_row(std::span(values).subspan(static_cast<std::size_t>(rows[i]), static_cast<std::size_t>(length)),
             columns, kinds[i], random);
  }
  return values;
}

std::vector<std::int64_t> zipf(std::size_t count, const generator& recipe, variety v, rng& random) {
  const auto low = static_cast<std::int64_t>(std::ceil(recipe.a));
  const auto high = static_cast<std::int64_t>(std::floor(recipe.b));
  if (high < low)
    throw error(error_code::input, "generator 'zipf' has an empty range", {},
                "write zipf(a, b, exponent) with an integer from a to b");
  const auto values = static_cast<std::uint64_t>(high - low) + 1;
  const double exponent = recipe.parameter + (v == variety::heavy_tailed ? 1 : 0);
  // Ranks become values by a secret step through them that meets each once.
  std::uint64_t step = 1 + random.below(values);
  while (std::gcd(step, values) != 1) step = 1 + random.below(values);
  const std::uint64_t start = random.below(values);
  // The inverse of the distribution of a continuous power law on [1, values + 1).
  const double end = static_cast<double>(values) + 1;
  const double power = 1 - exponent;
  const bool logarithmic = std::abs(power) < 1e-9;
  const double top = logarithmic ? std::log(end) : std::pow(end, power);
  std::vector<std::int64_t> made(count);
  for (auto& x : made) {
    const double u = random.uniform();
    const double place = logarithmic ? std::exp(u * top) : std::pow(1 + u * (top - 1), 1 / power);
    const auto rank = std::min(values - 1, static_cast<std::uint64_t>(std::max(1.0, place)) - 1);
    const auto at =
        static_cast<std::uint64_t>((static_cast<unsigned __int128>(rank) * step + start) % values);
    x = low + static_cast<std::int64_t>(at);
  }
  return made;
}

}  // namespace kevo
