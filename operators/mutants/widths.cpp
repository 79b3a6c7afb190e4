// Integers of too few bits. They are masked, so that a loop over one of them ends.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "operators/mutants/mutator.hpp"

namespace kevo::mutants {

using rewriting::node;
using rewriting::node_kind;

namespace {

struct width {
  int bits;
  const char* mask;
};
constexpr width narrow_widths[] = {{8, "0xff"}, {15, "0x7fff"}, {16, "0xffff"}};
constexpr width wide_width = {31, "0x7fffffff"};

bool is_product(const mutator& of, const node& one) {
  return rewriting::any_of(one, [&](const node& inner) {
    return inner.kind == node_kind::binary && rewriting::operator_of(of.in, inner) == "*";
  });
}

void mask(mutator& to, std::string_view kind, const std::string& what, const node& one, const width& by) {
  to.replace(kind, fmt::format("{} {} bits", what, by.bits), one,
             fmt::format("(({}) & {})", to.text_of(one), by.mask));
}

void narrow_index(mutator& to, const node& index) {
  if (!is_integer(index.type) || is_fixed(to, index)) return;
  for (const auto& by : narrow_widths) mask(to, "index", "an index of", index, by);
  if (is_product(to, index)) mask(to, "index", "an index of", index, wide_width);
}

// Parameters of `run` that are passed by value: the axes.
void narrow_extents(mutator& to) {
  const node* run = function_named(to.in, to.entry);
  if (run == nullptr) return;
  const std::size_t body = run->children.back().begin + 1;
  for (const node& parameter : run->children) {
    if (parameter.kind != node_kind::parameter || parameter.name.empty() || !is_integer(parameter.type) ||
        parameter.type.rfind("const ", 0) == 0)
      continue;
    for (const auto& by : narrow_widths)
      to.add("extent", fmt::format("{} has {} bits", parameter.name, by.bits), body, body,
             fmt::format(" {} &= {};", parameter.name, by.mask));
  }
}

// ++counts[i]
void narrow_count(mutator& to, const node& one) {
  if (rewriting::operator_of(to.in, one) != "++" || one.children[0].kind != node_kind::subscript ||
      !is_integer(one.children[0].type))
    return;
  const std::string element = to.text_of(one.children[0]);
  for (const auto& by : narrow_widths)
    to.replace("counter", fmt::format("a counter of {} bits", by.bits), one,
               fmt::format("({0} = ({0} + 1) & {1})", element, by.mask));
}

}  // namespace

void narrow_integers(mutator& to) {
  visit_all(to.in, [&](const node& one) {
    if (one.kind == node_kind::subscript) narrow_index(to, one.children[1]);
    if (one.kind == node_kind::unary) narrow_count(to, one);
    const bool pointer = !one.type.empty() && one.type.back() == '*';
    if (one.kind == node_kind::binary && pointer && rewriting::operator_of(to.in, one) == "+")
      narrow_index(to, one.children[1]);
  });
  narrow_extents(to);
  for (const auto& placed : to.loops) {
    const auto& loop = placed.loop;
    if (loop.whole_steps || loop.upper_node == nullptr || !is_integer(loop.upper_node->type) ||
        is_fixed(to, *loop.upper_node))
      continue;
    for (const auto& by : narrow_widths) mask(to, "counter", "a loop counts with", *loop.upper_node, by);
  }
}

}  // namespace kevo::mutants
