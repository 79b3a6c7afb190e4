#pragma once
// What the body of a loop reads and writes, and cheap tests that tell which changes of order cannot be right.
// What they cannot decide is left to the evaluator. Arrays with different names are taken to be different.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operators/rewrite/loops.hpp"

namespace kevo::rewriting {

/// An element of an array that is read or written.
struct element_access {
  const node* at = nullptr;  ///< the subscript
  long base = -1;            ///< the variable, as node::declared
  polynomial index;          ///< of the innermost subscript
  bool written = false;
  bool accumulated = false;  ///< written by +=, -=, ++ and the like
};

/// Accesses below a node to arrays that are declared outside of it.
std::vector<element_access> accesses_in(const parsed_source& in, const node& body, const definitions& known);

/// Variables that are declared below a node.
std::set<long> declared_in(const node& one);

/// Why the iterations of a loop cannot be interleaved because of the arrays they write; empty if nothing is
/// known against it.
std::string carried_by_arrays(const parsed_source& in, const counted_loop& loop, const definitions& known);

enum class reduction_kind : std::uint8_t { sum, product, largest, smallest };

/// A variable declared outside of a loop in which the loop collects something.
struct reduction {
  long variable = -1;
  std::string name;
  std::string type;  ///< as declared
  reduction_kind kind = reduction_kind::sum;
  std::vector<const node*> updates;  ///< statements' expressions
  bool subtracts = false;
};

/// Sorts the variables from outside that the body assigns to. Nothing if one of them is no reduction, for the
/// reason that is written to `why`.
std::optional<std::vector<reduction>> reductions_of(const parsed_source& in, const node& function,
                                                    const node& body, std::string& why);

/// Whether there are calls below the node that may do more than compute a value, jumps, or constructs that
/// are not understood.
bool has_effects_unknown(const parsed_source& in, const node& one);
/// Whether it is a function of <cmath> and the like, which only computes a value.
bool is_pure(const std::string& function);
/// Whether it is one of the helper functions that `vectorize` writes: at_..., a vector in memory.
bool is_vector_place(const std::string& function);
/// The call of such a function below `in` that takes the element; null if there is none.
const node* vector_place_around(const node& in, const node& element);

}  // namespace kevo::rewriting
