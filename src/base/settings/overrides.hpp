#pragma once
// `--set section.key=value` on the command line.

#include <string>
#include <string_view>

#include <kevo/settings_node.hpp>

namespace kevo {

/// Sets one key of a config: `vary.operators[0].steps=3`. The value is YAML ("[1, 2]", "true", "{type:
/// tune}"); maps on the way are made where they are absent, list elements must exist. Throws kevo::error
/// (usage) for text that is no assignment and for a path through something that is not a map or list.
void apply_override(settings_node& root, std::string_view assignment);

/// Whether a value was given on the command line.
bool is_override(const error_place& place);

}  // namespace kevo
