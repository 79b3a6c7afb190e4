#pragma once
// Rows that are unlike the others of their tensor. A program that is right for each kind of content alone may
// decide by a sample of the elements which of them it has, or be wrong at one place of a row.

#include <cstddef>
#include <span>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"

namespace kevo {

/// Rows of numbers that no generator draws. They are used where the reference is defined for them.
struct special_rows {
  bool zeros = false;
  bool subnormals = false;
  bool masks = false;  ///< some elements of the row, but not all, are -inf

  bool any() const { return zeros || subnormals || masks; }
};

/// What makes the rows that are unlike the others.
struct row_sources {
  std::vector<std::size_t> generators;  ///< numbers of workloads whose generators are used
  special_rows special;
};

/// Whether rows of an input may be made otherwise: a tensor of real numbers.
bool may_have_other_rows(const tensor& input);
/// The special rows that programs for a task can be asked for: of none if errors are bounded relative to the
/// summands, as methods that are accurate by the norm of a matrix (Strassen, Winograd) are not right in the
/// zeros of such a bound, nor if the smallest numbers must be right; masks only without fast math,
/// and not where the reference is in Python.
special_rows special_rows_for(const task& t);

/// Replaces a few rows along the last axis, so few that a sample seldom meets one, at secret places: rows by
/// one of `recipes`; rows of which one of the last elements is far from the usual by one of them; special
/// ones, if a recipe draws from all real numbers. Of a tensor of one row, only the last element is replaced.
void replace_rows(std::vector<std::byte>& elements, const element_type& type, std::size_t row_length,
                  std::span<const generator> recipes, const special_rows& special, variety_strength strength,
                  rng& random);

}  // namespace kevo
