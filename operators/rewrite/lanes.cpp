#include "operators/rewrite/lanes.hpp"

#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {

bool lane_writer::varies(const node& one) const {
  return any_of(one,
                [&](const node& n) { return n.kind == node_kind::name && varying.contains(n.declared); });
}

std::string lane_writer::vector(const value& one) const {
  if (one.form == shape::mask) throw refusal{"a condition is used as a value"};
  return one.form == shape::vector ? one.text : names.vector + "{} + " + one.text;
}

bool lane_writer::contiguous(const node& subscript) const {
  const auto factor = coefficient(polynomial_of(in, subscript.children[1], known),
                                  loop.index + "#" + std::to_string(loop.id));
  if (!factor || constant_of(*factor) != 1 || loop.step != "1") return false;
  // Other variables in it that differ between lanes would change the distance.
  return !any_of(subscript.children[1], [&](const node& n) {
    return n.kind == node_kind::name && n.declared != loop.id && varying.contains(n.declared) &&
           !known.contains(n.declared);
  });
}

void lane_writer::must_be_element(const node& one) const {
  std::string type = one.type;
  if (type.substr(0, 6) == "const ") type.erase(0, 6);
  if (type != element) throw refusal{"values of different types: " + std::string(in.of(one))};
}

std::string lane_writer::for_each_lane() const {
  return "for (int " + names.copy + " = 0; " + names.copy + " < " + names.count + "; ++" + names.copy + ") ";
}

// Only the index may differ between lanes, and variables that are computed from it.
std::string lane_writer::inlined(const node& one, const std::string& index) const {
  replacements inner = by;
  if (!index.empty()) inner.names[loop.id] = index;
  walk(one, [&](const node& n) {
    if (n.kind != node_kind::name || n.declared == loop.id || !varying.contains(n.declared)) return true;
    const auto found = known.find(n.declared);
    if (expanded.contains(n.declared) && !index.empty()) {
      inner.names[n.declared] = written(in, n, by) + "[" + names.copy + "]";
    } else if (found != known.end()) {
      inner.names[n.declared] = "(" + inlined(*found->second, index) + ")";
    } else {
      throw refusal{n.name + " differs between lanes"};
    }
    return true;
  });
  return written(in, one, inner);
}

std::string lane_writer::in_lane(const node& one) const {
  return inlined(one, "(" + loop.index + " + " + names.copy + ")");
}

lane_writer::value lane_writer::load(lines& to, const node& one) {
  const node* root = root_of(one);
  if (root != nullptr && expanded.contains(root->declared)) {  // an array of vectors
    if (varies(one.children[1])) throw refusal{"a subscript differs between lanes"};
    return {written(in, one, by), shape::vector};
  }
  must_be_element(one);
  if (varies(one.children[0])) throw refusal{"an array differs between lanes"};
  if (contiguous(one)) {
    return {names.place + "(" + inlined(one, "") + ")", shape::vector};
  }
  const std::string gathered = fresh("gathered");
  const std::string element_in_lane = in_lane(one);
  to.add(names.vector + " " + gathered + ";");
  to.add(for_each_lane() + gathered + "[" + names.copy + "] = " + element_in_lane + ";");
  return {gathered, shape::vector};
}

lane_writer::value lane_writer::call(lines& to, const node& one) {
  if (is_vector_place(one.name)) throw refusal{"vectors already"};
  if (!is_pure(one.name) || one.children.size() < 2) throw refusal{"a call of " + one.name};
  std::vector<value> arguments;
  for (std::size_t i = 1; i < one.children.size(); ++i) arguments.push_back(expression(to, one.children[i]));
  must_be_element(one);
  const auto named = [&](const value& argument) {
    std::string name = fresh("lanes_of");
    to.add(names.vector + " " + name + " = " + vector(argument) + ";");
    return name;
  };
  const bool larger = one.name == "max" || one.name == "fmax" || one.name == "fmaxf";
  const bool smaller = one.name == "min" || one.name == "fmin" || one.name == "fminf";
  if ((larger || smaller) && arguments.size() == 2) {
    const std::string a = named(arguments[0]);
    const std::string b = named(arguments[1]);
    return {"(" + a + (larger ? " > " : " < ") + b + " ? " + a + " : " + b + ")", shape::vector};
  }
  const std::string result = named(arguments[0]);
  if (one.name == "exp_by_polynomial") {
    to.add("exp_by_polynomial<" + names.words + ">(" + result + ");");
    return {result, shape::vector};
  }
  std::string more;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    more += ", " + (arguments[i].form == shape::scalar ? arguments[i].text
                                                       : named(arguments[i]) + "[" + names.copy + "]");
  }
  to.add(for_each_lane() + result + "[" + names.copy + "] = " + std::string(in.of(one.children[0])) + "(" +
         result + "[" + names.copy + "]" + more + ");");
  return {result, shape::vector};
}

lane_writer::value lane_writer::binary(lines& to, const node& one) {
  const std::string op = operator_of(in, one);
  const value left = expression(to, one.children[0]);
  const value right = expression(to, one.children[1]);
  const std::string text = left.text + " " + op + " " + right.text;
  if (op == "+" || op == "-" || op == "*" || op == "/") {
    if (left.form == shape::mask || right.form == shape::mask) throw refusal{"arithmetic with a condition"};
    return {text, shape::vector};
  }
  if (op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=") {
    if (left.form == shape::mask || right.form == shape::mask) throw refusal{"a comparison of conditions"};
    return {text, shape::mask};
  }
  throw refusal{"the operator " + op};
}

lane_writer::value lane_writer::conditional(lines& to, const node& one) {
  const value test = expression(to, one.children[0]);
  const value yes = expression(to, one.children[1]);
  const value no = expression(to, one.children[2]);
  const auto part = [&](const value& v) { return v.form == shape::vector ? v.text : "(" + vector(v) + ")"; };
  if (test.form == shape::vector) throw refusal{"a number as a condition"};
  return {test.text + " ? " + part(yes) + " : " + part(no), shape::vector};
}

lane_writer::value lane_writer::expression(lines& to, const node& one) {
  if (!varies(one)) return {written(in, one, by), shape::scalar};
  switch (one.kind) {
    case node_kind::parentheses: {
      value inner = expression(to, one.children[0]);
      inner.text = "(" + inner.text + ")";
      return inner;
    }
    case node_kind::name:
      if (!expanded.contains(one.declared)) throw refusal{one.name + " is used as a value"};
      return {written(in, one, by), shape::vector};
    case node_kind::unary: {
      const std::string op = operator_of(in, one);
      if (op != "-" && op != "+") throw refusal{"the operator " + op};
      const value inner = expression(to, one.children[0]);
      if (inner.form == shape::mask) throw refusal{"arithmetic with a condition"};
      return {op + (inner.text.front() == op.front() ? "(" + inner.text + ")" : inner.text), shape::vector};
    }
    case node_kind::binary:
      return binary(to, one);
    case node_kind::conditional:
      return conditional(to, one);
    case node_kind::subscript:
      return load(to, one);
    case node_kind::call:
      return call(to, one);
    case node_kind::cast:
      if (one.children[0].type == one.type) return expression(to, one.children[0]);
      throw refusal{"a conversion"};
    default:
      throw refusal{"an expression that is not understood"};
  }
}

void lane_writer::assignment(lines& to, const node& one) {
  if (one.kind == node_kind::unary) throw refusal{"an increment"};
  const std::string op = operator_of(in, one);
  if (op != "=" && op != "+=" && op != "-=" && op != "*=" && op != "/=") throw refusal{"the operator " + op};
  const node& target = bare(one.children[0]);
  const value right = expression(to, one.children[1]);
  const std::string rhs = op == "=" ? vector(right) : right.text;
  if (right.form == shape::mask) throw refusal{"a condition is used as a value"};
  const node* root = root_of(target);
  if (root == nullptr) throw refusal{"an assignment that is not understood"};
  if (expanded.contains(root->declared)) {
    if (target.kind == node_kind::subscript && varies(target.children[1]))
      throw refusal{"a subscript differs between lanes"};
    to.add(written(in, target, by) + " " + op + " " + rhs + ";");
    return;
  }
  if (target.kind != node_kind::subscript) throw refusal{"an assignment that is not understood"};
  must_be_element(target);
  if (!varies(target.children[1])) throw refusal{"all lanes write one element"};
  if (varies(target.children[0])) throw refusal{"an array differs between lanes"};
  if (contiguous(target)) {
    to.add(load(to, target).text + " " + op + " " + rhs + ";");
    return;
  }
  const std::string scattered = fresh("scattered");
  to.add("const " + names.vector + " " + scattered + " = " + vector(right) + ";");
  to.add(for_each_lane() + in_lane(target) + " " + op + " " + scattered + "[" + names.copy + "];");
}

void lane_writer::statement(lines& to, const node& one) {
  if (one.kind == node_kind::nothing) return;
  if (one.kind == node_kind::declaration) {
    for (const node& variable : one.children) {
      if (variable.kind != node_kind::variable) throw refusal{"a declaration that is not understood"};
      std::string type = variable.type;
      if (type.substr(0, 6) == "const ") type.erase(0, 6);
      const node* initial = initial_value(in, variable);
      if (type == element && initial != nullptr) {
        const value start = expression(to, *initial);
        const bool fixed = variable.type.substr(0, 6) == "const ";
        to.add((fixed ? "const " : "") + names.vector + " " + variable.name + " = " + vector(start) + ";");
      } else if (initial == nullptr && type.substr(0, std::min(type.find('['), type.size())) == element) {
        const auto name = static_cast<std::size_t>(variable.declared);
        to.add(names.vector + " " + in.text.substr(name, variable.end - name) + ";");
      } else if (known.contains(variable.declared)) {
        continue;  // only subscripts use it, in which it is written out
      } else {
        throw refusal{"the type of " + variable.name};
      }
      expanded.insert(variable.declared);
    }
    return;
  }
  if (assigns(in, one)) return assignment(to, one);
  throw refusal{"a statement that is not understood"};
}

}  // namespace kevo::rewriting
