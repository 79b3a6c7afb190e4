#pragma once
// Lets a policy that was learnt from runs of `rewrite` choose the steps of `macro_micro`, which a language
// model then carries out. Compiled: link kevo::kevo.

#include <string>

#include <kevo/operators/action_policy.hpp>
#include <kevo/operators/llm.hpp>

namespace kevo {

/// The steps are the actions of `rewrite` that are possible in the parent, a C++ or CUDA source, and `policy`
/// gives their probabilities. It is told of no results, so that a policy that learns within the run is of no
/// use here. Each choice starts the parser of `rewrite` (require_rewrite_parser).
/// @param threads that the kernel may use; from 2, sharing loops among threads is a step, too
/// @param parser path of kevo-parse-cpp; empty: where kevo finds its own programs
macro_policy rewrite_steps(action_policy policy, int threads = 1, std::string parser = {});

}  // namespace kevo
