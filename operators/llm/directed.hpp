#pragma once
// Operators of <kevo/operators/llm.hpp> that look before they act.

#include <vector>

#include <kevo/operators/llm.hpp>

#include "operators/llm/conversation.hpp"

namespace kevo {

/// Draws exemplars with a score out of `pool`, worst first; fewer if there are fewer buckets.
std::vector<candidate_snapshot> draw_exemplars(std::vector<candidate_snapshot> pool,
                                               const exemplar_settings& how, rng& random);
/// The text after `label` on its line, without white space at the ends; empty if there is no such line.
std::string labelled(std::string_view reply, std::string_view label);

}  // namespace kevo
