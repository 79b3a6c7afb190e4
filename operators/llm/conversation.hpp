#pragma once
// The implementation of <kevo/operators/conversation.hpp> is in this folder.

#include <string>
#include <string_view>

#include <kevo/operators/conversation.hpp>

#include "operators/llm/prompt.hpp"
#include "src/llm/language_models.hpp"

namespace kevo {

/// Why a program need not be evaluated: it is known, or as good as. Empty if it is new. Cheapest first:
/// content hash, token 5-grams against relatives, then embeddings and a judge where the settings name them; a
/// model that fails speaks for the program.
std::string known_already(const program& made, const llm_settings& settings,
                          const variation_request& request);
/// Share of the token 5-grams that two sources have in common (Jaccard); comments and spacing do not count.
/// O(n).
double similarity(std::string_view a, std::string_view b);

}  // namespace kevo
