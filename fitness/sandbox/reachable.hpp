#pragma once
// What the sandbox's user may read of the host.

#include <string>

namespace kevo::detail {

/// Whether a user without rights of his own could read this path (and reach it through its folders).
bool reachable_by_others(const std::string& path);

}  // namespace kevo::detail
