// std::vector<float> v(n);  ->  static std::vector<float> v; v.resize(n);
// Memory that is kept from call to call need not be asked of the system again, nor filled with zeros.
#include "operators/rewrite/action.hpp"

namespace kevo::rewriting {
namespace {

// A declaration of one std::vector with arguments, in the body of a function.
bool is_local_vector(const kernel& of, const node& one) {
  if (one.kind != node_kind::declaration || one.children.size() != 1) return false;
  const node& variable = one.children.front();
  if (variable.kind != node_kind::variable || variable.written.substr(0, 12) != "std::vector<" ||
      variable.children.empty())
    return false;
  const node& made = variable.children.back();
  const std::size_t name = static_cast<std::size_t>(variable.declared) + variable.name.size();
  return made.kind == node_kind::call && made.name == "vector" &&
         (made.children.size() == 1 || made.children.size() == 2) && of.in.text.compare(name, 1, "(") == 0;
}

}  // namespace

std::vector<site> keep_sites(const kernel& of) {
  std::vector<site> found;
  for (const node& item : of.in.items) {
    walk(item, [&](const node& n) {
      if (n.kind == node_kind::function && n.name != "run") return false;
      if (is_local_vector(of, n)) found.push_back({0, &n});
      return true;
    });
  }
  return found;
}

std::string keep(const kernel& of, const site& where, rng&) {
  const node& variable = where.at->children.front();
  const node& made = variable.children.back();
  std::string arguments;
  for (const node& one : made.children)
    arguments += (arguments.empty() ? "" : ", ") + std::string(of.in.of(one));
  const std::string indent(static_cast<std::size_t>(2 * depth_at(of.in, where.at->begin)), ' ');
  changes all;
  all.replace(where.at->begin, end_of_statement(of.in, *where.at),
              "static " + variable.written + " " + variable.name + ";\n" + indent + variable.name +
                  (made.children.size() == 1 ? ".resize(" : ".assign(") + arguments + ");");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
