// What is done in some cases only: conditions, the rest of a loop that runs in steps of several, and what
// keeps threads apart.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "operators/mutants/mutator.hpp"
#include "operators/mutants/sampling.hpp"
#include "operators/rewrite/text.hpp"

namespace kevo::mutants {

using rewriting::node;
using rewriting::node_kind;

namespace {

void look_at_condition(mutator& to, const node& condition) {
  if (is_fixed(to, condition)) return;
  to.replace("guard", "a condition is taken as true", condition, "true");
  to.replace("guard", "a condition is taken as false", condition, "false");
  add_sampled(to, "a condition is taken as true", condition,
              [&](const std::string& usual) { return usual + " || (" + to.text_of(condition) + ")"; });
  rewriting::walk(condition, [&](const node& one) {
    if (one.kind == node_kind::parentheses) return true;
    const std::string sign = rewriting::operator_of(to.in, one);
    if (one.kind != node_kind::binary || (sign != "&&" && sign != "||")) return false;
    for (std::size_t kept : {0U, 1U}) {
      if (!is_fixed(to, one.children[1 - kept]))
        to.replace("guard", "a part of a condition is left out", one, to.text_of(one.children[kept]));
    }
    return true;
  });
}

// `for (; i < n; ++i)` goes on where another loop has ended.
bool goes_on(const mutator& of, const node& loop) {
  const auto text = of.in.of(loop);
  if (text.substr(0, 3) != "for") return false;
  const std::size_t open = text.find('(');
  const std::size_t first = open == std::string_view::npos ? open : text.find_first_not_of(" \t\n", open + 1);
  return first != std::string_view::npos && text[first] == ';';
}

// Of several loops that go on one after the other, the last one is for what the others leave: it could do
// all.
void leave_out_tail(mutator& to, const node& block) {
  const node* last = nullptr;
  for (const node& one : block.children) {
    if (one.kind == node_kind::repeated && goes_on(to, one)) last = &one;
  }
  if (last == nullptr) return;
  to.add("tail", "a loop that goes on is left out", rewriting::begin_of_statement(to.in, *last),
         rewriting::end_of_statement(to.in, *last), ";");
}

// By lines: the parser knows no pragmas of OpenMP.
void leave_out_synchronization(mutator& to) {
  const std::string& text = to.in.text;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    const std::size_t word = line.find_first_not_of(" \t");
    if (word != std::string_view::npos && line.substr(word).starts_with("#pragma omp")) {
      for (const std::string_view what : {"atomic", "critical", "barrier"}) {
        if (line.find(what) != std::string_view::npos)
          to.add("synchronization", std::string(what) + " is left out", start + word, end, "");
      }
      const std::size_t clause = line.find("reduction(");
      const std::size_t close = clause == std::string_view::npos ? clause : line.find(')', clause);
      if (close != std::string_view::npos)
        to.add("synchronization", "reduction is left out", start + clause, start + close + 1, "");
    }
    start = end + 1;
  }
}

}  // namespace

void leave_out_guards(mutator& to) {
  visit_all(to.in, [&](const node& one) {
    switch (one.kind) {
      case node_kind::branch:
        if (one.children.size() == 2 || one.children.size() == 3) look_at_condition(to, one.children[0]);
        break;
      case node_kind::conditional:
        look_at_condition(to, one.children[0]);
        break;
      case node_kind::block:
        leave_out_tail(to, one);
        break;
      default:
        break;
    }
  });
  leave_out_synchronization(to);
}

}  // namespace kevo::mutants
