#include "operators/rewrite/widen.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "operators/rewrite/dependence.hpp"
#include "operators/rewrite/lanes.hpp"

namespace kevo::rewriting {
namespace {

struct widener {
  const parsed_source& in;
  const placed_loop& place;
  const counted_loop& loop;
  widening how;
  const widened_names& names;
  std::string element;
  fresh_names& fresh;
  definitions known;
  std::vector<reduction> reductions;
  std::set<long> varying;   // variables that differ between iterations
  std::set<long> expanded;  // of these, the ones that became arrays or vectors
  replacements by;          // how they are written inside

  bool varies(const node& one) const {
    return any_of(one, [&](const node& n) {
      return (n.kind == node_kind::name || n.kind == node_kind::variable) && varying.contains(n.declared);
    });
  }

  void find_varying() {
    varying = {loop.id};
    for (const auto& one : reductions) varying.insert(one.variable);
    for (bool more = true; more;) {
      const std::size_t before = varying.size();
      spread(*loop.body, false);
      more = varying.size() != before;
    }
  }

  // `under`: whether a condition decides that is different between iterations
  void spread(const node& one, bool under) {
    if (one.kind == node_kind::variable && (under || varies(one))) varying.insert(one.declared);
    if (assigns(in, one)) {
      const node* root = root_of(one.children[0]);
      const bool changes = under || varies(one);
      if (changes && root != nullptr && own(root->declared)) varying.insert(root->declared);
    }
    const bool conditional = (one.kind == node_kind::branch || one.kind == node_kind::counted ||
                              one.kind == node_kind::repeated) &&
                             !one.children.empty() && header_varies(one);
    for (const node& child : one.children) spread(child, under || conditional);
  }

  bool header_varies(const node& one) const {
    for (std::size_t i = 0; i + 1 < one.children.size(); ++i) {
      if (one.kind == node_kind::branch && i > 0) break;
      if (varies(one.children[i])) return true;
    }
    return false;
  }

  bool own(long id) const { return own_.contains(id); }
  std::set<long> own_;
  std::string unroll = "#pragma GCC unroll";
  std::string unroll_line() const { return unroll == "#pragma unroll" ? unroll : unroll + " " + names.count; }

  bool is_structure(const node& one) const {
    if (one.kind == node_kind::block) return true;
    if (one.kind == node_kind::branch) {
      return one.children.size() <= 3 && one.children[0].kind != node_kind::variable &&
             one.children[0].kind != node_kind::declaration && !varies(one.children[0]);
    }
    return one.kind == node_kind::counted && as_counted(in, one) && !header_varies(one);
  }

  void sequence(lines& to, const std::vector<const node*>& all) {
    std::vector<const node*> group;
    for (const node* one : all) {
      if (is_structure(*one) && !is_leaf(*one)) {
        flush(to, group);
        structure(to, *one);
      } else if (!varies(*one) && (one->kind == node_kind::declaration || changes_own_only(*one))) {
        flush(to, group);
        add_statement(to, in, *one, by);
      } else {
        group.push_back(one);
      }
    }
    flush(to, group);
  }

  // Whether all that it assigns to are variables of the body. Where these are the same in all iterations, the
  // statement runs once: a sum would grow several times otherwise.
  bool changes_own_only(const node& one) const {
    bool some = false;
    const bool other = any_of(one, [&](const node& n) {
      if (!assigns(in, n)) return false;
      const node* root = root_of(n.children[0]);
      some = true;
      const bool pointer =
          root != nullptr && (root->type.back() == '*' || root->type.find("*const") != std::string::npos);
      return root == nullptr || !own(root->declared) || pointer;
    });
    return some && !other;
  }

  // What does not depend on the iteration at all is done once, with all in it.
  bool is_leaf(const node& one) const {
    return one.kind == node_kind::branch && how == widening::copies &&
           !any_of(one, [](const node& n) { return n.kind == node_kind::counted; });
  }

  void structure(lines& to, const node& one) {
    if (one.kind == node_kind::block) {
      to.open("");
      sequence(to, statements_of(one));
      to.close();
    } else if (one.kind == node_kind::branch) {
      to.open("if (" + written(in, one.children[0], by) + ")");
      sequence(to, statements_of(one.children[1]));
      if (one.children.size() == 3) {
        to.otherwise();
        sequence(to, statements_of(one.children[2]));
      }
      to.close();
    } else {
      const auto inner = as_counted(in, one);
      open_loop(to, in, *inner, by, pragmas::of_compiler);
      sequence(to, statements_of(*inner->body));
      to.close();
    }
  }

  std::string offset() const { return times(names.copy, loop.step); }

  // Variables that a group declares and that are used outside of it become arrays.
  void expand_declarations(lines& to, const std::vector<const node*>& group) {
    for (const node* one : group) {
      if (one->kind != node_kind::declaration) continue;
      for (const node& variable : one->children) {
        if (variable.kind != node_kind::variable) throw refusal{"a declaration that is not understood"};
        int inside = 0;
        for (const node* other : group) inside += count_of(*other, variable.declared);
        if (inside == count_of(*loop.body, variable.declared)) continue;
        expand(to, variable);
      }
    }
  }

  void expand(lines& to, const node& variable) {
    std::string type = variable.written;
    if (type.substr(0, 6) == "const " && type.find('*') == std::string::npos) type.erase(0, 6);
    if (type.size() > 6 && type.substr(type.size() - 6) == "*const") type.erase(type.size() - 5);
    const auto text = in.of(variable);
    std::string extents(text.substr(std::min(
        static_cast<std::size_t>(variable.declared) - variable.begin + variable.name.size(), text.size())));
    const bool array = !extents.empty() && extents.front() == '[';
    if (!array) extents.clear();
    if (type.empty() || type.find_first_of("&([{") != std::string::npos || type == "auto" ||
        (array && initial_value(in, variable) != nullptr))
      throw refusal{"the type of " + variable.name + " cannot be made an array"};
    to.add(type + " " + variable.name + "[" + names.count + "]" + extents + ";");
    expanded.insert(variable.declared);
    by.names[variable.declared] = variable.name + "[" + names.copy + "]";
  }

  void flush(lines& to, std::vector<const node*>& group) {
    if (group.empty()) return;
    if (how == widening::lanes) {
      lane_writer lanes{in, loop, names, element, known, varying, expanded, by, fresh};
      for (const node* one : group) lanes.statement(to, *one);
      group.clear();
      return;
    }
    expand_declarations(to, group);
    replacements inside = by;
    inside.names[loop.id] = "(" + loop.index + " + " + offset() + ")";
    lines body(to.depth() + 1);
    for (const node* one : group) {
      if (one->kind != node_kind::declaration) {
        add_statement(body, in, *one, inside);
        continue;
      }
      for (const node& variable : one->children) {
        if (!expanded.contains(variable.declared)) {
          add_statement(body, in, *one, inside);
          break;
        }
        if (const node* value = initial_value(in, variable))
          body.add(by.names.at(variable.declared) + " = " + written(in, *value, inside) + ";");
      }
    }
    group.clear();
    if (body.empty()) return;
    to.add(unroll_line());
    to.open("for (int " + names.copy + " = 0; " + names.copy + " < " + names.count + "; ++" + names.copy +
            ")");
    to.append(body);
    to.close();
  }

  std::string part_of(const reduction& one) const { return by.names.at(one.variable); }

  // "better ? a : b", the better one of two for largest and smallest
  static std::string chosen(const reduction& one, const std::string& a, const std::string& b) {
    const char* relation = one.kind == reduction_kind::largest ? " > " : " < ";
    return a + relation + b + " ? " + a + " : " + b;
  }
  std::string joined(const reduction& one, const std::string& whole, const std::string& part) const {
    if (one.kind == reduction_kind::sum) return whole + " += " + part + ";";
    if (one.kind == reduction_kind::product) return whole + " *= " + part + ";";
    return whole + " = " + chosen(one, part, whole) + ";";
  }

  void begin_reductions(lines& to) {
    for (const auto& one : reductions) {
      const std::string parts = fresh(one.name + (how == widening::lanes ? "_lanes" : "_parts"));
      const bool vector = one.type.substr(0, 7) == "vector_";
      const std::string none = one.kind == reduction_kind::sum       ? "0"
                               : one.kind == reduction_kind::product ? "1"
                                                                     : one.name;
      if (how == widening::lanes) {
        if (vector) throw refusal{one.name + " is a vector already"};
        to.add(std::string(names.vector)
                   .append(" ")
                   .append(parts)
                   .append(" = ")
                   .append(names.vector)
                   .append("{} + ")
                   .append(none)
                   .append(";"));
        by.names[one.variable] = parts;
        continue;
      }
      to.add(one.type + " " + parts + "[" + names.count + "];");
      by.names[one.variable] = parts + "[" + names.copy + "]";
      const std::string value =
          vector && one.kind != reduction_kind::largest && one.kind != reduction_kind::smallest
              ? one.type + "{} + " + none
              : none;
      to.add(unroll_line());
      to.add("for (int " + names.copy + " = 0; " + names.copy + " < " + names.count + "; ++" + names.copy +
             ") " + by.names[one.variable] + " = " + value + ";");
    }
  }

  void end_reductions(lines& to) {
    for (const auto& one : reductions) {
      std::string part = by.names.at(one.variable);
      if (how == widening::lanes) part += "[" + names.copy + "]";
      if (how == widening::copies) to.add(unroll_line());
      to.add("for (int " + names.copy + " = 0; " + names.copy + " < " + names.count + "; ++" + names.copy +
             ") " + joined(one, one.name, part));
    }
  }

  // What the body may not do, and which variables differ between iterations.
  void look() {
    std::string why;
    own_ = declared_in(*loop.body);
    if (has_effects_unknown(in, *loop.body)) throw refusal{"the loop does what is not understood"};
    auto found = reductions_of(in, *place.function, *loop.body, why);
    if (!found) throw refusal{why};
    reductions = *std::move(found);
    known = definitions_of(in, *place.function);
    known.erase(loop.id);  // an index of threads is declared with a value
    why = carried_by_arrays(in, loop, known);
    if (!why.empty()) throw refusal{why};
    find_varying();
    for (const auto& one : reductions) expanded.insert(one.variable);
  }

  lines run_body() {
    look();
    if (!reductions.empty()) throw refusal{"the body collects something"};
    lines to(depth_at(in, loop.at->begin));
    sequence(to, statements_of(*loop.body));
    return to;
  }

  lines run() {
    look();
    lines to(depth_at(in, loop.at->begin));
    if (!reductions.empty()) to.open("");
    begin_reductions(to);
    const std::string step = times(loop.step, names.count);
    to.open("for (" + loop.type + " " + loop.index + " = " + loop.lower + "; " + loop.index + " + " + step +
            " <= " + loop.upper + "; " + loop.index + " += " + step + ")");
    sequence(to, statements_of(*loop.body));
    to.close();
    end_reductions(to);
    if (!reductions.empty()) to.close();
    rest(to, step);
    return to;
  }

  void rest(lines& to, const std::string& step) {
    const std::string whole = grouped(step);
    std::string start = grouped(loop.upper) + " / " + whole + " * " + whole;
    if (loop.lower != "0") {
      // A difference of unsigned numbers must not be less than nothing.
      start = grouped(loop.lower) + " < " + grouped(loop.upper) + " ? " + loop.lower + " + (" + loop.upper +
              " - " + grouped(loop.lower) + ") / " + whole + " * " + whole + " : " + loop.lower;
    }
    replacements other;
    other.nodes[loop.lower_node] = start;
    open_loop(to, in, loop, other);
    for (const node* one : statements_of(*loop.body)) add_statement(to, in, *one);
    to.close();
  }
};

}  // namespace

lines widened_body(const parsed_source& in, const placed_loop& which, const widened_names& names,
                   fresh_names& fresh) {
  widener work{in, which, which.loop, widening::copies, names, {}, fresh, {}, {}, {}, {}, {}, {}};
  work.unroll = "#pragma unroll";
  return work.run_body();
}

namespace {

std::string without_const(std::string type) {
  if (type.substr(0, 6) == "const ") type.erase(0, 6);
  return type;
}

}  // namespace

lines widened(const parsed_source& in, const placed_loop& which, widening how, const widened_names& names,
              const std::string& element, fresh_names& fresh) {
  widener work{in, which, which.loop, how, names, element, fresh, {}, {}, {}, {}, {}, {}};
  return work.run();
}

std::optional<std::string> element_type(const parsed_source& in, const placed_loop& which) {
  static const char* const numbers[] = {"float", "double", "int", "unsigned int", "long", "unsigned long"};
  std::set<std::string> found;
  const std::string index = which.loop.index + "#" + std::to_string(which.loop.id);
  for (const auto& access : accesses_in(in, *which.loop.body, definitions_of(in, *which.function))) {
    const std::string type = without_const(access.at->type);
    if (std::find(std::begin(numbers), std::end(numbers), type) == std::end(numbers)) continue;
    const auto factor = coefficient(access.index, index);
    if (!factor || !factor->empty()) found.insert(type);
  }
  if (found.size() != 1) return std::nullopt;
  return *found.begin();
}

}  // namespace kevo::rewriting
