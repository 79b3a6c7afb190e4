#include "operators/llm/fences.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kevo {
namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view without_indent(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  return line;
}

std::size_t solid_lines(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) count += without_indent(next_line(text)).empty() ? 0U : 1U;
  return count;
}

bool has_line_with(std::string_view text, std::string_view beginning) {
  while (!text.empty()) {
    if (without_indent(next_line(text)).starts_with(beginning)) return true;
  }
  return false;
}

/// Whether what follows a fence can only be the name of a language.
bool is_word(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '_' || c == '-';
  });
}

bool holds_fences(std::string_view language) {
  return language == "markdown" || language == "md" || language == "text";
}

}  // namespace

std::vector<fenced_block> fenced_blocks(std::string_view text) {
  std::vector<fenced_block> all;
  const auto begun_by = [](std::string_view opened, std::size_t ticks) {
    return fenced_block{
        .word = std::string(opened.substr(ticks, opened.find_first_of(" \t\r", ticks) - ticks)), .text = {}};
  };
  while (!text.empty()) {
    const std::string_view opened = without_indent(next_line(text));
    if (!opened.starts_with("```")) continue;
    const std::size_t ticks = std::min(opened.find_first_not_of('`'), opened.size());
    fenced_block block = begun_by(opened, ticks);
    bool closed = false;
    while (!text.empty() && !closed) {
      const std::string_view line = next_line(text);
      const std::string_view mark = without_indent(line);
      const std::size_t run = std::min(mark.find_first_not_of('`'), mark.size());
      closed = run >= ticks && mark.find_first_not_of(" \t\r", run) == std::string_view::npos;
      // In its reasoning a model may have begun a program that it did not finish.
      if (!closed && run == ticks && is_word(mark.substr(run)) && !holds_fences(block.word)) {
        block = begun_by(mark, ticks);
      } else if (!closed) {
        block.text += std::string(line) + "\n";
      }
    }
    if (closed) all.push_back(std::move(block));
  }
  return all;
}

bool names_language(std::string word, std::string_view language) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  if (word == language) return true;
  if (language == "cpp" || language == "cuda")
    return word == "c++" || word == "cpp" || word == "cc" || word == "c" || word == "cuda" || word == "cu" ||
           word == "cxx";
  return (language == "python" || language == "triton") &&
         (word == "python" || word == "py" || word == "triton");
}

std::optional<std::string> whole_program(std::string_view reply, std::string_view source,
                                         std::string_view language) {
  auto blocks = fenced_blocks(reply);
  if (blocks.size() != 1) return std::nullopt;
  fenced_block& only = blocks.front();
  if (!only.word.empty() && !names_language(only.word, language)) return std::nullopt;
  bool shown = false;
  for (const std::string_view mark : {"#include", "extern \"C\"", "__global__", "// kevo: launch", "import ",
                                      "from ", "def ", "class ", "@triton"}) {
    if (!has_line_with(source, mark)) continue;
    shown = true;
    if (!has_line_with(only.text, mark)) return std::nullopt;
  }
  const std::size_t lines = solid_lines(only.text);
  if (lines == 0 || (!shown && 2 * lines < solid_lines(source))) return std::nullopt;
  return std::move(only.text);
}

}  // namespace kevo
