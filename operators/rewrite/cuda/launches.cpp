#include "operators/rewrite/cuda/launches.hpp"

#include <algorithm>
#include <cctype>

namespace kevo::rewriting {
namespace {

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// At commas that are not within parentheses.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> result;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (text[i] == ',' && depth == 0) {
      result.push_back(trimmed(text.substr(from, i - from)));
      from = i + 1;
    }
  }
  result.push_back(trimmed(text.substr(from)));
  return result;
}

// "(a, b)" is two axes, "a" and "(a + b) * c" one.
std::vector<std::string> axes_of(const std::string& text) {
  if (text.size() < 2 || text.front() != '(') return {text};
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < text.size()) return {text};
  }
  return parts_of(std::string_view(text).substr(1, text.size() - 2));
}

// At the parenthesis that closes the one at `open`.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

// What stands behind `>>>`.
bool read_arguments(std::string_view line, std::size_t from, launch_text& to) {
  const std::size_t open = line.find('(', from);
  const std::size_t close = open == std::string_view::npos ? open : closing(line, open);
  if (close == std::string_view::npos) return false;
  to.arguments_end = to.line + close;
  to.arguments = parts_of(line.substr(open + 1, close - open - 1));
  if (to.arguments.size() == 1 && to.arguments.front().empty()) to.arguments.clear();
  to.attributes = trimmed(line.substr(close + 1));
  return true;
}

}  // namespace

std::vector<launch_text> launches_of(std::string_view source) {
  std::vector<launch_text> found;
  for (std::size_t start = 0; start < source.size();) {
    const std::size_t end = std::min(source.find('\n', start), source.size());
    const std::string_view line = source.substr(start, end - start);
    const std::size_t word = line.find("launch ");
    const std::size_t open = line.find("<<<");
    const std::size_t close = line.find(">>>");
    if (line.find("// kevo:") != std::string_view::npos && word < open && open < close &&
        close != std::string_view::npos) {
      launch_text one;
      one.line = start;
      one.line_end = end;
      one.begin = start + open + 3;
      one.end = start + close;
      one.kernel = trimmed(line.substr(word + 7, open - word - 7));
      const std::size_t head = line.find("// kevo:") + 8;
      one.condition = trimmed(line.substr(head, word - head));
      if (!one.condition.empty()) one.condition += ' ';
      auto all = parts_of(line.substr(open + 3, close - open - 3));
      if (all.size() >= 2 && read_arguments(line, close + 3, one)) {
        one.grid = axes_of(all[0]);
        one.block = axes_of(all[1]);
        one.more.assign(all.begin() + 2, all.end());
        found.push_back(std::move(one));
      }
    }
    start = end + 1;
  }
  return found;
}

std::string written_axes(const std::vector<std::string>& axes) {
  if (axes.size() == 1) return axes.front();
  std::string result = "(";
  for (const auto& one : axes) result += (result.size() > 1 ? ", " : "") + one;
  return result + ")";
}

std::string configuration_of(const launch_text& one) {
  std::string result = written_axes(one.grid) + ", " + written_axes(one.block);
  for (const auto& bytes : one.more) result += ", " + bytes;
  return result;
}

void put_launch(changes& all, const launch_text& one) {
  all.replace(one.begin, one.end, configuration_of(one));
}

void put_argument(changes& all, const launch_text& one, const std::string& argument) {
  all.replace(one.arguments_end, one.arguments_end, (one.arguments.empty() ? "" : ", ") + argument);
}

std::string with_word(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const bool whole = (at == 0 || !is_name_part(text[at - 1])) &&
                       (at + word.size() >= text.size() || !is_name_part(text[at + word.size()]));
    if (!whole) {
      at += word.size();
      continue;
    }
    text.replace(at, word.size(), by);
    at += by.size();
  }
  return text;
}

std::string without_suffix(std::string_view literal) {
  while (!literal.empty() && std::string_view("uUlL").find(literal.back()) != std::string_view::npos)
    literal.remove_suffix(1);
  return std::string(literal);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace kevo::rewriting
