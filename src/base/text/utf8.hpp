#pragma once
// UTF-8: reading code points from text of unknown encoding, and writing them.

#include <cstddef>
#include <string>
#include <string_view>

namespace kevo {

/// The code point of `text` at byte `at`, and moves `at` behind it. A byte that begins no well-formed
/// sequence (Unicode 15, table 3-7) gives U+FFFD and moves `at` by one. `at` must be less than the size of
/// `text`.
char32_t next_code_point(std::string_view text, std::size_t& at);

/// The largest index up to `at` at which no character is cut in two: `at`, or the first byte of the character
/// that `at` lies in. A byte that belongs to no well-formed sequence is a character of its own. An `at`
/// behind the end is taken as the end.
std::size_t boundary_before(std::string_view text, std::size_t at);

/// The smallest index from `at` on at which no character is cut in two: `at`, or the byte behind the
/// character that `at` lies in. An `at` behind the end is taken as the end.
std::size_t boundary_after(std::string_view text, std::size_t at);

/// Appends a code point as UTF-8.
void append_utf8(std::string& out, char32_t c);

/// `text` with every byte that is not part of a well-formed UTF-8 sequence replaced by U+FFFD, so that the
/// output of a compiler or a server cannot break a reader of JSON.
std::string as_utf8(std::string_view text);

}  // namespace kevo
