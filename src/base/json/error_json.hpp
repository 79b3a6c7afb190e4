#pragma once
// Errors as the program's JSON output writes them.

#include <string>

#include <kevo/error.hpp>

namespace kevo {

/// {"error": {"code", "file", "line", "key", "message", "hint"}}; what does not apply is null.
std::string to_json(const error& wrong);

}  // namespace kevo
