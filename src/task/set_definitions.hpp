#pragma once
// The key `define` of a task: values of macros in its sources, so that one source serves several tasks.

#include <map>
#include <set>
#include <string>

#include <kevo/error.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Gives each macro of `values` its value, in all lines `#define NAME value` of the program; comments behind
/// the old value stay. The names that were found are added to `found`. Throws kevo::error (input) with the
/// place `named` if a name is that of a tunable, whose value belongs to the search. O(length of the texts).
program set_definitions(program source, const std::map<std::string, std::string>& values,
                        std::set<std::string>& found, const error_place& named);

}  // namespace kevo
