#pragma once
// YAML text to settings and back. Scalars resolve as in YAML 1.2's core schema ("yes" is a text, 0x10 and
// 0o17 are integers); duplicate keys, several documents, keys that are not scalars and nesting beyond 64
// levels are refused; anchors and aliases are fine up to a million values.

#include <string>
#include <string_view>

#include <kevo/settings_node.hpp>

namespace kevo {

/// Parses one document. `file` is for messages. Throws kevo::error (input) with file, line and column.
settings_node parse_yaml(std::string_view text, const std::string& file = {});

/// Reads and parses a file.
settings_node load_yaml(const std::string& path);

/// The type and value of an unquoted scalar: null, a truth value, an integer, a real number, else a text.
settings_node resolve_scalar(std::string text);

/// YAML that `parse_yaml` reads back as an equal tree: maps in block style, lists of scalars in one line.
std::string dump_yaml(const settings_node& node);

}  // namespace kevo
