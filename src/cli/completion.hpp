#pragma once
// Scripts with which a shell completes the command line of the program.

#include <string>

#include "src/cli/command_tree.hpp"

namespace kevo::cli {

std::string bash_completion(const verb_description& program);
std::string zsh_completion(const verb_description& program);
std::string fish_completion(const verb_description& program);

}  // namespace kevo::cli
