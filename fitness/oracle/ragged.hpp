#pragma once
// Contents of ragged data: how long rows are, which columns they have, and which values are frequent.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/oracle/generate.hpp"

namespace kevo {

/// Offsets of `count` - 1 rows: from 0 to recipe.a, by the law of the recipe; no row is longer than recipe.b
/// where that is positive. Varieties move elements between rows, but for the law "equal".
/// @throws kevo::error (input) if the rows cannot hold so many elements
std::vector<std::int64_t> ragged_offsets(std::size_t count, const generator& recipe, variety v, rng& random);

/// Distinct, ascending columns in [0, recipe.a) for each of the rows.
/// @param rows offsets of the rows, ascending from 0 to `count`
/// @throws kevo::error (input) if the offsets are not that, or a row is longer than recipe.a
std::vector<std::int64_t> ragged_columns(std::size_t count, const generator& recipe, variety v, rng& random,
                                         std::span<const std::int64_t> rows);

/// Integers in [recipe.a, recipe.b], the k-th most frequent as often as k^-recipe.parameter. Which of them
/// are frequent is secret. Heavy-tailed ones have an exponent that is greater by 1.
std::vector<std::int64_t> zipf(std::size_t count, const generator& recipe, variety v, rng& random);

}  // namespace kevo
