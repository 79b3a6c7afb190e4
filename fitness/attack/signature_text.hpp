#pragma once
// A task's signature as source text: the `attack_call` of C++ and hosted exploits, the expanded lines of
// declared ones.

#include <string>

#include <kevo/task.hpp>

#include "fitness/attack/exploit.hpp"

namespace kevo {

/// What stands in front of an exploit: headers, `struct attack_call` and the helpers of configs/attacks/kits.
std::string attack_prologue(const task& t, exploit_form form);

/// What follows an honest program whose `run` was renamed to `honest_run`: attack_call::honest.
std::string honest_definition(const task& t, exploit_form form);

/// What stands behind an exploit: the `run` that the task calls.
std::string attack_epilogue(const task& t, exploit_form form);

/// A line of a declared exploit. "// each output: memset {name} 0" becomes "// kevo: memset C 0" for every
/// output;
/// "// each input:" and "// each float32 output:" are the same for these. {count} and {bytes} are expressions
/// of the axes, {size} is that of an element in bytes. Other lines stay.
std::string expanded_line(const task& t, const std::string& line);

}  // namespace kevo
