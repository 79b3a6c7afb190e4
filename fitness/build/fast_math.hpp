#pragma once
// Fast math that a source asks for by itself, by pragmas and attributes: they do what the build option
// `fast_math` does, so that they need the same permission.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <kevo/program.hpp>

namespace kevo {

/// A place that asks for it.
struct fast_math_request {
  std::string file;      ///< as the source is called where it stands
  std::size_t line = 0;  ///< counted from 1
  std::string what;      ///< "associative-math", "reassociate(on)"
};

/// Whether a program may contain such a place. What macros and joined lines make of a text is known after
/// preprocessing alone, but most programs have none of the words, and nothing from which they could be made.
bool may_ask_for_fast_math(const program& source);

/// The first such place in what a preprocessor (-E of g++ or clang++) made of the program. Attributes
/// `optimize`, and pragmas `GCC optimize`, `clang fp`, `float_control`, `STDC CX_LIMITED_RANGE`. Options that
/// are written so that they cannot be read here (with escapes, as raw strings) count. Headers of the system
/// may do as they like, for they are the same for the program's users.
std::optional<fast_math_request> find_fast_math(const program& source, std::string_view preprocessed);

}  // namespace kevo
