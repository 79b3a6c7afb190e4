#pragma once
// Words of others, such as the compiler's flags, as literals of the languages that a bundle is written in.

#include <string>
#include <string_view>
#include <vector>

namespace kevo::bundle {

/// The text as a string literal of C++, whatever its bytes are.
std::string cpp_literal(std::string_view text);

/// The words as literals of C++, separated by commas.
std::string cpp_literals(const std::vector<std::string>& words);

/// A word without other white space than blanks, and not empty, that CMake's `separate_arguments(...
/// UNIX_COMMAND ...)` takes as it is.
std::string cmake_word(std::string_view word);

/// The text as a quoted argument of CMake.
std::string cmake_literal(std::string_view text);

/// The words of a text, which white space separates.
std::vector<std::string> words_of(const std::string& text);

}  // namespace kevo::bundle
