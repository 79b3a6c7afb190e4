#include "src/cli/standard_error.hpp"

#include <cstdio>

#include "src/base/text/format.hpp"

namespace kevo::cli {

// fmt::print would throw where nothing can be written.
void say(const std::string& line) {
  const std::string text = format::printable(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void warn(const std::string& text) {
  say("kevo: warning: " + text);
}

}  // namespace kevo::cli
