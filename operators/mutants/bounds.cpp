// Iterations too many and too few, and comparisons the other way.
#include <cstddef>
#include <set>
#include <string>

#include "operators/mutants/mutator.hpp"

namespace kevo::mutants {

using rewriting::node;
using rewriting::node_kind;

namespace {

void put_other_sign(mutator& to, const node& comparison, const std::string& from, const std::string& by) {
  const std::size_t begin = comparison.children[0].end;
  const std::size_t at = to.in.text.find(from, begin);
  if (at == std::string::npos || at + from.size() > comparison.children[1].begin) return;
  to.replace("comparison", by + " for " + from, comparison,
             to.in.text.substr(comparison.begin, at - comparison.begin) + by +
                 to.in.text.substr(at + from.size(), comparison.end - at - from.size()));
}

// Of real numbers, < for <= says nothing where equal numbers are treated alike, as in a maximum.
void look_at_comparison(mutator& to, const node& one) {
  const std::string sign = rewriting::operator_of(to.in, one);
  if (is_fixed(to, one)) return;
  const bool integers = is_integer(one.children[0].type) && is_integer(one.children[1].type);
  const bool reals = is_real(one.children[0].type) && is_real(one.children[1].type);
  // i + step <= n, which leaves a last whole step to the loop that goes on, and that is right.
  const bool whole_steps =
      sign == "<=" && rewriting::operator_of(to.in, rewriting::bare(one.children[0])) == "+";
  if (whole_steps) return;
  if (integers && (sign == "<" || sign == ">")) put_other_sign(to, one, sign, sign + "=");
  if (integers && (sign == "<=" || sign == ">=")) put_other_sign(to, one, sign, sign.substr(0, 1));
  if (reals && (sign == "<" || sign == ">")) put_other_sign(to, one, sign, sign == "<" ? ">" : "<");
}

// A loop in whole steps may leave more to the loop that goes on, which is right.
void look_at_loop(mutator& to, const rewriting::counted_loop& loop) {
  if (loop.upper_node == nullptr || loop.lower_node == nullptr) return;
  const std::string upper = "(" + to.text_of(*loop.upper_node) + ")";
  if (loop.whole_steps) {
    to.replace("bound", "a step too many at the end", *loop.upper_node, upper + " + 1");
  } else {
    to.replace("bound", "an iteration too few at the end", *loop.upper_node, upper + " - 1");
  }
  to.replace("bound", "an iteration too few at the start", *loop.lower_node,
             "(" + to.text_of(*loop.lower_node) + ") + 1");
}

}  // namespace

void change_bounds(mutator& to) {
  for (const auto& placed : to.loops) look_at_loop(to, placed.loop);
  // A bound of the author's is mostly that of a local array, and what is read beyond one is up to the
  // compiler.
  std::set<std::size_t> of_author;
  visit_all(to.in, [&](const node& one) {
    if (one.kind != node_kind::counted) return;
    const node& condition = one.children[1];
    if (condition.kind == node_kind::binary && is_fixed(to, condition.children[1]))
      of_author.insert(condition.begin);
  });
  visit_all(to.in, [&](const node& one) {
    if (one.kind == node_kind::binary && !of_author.contains(one.begin)) look_at_comparison(to, one);
  });
}

}  // namespace kevo::mutants
