#pragma once
// How a config's `filter:` becomes a filtering.

#include <kevo/filter.hpp>
#include <kevo/registry.hpp>

namespace kevo {

/// Reads `type` (a proposal filter), `batch` and the filter's own keys. Throws kevo::error (input) for what
/// is wrong.
filtering filtering_from(settings& from, const build_context& context, const registry& plugins);

}  // namespace kevo
