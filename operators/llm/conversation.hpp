#pragma once
// The implementation of <kevo/operators/conversation.hpp> is in this folder.

#include <string>
#include <string_view>

#include <kevo/operators/conversation.hpp>

#include "operators/llm/prompt.hpp"
#include "src/llm/language_models.hpp"

namespace kevo {

/// Whether a model answered but was cut, or thought without saying anything, so that it can be told to go on.
inline bool cut_short(const chat_reply& reply) {
  return reply.status == reply_status::truncated || reply.status == reply_status::empty;
}
/// What a model is told of such a reply. `limit`: of a reply [tokens]. `go_on`: what it should do now.
std::string cut_text(const chat_reply& reply, std::int64_t limit, const std::string& go_on);

/// Why a program need not be evaluated: it is known, or as good as. Empty if it is new. Cheapest first:
/// content hash, token 5-grams against relatives, then embeddings and a judge where the settings name them; a
/// model that fails speaks for the program.
std::string known_already(const program& made, const llm_settings& settings,
                          const variation_request& request);
/// Share of the token 5-grams that two sources have in common (Jaccard); comments and spacing do not count.
/// O(n).
double similarity(std::string_view a, std::string_view b);

}  // namespace kevo
