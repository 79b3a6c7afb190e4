#pragma once
// Where a program is that was named without a folder.

#include <string>

namespace kevo {

/// The absolute path of an executable file: `name` itself if it has a slash, else the first hit along PATH.
/// Compiler caches that pose as a compiler are passed over. Empty if there is none.
std::string find_program(const std::string& name);

}  // namespace kevo
