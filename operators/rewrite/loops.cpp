#include "operators/rewrite/loops.hpp"

#include <algorithm>
#include <charconv>

namespace kevo::rewriting {
namespace {

std::optional<std::int64_t> integer_of(std::string_view text) {
  while (!text.empty() &&
         (text.back() == 'L' || text.back() == 'l' || text.back() == 'U' || text.back() == 'u'))
    text.remove_suffix(1);
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

const node* variable_declared(const std::vector<node>& among, long id) {
  for (const node& one : among) {
    if (one.kind == node_kind::variable && one.declared == id) return &one;
    if (const node* found = variable_declared(one.children, id)) return found;
  }
  return nullptr;
}

bool constant_depth(const parsed_source& in, const node& one, int depth, std::int64_t& value) {
  if (depth > 20) return false;
  const node& e = bare(one);
  std::int64_t left = 0;
  std::int64_t right = 0;
  if (e.kind == node_kind::literal) {
    const auto read = integer_of(in.of(e));
    value = read.value_or(0);
    return read.has_value();
  }
  if (e.kind == node_kind::cast) return constant_depth(in, e.children[0], depth + 1, value);
  if (e.kind == node_kind::name && e.type.substr(0, 6) == "const ") {
    const node* where = variable_declared(in.items, e.declared);
    return where != nullptr && where->children.size() == 1 &&
           constant_depth(in, where->children[0], depth + 1, value);
  }
  if (e.kind != node_kind::binary || !constant_depth(in, e.children[0], depth + 1, left) ||
      !constant_depth(in, e.children[1], depth + 1, right))
    return false;
  const std::string op = operator_of(in, e);
  if (op == "+") return !__builtin_add_overflow(left, right, &value);
  if (op == "-") return !__builtin_sub_overflow(left, right, &value);
  if (op == "*") return !__builtin_mul_overflow(left, right, &value);
  return false;
}

void find_loops(const parsed_source& in, const node& one, const node* function,
                std::vector<const node*>& around, std::vector<placed_loop>& found) {
  if (one.kind == node_kind::function) {
    if (function != nullptr) return;
    function = &one;
  }
  if (function != nullptr && one.kind == node_kind::counted) {
    if (auto loop = as_counted(in, one)) {
      bool rest = false;
      for (const node* outer : around) {
        const auto other = as_counted(in, *outer);
        rest = rest || (other && other->lower.find(" / ") != std::string::npos &&
                        other->lower.find(" * ") != std::string::npos);
      }
      found.push_back({*std::move(loop), function, around, rest});
    }
  }
  around.push_back(&one);
  for (const node& child : one.children) find_loops(in, child, function, around, found);
  around.pop_back();
}

void add_to(polynomial& sum, const std::vector<std::string>& product, std::int64_t factor) {
  std::int64_t& there = sum[product];
  there += factor;
  if (there == 0) sum.erase(product);
}

polynomial product_of(const polynomial& a, const polynomial& b) {
  polynomial result;
  for (const auto& [left, m] : a) {
    for (const auto& [right, n] : b) {
      std::vector<std::string> all = left;
      all.insert(all.end(), right.begin(), right.end());
      std::sort(all.begin(), all.end());
      std::int64_t factor = 0;
      if (!__builtin_mul_overflow(m, n, &factor)) add_to(result, all, factor);
    }
  }
  return result;
}

polynomial polynomial_at(const parsed_source& in, const node& one, const definitions& known, int depth) {
  const node& e = bare(one);
  const auto below = [&](std::size_t i) { return polynomial_at(in, e.children[i], known, depth + 1); };
  if (depth < 30) {
    if (e.kind == node_kind::literal) {
      if (const auto value = integer_of(in.of(e)))
        return *value == 0 ? polynomial() : polynomial{{{}, *value}};
    }
    if (e.kind == node_kind::name) {
      const auto found = known.find(e.declared);
      if (found != known.end()) return polynomial_at(in, *found->second, known, depth + 1);
      return {{{variable_of(e)}, 1}};
    }
    if (e.kind == node_kind::cast) return below(0);
    if (e.kind == node_kind::call && e.name == "inside" && e.children.size() == 3)
      return below(1);  // of converge.cpp
    if (e.kind == node_kind::binary) {
      const std::string op = operator_of(in, e);
      if (op == "+" || op == "-") {
        polynomial sum = below(0);
        for (const auto& [product, factor] : below(1)) add_to(sum, product, op == "+" ? factor : -factor);
        if (sum.size() <= 200) return sum;
      } else if (op == "*") {
        const polynomial left = below(0);
        const polynomial right = below(1);
        if (left.size() * right.size() <= 200) return product_of(left, right);
      }
    }
  }
  // Every variable in it stays visible.
  std::string text = "{" + std::string(in.of(e));
  walk(e, [&](const node& n) {
    if (n.kind == node_kind::name) text += " " + variable_of(n) + ";";
    return true;
  });
  return {{{text + "}"}, 1}};
}

}  // namespace

std::optional<std::int64_t> value_of(const parsed_source& in, const node& one) {
  std::int64_t value = 0;
  if (!constant_depth(in, one, 0, value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> counted_loop::trips(const parsed_source& in) const {
  const auto first = value_of(in, *lower_node);
  const auto last = value_of(in, *upper_node);
  const auto by = step_node == nullptr ? std::optional<std::int64_t>(1) : value_of(in, *step_node);
  if (!first || !last || !by || *by <= 0) return std::nullopt;
  const std::int64_t width = *last - *first + (inclusive ? 1 : 0);
  if (width < 0) return std::nullopt;
  return whole_steps ? width / *by : (width + *by - 1) / *by;
}

std::optional<counted_loop> as_counted(const parsed_source& in, const node& one) {
  if (one.kind != node_kind::counted) return std::nullopt;
  counted_loop loop;
  loop.at = &one;
  const node& init = one.children[0];
  const node& test = bare(one.children[1]);
  const node& next = bare(one.children[2]);
  loop.body = &one.children[3];
  if (init.kind != node_kind::declaration || init.children.size() != 1) return std::nullopt;
  const node& variable = init.children[0];
  if (variable.kind != node_kind::variable || variable.children.size() != 1) return std::nullopt;
  if (variable.type.find_first_of("*&[") != std::string::npos) return std::nullopt;
  static const char* const integers[] = {"int",           "long",      "unsigned int",
                                         "unsigned long", "long long", "unsigned long long"};
  if (std::find(std::begin(integers), std::end(integers), variable.type) == std::end(integers))
    return std::nullopt;
  loop.index = variable.name;
  loop.id = variable.declared;
  loop.type = variable.written;
  loop.lower_node = variable.children.data();
  loop.lower = in.of(*loop.lower_node);

  const auto is_index = [&](const node& n) {
    return bare(n).kind == node_kind::name && bare(n).declared == loop.id;
  };
  if (next.kind == node_kind::unary && operator_of(in, next) == "++" && is_index(next.children[0])) {
    loop.step = "1";
  } else if (next.kind == node_kind::binary && operator_of(in, next) == "+=" && is_index(next.children[0])) {
    loop.step_node = &next.children[1];
    loop.step = in.of(*loop.step_node);
  } else {
    return std::nullopt;
  }
  if (test.kind != node_kind::binary) return std::nullopt;
  const std::string relation = operator_of(in, test);
  loop.upper_node = &test.children[1];
  loop.upper = in.of(*loop.upper_node);
  const node& left = bare(test.children[0]);
  if (is_index(left)) {
    if (relation == "<=") {
      loop.upper =
          (bare(*loop.upper_node).kind == node_kind::name ? loop.upper : "(" + loop.upper + ")") + " + 1";
      loop.inclusive = true;
    } else if (relation != "<") {
      return std::nullopt;
    }
  } else if (left.kind == node_kind::binary && operator_of(in, left) == "+" && is_index(left.children[0]) &&
             relation == "<=" && in.of(left.children[1]) == loop.step) {
    loop.whole_steps = true;
  } else {
    return std::nullopt;
  }
  // A loop that changes its own index or bound is none that we count.
  const bool changed = any_of(*loop.body, [&](const node& n) {
    if (n.kind == node_kind::unary && operator_of(in, n) == "&") {
      const node* root = root_of(n.children[0]);
      return root != nullptr && (root->declared == loop.id || mentions(*loop.upper_node, root->declared));
    }
    if (!assigns(in, n)) return false;
    const node& target = bare(n.children[0]);
    return target.kind == node_kind::name &&
           (target.declared == loop.id || mentions(*loop.upper_node, target.declared) ||
            (loop.step_node != nullptr && mentions(*loop.step_node, target.declared)));
  });
  if (changed || mentions(*loop.upper_node, loop.id)) return std::nullopt;
  loop.begin = begin_of_statement(in, one);
  loop.end = end_of_statement(in, one);
  return loop;
}

std::vector<placed_loop> loops_of(const parsed_source& in) {
  std::vector<placed_loop> found;
  std::vector<const node*> around;
  for (const node& one : in.items) find_loops(in, one, nullptr, around, found);
  return found;
}

definitions definitions_of(const parsed_source& in, const node& function) {
  definitions result;
  walk(function, [&](const node& n) {
    if (n.kind == node_kind::variable && n.type.find_first_of("[&") == std::string::npos) {
      if (const node* value = initial_value(in, n)) result[n.declared] = value;
    }
    return true;
  });
  walk(function, [&](const node& n) {
    if (assigns(in, n) || (n.kind == node_kind::unary && operator_of(in, n) == "&")) {
      const node& target = bare(n.children[0]);
      if (target.kind == node_kind::name) result.erase(target.declared);
    }
    if (n.kind == node_kind::counted && !n.children[0].children.empty())
      result.erase(n.children[0].children[0].declared);
    return true;
  });
  return result;
}

polynomial polynomial_of(const parsed_source& in, const node& one, const definitions& known) {
  return polynomial_at(in, one, known, 0);
}

std::string variable_of(const node& name) {
  return name.name + "#" + std::to_string(name.declared);
}

std::optional<polynomial> coefficient(const polynomial& of, const std::string& variable) {
  polynomial result;
  for (const auto& [product, factor] : of) {
    const auto times = std::count(product.begin(), product.end(), variable);
    for (const auto& part : product) {
      if (part.front() == '{' && part.find(" " + variable + ";") != std::string::npos) return std::nullopt;
    }
    if (times == 0) continue;
    if (times > 1) return std::nullopt;
    std::vector<std::string> rest;
    for (const auto& part : product) {
      if (part != variable) rest.push_back(part);
    }
    result[rest] += factor;
  }
  return result;
}

polynomial minus(polynomial left, const polynomial& right) {
  for (const auto& [product, factor] : right) add_to(left, product, -factor);
  return left;
}

std::optional<std::int64_t> constant_of(const polynomial& one) {
  if (one.empty()) return 0;
  if (one.size() == 1 && one.begin()->first.empty()) return one.begin()->second;
  return std::nullopt;
}

}  // namespace kevo::rewriting
