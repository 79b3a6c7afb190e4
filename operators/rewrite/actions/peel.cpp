// A loop that asks in every iteration whether it is the first or the last one: these are taken out of it.
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

enum class border { none, first, last };

// Which border a comparison asks for.
border border_of(const kernel& of, const counted_loop& loop, const node& one, const definitions& known) {
  if (one.kind != node_kind::binary) return border::none;
  const std::string op = operator_of(of.in, one);
  const std::string index = loop.index + "#" + std::to_string(loop.id);
  const polynomial itself = {{{index}, 1}};
  const polynomial left = polynomial_of(of.in, one.children[0], known);
  const polynomial right = polynomial_of(of.in, one.children[1], known);
  const polynomial upper =
      minus(polynomial_of(of.in, *loop.upper_node, known), {{{}, loop.inclusive ? 0 : 1}});
  const polynomial last = loop.inclusive ? polynomial_of(of.in, *loop.upper_node, known) : upper;
  const polynomial first = polynomial_of(of.in, *loop.lower_node, known);
  if (op == "==" || op == "!=") {
    const polynomial* other = left == itself ? &right : right == itself ? &left : nullptr;
    if (other == nullptr) return border::none;
    return *other == first ? border::first : *other == last ? border::last : border::none;
  }
  if ((op == ">" && left == itself && right == first) || (op == "<" && right == itself && left == first))
    return border::first;
  if ((op == "<" && left == itself && right == last) || (op == ">" && right == itself && left == last))
    return border::last;
  return border::none;
}

// What is known of the comparisons at one border, or between the borders.
class folded {
 public:
  folded(const kernel& of, const counted_loop& loop, const definitions& known, border where)
      : of_(of), loop_(loop), known_(known), where_(where) {}

  void statement(lines& to, const node& one) const {
    if (one.kind == node_kind::block) {
      to.open("");
      for (const node& child : one.children) statement(to, child);
      to.close();
      return;
    }
    if (one.kind != node_kind::branch || one.children.size() > 3 ||
        one.children[0].kind == node_kind::variable || one.children[0].kind == node_kind::declaration) {
      replacements by;
      walk(one, [&](const node& n) {
        const std::string text = condition(n);
        if (text != "true" && text != "false") return true;
        by.nodes[&n] = text;
        return false;
      });
      add_statement(to, of_.in, one, by);
      return;
    }
    const std::string test = condition(one.children[0]);
    if (test == "true" || (test == "false" && one.children.size() == 3)) {
      for (const node* child : statements_of(one.children[test == "true" ? 1 : 2])) statement(to, *child);
    } else if (test != "false") {
      to.open("if (" + test + ")");
      for (const node* child : statements_of(one.children[1])) statement(to, *child);
      if (one.children.size() == 3) {
        to.otherwise();
        for (const node* child : statements_of(one.children[2])) statement(to, *child);
      }
      to.close();
    }
  }

 private:
  std::string condition(const node& one) const {
    if (one.kind == node_kind::parentheses) {
      const std::string inner = condition(one.children[0]);
      return inner == "true" || inner == "false" ? inner : "(" + inner + ")";
    }
    if (one.kind != node_kind::binary) return std::string(of_.in.of(one));
    const std::string op = operator_of(of_.in, one);
    if (op == "||" || op == "&&") {
      std::string left = condition(one.children[0]);
      std::string right = condition(one.children[1]);
      std::string decides = op == "||" ? "true" : "false";
      const std::string vanishes = op == "||" ? "false" : "true";
      if (left == decides || right == decides) return decides;
      if (left == vanishes) return right;
      if (right == vanishes) return left;
      return left + " " + op + " " + right;
    }
    const border asks = border_of(of_, loop_, one, known_);
    if (asks == border::none || (where_ != border::none && where_ != asks))
      return std::string(of_.in.of(one));
    const bool there = where_ == asks;
    return there == (op == "==") ? "true" : "false";
  }

  const kernel& of_;
  const counted_loop& loop_;
  const definitions& known_;
  border where_;
};

std::pair<bool, bool> borders_in(const kernel& of, const placed_loop& which, const definitions& known) {
  std::pair<bool, bool> found;
  walk(*which.loop.body, [&](const node& n) {
    const border one = border_of(of, which.loop, n, known);
    found.first = found.first || one == border::first;
    found.second = found.second || one == border::last;
    return true;
  });
  return found;
}

}  // namespace

std::vector<site> peel_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || which.loop.whole_steps || which.loop.step != "1") continue;
    const auto [first, last] = borders_in(of, which, definitions_of(of.in, *which.function));
    if (first || last) found.push_back({i, nullptr, has_long_loop_inside(of, which) ? 1.0 : 3.0});
  }
  return found;
}

std::string peel(const kernel& of, const site& where, rng&) {
  const placed_loop& which = of.loops.at(where.loop);
  const counted_loop& loop = which.loop;
  const auto known = definitions_of(of.in, *which.function);
  const auto [first, last] = borders_in(of, which, known);
  if (any_of(*loop.body,
             [](const node& n) { return n.kind == node_kind::jump || n.kind == node_kind::returned; }))
    throw refusal{"the loop may end early"};
  lines to(depth_at(of.in, loop.at->begin));
  const std::string lower = grouped(loop.lower);
  const std::string end = first ? lower + " + 1" : loop.lower;
  const auto one_iteration = [&](const std::string& test, const std::string& index, border at) {
    to.open("if (" + test + ")");
    to.add("const " + loop.type + " " + loop.index + " = " + index + ";");
    const folded body(of, loop, known, at);
    for (const node* one : statements_of(*loop.body)) body.statement(to, *one);
    to.close();
  };
  if (first) one_iteration(loop.lower + " < " + loop.upper, loop.lower, border::first);
  to.open("for (" + loop.type + " " + loop.index + " = " + end + "; " + loop.index + " < " +
          (last ? grouped(loop.upper) + " - 1" : loop.upper) + "; ++" + loop.index + ")");
  const folded inner(of, loop, known, border::none);
  for (const node* one : statements_of(*loop.body)) inner.statement(to, *one);
  to.close();
  if (last) one_iteration(end + " < " + loop.upper, grouped(loop.upper) + " - 1", border::last);
  changes all;
  all.replace(loop, to);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
