#include "fitness/oracle/load_failure.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>

namespace kevo {
namespace {

constexpr std::size_t longest_shown = 200;  // bytes of a symbol in a message

constexpr std::array<std::pair<char, std::string_view>, 15> plain_types = {{{'v', "void"},
                                                                            {'b', "bool"},
                                                                            {'c', "char"},
                                                                            {'a', "signed char"},
                                                                            {'h', "unsigned char"},
                                                                            {'s', "short"},
                                                                            {'t', "unsigned short"},
                                                                            {'i', "int"},
                                                                            {'j', "unsigned int"},
                                                                            {'l', "long"},
                                                                            {'m', "unsigned long"},
                                                                            {'x', "long long"},
                                                                            {'y', "unsigned long long"},
                                                                            {'f', "float"},
                                                                            {'d', "double"}}};

/// Takes a name with its length in front from the text: "6helper".
std::optional<std::string_view> take_name(std::string_view& text) {
  std::size_t length = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), length);
  if (parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (length == 0 || length > text.size()) return std::nullopt;
  const auto name = text.substr(0, length);
  text.remove_prefix(length);
  return name;
}

/// Takes a plain type behind pointers and references from the text: "PKf".
std::optional<std::string> take_type(std::string_view& text) {
  std::size_t wrapped = 0;
  while (wrapped < text.size() && std::string_view("PRK").find(text[wrapped]) != std::string_view::npos)
    ++wrapped;
  if (wrapped == text.size()) return std::nullopt;
  const char code = text[wrapped];
  const auto plain = std::find_if(plain_types.begin(), plain_types.end(),
                                  [&](const auto& one) { return one.first == code; });
  if (plain == plain_types.end()) return std::nullopt;
  std::string made(plain->second);
  for (std::size_t i = wrapped; i-- > 0;) made += text[i] == 'P' ? "*" : text[i] == 'R' ? "&" : " const";
  text.remove_prefix(wrapped + 1);
  return made;
}

/// The declaration that a symbol of a plain C++ function stands for; nothing for other symbols. The symbol is
/// the candidate's choice and this process is trusted: a general demangler follows substitutions, with which
/// 200 characters stand for a gigabyte of text. Here each character of the symbol is read once and adds at
/// most the name of one plain type.
std::optional<std::string> plain_declaration(std::string_view symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > longest_shown) return std::nullopt;
  auto rest = symbol.substr(2);
  const bool nested = rest.starts_with('N');
  if (nested) rest.remove_prefix(1);
  std::string declaration;
  do {
    const auto name = take_name(rest);
    if (!name) return std::nullopt;
    declaration += (declaration.empty() ? "" : "::") + std::string(*name);
  } while (nested && !rest.starts_with('E'));
  if (nested) rest.remove_prefix(1);
  if (rest.empty()) return declaration;  // a variable
  if (rest == "v") return declaration + "()";
  std::string parameters;
  while (!rest.empty()) {
    const auto type = take_type(rest);
    if (!type) return std::nullopt;
    parameters += (parameters.empty() ? "" : ", ") + *type;
  }
  return declaration + "(" + parameters + ")";
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
    if (symbol.starts_with("omp_") || symbol.starts_with("GOMP_") || symbol.starts_with("__kmpc_"))
      return fmt::format(
          "'{}' is a function of OpenMP, which the program is not compiled with: add -fopenmp to "
          "fitness.flags, and set fitness.threads to the number of threads",
          detail::shown(symbol, longest_shown));
    const auto declaration = plain_declaration(symbol);
    const auto mangled = detail::shown(symbol, longest_shown);
    return fmt::format(
        "'{}' is called but never defined{}. Define it in the source; candidates can link only the standard "
        "libraries (a baseline names its libraries under 'link')",
        declaration ? detail::shown(*declaration, longest_shown) : mangled,
        declaration ? fmt::format(" (symbol {})", mangled) : "");
  }
  const auto missing = message.find(": cannot open shared object file");
  if (missing != std::string_view::npos) {
    auto library = message.substr(0, missing);
    if (const auto blank = library.find_last_of(" /"); blank != std::string_view::npos)
      library.remove_prefix(blank + 1);
    return fmt::format(
        "it needs the library '{}', which is not there or not allowed: candidates may use the standard "
        "libraries only; a baseline names its libraries under 'link'",
        detail::shown(library, longest_shown));
  }
  return std::string(message);
}

}  // namespace kevo
