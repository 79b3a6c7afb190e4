#include "operators/rewrite/dependence.hpp"

#include <algorithm>
#include <array>

namespace kevo::rewriting {
namespace {

void collect_accesses(const parsed_source& in, const node& one, const definitions& known,
                      const std::set<long>& own, std::vector<element_access>& found) {
  if (one.kind == node_kind::subscript) {
    const node* root = root_of(one);
    if (root != nullptr && !own.contains(root->declared)) {
      element_access access;
      access.at = &one;
      access.base = root->declared;
      access.index = polynomial_of(in, one.children[1], known);
      found.push_back(std::move(access));
    }
  }
  for (const node& child : one.children) collect_accesses(in, child, known, own, found);
}

// The subscript that an assignment changes.
const node* target_subscript(const node& assignment) {
  const node* to = &bare(assignment.children[0]);
  if (to->kind == node_kind::call && to->children.size() == 2 && is_vector_place(to->name))
    to = &bare(to->children[1]);
  return to->kind == node_kind::subscript ? to : nullptr;
}

// x[i] = x[i] + value
bool adds_to_itself(const parsed_source& in, const node& assignment) {
  const node& value = bare(assignment.children[1]);
  if (value.kind != node_kind::binary) return false;
  const std::string op = operator_of(in, value);
  const auto target = in.of(bare(assignment.children[0]));
  const auto is_target = [&](const node& one) { return in.of(bare(one)) == target; };
  const bool left = is_target(value.children[0]);
  if (left == is_target(value.children[1])) return false;
  const node& rest = value.children[left ? 1 : 0];
  return (op == "+" || (op == "-" && left)) && !any_of(rest, is_target);
}

bool contains(const polynomial& one, const polynomial& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& term) {
    const auto found = one.find(term.first);
    return found != one.end() && found->second % term.second == 0;
  });
}

// Whether two elements, one of them written, may be the same in different iterations of the loop.
bool carried(const element_access& write, const element_access& other, const std::string& index) {
  const auto mine = coefficient(write.index, index);
  const auto theirs = coefficient(other.index, index);
  if (!mine || !theirs) return false;  // not known
  if (*mine != *theirs) return mine->empty() != theirs->empty();
  const polynomial distance = minus(write.index, other.index);
  if (distance.empty()) return false;
  const auto step = constant_of(*mine);
  const auto apart = constant_of(distance);
  if (step && *step != 0 && apart) return *apart % *step == 0;
  if (!step && !mine->empty() && !apart) return contains(distance, *mine);
  return false;
}

bool is_value(const node& one, long variable) {
  const node& e = bare(one);
  return e.kind == node_kind::name && e.declared == variable;
}

// Which reduction `variable = value` is, if it is one.
std::optional<reduction_kind> kind_of_value(const parsed_source& in, const node& value, long variable) {
  const node& e = bare(value);
  if (e.kind == node_kind::binary) {
    const std::string op = operator_of(in, e);
    const bool left = is_value(e.children[0], variable) && !mentions(e.children[1], variable);
    const bool right = is_value(e.children[1], variable) && !mentions(e.children[0], variable);
    if (op == "+" && (left || right)) return reduction_kind::sum;
    if (op == "-" && left) return reduction_kind::sum;
    if (op == "*" && (left || right)) return reduction_kind::product;
    return std::nullopt;
  }
  if (e.kind == node_kind::call && e.children.size() == 3) {
    const bool one = is_value(e.children[1], variable) != is_value(e.children[2], variable);
    if (one && (e.name == "max" || e.name == "fmax" || e.name == "fmaxf")) return reduction_kind::largest;
    if (one && (e.name == "min" || e.name == "fmin" || e.name == "fminf")) return reduction_kind::smallest;
    return std::nullopt;
  }
  if (e.kind != node_kind::conditional) return std::nullopt;
  const node& test = bare(e.children[0]);
  if (test.kind != node_kind::binary) return std::nullopt;
  const std::string op = operator_of(in, test);
  if (op != "<" && op != ">" && op != "<=" && op != ">=") return std::nullopt;
  const node& a = bare(test.children[0]);
  const node& b = bare(test.children[1]);
  const node& yes = bare(e.children[1]);
  const node& no = bare(e.children[2]);
  const bool own_left = is_value(a, variable);
  if (own_left == is_value(b, variable)) return std::nullopt;
  const bool straight = in.of(a) == in.of(yes) && in.of(b) == in.of(no);
  const bool crossed = in.of(a) == in.of(no) && in.of(b) == in.of(yes);
  if (straight == crossed) return std::nullopt;
  return (op.front() == '>') == straight ? reduction_kind::largest : reduction_kind::smallest;
}

}  // namespace

bool is_pure(const std::string& function) {
  static constexpr std::array<std::string_view, 47> names = {"exp",
                                                             "sqrt",
                                                             "log",
                                                             "log2",
                                                             "exp2",
                                                             "fabs",
                                                             "abs",
                                                             "sin",
                                                             "cos",
                                                             "tanh",
                                                             "floor",
                                                             "ceil",
                                                             "erf",
                                                             "pow",
                                                             "fmax",
                                                             "fmin",
                                                             "min",
                                                             "max",
                                                             "fma",
                                                             "expf",
                                                             "sqrtf",
                                                             "logf",
                                                             "fabsf",
                                                             "fmaxf",
                                                             "fminf",
                                                             "powf",
                                                             "sinf",
                                                             "cosf",
                                                             "tanhf",
                                                             "size",
                                                             "data",
                                                             "least",
                                                             "most",
                                                             "exp_by_polynomial",
                                                             "__builtin_prefetch",
                                                             "inside",
                                                             "__ldg",
                                                             "__ldcs",
                                                             "__ldcg",
                                                             "__expf",
                                                             "__fdividef",
                                                             "rsqrtf",
                                                             "rsqrt",
                                                             "exp2f",
                                                             "fmaf",
                                                             "__fmaf_rn",
                                                             "erff"};
  return std::find(names.begin(), names.end(), function) != names.end();
}

bool is_vector_place(const std::string& function) {
  return function.substr(0, 3) == "at_";
}

const node* vector_place_around(const node& in, const node& element) {
  const node* found = nullptr;
  walk(in, [&](const node& n) {
    if (n.kind == node_kind::call && n.children.size() == 2 && is_vector_place(n.name) &&
        &bare(n.children[1]) == &element)
      found = &n;
    return found == nullptr && n.begin <= element.begin && element.end <= n.end;
  });
  return found;
}

std::vector<element_access> accesses_in(const parsed_source& in, const node& body, const definitions& known) {
  const std::set<long> own = declared_in(body);
  std::vector<element_access> found;
  collect_accesses(in, body, known, own, found);
  walk(body, [&](const node& n) {
    if (!assigns(in, n)) return true;
    const node* to = target_subscript(n);
    for (auto& access : found) {
      if (access.at != to) continue;
      access.written = true;
      access.accumulated = n.kind == node_kind::unary || operator_of(in, n) != "=" || adds_to_itself(in, n);
    }
    return true;
  });
  return found;
}

std::set<long> declared_in(const node& one) {
  std::set<long> result;
  walk(one, [&](const node& n) {
    if (n.kind == node_kind::variable) result.insert(n.declared);
    return true;
  });
  return result;
}

std::string carried_by_arrays(const parsed_source& in, const counted_loop& loop, const definitions& known) {
  const auto all = accesses_in(in, *loop.body, known);
  const std::string index = loop.index + "#" + std::to_string(loop.id);
  for (const auto& write : all) {
    if (!write.written) continue;
    const std::string what(in.of(*write.at));
    const auto factor = coefficient(write.index, index);
    // The subscript of an array of arrays, or of a pointer that depends on the loop, says little.
    const bool plain = bare(write.at->children[0]).kind == node_kind::name;
    if (plain && factor && factor->empty() && !write.accumulated) {
      const bool base_varies = any_of(*loop.body, [&](const node& n) {
        return n.kind == node_kind::variable && n.declared == write.base;
      });
      if (!base_varies) return "every iteration writes " + what;
    }
    for (const auto& other : all) {
      if (other.base != write.base || &other == &write || !plain) continue;
      if (carried(write, other, index)) return "an iteration uses what another one writes to " + what;
    }
  }
  return {};
}

std::optional<std::vector<reduction>> reductions_of(const parsed_source& in, const node& function,
                                                    const node& body, std::string& why) {
  const std::set<long> own = declared_in(body);
  std::vector<reduction> found;
  bool good = true;
  walk(body, [&](const node& n) {
    if (!good || !assigns(in, n)) return good;
    const node& to = bare(n.children[0]);
    if (to.kind != node_kind::name) {
      const node* root = to.kind == node_kind::subscript ? root_of(to) : nullptr;
      if (root == nullptr && !(to.kind == node_kind::call && is_vector_place(to.name))) {
        why = "an assignment to what is not understood";
        good = false;
      }
      return good;
    }
    if (own.contains(to.declared)) return true;
    std::optional<reduction_kind> kind;
    const std::string op = operator_of(in, n);
    if (n.kind == node_kind::unary || ((op == "+=" || op == "-=") && !mentions(n.children[1], to.declared))) {
      kind = reduction_kind::sum;
    } else if (op == "*=" && !mentions(n.children[1], to.declared)) {
      kind = reduction_kind::product;
    } else if (op == "=") {
      kind = kind_of_value(in, n.children[1], to.declared);
    }
    const auto before = std::find_if(found.begin(), found.end(),
                                     [&](const reduction& r) { return r.variable == to.declared; });
    if (!kind || (before != found.end() && before->kind != *kind)) {
      why = "an iteration needs the value of " + to.name + " from the one before";
      good = false;
      return false;
    }
    if (before == found.end()) {
      found.push_back({to.declared, to.name, {}, *kind, {&n}, op == "-="});
    } else {
      before->updates.push_back(&n);
      before->subtracts = before->subtracts || op == "-=";
    }
    return true;
  });
  if (!good) return std::nullopt;
  for (auto& one : found) {
    int inside = 0;
    for (const node* update : one.updates) inside += count_of(*update, one.variable);
    if (inside != count_of(body, one.variable)) {
      why = one.name + " is used while it is collected";
      return std::nullopt;
    }
    walk(function, [&](const node& n) {
      if ((n.kind == node_kind::variable || n.kind == node_kind::parameter) && n.declared == one.variable)
        one.type = n.kind == node_kind::variable ? n.written : n.type;
      return true;
    });
    if (one.type.empty() || one.type.find_first_of("*&[") != std::string::npos) {
      why = one.name + " is declared elsewhere";
      return std::nullopt;
    }
  }
  return found;
}

bool has_effects_unknown(const parsed_source& in, const node& one) {
  return any_of(one, [&](const node& n) {
    switch (n.kind) {
      case node_kind::returned:
      case node_kind::jump:
        return true;
      case node_kind::call:
        return !is_pure(n.name) && !is_vector_place(n.name);
      case node_kind::other: {
        std::string_view text = in.of(n);
        if (text.size() >= 2 && text.substr(text.size() - 2) == "{}")
          text.remove_suffix(2);  // a vector of zeros
        return text.find_first_of("({[=") != std::string_view::npos;
      }
      case node_kind::unary:
        return operator_of(in, n) == "&";
      default:
        return false;
    }
  });
}

}  // namespace kevo::rewriting
