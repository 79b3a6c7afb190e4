#pragma once
// Comments that were meant to be annotations: "// kveo: {1, 2, 4}" is a comment to every compiler, and no
// tunable.

#include <string>
#include <string_view>
#include <vector>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// A sentence for each comment that looks like an annotation and is none: its word is nearly "kevo", or the
/// colon is missing, and what follows is a domain or a directive.
/// @param file how the user calls the main file; empty: as the program does
std::vector<std::string> misspelt_annotations(const program& source, std::string_view file = {});

/// The same of all seeds of a task.
std::vector<std::string> misspelt_annotations(const task& t);

}  // namespace kevo
