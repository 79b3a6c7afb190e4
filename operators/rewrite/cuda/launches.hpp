#pragma once
// Launch lines (docs/launch.md) as text: which grid and which block a kernel is launched with.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "operators/rewrite/text.hpp"

namespace kevo::rewriting {

/// A line `// kevo: launch NAME<<<GRID, BLOCK>>>(...)`, with or without `when`.
struct launch_text {
  std::size_t begin = 0;  ///< one behind `<<<`
  std::size_t end = 0;    ///< at `>>>`
  std::string kernel;
  std::vector<std::string> grid;   ///< one expression an axis, at least one
  std::vector<std::string> block;  ///< likewise
  std::vector<std::string> more;   ///< dynamic shared memory
  std::vector<std::string> arguments;
  std::size_t arguments_end = 0;  ///< at the `)` behind the arguments
  std::string condition;          ///< `when ...: ` in front of `launch`, empty if there is none
  std::string attributes;         ///< behind the arguments
  std::size_t line = 0;           ///< where its line begins
  std::size_t line_end = 0;       ///< at the end of the line
};

/// All launch lines of a source, in its order.
std::vector<launch_text> launches_of(std::string_view source);
/// What stands between `<<<` and `>>>`.
std::string configuration_of(const launch_text& one);
/// Writes the line's configuration anew.
void put_launch(changes& all, const launch_text& one);

/// Adds an argument behind the others.
void put_argument(changes& all, const launch_text& one, const std::string& argument);
/// "(a, b)" or "a", as a grid is written.
std::string written_axes(const std::vector<std::string>& axes);

/// Replaces whole words.
std::string with_word(std::string text, std::string_view word, std::string_view by);
/// A literal without its suffix: "8LL" is "8".
std::string without_suffix(std::string_view literal);
bool is_number(std::string_view text);

}  // namespace kevo::rewriting
