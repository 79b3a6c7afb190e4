#pragma once
// The implementation of <kevo/operators/conversation.hpp> is in this folder; this is what else its sections
// offer.

#include <string>

#include <kevo/operators/conversation.hpp>

#include "operators/llm/prompt.hpp"

namespace kevo {

/// The outcome and the score of an evaluation in a few words: "valid, 1.2 times as fast as seed", "compiles".
std::string score_text(const evaluation& e);

}  // namespace kevo
