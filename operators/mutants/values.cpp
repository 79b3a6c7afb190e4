// Values that only some inputs need: a small number that is added, and what is subtracted, such as a maximum
// before an exponential.
#include <cstdlib>
#include <string>

#include "operators/mutants/mutator.hpp"
#include "operators/mutants/sampling.hpp"

namespace kevo::mutants {

using rewriting::node;
using rewriting::node_kind;

namespace {

constexpr double largest_epsilon = 1e-2;

// The value of a literal, or of a constant that a literal initializes.
double value_of_literal(const mutator& of, const node& one) {
  const node& bare = rewriting::bare(one);
  if (bare.kind == node_kind::literal) return std::strtod(of.text_of(bare).c_str(), nullptr);
  double value = 0;
  if (bare.kind != node_kind::name || bare.declared < 0) return value;
  visit_all(of.in, [&](const node& declared) {
    if (declared.kind != node_kind::variable || declared.declared != bare.declared) return;
    const node* initial = rewriting::initial_value(of.in, declared);
    if (initial != nullptr && initial->kind == node_kind::literal)
      value = std::strtod(of.text_of(*initial).c_str(), nullptr);
  });
  return value;
}

bool is_epsilon(const mutator& of, const node& one) {
  const double value = value_of_literal(of, one);
  return value > 0 && value <= largest_epsilon;
}

bool is_maximum(const std::string& function) {
  return function == "max" || function == "fmax" || function == "fmaxf";
}

// In both ways: always, and only where a sample of the inputs shows nothing unusual.
void leave_out(mutator& to, std::string_view kind, const std::string& change, const node& whole,
               const std::string& without) {
  to.replace(kind, change, whole, without);
  add_sampled(to, change, whole, [&](const std::string& usual) {
    return "(" + usual + " ? " + without + " : " + to.text_of(whole) + ")";
  });
}

void look_at_sum(mutator& to, const node& one) {
  const std::string sign = rewriting::operator_of(to.in, one);
  const node& left = one.children[0];
  const node& right = one.children[1];
  if (sign == "+" && is_real(one.type)) {
    if (is_epsilon(to, right)) {
      leave_out(to, "epsilon", "a small number is not added", one, to.text_of(left));
    } else if (is_epsilon(to, left)) {
      leave_out(to, "epsilon", "a small number is not added", one, to.text_of(right));
    }
  }
  const node& taken = rewriting::bare(right);
  const bool variable = taken.kind == node_kind::name || taken.kind == node_kind::subscript;
  if (!variable || !is_real(one.type) || is_fixed(to, taken)) return;
  if (sign == "-") leave_out(to, "subtrahend", "a value is not subtracted", one, to.text_of(left));
  if (sign == "-=") {
    to.replace("subtrahend", "a value is not subtracted", one, "(void)0");
    add_sampled(to, "a value is not subtracted", one, [&](const std::string& usual) {
      return to.text_of(left) + " -= " + usual + " ? " + to.text_of(right) + " * 0 : " + to.text_of(right);
    });
  }
}

}  // namespace

void leave_out_values(mutator& to) {
  visit_all(to.in, [&](const node& one) {
    if (one.kind == node_kind::binary) look_at_sum(to, one);
    if (one.kind != node_kind::call || !is_maximum(one.name) || one.children.size() != 3) return;
    for (const int small : {1, 2}) {
      if (!is_epsilon(to, one.children[static_cast<std::size_t>(small)])) continue;
      leave_out(to, "epsilon", "a small number is no lower bound", one,
                to.text_of(one.children[static_cast<std::size_t>(3 - small)]));
      return;
    }
  });
}

}  // namespace kevo::mutants
