#pragma once
// How a config's `screen:` becomes a screening.

#include <kevo/registry.hpp>
#include <kevo/screen.hpp>

namespace kevo {

/// Reads `type` (a ranker), `pool`, `drop`, `epsilon`, `warmup` and the ranker's own keys. Throws kevo::error
/// (input) for what is wrong.
screening screening_from(settings& from, const build_context& context, const registry& plugins);

}  // namespace kevo
