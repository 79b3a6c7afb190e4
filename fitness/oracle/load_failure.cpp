#include "fitness/oracle/load_failure.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

#include <fmt/format.h>

namespace kevo {
namespace {

struct release {
  void operator()(char* text) const { std::free(text); }  // NOLINT: what the C++ ABI allocates
};

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, release> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? text.get() : symbol;
}

// The word after `mark`, up to a blank, a comma or the end.
std::string word_after(std::string_view message, std::string_view mark) {
  const auto found = message.find(mark);
  if (found == std::string_view::npos) return {};
  auto rest = message.substr(found + mark.size());
  return std::string(rest.substr(0, std::min(rest.find_first_of(" ,\n\t("), rest.size())));
}

}  // namespace

std::string explain_load_failure(std::string_view message) {
  if (const auto symbol = word_after(message, "undefined symbol: "); !symbol.empty()) {
    const auto name = demangled(symbol);
    const std::string also = name == symbol ? "" : fmt::format(" (symbol {})", symbol);
    return fmt::format(
        "'{}' is used and not defined{}: define it in the source. A function of a library is missing because "
        "candidates may use the standard libraries only; a baseline names its libraries under 'link'",
        name, also);
  }
  const auto missing = message.find(": cannot open shared object file");
  if (missing != std::string_view::npos) {
    auto library = message.substr(0, missing);
    if (const auto blank = library.find_last_of(" /"); blank != std::string_view::npos)
      library.remove_prefix(blank + 1);
    return fmt::format(
        "it needs the library '{}', which is not there or not allowed: candidates may use the standard "
        "libraries "
        "only; a baseline names its libraries under 'link'",
        library);
  }
  return std::string(message);
}

}  // namespace kevo
