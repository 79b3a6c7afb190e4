#pragma once
// The implementation of <kevo/fitness/evaluator.hpp> is in this folder.

#include <string_view>

#include <kevo/fitness/evaluator.hpp>

namespace kevo {

/// The script that calls evaluators, kevo_evaluator.py.
std::string_view evaluator_script();

}  // namespace kevo
