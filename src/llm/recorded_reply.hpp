#pragma once
// Calls of models as the JSON texts that journals keep.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/llm/client.hpp>

namespace kevo {

/// The messages alone, as a JSON list.
std::string messages_json(const std::vector<chat_message>& messages);
/// What the sampling settings say, as a JSON object.
std::string sampling_json(const sampling_settings& sampling);
/// Such an object with which of several replies to one prompt it was: `sample`, from 0, of `samples`.
std::string sampling_json(const sampling_settings& sampling, std::int64_t sample, std::int64_t samples);
/// The `sample` of such an object; 0 if it has none.
std::int64_t sample_of_json(std::string_view sampling);
/// A reply as the JSON object that journals keep, without what is empty.
std::string reply_json(const chat_reply& reply);
/// Such an object as a reply, without what journals keep in columns of their own; malformed if it is none.
chat_reply reply_of_json(std::string_view text);

}  // namespace kevo
