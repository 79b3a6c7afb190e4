#pragma once
// Checked 64-bit integer expressions over named values: the language of cost models, launch lines and
// constraints.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/error.hpp>

namespace kevo {

/// Looks a name up; nothing if there is none. Names may hold dots ("device.sms").
using symbol_lookup = std::function<std::optional<std::int64_t>(std::string_view name)>;

namespace detail {
struct expression_node;
}

/// A parsed expression: an immutable value, cheap to copy.
///
/// Grammar, loosest first: `c ? a : b`, `||`, `&&`, `== !=`, `< <= > >=`, `<< >>`, `+ -`, `* / %`, unary `- +
/// !`, integer literals (decimal, 0x), names, `( )`, and the functions ceildiv(a, b), min(...), max(...),
/// align_up(a, n), log2_ceil(a), pow2_ceil(a), sizeof(dtype). `/` and `%` floor. Overflow, division by zero,
/// shifts outside 0..63 and unknown names are errors.
class expression {
 public:
  /// Parses `text`. Throws kevo::error (input) that names the column within `text` added to `place.column`.
  static expression parse(std::string_view text, error_place place = {});
  /// The constant `value`.
  static expression constant(std::int64_t value);

  /// The value; throws kevo::error (input) on overflow, division by zero or an unknown name.
  [[nodiscard]] std::int64_t evaluate(const symbol_lookup& lookup) const;
  /// The text it was parsed from.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// All names that occur, each once, in order of first appearance.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::string text_;
  std::shared_ptr<const detail::expression_node> root_;
};

}  // namespace kevo
