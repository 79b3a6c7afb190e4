#pragma once
// The implementation of <kevo/operators/conversation.hpp> is in this folder; this is what else its sections
// offer.

#include <memory>
#include <string>
#include <vector>

#include <kevo/operators/conversation.hpp>

#include "operators/llm/prompt.hpp"

namespace kevo {

/// The outcome and the score of an evaluation in a few words: "valid, 1.2 times as fast as seed", "compiles".
std::string score_text(const evaluation& e);

/// The further parents and the inspirations that a prompt shows: not the parent, and no seed that the parent
/// outdoes, since from it the parent came.
std::vector<std::shared_ptr<const candidate_snapshot>> companions_of(const variation_request& request);

/// Whether programs are checked at sizes that they are not shown.
bool has_hidden_sizes(const task& t);

}  // namespace kevo
