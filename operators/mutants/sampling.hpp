#pragma once
// Mutants that decide by a sample of an input: right for inputs in which all elements are of one kind, wrong
// where one row is of another.

#include <functional>
#include <string>

#include "operators/mutants/mutator.hpp"

namespace kevo::mutants {

/// Adds a mutant in which `text` stands for `one`. @param text is given the word that is true where the
/// largest of 64 evenly spaced elements of the first real input is neither small nor large
void add_sampled(mutator& to, const std::string& change, const rewriting::node& one,
                 const std::function<std::string(const std::string& usual)>& text);

}  // namespace kevo::mutants
