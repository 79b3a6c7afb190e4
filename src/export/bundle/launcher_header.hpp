#pragma once
// What callers see of a launcher.

#include <string>

#include "src/export/bundle/cuda_launcher.hpp"

namespace kevo::bundle {

/// NAME.hpp of a launcher: struct arguments, workspace_bytes(), launch().
std::string launcher_header(const launcher_parts& parts);

}  // namespace kevo::bundle
