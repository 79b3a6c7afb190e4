#include "fitness/oracle/other_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fitness/oracle/signature.hpp"

namespace kevo {
namespace {

enum class row_kind : std::uint8_t {
  drawn,
  far_end,
  far_last,
  zeros,
  subnormals,
  masked_front,
  masked_back,
  masked_half
};

// A tensor of rows whose elements are changed as double.
struct rows_to_change {
  const element_type& type;
  std::size_t length;
  std::span<const generator> recipes;
  variety_strength strength;
  rng& random;

  std::vector<double> drawn(std::size_t count, variety kind) const {
    const auto& recipe = recipes[random.below(recipes.size())];
    return load_reals(type, generate_elements(type, count, recipe, kind, strength, random));
  }
};

// Of a spiked content of few elements one is far from the others.
double far_element(const rows_to_change& of, const generator& recipe) {
  constexpr std::size_t few = 8;
  auto spiked =
      load_reals(of.type, generate_elements(of.type, few, recipe, variety::spiked, of.strength, of.random));
  std::sort(spiked.begin(), spiked.end());
  const double usual = spiked[few / 2];
  return usual - spiked.front() > spiked.back() - usual ? spiked.front() : spiked.back();
}

// Near the end a sum in order has nearly all of the others, so that numbers of other magnitudes make no
// rounding errors; and what runs in steps of up to 16 elements has it in each of its lanes.
void put_far_end(const rows_to_change& of, bool last, std::vector<double>& row) {
  constexpr std::uint64_t end = 16;
  std::vector<double> found;
  for (const auto& recipe : of.recipes) found.push_back(far_element(of, recipe));
  const double usual = row.front();
  const auto farthest = std::max_element(found.begin(), found.end(), [&](double one, double other) {
    return std::abs(one - usual) < std::abs(other - usual);
  });
  const double far = last || of.random.chance(0.5) ? *farthest : found[of.random.below(found.size())];
  last = last || of.random.chance(0.25);
  row[row.size() - 1 - (last ? 0 : of.random.below(std::min<std::uint64_t>(row.size(), end)))] = far;
}

// Some, but not all.
void mask_some(rng& random, row_kind kind, std::vector<double>& row) {
  if (row.size() < 2) return;
  constexpr double masked = -std::numeric_limits<double>::infinity();
  const auto border = row.begin() + static_cast<std::ptrdiff_t>(1 + random.below(row.size() - 1));
  if (kind == row_kind::masked_front) return std::fill(row.begin(), border, masked);
  if (kind == row_kind::masked_back) return std::fill(border, row.end(), masked);
  const double value = *border;
  for (auto& x : row) x = random.chance(0.5) ? masked : x;
  *border = value;
}

void change_row(const rows_to_change& of, row_kind kind, std::vector<double>& row) {
  switch (kind) {
    case row_kind::drawn:
      row = of.drawn(row.size(), of.random.chance(0.5) ? variety::plain : variety::spiked);
      break;
    case row_kind::far_end:
    case row_kind::far_last:
      put_far_end(of, kind == row_kind::far_last, row);
      break;
    case row_kind::zeros:
      std::fill(row.begin(), row.end(), 0);
      break;
    case row_kind::subnormals:
      // The smallest one times up to a hundred is subnormal in all types of real numbers.
      for (auto& x : row) x = of.type.smallest * std::round(of.random.uniform(-100, 100));
      break;
    case row_kind::masked_front:
    case row_kind::masked_back:
    case row_kind::masked_half:
      mask_some(of.random, kind, row);
      break;
  }
}

// A small tensor has not enough rows for all.
std::vector<row_kind> wanted_rows(std::size_t rows, bool unbounded, const special_rows& special,
                                  rng& random) {
  if (rows == 1) return {row_kind::far_last};
  // A sample meets a row more easily than one element of it.
  std::vector<row_kind> wanted(std::clamp<std::size_t>(rows / 256, 1, 16), row_kind::drawn);
  wanted.resize(wanted.size() + std::clamp<std::size_t>(rows / 16, 1, 64), row_kind::far_end);
  std::vector<row_kind> numbers;
  if (unbounded && special.zeros) numbers.push_back(row_kind::zeros);
  if (unbounded && special.subnormals) numbers.push_back(row_kind::subnormals);
  if (unbounded && special.masks)
    numbers.insert(numbers.end(), {row_kind::masked_front, row_kind::masked_back, row_kind::masked_half});
  // All of them or none: a baseline that is right in one such content is right in the others.
  const std::size_t most = std::max<std::size_t>(rows / 2, 1);
  if (numbers.size() > most) numbers.clear();
  random.shuffle<row_kind>(wanted);
  wanted.resize(std::min(wanted.size(), most - numbers.size()));
  wanted.insert(wanted.end(), numbers.begin(), numbers.end());
  return wanted;
}

}  // namespace

bool may_have_other_rows(const tensor& input) {
  return !input.scalar && !input.shape.empty() && element_type_of(input).kind == element_kind::real;
}

special_rows special_rows_for(const task& t) {
  constexpr double above_subnormals = 1e-30;
  special_rows all = {true, true, true};
  // Of suites in Python nobody expects it: x * (x > 0) is a right ReLU for them, and NaN at -inf.
  if (t.reference && t.reference->language == "python") all.masks = false;
  for (const auto& w : t.workloads) {
    for (const auto& output : t.outputs) {
      const auto rule = tolerance_for(t, w, output.name);
      if (rule.rule != "bounds" || rule.max_atol < above_subnormals) return {};
      all.masks = all.masks && !rule.fast_math;
    }
  }
  return all;
}

void replace_rows(std::vector<std::byte>& elements, const element_type& type, std::size_t row_length,
                  std::span<const generator> recipes, const special_rows& special, variety_strength strength,
                  rng& random) {
  const std::size_t row_bytes = row_length * type.size;
  const std::size_t rows = row_bytes == 0 ? 0 : elements.size() / row_bytes;
  if (rows == 0) return;
  const bool unbounded =
      std::any_of(recipes.begin(), recipes.end(), [](const generator& g) { return g.kind == "normal"; });
  const rows_to_change of = {type, row_length, recipes, strength, random};
  std::vector<std::size_t> taken;
  for (const auto kind : wanted_rows(rows, unbounded, special, random)) {
    std::size_t at = random.below(rows);
    while (std::find(taken.begin(), taken.end(), at) != taken.end()) at = random.below(rows);
    taken.push_back(at);
    std::byte* const begin = elements.data() + at * row_bytes;
    auto row = load_reals(type, std::span<const std::byte>(begin, row_bytes));
    change_row(of, kind, row);
    store_values(type, std::span<const double>(row), begin);
  }
}

}  // namespace kevo
