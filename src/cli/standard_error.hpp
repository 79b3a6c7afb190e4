#pragma once
// What a command says beside its result. Nobody may be there to read it: nothing here fails.

#include <string>

namespace kevo::cli {

/// Prints a line on standard error; characters that a terminal would obey are made visible. A full disk, a
/// reader that is gone and a closed descriptor are ignored.
void say(const std::string& line);

/// Prints "kevo: warning: TEXT" on standard error, as `say`.
void warn(const std::string& text);

}  // namespace kevo::cli
