#pragma once
// Counted loops, and subscripts as polynomials of the variables in them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operators/rewrite/syntax.hpp"

namespace kevo::rewriting {

/// A loop `for (T i = lower; i < upper; i += step)`, or with the condition `i + step <= upper`, which leaves
/// the last, incomplete step out.
struct counted_loop {
  const node* at = nullptr;
  const node* body = nullptr;
  std::string index;
  long id = -1;      ///< the index, as node::declared
  std::string type;  ///< of the index
  std::string lower;
  std::string upper;  ///< the first value that the index does not take
  std::string step = "1";
  bool whole_steps = false;
  bool inclusive = false;  ///< the condition is written with <=, and upper is one more than upper_node
  const node* lower_node = nullptr;
  const node* upper_node = nullptr;
  const node* step_node = nullptr;  ///< null if the step is written ++
  std::size_t begin = 0;            ///< in the text, with `#pragma` lines
  std::size_t end = 0;

  /// The number of iterations if all of lower, upper and step are literals or named constants.
  std::optional<std::int64_t> trips(const parsed_source& in) const;
};

std::optional<counted_loop> as_counted(const parsed_source& in, const node& one);

/// A loop with what is around it.
struct placed_loop {
  counted_loop loop;
  const node* function = nullptr;
  std::vector<const node*> around;  ///< from the function to the loop's parent
  bool in_rest = false;             ///< in a loop for iterations that a step of several left over
};

/// All counted loops of all functions, in the order of the text.
std::vector<placed_loop> loops_of(const parsed_source& in);

/// Sums of products of variables: a coefficient for each product. Variables are written NAME#DECLARED; what
/// is neither sum nor product is a variable in braces.
using polynomial = std::map<std::vector<std::string>, std::int64_t>;

/// Initial values of variables that never change, by node::declared.
using definitions = std::map<long, const node*>;
definitions definitions_of(const parsed_source& in, const node& function);

polynomial polynomial_of(const parsed_source& in, const node& one, const definitions& known);
std::string variable_of(const node& name);
/// What the variable is multiplied with; nothing if it occurs in another way.
std::optional<polynomial> coefficient(const polynomial& of, const std::string& variable);
polynomial minus(polynomial left, const polynomial& right);
/// The value if there is no variable in it.
std::optional<std::int64_t> constant_of(const polynomial& one);

/// The value of integer literals and of constants of the file.
std::optional<std::int64_t> value_of(const parsed_source& in, const node& one);

}  // namespace kevo::rewriting
