#pragma once
// Prompts: a file with two messages and named places, filled with sections within a budget of tokens.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/operators/conversation.hpp>

namespace kevo {

struct assembled_prompt {
  std::vector<chat_message> messages;
  std::vector<std::string> cut;  ///< what was left out, in words, one a section
};

/// Fills a prompt file. Its lines `=== system` and `=== user` begin the messages; text is kept as it is; a
/// place whose section is unknown is an error (input) that names the file. If the whole is estimated at more
/// than `budget` tokens, sections are shortened from the lowest priority on; the user message then says what
/// is missing. Linear in the size of the text.
assembled_prompt assemble(const std::string& file, std::string_view text,
                          std::vector<prompt_section> sections, std::int64_t budget);

/// The text of `folder`/NAME.md if that exists, else of the shipped prompt of this name. Throws kevo::error
/// (input) for unknown names.
std::string prompt_text(const std::string& folder, const std::string& name);
/// Names of the shipped prompts.
std::vector<std::string> shipped_prompts();
/// The text of a shipped prompt; empty if there is none of this name.
std::string_view shipped_prompt(std::string_view name);

/// `text` in a Markdown fence that nothing in it can close.
std::string fenced(std::string_view text, std::string_view language = {});
/// At most about `limit` bytes of a text: its beginning and its end, and a word about what is missing.
std::string shortened(std::string_view text, std::size_t limit);

}  // namespace kevo
