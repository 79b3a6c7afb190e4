#include "src/task/misspelt.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <kevo/annotation.hpp>
#include <kevo/detail/nearest.hpp>

namespace kevo {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view keyword = "kevo";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view leading_word(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// What may follow "kevo:".
bool is_annotation_body(std::string_view text) {
  if (text.starts_with('{')) return true;
  const auto word = leading_word(text);
  const auto& known = detail::annotation_words;
  return word.size() < text.size() && std::find(known.begin(), known.end(), word) != known.end();
}

// The word that stands for "kevo:" in the text of a comment.
std::optional<std::string> misspelt(std::string_view comment) {
  const auto word = leading_word(comment);
  auto rest = without_blanks(comment.substr(word.size()));
  const bool colon = rest.starts_with(':');
  if (colon) rest = without_blanks(rest.substr(1));
  if (word.size() < 3 || word.size() > 6 || !is_annotation_body(rest)) return std::nullopt;
  std::string lower(word);
  for (auto& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == keyword && colon) return std::nullopt;  // right, or told by the parser
  const bool near = detail::edit_distance(lower, keyword) <= (colon ? 1U : 0U);
  const bool shuffled =
      colon && std::is_permutation(lower.begin(), lower.end(), keyword.begin(), keyword.end());
  if (!near && !shuffled) return std::nullopt;
  return std::string(word) + (colon ? ":" : "");
}

// The first misspelt annotation of a line.
std::optional<std::string> misspelt_in_line(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool slashes = line.substr(i, 2) == "//";
    if (!slashes && line[i] != '#') continue;
    const std::size_t body = std::min(line.find_first_not_of(slashes ? '/' : '#', i), line.size());
    if (auto found = misspelt(without_blanks(line.substr(body)))) return found;
    i = body - 1;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> misspelt_annotations(const program& source, std::string_view file) {
  std::vector<std::string> found;
  for (std::size_t f = 0; f < source.files.size(); ++f) {
    const std::string name(f == 0 && !file.empty() ? file : std::string_view(source.files[f].path));
    std::string_view rest = source.files[f].text;
    for (int line = 1; !rest.empty(); ++line) {
      const auto end = std::min(rest.find('\n'), rest.size());
      if (const auto word = misspelt_in_line(rest.substr(0, end))) {
        found.push_back(fmt::format("{}:{}: '{}' looks like an annotation, but is not one; write 'kevo:'",
                                    name, line, detail::shown(*word)));
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return found;
}

std::vector<std::string> misspelt_annotations(const task& t) {
  std::vector<std::string> found;
  for (const auto& seed : t.seeds) {
    const auto more = misspelt_annotations(seed, source_file_of(t, seed));
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace kevo
