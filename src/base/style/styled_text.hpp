#pragma once
// Lines of styled text whose width is always known: what the panel is composed of.

#include <string>
#include <string_view>
#include <vector>

namespace kevo::styled {

/// A color of the terminal's own palette, so that every theme stays readable; `heat0`.. are of the 256 fixed
/// ones.
enum class tone : unsigned char {
  plain,
  strong,
  faint,
  good,
  good_strong,
  warning,
  bad,
  accent,
  violet,
  blue,
  heat0,
  heat1,
  heat2,
  heat3,
  heat4,
  heat5,
  heat6,
  heat7,
};

/// A run of text in one tone. The text is one line, safe to print.
struct span {
  std::string text;
  styled::tone tone = styled::tone::plain;
};

class line {
 public:
  line() = default;
  line(std::string_view text, tone t = tone::plain) { add(text, t); }  // NOLINT(google-explicit-constructor)

  line& add(std::string_view text, tone t = tone::plain);
  line& add(const line& other);
  /// Blanks up to `column`; nothing if the line is there already.
  line& pad_to(std::size_t column);
  std::size_t width() const { return width_; }

  /// Exactly `columns` wide: cut (with `ellipsis` as its last column) or padded with blanks.
  line fitted(std::size_t columns, std::string_view ellipsis) const;

  /// With ANSI sequences if `color`; trailing blanks are left out.
  std::string text(bool color) const;

 private:
  std::vector<span> spans_;
  std::size_t width_ = 0;
};

using block = std::vector<line>;

}  // namespace kevo::styled
