#pragma once
// What the terminal behind a descriptor can do.

#include <string_view>

namespace kevo {

struct terminal_size {
  int columns = 80;
  int rows = 24;
};

/// A terminal that understands cursor control: isatty, and TERM is neither empty nor "dumb".
bool is_terminal(int descriptor);
/// Its size now; COLUMNS and LINES, then 80 x 24, where the terminal does not say.
terminal_size size_of_terminal(int descriptor);
/// Colors are wanted: NO_COLOR is unset or empty (https://no-color.org).
bool wants_color();
/// The locale's character set is UTF-8, by LC_ALL, LC_CTYPE, LANG (the first that is set).
bool locale_is_utf8();
/// Writes all of `text`, however the descriptor takes it; gives up silently on errors (a closed pipe must not
/// end a run).
void write_all(int descriptor, std::string_view text);

}  // namespace kevo
