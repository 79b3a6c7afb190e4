#pragma once
// Where the numbers of a source stand.

#include <cstddef>
#include <string_view>
#include <vector>

namespace kevo {

/// A decimal literal: digits, perhaps with a point and an exponent, without sign and suffix.
struct number_literal {
  std::size_t offset = 0;  ///< in the text
  std::size_t length = 0;
  bool whole = true;  ///< without point and exponent
  friend bool operator==(const number_literal&, const number_literal&) = default;
};

/// All number literals of a text in source order, but those in comments, in texts in quotes and in names.
/// Comments and quotes are those of `language`: "python", "r", "julia" and the like begin comments with #,
/// "fortran" with !, all others with // and /* (and directives with #). O(length of the text).
std::vector<number_literal> number_literals(std::string_view text, std::string_view language);

}  // namespace kevo
