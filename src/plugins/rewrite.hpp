#pragma once
// The operator `rewrite`, and the policies that it shares with `macro_micro`, from a config.

#include <string>

#include <kevo/operators/rewrite.hpp>
#include <kevo/registry.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// Decodes an entry {type: rewrite, ...} of vary.operators. Throws kevo::error (input).
rewrite rewrite_from(settings& from, const build_context& context);

/// Reads the settings of a policy of `kevo learn policy`, and its file, unless `file` is empty or the
/// settings are only described. Throws kevo::error (input).
action_policy learnt_policy_from(settings& from, const std::string& file);

}  // namespace kevo
