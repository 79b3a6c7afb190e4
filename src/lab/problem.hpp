#pragma once
// What a lab searches: a family of problems whose true values are known, one instance a seed.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kevo/lab.hpp>
#include <kevo/settings.hpp>

namespace kevo {

/// Decodes `problem`: {type: landscape, ...}. `directory`: relative paths start here. Throws kevo::error
/// (input).
lab_problem read_problem(settings& from, const std::string& directory);
/// The same where `type` is `recorded`: docs/recorded_spaces.md.
lab_problem recorded_problem(settings& from, const std::string& directory);
/// The same where `type` is `recorded_run`: docs/lab.md.
lab_problem recorded_run_problem(settings& from, const std::string& directory);
/// The same where `type` is `ordered_steps`: docs/lab.md.
lab_problem ordered_problem(settings& from);

}  // namespace kevo
