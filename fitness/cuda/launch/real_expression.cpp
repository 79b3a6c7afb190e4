#include "fitness/cuda/launch/real_expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <kevo/detail/literal.hpp>
#include <kevo/detail/nearest.hpp>

namespace kevo::cuda {

using kevo::detail::is_digit;
using kevo::detail::is_name_char;
using kevo::detail::is_name_start;
using kevo::detail::skip_blanks;

class real_expression::parser {
 public:
  explicit parser(real_expression& result) : result_(result), text_(result.text_) {}

  void parse() {
    skip();
    if (at_ == text_.size()) fail(at_, "an expression is missing here");
    sum();
    if (at_ != text_.size()) {
      fail(at_, "unexpected '" + kevo::detail::shown(text_.substr(at_), 24) + "'",
           "real expressions support + - * / and rsqrt, sqrt, min, max");
    }
  }

 private:
  static constexpr int max_depth = 100;
  struct function {
    std::string_view name;
    int arguments;
    operation op;
  };
  static constexpr std::array<function, 4> functions = {{{"rsqrt", 1, operation::rsqrt},
                                                         {"sqrt", 1, operation::sqrt},
                                                         {"min", 2, operation::minimum},
                                                         {"max", 2, operation::maximum}}};

  [[noreturn]] void fail(std::size_t offset, const std::string& message, const std::string& hint = {}) const {
    auto place = result_.place_;
    place.column += static_cast<int>(offset);
    throw error(error_code::input, message, std::move(place), hint);
  }
  void skip() { at_ = skip_blanks(text_, at_); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    skip();
    return true;
  }
  void emit(operation op) { result_.code_.push_back({op, 0, 0}); }

  void sum() {
    product();
    for (;;) {
      if (accept('+')) {
        product();
        emit(operation::add);
      } else if (accept('-')) {
        product();
        emit(operation::subtract);
      } else {
        return;
      }
    }
  }
  void product() {
    unary();
    for (;;) {
      if (accept('*')) {
        unary();
        emit(operation::multiply);
      } else if (accept('/')) {
        unary();
        emit(operation::divide);
      } else {
        return;
      }
    }
  }
  void unary() {
    if (++depth_ > max_depth) fail(at_, "the expression is nested more than 100 levels deep");
    if (accept('-')) {
      unary();
      emit(operation::negate);
    } else if (accept('+')) {
      unary();
    } else if (accept('(')) {
      sum();
      if (!accept(')')) fail(at_, "a ')' is missing");
    } else if (is_digit(peek()) || peek() == '.') {
      number();
    } else if (is_name_start(peek())) {
      name();
    } else {
      fail(at_, at_ == text_.size() ? "the expression is incomplete: a value is missing at its end"
                                    : "expected a number, a name or '('");
    }
    --depth_;
  }
  void number() {
    const std::size_t start = at_;
    if (const bool hex = text_.substr(at_, 2) == "0x"; hex) {
      at_ = kevo::detail::end_of_literal(text_, at_);
      const auto value = integer_literal(text_.substr(start, at_ - start));
      if (!value) fail(start, "cannot read this number");
      result_.code_.push_back({operation::push, static_cast<double>(*value), 0});
      skip();
      return;
    }
    const auto digits = [this] {
      std::size_t count = 0;
      for (; is_digit(peek()); ++at_) ++count;
      return count;
    };
    std::size_t count = digits();
    if (peek() == '.') {
      ++at_;
      count += digits();
    }
    if (count == 0) fail(start, "'.' without digits");
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) fail(start, "an exponent without digits");
    }
    const double value = std::strtod(std::string(text_.substr(start, at_ - start)).c_str(), nullptr);
    if (peek() == 'f' || peek() == 'F') ++at_;
    if (is_name_char(peek())) fail(at_, "a number cannot end with these characters");
    if (!std::isfinite(value)) fail(start, "the number is outside the range of double precision");
    result_.code_.push_back({operation::push, value, 0});
    skip();
  }
  void name() {
    const std::size_t start = at_;
    while (is_name_char(peek()) || peek() == '.') ++at_;
    const std::string word(text_.substr(start, at_ - start));
    skip();
    if (peek() != '(') {
      const auto found = std::find(result_.names_.begin(), result_.names_.end(), word);
      const auto index = static_cast<std::size_t>(found - result_.names_.begin());
      if (found == result_.names_.end()) result_.names_.push_back(word);
      result_.code_.push_back({operation::load, 0, index});
      return;
    }
    const auto* found =
        std::find_if(functions.begin(), functions.end(), [&](const function& f) { return f.name == word; });
    if (found == functions.end()) {
      std::vector<std::string_view> known;
      known.reserve(functions.size());
      for (const auto& f : functions) known.push_back(f.name);
      fail(start, "unknown function '" + kevo::detail::shown(word) + "'",
           kevo::detail::hint_for(word, known, "functions of reals"));
    }
    accept('(');
    for (int i = 0; i < found->arguments; ++i) {
      if (i > 0 && !accept(',')) fail(at_, "expected ','");
      sum();
    }
    if (!accept(')')) fail(at_, "a ')' is missing");
    emit(found->op);
  }

  real_expression& result_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

real_expression real_expression::parse(std::string_view text, error_place place) {
  real_expression result;
  if (place.column < 1) place.column = 1;
  result.place_ = std::move(place);
  result.text_ = text;
  parser(result).parse();
  return result;
}

double real_expression::evaluate(const real_lookup& lookup) const {
  const auto fail = [this](const std::string& message) {
    throw error(error_code::input, message + " in '" + kevo::detail::shown(text_) + "'", place_);
  };
  std::vector<double> stack;
  const auto pop = [&stack] {
    const double value = stack.back();
    stack.pop_back();
    return value;
  };
  for (const auto& step : code_) {
    if (step.op == operation::push) {
      stack.push_back(step.value);
      continue;
    }
    if (step.op == operation::load) {
      const auto value = lookup ? lookup(names_[step.name]) : std::nullopt;
      if (!value) fail("unknown name '" + kevo::detail::shown(names_[step.name]) + "'");
      stack.push_back(*value);
      continue;
    }
    const double b = pop();
    switch (step.op) {
      case operation::negate:
        stack.push_back(-b);
        break;
      case operation::rsqrt:
        stack.push_back(1 / std::sqrt(b));
        break;
      case operation::sqrt:
        stack.push_back(std::sqrt(b));
        break;
      default: {
        const double a = pop();
        stack.push_back(step.op == operation::add        ? a + b
                        : step.op == operation::subtract ? a - b
                        : step.op == operation::multiply ? a * b
                        : step.op == operation::divide   ? a / b
                        : step.op == operation::minimum  ? std::min(a, b)
                                                         : std::max(a, b));
      }
    }
  }
  if (!std::isfinite(stack.back())) fail("the result is not a finite number");
  return stack.back();
}

}  // namespace kevo::cuda
