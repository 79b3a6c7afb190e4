#include "src/export/bundle/python_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/detail/expression_parser.hpp>
#include <kevo/error.hpp>

#include "src/export/bundle/word_characters.hpp"

namespace kevo::bundle {
namespace {

using detail::expression_op;

// The text of `a op b`.
std::string of_operator(expression_op op, const std::string& a, const std::string& b) {
  switch (op) {
    case expression_op::add:
      return fmt::format("({} + {})", a, b);
    case expression_op::subtract:
      return fmt::format("({} - {})", a, b);
    case expression_op::multiply:
      return fmt::format("({} * {})", a, b);
    case expression_op::divide:
      return fmt::format("({} // {})", a, b);
    case expression_op::remainder:
      return fmt::format("({} % {})", a, b);
    case expression_op::shift_left:
      return fmt::format("({} << {})", a, b);
    case expression_op::shift_right:
      return fmt::format("({} >> {})", a, b);
    case expression_op::less:
      return fmt::format("_kevo_int({} < {})", a, b);
    case expression_op::less_equal:
      return fmt::format("_kevo_int({} <= {})", a, b);
    case expression_op::greater:
      return fmt::format("_kevo_int({} > {})", a, b);
    case expression_op::greater_equal:
      return fmt::format("_kevo_int({} >= {})", a, b);
    case expression_op::equal:
      return fmt::format("_kevo_int({} == {})", a, b);
    case expression_op::not_equal:
      return fmt::format("_kevo_int({} != {})", a, b);
    case expression_op::ceildiv:
      return fmt::format("_kevo_ceildiv({}, {})", a, b);
    case expression_op::minimum:
      return fmt::format("_kevo_min({}, {})", a, b);
    case expression_op::maximum:
      return fmt::format("_kevo_max({}, {})", a, b);
    case expression_op::align_up:
      return fmt::format("_kevo_align_up({}, {})", a, b);
    default:
      throw error(error_code::internal, "not an operator of two values");
  }
}

// Turns the code of the stack machine back into a text. The parser writes each `?:`, `&&` and `||` as one
// shape of jumps.
class reader {
 public:
  reader(const detail::expression_node& node, const python_name& name) : node_(node), name_(name) {}

  std::string text() {
    read(0, node_.code.size());
    return take();
  }

 private:
  std::string take() {
    std::string top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }
  std::string part(std::size_t begin, std::size_t end) {
    read(begin, end);
    return take();
  }

  void read(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) at = step(at);
  }

  // Reads the instruction at `at` and what belongs to it; returns the place behind them.
  std::size_t step(std::size_t at) {
    const auto& one = node_.code[at];
    const auto target = static_cast<std::size_t>(one.operand);
    switch (one.op) {
      case expression_op::push:
        stack_.push_back(one.operand < 0 ? fmt::format("({})", one.operand) : std::to_string(one.operand));
        return at + 1;
      case expression_op::load:
        stack_.push_back(name_(node_.names[target]));
        return at + 1;
      case expression_op::negate:
        stack_.push_back(fmt::format("(-{})", take()));
        return at + 1;
      case expression_op::logical_not:
        stack_.push_back(fmt::format("_kevo_int(not {})", take()));
        return at + 1;
      case expression_op::log2_ceil:
      case expression_op::pow2_ceil:
        stack_.push_back(fmt::format(
            "{}({})", one.op == expression_op::log2_ceil ? "_kevo_log2_ceil" : "_kevo_pow2_ceil", take()));
        return at + 1;
      case expression_op::jump_if_zero: {  // condition; this; value; jump; other value
        const auto end = static_cast<std::size_t>(node_.code[target - 1].operand);
        const auto condition = take();
        const auto value = part(at + 1, target - 1);
        const auto otherwise = part(target, end);
        stack_.push_back(fmt::format("({} if {} else {})", value, condition, otherwise));
        return end;
      }
      case expression_op::keep_zero:  // left side; this; right side; truth
      case expression_op::keep_one: {
        const auto left = take();
        const auto right = part(at + 1, target - 1);
        stack_.push_back(fmt::format("_kevo_int(_kevo_bool({} {} {}))", left,
                                     one.op == expression_op::keep_zero ? "and" : "or", right));
        return target;
      }
      default: {
        const auto right = take();
        const auto left = take();
        stack_.push_back(of_operator(one.op, left, right));
        return at + 1;
      }
    }
  }

  const detail::expression_node& node_;
  const python_name& name_;
  std::vector<std::string> stack_;
};

}  // namespace

std::string python_text(const expression& e, const python_name& name) {
  const auto node = detail::expression_parser(e.text(), {}).parse();
  return reader(node, name).text();
}

// Python reads the operators, the parentheses and the numbers as they are.
std::string python_text(const cuda::real_expression& e, const python_name& name) {
  const std::string_view text = e.text();
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (!in_word(text[at])) {
      result += text[at++];
      continue;
    }
    const bool number = !begins_word(text[at]);
    std::size_t end = at;
    while (end < text.size() && (in_word(text[end]) || (number && (text[end] == '+' || text[end] == '-') &&
                                                        (text[end - 1] == 'e' || text[end - 1] == 'E') &&
                                                        !text.substr(at, 2).starts_with("0x"))))
      ++end;
    const auto word = text.substr(at, end - at);
    std::size_t next = end;
    while (next < text.size() && text[next] == ' ') ++next;
    const bool call = next < text.size() && text[next] == '(';
    result += number ? std::string(word) : call ? "_kevo_" + std::string(word) : name(word);
    at = end;
  }
  return "_kevo_float(" + result + ")";
}

std::string python_identifier(const std::string& name) {
  constexpr std::array<std::string_view, 35> keywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return std::find(keywords.begin(), keywords.end(), name) == keywords.end() ? name : name + "_";
}

std::string python_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string torch_type(std::string_view dtype) {
  constexpr std::array<std::string_view, 15> known = {
      "float64", "float32", "float16", "bfloat16", "int64",         "int32",       "int16", "int8",
      "uint8",   "uint16",  "uint32",  "uint64",   "float8_e4m3fn", "float8_e5m2", "bool"};
  return std::find(known.begin(), known.end(), dtype) == known.end() ? std::string() : std::string(dtype);
}

}  // namespace kevo::bundle
