#pragma once
// Operators of <kevo/operators/llm.hpp> that look before they act.

#include <string>
#include <string_view>
#include <vector>

#include <kevo/operators/llm.hpp>

#include "operators/llm/conversation.hpp"

namespace kevo {

/// Draws exemplars with a score out of `pool`, worst first; fewer if there are fewer buckets.
std::vector<candidate_snapshot> draw_exemplars(std::vector<candidate_snapshot> pool,
                                               const exemplar_settings& how, rng& random);
/// What a contrastive prompt compares, worst first: the first parent, on which the child is built, and the
/// further candidates of the selection that have another score. Where those are more than `how.count`, or
/// where the selection has none and relatives take their place, they are drawn from buckets other than the
/// parent's. Fewer than two if there is nothing to compare.
std::vector<candidate_snapshot> exemplars_for(const variation_request& request, const exemplar_settings& how,
                                              rng& random);
/// The text after `label` on its line, without white space at the ends; empty if there is no such line.
std::string labelled(std::string_view reply, std::string_view label);
/// The text between the first `begin` and the `end` that follows it; empty if one of them is missing.
std::string text_between(std::string_view reply, std::string_view begin, std::string_view end);
/// The words of a list, in order; any of the characters `separators` ends a word.
std::vector<std::string> words_between(std::string_view list, std::string_view separators);

}  // namespace kevo
