#include "src/display/terminal.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kevo {

namespace {
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
  return value == nullptr ? std::string_view() : std::string_view(value);
}
int positive(std::string_view text, int otherwise) {
  const int value = std::atoi(std::string(text).c_str());
  return value > 0 && value < 10000 ? value : otherwise;
}
}  // namespace

bool is_terminal(int descriptor) {
  const auto kind = variable("TERM");
  return isatty(descriptor) == 1 && !kind.empty() && kind != "dumb";
}

terminal_size size_of_terminal(int descriptor) {
  winsize found{};
  if (ioctl(descriptor, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 && found.ws_row > 0)
    return {found.ws_col, found.ws_row};
  return {positive(variable("COLUMNS"), 80), positive(variable("LINES"), 24)};
}

bool wants_color() {
  return variable("NO_COLOR").empty();
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (variable(name).empty()) continue;
    std::string value(variable(name));
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {  // a descriptor that somebody made non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      if (::poll(&ready, 1, 1000) <= 0) return;
    } else if (!(n < 0 && errno == EINTR)) {
      return;
    }
  }
}

}  // namespace kevo
