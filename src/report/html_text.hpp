#pragma once
// Foreign text in HTML. Sources and summaries are hostile until proven otherwise.

#include <string>
#include <string_view>

namespace kevo::html {

/// Text for element content and quoted attributes: & < > " ' become entities, what is not UTF-8 and control
/// characters become U+FFFD (tab and line feed stay), invisible direction marks are written out as
/// "[U+202E]", so that a source reads as it is compiled.
std::string escape(std::string_view text);

/// `escape`, cut to about `most` code points with an ellipsis.
std::string escape_short(std::string_view text, std::size_t most);

}  // namespace kevo::html
