#pragma once
// Makes a conversation shorter without losing what was found out: old tool results become a line, old calls
// lose the texts that they wrote, and the oldest steps are left out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/llm/chat.hpp>

namespace kevo {

/// The messages of an agent after its first prompt, grouped in steps: a reply, what its tools answered, and
/// what else the model was told then. `briefs` has a line for each message of a tool; the two have the same
/// size.
struct agent_steps {
  std::vector<chat_message> messages;
  std::vector<std::string> briefs;
};

/// Where the last `count` steps begin; 0 if there are not so many.
std::size_t begin_of_last_steps(const agent_steps& steps, std::size_t count);
/// Replaces the results of tools before `end` by their lines, and long texts in calls of tools by their
/// sizes.
void shorten_before(agent_steps& steps, std::size_t end);
/// Leaves out the oldest steps, but never the last one, until what is left is estimated at most `tokens`.
void leave_out_oldest(agent_steps& steps, std::int64_t tokens);
/// What the tool whose call has this id answered, in a recorded request; nothing if it is not there.
std::optional<std::string> answer_in(const std::string& messages, const std::string& call_id);
/// The arguments of a call with long texts replaced by their sizes; the same if they are no JSON object.
std::string without_long_texts(const std::string& arguments);

}  // namespace kevo
