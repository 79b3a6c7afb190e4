#pragma once
// The manual page of the program, in the roff format that `man` reads.

#include <string>
#include <string_view>

#include "src/cli/command_tree.hpp"

namespace kevo::cli {

/// @param version "0.3.0"
std::string manual_page(const verb_description& program, std::string_view version);

}  // namespace kevo::cli
