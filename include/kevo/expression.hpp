#pragma once
// Integer expressions over named values, in checked 64-bit arithmetic. Cost models, launch lines, constraints
// and `require` annotations are written in this language.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/detail/expression_parser.hpp>
#include <kevo/error.hpp>
#include <kevo/expression_type.hpp>

namespace kevo {

namespace detail {

/// The largest integer not above a / b, for b != 0.
inline __int128 floor_quotient(__int128 a, __int128 b) {
  const __int128 quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// The value of `a op b`. Calls `fail(message)`, which must throw, if the value is not defined or does not
/// fit in 64 bits. 128 bits are enough for every intermediate result: shifts reach at most 2^126.
template <class Fail>
std::int64_t apply(expression_op op, std::int64_t a, std::int64_t b, const Fail& fail) {
  __int128 value = 0;
  const __int128 x = a;
  switch (op) {
    case expression_op::add:
      value = x + b;
      break;
    case expression_op::subtract:
      value = x - b;
      break;
    case expression_op::multiply:
      value = x * b;
      break;
    case expression_op::divide:
    case expression_op::remainder:
      if (b == 0) fail("division by zero");
      value = floor_quotient(x, b);
      if (op == expression_op::remainder) value = x - value * b;
      break;
    case expression_op::shift_left:
    case expression_op::shift_right:
      if (b < 0 || b > 63) fail("the number of bits of a shift must be 0 to 63, not " + std::to_string(b));
      value = op == expression_op::shift_left ? x * (__int128{1} << b) : x >> b;
      break;
    case expression_op::less:
      value = a < b;
      break;
    case expression_op::less_equal:
      value = a <= b;
      break;
    case expression_op::greater:
      value = a > b;
      break;
    case expression_op::greater_equal:
      value = a >= b;
      break;
    case expression_op::equal:
      value = a == b;
      break;
    case expression_op::not_equal:
      value = a != b;
      break;
    case expression_op::minimum:
      value = a < b ? a : b;
      break;
    case expression_op::maximum:
      value = a < b ? b : a;
      break;
    case expression_op::ceildiv:
      if (b == 0) fail("division by zero");
      value = -floor_quotient(-x, b);
      break;
    case expression_op::align_up:
      if (b <= 0) fail("the second argument of align_up() must be positive, not " + std::to_string(b));
      value = -floor_quotient(-x, b) * b;
      break;
    default:
      fail("not a binary operator");
  }
  if (value < std::numeric_limits<std::int64_t>::min() || value > std::numeric_limits<std::int64_t>::max()) {
    fail("the result does not fit in 64 bits");
  }
  return static_cast<std::int64_t>(value);
}

/// ceil(log2(a)) for a >= 1.
inline int ceil_log2(std::int64_t a) {
  int power = 0;
  while (power < 63 && (std::uint64_t{1} << static_cast<unsigned>(power)) < static_cast<std::uint64_t>(a))
    ++power;
  return power;
}

}  // namespace detail

inline expression::expression(std::string text, detail::expression_node root)
    : text_(std::move(text)), root_(std::make_shared<const detail::expression_node>(std::move(root))) {}

inline const std::vector<std::string>& expression::names() const noexcept {
  return root_->names;
}

inline expression expression::parse(std::string_view text, error_place place) {
  return {std::string(text), detail::expression_parser(text, std::move(place)).parse()};
}

inline expression expression::constant(std::int64_t value) {
  detail::expression_node node;
  node.code.push_back({detail::expression_op::push, 0, value});
  node.place.column = 1;
  return {std::to_string(value), std::move(node)};
}

inline std::int64_t expression::evaluate(const symbol_lookup& lookup) const {
  using detail::expression_op;
  std::vector<std::int64_t> stack;
  const auto& code = root_->code;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const auto& step = code[at];
    const auto fail = [&](const std::string& message) {
      error_place place = root_->place;
      place.column += static_cast<int>(step.column);
      throw error(error_code::input, message + " in '" + detail::shown(text_) + "'", std::move(place));
    };
    switch (step.op) {
      case expression_op::push:
        stack.push_back(step.operand);
        continue;
      case expression_op::load: {
        const std::string& name = root_->names[static_cast<std::size_t>(step.operand)];
        const auto value = lookup ? lookup(name) : std::nullopt;
        if (!value) fail("unknown name '" + detail::shown(name) + "'");
        stack.push_back(*value);
        continue;
      }
      case expression_op::jump:
        at = static_cast<std::size_t>(step.operand) - 1;
        continue;
      default:
        break;
    }
    std::int64_t& top = stack.back();
    switch (step.op) {
      case expression_op::negate:
        if (top == std::numeric_limits<std::int64_t>::min()) fail("the result does not fit in 64 bits");
        top = -top;
        break;
      case expression_op::logical_not:
        top = top == 0 ? 1 : 0;
        break;
      case expression_op::truth:
        top = top == 0 ? 0 : 1;
        break;
      case expression_op::log2_ceil:
      case expression_op::pow2_ceil: {
        if (top < 1) fail("log2_ceil() and pow2_ceil() need a positive number, not " + std::to_string(top));
        const int power = detail::ceil_log2(top);
        if (step.op == expression_op::pow2_ceil && power > 62) fail("the result does not fit in 64 bits");
        top = step.op == expression_op::log2_ceil ? power : std::int64_t{1} << power;
        break;
      }
      case expression_op::jump_if_zero:
        if (top == 0) at = static_cast<std::size_t>(step.operand) - 1;
        stack.pop_back();
        break;
      case expression_op::keep_zero:
      case expression_op::keep_one:
        if ((top != 0) == (step.op == expression_op::keep_one)) {
          top = step.op == expression_op::keep_one ? 1 : 0;
          at = static_cast<std::size_t>(step.operand) - 1;
        } else {
          stack.pop_back();
        }
        break;
      default: {
        const std::int64_t right = top;
        stack.pop_back();
        stack.back() = detail::apply(step.op, stack.back(), right, fail);
      }
    }
  }
  return stack.back();
}

}  // namespace kevo
