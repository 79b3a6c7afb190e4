#pragma once
// Files that exist in memory only.

#include <string_view>

#include "src/base/process/descriptor.hpp"

namespace kevo::detail {

/// A sealed memory file that holds a text, at offset 0. @throws kevo::error (environment)
descriptor memory_file(const char* name, std::string_view content);

}  // namespace kevo::detail
