#pragma once
// How `rewrite` writes into a transcript which actions were possible, and which one it took.

#include <string>

#include <kevo/operators/rewrite.hpp>

namespace kevo::rewriting {

/// A line "[rewrite] {...}". Numbers have four digits.
std::string note_of(const recorded_choice& one);

}  // namespace kevo::rewriting
