#pragma once
// The parser of expressions: it turns text into code for a stack machine, by precedence climbing. Its
// recursion depth is limited by `max_depth`, and neither evaluation nor destruction recurses, so no text
// can overflow the stack.

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/error.hpp>

namespace kevo::detail {

/// The operations of the stack machine.
enum class expression_op : std::uint8_t {
  push,
  load,
  negate,
  logical_not,
  truth,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  ceildiv,
  minimum,
  maximum,
  align_up,
  log2_ceil,
  pow2_ceil,
  jump,
  jump_if_zero,  // pops the condition
  keep_zero,
  keep_one,  // && and ||: if the top of the stack decides the result, set it to 0 or 1 and jump; else pop it
};

/// One instruction of the stack machine.
struct expression_instruction {
  expression_op op = expression_op::push;
  std::uint32_t column = 0;  ///< offset in the text of the token it was made from, 0-based
  std::int64_t operand = 0;  ///< the constant, the index of the name or the target of the jump
};

/// A parsed expression: postfix code and the names it loads, in order of first appearance.
struct expression_node {
  std::vector<expression_instruction> code;
  std::vector<std::string> names;
  error_place place;  ///< of the first character of the text; column 1-based
};

/// Parses one text; see expression::parse.
class expression_parser {
 public:
  static constexpr int max_depth = 200;
  static constexpr std::size_t max_length = 65536;

  expression_parser(std::string_view text, error_place place) : text_(text) {
    result_.place = std::move(place);
    if (result_.place.column < 1) result_.place.column = 1;
  }

  expression_node parse() {
    if (text_.size() > max_length) fail(0, "the expression has more than 65536 characters");
    skip_space();
    if (at_ == text_.size()) fail(at_, "an expression is missing here");
    parse_ternary();
    if (at_ != text_.size()) {
      fail(at_, "unexpected " + token_here(),
           text_[at_] == '=' ? "write == to compare" : "check for a missing operator");
    }
    return std::move(result_);
  }

 private:
  struct binary_operator {
    std::string_view text;
    int level;  ///< precedence; a higher level binds tighter
    expression_op op;
  };
  // Two-character operators first, so that "<=" is not read as "<".
  static constexpr std::array<binary_operator, 15> binary_operators = {{
      {"||", 1, expression_op::keep_one},
      {"&&", 2, expression_op::keep_zero},
      {"==", 3, expression_op::equal},
      {"!=", 3, expression_op::not_equal},
      {"<<", 5, expression_op::shift_left},
      {">>", 5, expression_op::shift_right},
      {"<=", 4, expression_op::less_equal},
      {">=", 4, expression_op::greater_equal},
      {"<", 4, expression_op::less},
      {">", 4, expression_op::greater},
      {"+", 6, expression_op::add},
      {"-", 6, expression_op::subtract},
      {"*", 7, expression_op::multiply},
      {"/", 7, expression_op::divide},
      {"%", 7, expression_op::remainder},
  }};
  struct function {
    std::string_view name;
    std::size_t least, most;  ///< number of arguments
    expression_op op;
  };
  static constexpr std::array<function, 6> functions = {{
      {"ceildiv", 2, 2, expression_op::ceildiv},
      {"min", 1, 64, expression_op::minimum},
      {"max", 1, 64, expression_op::maximum},
      {"align_up", 2, 2, expression_op::align_up},
      {"log2_ceil", 1, 1, expression_op::log2_ceil},
      {"pow2_ceil", 1, 1, expression_op::pow2_ceil},
  }};

  [[noreturn]] void fail(std::size_t offset, const std::string& message, const std::string& hint = {}) const {
    error_place place = result_.place;
    place.column += static_cast<int>(offset);
    throw error(error_code::input, message, std::move(place), hint);
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
  }

  std::string token_here() const {
    if (at_ >= text_.size()) return "end of the expression";
    std::size_t end = at_ + 1;
    if (is_letter(text_[at_]) || is_digit(text_[at_])) {
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    }
    return "'" + shown(text_.substr(at_, end - at_), 24) + "'";
  }

  std::size_t emit(expression_op op, std::size_t offset, std::int64_t operand = 0) {
    result_.code.push_back({op, static_cast<std::uint32_t>(offset), operand});
    return result_.code.size() - 1;
  }
  /// Makes the next instruction the target of a jump.
  void set_jump_target(std::size_t jump) {
    result_.code[jump].operand = static_cast<std::int64_t>(result_.code.size());
  }

  /// Counts one level of nesting during its lifetime.
  struct nesting {
    nesting(expression_parser& owner, std::size_t offset) : depth(owner.depth_) {
      if (depth >= max_depth)
        owner.fail(offset, "the expression is nested more than 200 levels deep",
                   "use fewer parentheses and operators inside each other");
      ++depth;
    }
    nesting(const nesting&) = delete;
    nesting& operator=(const nesting&) = delete;
    ~nesting() { --depth; }
    int& depth;
  };

  void parse_ternary() {
    const nesting guard(*this, at_);
    const std::size_t start = at_;
    parse_binary(1);
    if (!accept('?')) return;
    const std::size_t otherwise = emit(expression_op::jump_if_zero, start);
    parse_ternary();
    if (!accept(':')) fail(at_, "expected ':' of '? :', found " + token_here());
    const std::size_t done = emit(expression_op::jump, start);
    set_jump_target(otherwise);
    parse_ternary();
    set_jump_target(done);
  }

  void parse_binary(int level) {
    parse_unary();
    while (const binary_operator* found = operator_here(level)) {
      const std::size_t offset = at_;
      at_ += found->text.size();
      skip_space();
      if (found->level <= 2) {
        const std::size_t decided = emit(found->op, offset);
        parse_binary(found->level + 1);
        emit(expression_op::truth, offset);
        set_jump_target(decided);
      } else {
        parse_binary(found->level + 1);
        emit(found->op, offset);
      }
    }
  }

  const binary_operator* operator_here(int level) const {
    for (const auto& candidate : binary_operators) {
      if (text_.substr(at_, candidate.text.size()) != candidate.text) continue;
      return candidate.level >= level ? &candidate : nullptr;
    }
    return nullptr;
  }

  void parse_unary() {
    const std::size_t offset = at_;
    if (accept('-')) {
      if (is_digit(peek())) {  // so that -9223372036854775808 can be written
        parse_number(true);
        return;
      }
      const nesting guard(*this, offset);
      parse_unary();
      emit(expression_op::negate, offset);
    } else if (accept('+')) {
      const nesting guard(*this, offset);
      parse_unary();
    } else if (peek() == '!' && peek(1) != '=') {
      const nesting guard(*this, offset);
      accept('!');
      parse_unary();
      emit(expression_op::logical_not, offset);
    } else {
      parse_primary();
    }
  }

  void parse_primary() {
    const std::size_t offset = at_;
    if (accept('(')) {
      parse_ternary();
      if (!accept(')')) fail(at_, "expected ')', found " + token_here());
    } else if (is_digit(peek())) {
      parse_number(false);
    } else if (is_letter(peek())) {
      const std::string name = read_name();
      if (peek() == '(') {
        parse_call(name, offset);
      } else {
        load(name, offset);
      }
    } else if (at_ == text_.size()) {
      fail(at_, "the expression is incomplete: a value is missing at its end");
    } else {
      fail(at_, "expected a number, a name or '(', found " + token_here());
    }
  }

  void parse_number(bool negative) {
    const std::size_t offset = at_;
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex) at_ += 2;
    const std::uint64_t base = hex ? 16 : 10;
    const std::uint64_t limit =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
    std::uint64_t value = 0;
    std::size_t digits = 0;
    for (;; ++at_, ++digits) {
      const char c = peek();
      std::uint64_t digit = 16;
      if (is_digit(c))
        digit = static_cast<std::uint64_t>(c - '0');
      else if (hex && c >= 'a' && c <= 'f')
        digit = static_cast<std::uint64_t>(c - 'a') + 10;
      else if (hex && c >= 'A' && c <= 'F')
        digit = static_cast<std::uint64_t>(c - 'A') + 10;
      if (digit >= base) break;
      if (value > (limit - digit) / base) fail(offset, "the number does not fit in 64 bits");
      value = value * base + digit;
    }
    if (digits == 0) fail(offset, "the number needs digits after '0x'");
    if (peek() == '.') fail(offset, "only integers are allowed here");
    if (is_letter(peek())) fail(at_, "a number cannot end with " + token_here());
    const auto magnitude = static_cast<std::int64_t>(negative ? 0 - value : value);
    skip_space();
    emit(expression_op::push, offset, magnitude);
  }

  std::string read_name() {
    const std::size_t start = at_;
    for (;;) {
      if (!is_letter(peek())) fail(at_, "expected a name after '.', found " + token_here());
      while (is_letter(peek()) || is_digit(peek())) ++at_;
      if (peek() != '.') break;
      ++at_;
    }
    std::string name(text_.substr(start, at_ - start));
    skip_space();
    return name;
  }

  void load(const std::string& name, std::size_t offset) {
    std::size_t index = 0;
    while (index < result_.names.size() && result_.names[index] != name) ++index;
    if (index == result_.names.size()) result_.names.push_back(name);
    emit(expression_op::load, offset, static_cast<std::int64_t>(index));
  }

  void parse_call(const std::string& name, std::size_t offset) {
    accept('(');
    if (name == "sizeof" || name == "occupancy") {  // their argument is a name, not a value
      const std::size_t word_offset = at_;
      if (!is_letter(peek())) fail(at_, "expected a name in " + name + "(), found " + token_here());
      const std::string word = read_name();
      if (!accept(')')) fail(at_, "expected ')', found " + token_here());
      if (name == "occupancy") return load("occupancy(" + word + ")", offset);
      const auto type = find_dtype(word);
      if (!type) {
        fail(word_offset, "unknown dtype '" + shown(word) + "'",
             hint_for(word, dtype_names(), "known dtypes"));
      }
      emit(expression_op::push, offset, static_cast<std::int64_t>(type->size));
      return;
    }
    const function* found = nullptr;
    for (const auto& candidate : functions) {
      if (candidate.name == name) found = &candidate;
    }
    if (found == nullptr) {
      std::vector<std::string_view> known = {"sizeof"};
      for (const auto& candidate : functions) known.push_back(candidate.name);
      fail(offset, "unknown function '" + shown(name) + "'", hint_for(name, known, "functions"));
    }
    const bool folds = found->most > found->least;  // min and max take 1 to 64 arguments: apply them pairwise
    std::size_t count = 0;
    if (peek() != ')') {
      do {
        parse_ternary();
        if (folds && ++count > 1)
          emit(found->op, offset);
        else if (!folds)
          ++count;
      } while (accept(','));
    }
    if (!accept(')')) fail(at_, "expected ',' or ')' in " + name + "(), found " + token_here());
    if (count < found->least || count > found->most) {
      fail(offset, name + "() takes " + (folds ? "1 to 64" : std::to_string(found->least)) +
                       " arguments, not " + std::to_string(count));
    }
    if (!folds) emit(found->op, offset);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  expression_node result_;
};

}  // namespace kevo::detail
