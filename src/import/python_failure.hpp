#pragma once
// What to do about a Python file that an importer could not execute.

#include <string>

namespace kevo::importing {

/// `message` is what Python said, or how its process ended. Of a module that is missing, and of what the
/// sandbox forbids (files from the network), this says what it means; other messages stay as they are.
std::string explained_failure(const std::string& message);

}  // namespace kevo::importing
