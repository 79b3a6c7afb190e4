#pragma once
// The class of expressions without its parser and its evaluation, for headers that only hold expressions.
// Include <kevo/expression.hpp> to parse or evaluate one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/error.hpp>

namespace kevo {

namespace detail {
struct expression_node;
}

/// Returns the value of a name; nothing if the name is unknown. Names may contain dots ("device.sms").
using symbol_lookup = std::function<std::optional<std::int64_t>(std::string_view name)>;

/// A parsed expression: an immutable value, cheap to copy (copies share the parsed form).
///
/// Operators, from lowest to highest precedence: `c ? a : b`, `||`, `&&`, `== !=`, `< <= > >=`, `<< >>`,
/// `+ -`, `* / %`, unary `- + !`. Operands: integer literals (decimal, 0x), names, `( )`, and the functions
/// ceildiv(a, b), min(...), max(...), align_up(a, n), log2_ceil(a), pow2_ceil(a), sizeof(dtype).
///
/// `/` rounds toward negative infinity, and `%` has the sign of the divisor. `&&`, `||` and `?:` evaluate
/// only the operands that they need. Comparisons give 0 or 1. Overflow, division by zero, shifts by less than
/// 0 or more than 63, and unknown names are errors. `occupancy(kernel)` is looked up as the name
/// "occupancy(kernel)". More than 200 levels of nesting are an error.
class expression {
 public:
  /// Parses `text`. Throws kevo::error (input) for a syntax error. `place` is the place of the first
  /// character; the column of the error is `place.column` (1 if it is 0) plus the offset in `text`. O(length
  /// of the text).
  static expression parse(std::string_view text, error_place place = {});
  /// The constant `value`.
  static expression constant(std::int64_t value);

  /// The value of the expression. Throws kevo::error (input) on overflow, division by zero, an unknown name,
  /// or an argument outside the domain of its operator or function.
  [[nodiscard]] std::int64_t evaluate(const symbol_lookup& lookup) const;
  /// The text from which it was parsed.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// All names in the expression, each once, in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept;
  /// Expressions are equal if their texts are.
  friend bool operator==(const expression& a, const expression& b) { return a.text_ == b.text_; }

 private:
  expression(std::string text, detail::expression_node root);

  std::string text_;
  std::shared_ptr<const detail::expression_node> root_;
};

}  // namespace kevo
