#include "src/task/set_definitions.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <kevo/annotation.hpp>
#include <kevo/detail/nearest.hpp>

namespace kevo {
namespace {

constexpr std::string_view between_words = " \t";

/// A line `#define NAME value`, as views into it.
struct definition {
  std::string_view name;
  std::string_view value;
};

std::string_view from_next_word(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(between_words), text.size()));
  return text;
}

/// Nothing for other lines, for macros with parameters and for those without a value.
std::optional<definition> definition_in(std::string_view line) {
  line = from_next_word(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = from_next_word(line.substr(1));
  constexpr std::string_view word = "define";
  if (!line.starts_with(word) || line.size() == word.size()) return std::nullopt;
  if (between_words.find(line[word.size()]) == std::string_view::npos) return std::nullopt;
  line = from_next_word(line.substr(word.size()));
  definition made;
  made.name = line.substr(0, line.find_first_of(" \t\r("));
  made.value = line.substr(made.name.size());
  if (made.value.starts_with('(')) return std::nullopt;
  made.value = made.value.substr(0, std::min(made.value.find("//"), made.value.find("/*")));
  made.value = from_next_word(made.value);
  made.value = made.value.substr(0, made.value.find_last_not_of(" \t\r") + 1);
  if (made.value.empty() || made.value.ends_with('\\')) return std::nullopt;
  return made;
}

std::string with_values(const std::string& text, const std::map<std::string, std::string>& values,
                        std::set<std::string>& found) {
  std::string made;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    const auto one = definition_in(line.substr(0, line.find('\n')));
    const auto given = one ? values.find(std::string(one->name)) : values.end();
    if (given == values.end()) {
      made += line;
      continue;
    }
    found.insert(given->first);
    const auto at = static_cast<std::size_t>(one->value.data() - line.data());
    made.append(line.substr(0, at)).append(given->second).append(line.substr(at + one->value.size()));
  }
  return made;
}

}  // namespace

program set_definitions(program source, const std::map<std::string, std::string>& values,
                        std::set<std::string>& found, const error_place& named) {
  if (values.empty()) return source;
  for (const auto& one : parse_annotations(source).tunables) {
    if (values.contains(one.name))
      throw error(error_code::input,
                  "'" + detail::shown(one.name) + "' is a tunable, whose value the search changes", named,
                  "remove the domain of the tunable from the source, or the name from 'define'");
  }
  for (auto& file : source.files) file.text = with_values(file.text, values, found);
  return source;
}

}  // namespace kevo
