#pragma once
// The one line of a tool's output that says why it failed.

#include <string>
#include <string_view>

namespace kevo {

/// The line of `output` that best explains a failure, without its line break; empty if every line is blank.
/// In this order: the last line of a Python traceback; the first line that states an error; the first line
/// that is not introduction ("In file included from ...", "In function ...", notes, warnings); the first
/// line that is not blank. O(n).
std::string useful_line(std::string_view output);

/// Whether a line states an error: holds "error" or "fatal" as a word of its own, or what linkers say.
bool states_error(std::string_view line);

}  // namespace kevo
