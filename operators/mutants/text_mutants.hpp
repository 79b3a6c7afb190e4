#pragma once
// Mutants of programs that the parser does not read (CUDA, Triton, PyTorch), by rules on their text.

#include <string_view>
#include <vector>

#include "operators/mutants/source_mutants.hpp"

namespace kevo::mutants {

/// Whether there are rules for programs in this language.
bool has_text_rules(std::string_view language);

/// All mutants of a text by the rules for its language, in the order of the rules and then of the text: a
/// barrier, an atomic operation, a mask, a guard, a bound or a small number left out, a comparison or an
/// index changed. Comments are left alone. The rules know nothing of types, so that some mutants do not
/// compile.
/// @param language "cuda", "triton" or "python"; for others there are none
std::vector<source_mutant> text_mutants_of(std::string_view text, std::string_view language);

}  // namespace kevo::mutants
