#include "src/cli/warning.hpp"

#include <fmt/format.h>

#include "src/base/text/format.hpp"

namespace kevo::cli {

void warn(const std::string& text) {
  fmt::print(stderr, "kevo: warning: {}\n", format::printable(text));
}

}  // namespace kevo::cli
