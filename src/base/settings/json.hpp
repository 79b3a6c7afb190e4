#pragma once
// JSON text to settings, with the place of every value: paths are JSON pointers. Strict (RFC 8259): duplicate
// keys, trailing text and nesting beyond 64 levels are refused.

#include <string>
#include <string_view>
#include <vector>

#include <kevo/settings_node.hpp>

namespace kevo {

/// Parses one document. `file` is for messages; `first_line` is the number of the text's first line. Throws
/// kevo::error (input) with file, line, column and pointer.
settings_node parse_json(std::string_view text, const std::string& file = {}, int first_line = 1);

/// The value as JSON text on one line; integers and reals as they are written in the file where JSON knows
/// them.
std::string json_of(const settings_node& node);

/// Reads and parses a file.
settings_node load_json(const std::string& path);

/// One document a line; empty lines are skipped.
std::vector<settings_node> load_json_lines(const std::string& path);

}  // namespace kevo
