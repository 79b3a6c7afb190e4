#pragma once
// Expressions of real numbers, for scalar arguments of launch lines such as float32(rsqrt(D)) or
// float32(1 / M). Unlike kevo::expression, `/` divides reals.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/error.hpp>

namespace kevo::cuda {

/// Looks a name up; nothing if there is none.
using real_lookup = std::function<std::optional<double>(std::string_view name)>;

/// A parsed expression: a value. `+ - * /`, unary `- +`, numbers (1, 0.5, 1e-6, 0x40), names, `( )`, and
/// rsqrt(x), sqrt(x), min(a, b), max(a, b). Nesting beyond 100 levels is refused.
class real_expression {
 public:
  /// @throws kevo::error (input) with the column `place.column` plus the offset within `text`
  static real_expression parse(std::string_view text, error_place place = {});

  /// The value, in double precision. @throws kevo::error (input) for an unknown name and for a result that is
  /// not finite
  double evaluate(const real_lookup& lookup) const;
  /// All names that occur, each once, in order of first appearance.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& text() const { return text_; }
  friend bool operator==(const real_expression& a, const real_expression& b) { return a.text_ == b.text_; }

 private:
  enum class operation : std::uint8_t {
    push,
    load,
    negate,
    add,
    subtract,
    multiply,
    divide,
    rsqrt,
    sqrt,
    minimum,
    maximum
  };
  struct instruction {
    operation op = operation::push;
    double value = 0;      ///< push
    std::size_t name = 0;  ///< load
  };
  class parser;

  std::string text_;
  error_place place_;
  std::vector<std::string> names_;
  std::vector<instruction> code_;  ///< postfix
};

}  // namespace kevo::cuda
