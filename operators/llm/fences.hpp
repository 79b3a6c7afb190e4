#pragma once
// Fenced code blocks of Markdown, as models write them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kevo {

/// A block that was closed.
struct fenced_block {
  std::string word;  ///< behind the opening fence: the language, or empty
  std::string text;
};

/// All closed blocks of a text, in order. A fence is closed by one that is at least as long. A fence of the
/// same length that names a language begins a new block, and the one before, which was never closed, is left
/// out; only blocks of Markdown may hold such lines.
std::vector<fenced_block> fenced_blocks(std::string_view text);

/// Whether the word of a block is a name for `language`, in any case.
bool names_language(std::string word, std::string_view language);

/// The one block of a reply if it is a whole program that may replace `source`: the reply holds no other
/// block, its language fits or is not named, and it begins lines as the source does wherever those show an
/// interface (#include, extern "C", __global__, def, class, ...); where the source has no such line, the
/// block has at least half as many lines. Nothing if any of that is doubtful, because a part of a program
/// would then be taken for the whole.
std::optional<std::string> whole_program(std::string_view reply, std::string_view source,
                                         std::string_view language);

}  // namespace kevo
