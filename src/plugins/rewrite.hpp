#pragma once
// The operator `rewrite` from a config.

#include <kevo/operators/rewrite.hpp>
#include <kevo/registry.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// Decodes an entry {type: rewrite, ...} of vary.operators. Throws kevo::error (input).
rewrite rewrite_from(settings& from, const build_context& context);

}  // namespace kevo
