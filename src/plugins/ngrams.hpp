#pragma once
// How a config says how sources are embedded.

#include <kevo/embedding.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// Reads `embedding` (`dimensions`, `longest`), which may be absent.
source_embedding embedding_from(settings& from);

}  // namespace kevo
