#pragma once
// Makes a policy that was trained on runs of `rewrite` choose the steps of `macro_micro`, which a language
// model then carries out. Compiled: link kevo::kevo.

#include <string>

#include <kevo/operators/action_policy.hpp>
#include <kevo/operators/llm.hpp>

namespace kevo {

/// A policy for `macro_micro` whose steps are the actions of `rewrite` that are possible in the parent, which
/// must be a C++ or CUDA source. `policy` gives their probabilities. It does not receive results, so a policy
/// that learns within the run would learn nothing. Each choice starts the parser of `rewrite` (see
/// require_rewrite_parser).
/// @param threads maximum number of threads of the kernel; from 2 on, sharing a loop among threads is a step,
/// too
/// @param parser path of kevo-parse-cpp; empty: it is searched for among kevo's own programs
macro_policy rewrite_steps(action_policy policy, int threads = 1, std::string parser = {});

}  // namespace kevo
