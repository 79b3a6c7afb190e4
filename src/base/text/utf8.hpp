#pragma once
// Text of unknown encoding as UTF-8.

#include <string>
#include <string_view>

namespace kevo {

/// `text` with every byte that is not part of a well-formed UTF-8 sequence replaced by U+FFFD, so that the
/// output of a compiler or a server cannot break a reader of JSON.
std::string as_utf8(std::string_view text);

}  // namespace kevo
