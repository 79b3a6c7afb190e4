#include "src/export/bundle/expression_text.hpp"

#include <cctype>
#include <map>

#include <kevo/dtype.hpp>
#include <kevo/error.hpp>

#include "src/export/bundle/word_characters.hpp"

namespace kevo::bundle {
namespace {

// The end of the number that begins at `at`: digits, 0x, a fraction, an exponent with its sign.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const bool hexadecimal = text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X";
  std::size_t end = at;
  while (end < text.size()) {
    const bool sign = (text[end] == '+' || text[end] == '-') && !hexadecimal && end > at &&
                      (text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!in_word(text[end]) && !sign) break;
    ++end;
  }
  return end;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// What stands between the parentheses that open at `at`, which is moved behind them.
std::string_view in_parentheses(std::string_view text, std::size_t& at) {
  const auto open = text.find('(', at);
  const auto close = text.find(')', open);
  if (open == std::string_view::npos || close == std::string_view::npos)
    throw error(error_code::internal, "'" + std::string(text) + "' has no closing parenthesis");
  at = close + 1;
  return trimmed(text.substr(open + 1, close - open - 1));
}

const std::map<std::string_view, std::string_view>& functions() {
  static const std::map<std::string_view, std::string_view> known = {
      {"min", "least"},         {"max", "greatest"},         {"ceildiv", "ceildiv"},
      {"align_up", "align_up"}, {"log2_ceil", "log2_ceil"},  {"pow2_ceil", "pow2_ceil"},
      {"sqrt", "std::sqrt"},    {"rsqrt", "reciprocal_root"}};
  return known;
}

// `number` and `name` say what becomes of numbers and names; operators and parentheses stay.
template <class Number, class Name>
std::string translated(std::string_view text, const Number& number, const Name& name) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) != 0 || text[at] == '.') {
      const auto end = end_of_number(text, at);
      result += number(text.substr(at, end - at));
      at = end;
    } else if (begins_word(text[at])) {
      std::size_t end = at;
      while (end < text.size() && in_word(text[end])) ++end;
      const auto word = text.substr(at, end - at);
      std::size_t next = end;
      while (next < text.size() && text[next] == ' ') ++next;
      const bool call = next < text.size() && text[next] == '(';
      if (call && word == "occupancy") {
        result += variable("occupancy(" + std::string(in_parentheses(text, end)) + ")");
      } else if (call && word == "sizeof") {
        const auto type = find_dtype(in_parentheses(text, end));
        result += number(std::to_string(type ? type->size : 0));
      } else if (call) {
        result += functions().at(word);
      } else {
        result += name(word);
      }
      at = end;
    } else {
      result += text[at++];
    }
  }
  return result;
}

}  // namespace

std::string variable(std::string_view name) {
  constexpr std::string_view asked = "occupancy(";
  std::string result = "v_";
  if (name.starts_with(asked)) {
    result = "occupancy_";
    name = name.substr(asked.size(), name.size() - asked.size() - 1);
  }
  const bool is_function = result != "v_";
  for (const char c : name) result += in_word(c) && c != '.' ? c : '_';
  return is_function ? result + "()" : result;
}

std::string integer_text(const expression& e) {
  return translated(
      e.text(), [](std::string_view number) { return "whole(" + std::string(number) + ")"; },
      [](std::string_view name) { return variable(name); });
}

std::string real_text(const cuda::real_expression& e) {
  return translated(
      e.text(), [](std::string_view number) { return "double(" + std::string(number) + ")"; },
      [](std::string_view name) { return "real(" + variable(name) + ")"; });
}

}  // namespace kevo::bundle
