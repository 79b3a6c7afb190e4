#pragma once
// Remarks of a command that are neither its result nor an error.

#include <string>

namespace kevo::cli {

/// Prints "kevo: warning: TEXT" on standard error.
void warn(const std::string& text);

}  // namespace kevo::cli
