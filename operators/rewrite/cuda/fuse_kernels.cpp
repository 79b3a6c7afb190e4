// Two kernels that are launched one after the other on the same grid become one, where each thread needs only
// what it wrote itself. A workspace that only they use becomes a variable.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "operators/rewrite/cuda/threads.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

struct kernel_pair {
  device_kernel first;
  device_kernel second;
};

bool same_launch(const launch_text& a, const launch_text& b) {
  return a.grid == b.grid && a.block == b.block && a.more == b.more && a.condition == b.condition &&
         a.attributes.empty() && b.attributes.empty();
}

// The kernel that is launched right after the given one, if both are launched once and in the same way.
std::optional<kernel_pair> pair_of(const kernel& of, const device_kernel& first) {
  const auto lines = launches_of(of.in.text);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].kernel != first.function->name || first.launches.size() != 1) continue;
    const std::string_view between =
        std::string_view(of.in.text).substr(lines[i].line_end, lines[i + 1].line - lines[i].line_end);
    if (!same_launch(lines[i], lines[i + 1]) || between.find("memset") != std::string_view::npos) continue;
    for (auto& other : device_kernels(of)) {
      if (other.function->name == lines[i + 1].kernel && other.launches.size() == 1 &&
          other.function != first.function)
        return kernel_pair{first, std::move(other)};
    }
  }
  return std::nullopt;
}

bool is_name(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// Other names for variables, their declarations included, and other texts for whole nodes.
struct new_names {
  std::map<long, std::string> variables;
  std::map<const node*, std::string> nodes;
};

std::string renamed_text(const parsed_source& in, const node& one, std::size_t end, const new_names& by) {
  struct change {
    std::size_t begin, end;
    std::string text;
  };
  std::vector<change> all;
  walk(one, [&](const node& n) {
    if (const auto whole = by.nodes.find(&n); whole != by.nodes.end()) {
      all.push_back({n.begin, n.end, whole->second});
      return false;
    }
    const auto other = by.variables.find(n.declared);
    if (other == by.variables.end()) return true;
    if (n.kind == node_kind::name) {
      if (in.of(n) != n.name) throw refusal{"a macro hides " + n.name};
      all.push_back({n.begin, n.end, other->second});
    } else if (n.kind == node_kind::variable) {
      const auto at = static_cast<std::size_t>(n.declared);
      if (in.text.compare(at, n.name.size(), n.name) != 0) throw refusal{"a macro hides " + n.name};
      all.push_back({at, at + n.name.size(), other->second});
    }
    return true;
  });
  std::sort(all.begin(), all.end(), [](const change& a, const change& b) { return a.begin < b.begin; });
  std::string text;
  std::size_t from = one.begin;
  for (const change& c : all) {
    if (c.begin < from) continue;
    text += in.text.substr(from, c.begin - from) + c.text;
    from = c.end;
  }
  return text + in.text.substr(from, std::max(end, from) - from);
}

std::string statement_text(const parsed_source& in, const node& one, const new_names& by) {
  return renamed_text(in, one, end_of_statement(in, one), by);
}

// Arrays are reached through parameters alone, and by subscripts alone.
void require_plain_accesses(const kernel& of, const device_kernel& one) {
  for (const node& statement : one.body->children) {
    if (statement.kind == node_kind::branch && statement.children.size() == 2 &&
        any_of(statement, [](const node& n) { return n.kind == node_kind::returned; }))
      continue;
    if (has_effects_unknown(of.in, statement)) throw refusal{"a kernel does what is not understood"};
  }
  std::map<long, int> reached;
  for (const auto& access : accesses_in(of.in, *one.body, definitions_of(of.in, *one.function)))
    ++reached[access.base];
  for (const node* parameter : parameters_of(one)) {
    if (parameter->type.find('*') != std::string::npos &&
        count_of(*one.body, parameter->declared) != reached[parameter->declared])
      throw refusal{"an array is used as a whole"};
  }
  if (any_of(*one.body, [](const node& n) {
        return n.kind == node_kind::variable && n.type.find('*') != std::string::npos;
      }))
    throw refusal{"a pointer is moved"};
}

class fusion {
 public:
  fusion(const kernel& of, kernel_pair both) : of_(of), both_(std::move(both)), fresh_(of.in) {
    require_plain_accesses(of_, both_.first);
    require_plain_accesses(of_, both_.second);
    if (threads_meet(of_)) throw refusal{"threads share memory"};
    name_parameters();
    name_variables();
    require_own_elements();
    require_same_guard();
    forward_workspaces();
  }

  std::string text() {
    lines to(1);
    for (const node& statement : both_.first.body->children)
      to.add(statement_text(of_.in, statement, first_names_));
    for (const node& statement : both_.second.body->children) {
      if (!dropped_.contains(&statement)) to.add(statement_text(of_.in, statement, second_names_));
    }
    std::string parameters;
    std::string arguments;
    for (const parameter& one : parameters_) {
      if (one.forwarded) continue;
      parameters += (parameters.empty() ? "" : ", ") + one.type + " " + one.name;
      arguments += (arguments.empty() ? "" : ", ") + one.argument;
    }
    const std::string name = fresh_(both_.first.function->name + "_" + both_.second.function->name);
    changes all;
    const launch_text& line = both_.first.launches.front();
    all.replace(line.line, line.line_end,
                "// kevo: " + line.condition + "launch " + name + "<<<" + configuration_of(line) + ">>>(" +
                    arguments + ")");
    remove_line(all, both_.second.launches.front().line);
    for (const std::size_t at : workspace_lines_) remove_line(all, at);
    replace_function(all, both_.first,
                     "extern \"C\" __global__ void " + name + "(" + parameters + ") {\n" + to.text() + "}");
    replace_function(all, both_.second, "");
    return all.applied_to(of_.in.text);
  }

 private:
  struct parameter {
    std::string type, name, argument;
    bool forwarded = false;
  };

  void name_parameters() {
    const auto take = [&](const device_kernel& one, new_names& names) {
      const auto all = parameters_of(one);
      const auto& arguments = one.launches.front().arguments;
      if (all.size() != arguments.size()) throw refusal{"a launch line with other arguments"};
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool pointer = all[i]->type.find('*') != std::string::npos;
        if (pointer && !is_name(arguments[i])) throw refusal{"a part of an array is passed"};
        const std::string plain = all[i]->type.substr(all[i]->type.rfind("const ", 0) == 0 ? 6 : 0);
        const auto known = std::find_if(parameters_.begin(), parameters_.end(), [&](const parameter& p) {
          const std::string other = p.type.substr(p.type.rfind("const ", 0) == 0 ? 6 : 0);
          return p.argument == arguments[i] && other == plain;
        });
        if (known != parameters_.end()) {
          if (known->type != all[i]->type) known->type = plain;  // one of them writes
          names.variables[all[i]->declared] = known->name;
          continue;
        }
        const bool taken = std::any_of(parameters_.begin(), parameters_.end(),
                                       [&](const parameter& p) { return p.name == all[i]->name; });
        parameters_.push_back({all[i]->type, taken ? fresh_(all[i]->name) : all[i]->name, arguments[i]});
        names.variables[all[i]->declared] = parameters_.back().name;
      }
    };
    take(both_.first, first_names_);
    take(both_.second, second_names_);
  }

  // A constant of the second kernel that is computed as one of the first kernel is that one; other variables
  // get names that the first kernel does not have.
  void name_variables() {
    std::map<std::string, std::string> constants;  // by the text of the declaration behind the name
    const auto value_text = [&](const node& statement, const new_names& names) -> std::string {
      if (statement.kind != node_kind::declaration || statement.children.size() != 1) return {};
      const node& variable = statement.children.front();
      const node* value = initial_value(of_.in, variable);
      if (variable.type.rfind("const ", 0) != 0 || value == nullptr) return {};
      return variable.type + " = " + renamed_text(of_.in, *value, value->end, names);
    };
    for (const node& statement : both_.first.body->children) {
      if (const auto text = value_text(statement, first_names_); !text.empty())
        constants.emplace(text, statement.children.front().name);
    }
    std::set<std::string> taken;
    for (const parameter& one : parameters_) taken.insert(one.name);
    walk(*both_.first.body, [&](const node& n) {
      if (n.kind == node_kind::variable) taken.insert(n.name);
      return true;
    });
    for (const node& statement : both_.second.body->children) {
      const auto same = constants.find(value_text(statement, second_names_));
      if (same != constants.end()) {
        second_names_.variables[statement.children.front().declared] = same->second;
        dropped_.insert(&statement);
        continue;
      }
      walk(statement, [&](const node& n) {
        if (n.kind == node_kind::variable && taken.contains(n.name))
          second_names_.variables[n.declared] = fresh_(n.name);
        return true;
      });
    }
  }

  std::string subscript_of(const element_access& access, const new_names& names) const {
    const node& index = access.at->children[1];
    return renamed_text(of_.in, index, index.end, names);
  }

  // What one kernel writes and the other one uses must be an element that no other thread uses.
  void require_own_elements() {
    const auto first = accesses_in(of_.in, *both_.first.body, definitions_of(of_.in, *both_.first.function));
    second_accesses_ =
        accesses_in(of_.in, *both_.second.body, definitions_of(of_.in, *both_.second.function));
    for (const auto& a : first) {
      for (const auto& b : second_accesses_) {
        if ((!a.written && !b.written) ||
            first_names_.variables.at(a.base) != second_names_.variables.at(b.base))
          continue;
        const std::string index = subscript_of(a, first_names_);
        bool own = index == subscript_of(b, second_names_) && !both_.first.indices.empty();
        for (const thread_index& one : both_.first.indices) own = own && mentions(*a.at, one.id);
        if (!own) throw refusal{"a thread needs what another one writes"};
      }
    }
    first_accesses_ = first;
  }

  // A thread that returns from the first kernel must have nothing to do in the second one.
  void require_same_guard() {
    for (const node& statement : both_.first.body->children) {
      if (!any_of(statement, [](const node& n) { return n.kind == node_kind::returned; })) continue;
      const std::string text = statement_text(of_.in, statement, first_names_);
      const auto same =
          std::find_if(both_.second.body->children.begin(), both_.second.body->children.end(),
                       [&](const node& n) { return statement_text(of_.in, n, second_names_) == text; });
      if (same == both_.second.body->children.end()) throw refusal{"the kernels have other threads"};
      dropped_.insert(&*same);
    }
  }

  // A workspace that only these two kernels use, which each thread writes once and reads at the same place.
  void forward_workspaces() {
    for (parameter& one : parameters_) {
      const std::size_t line = of_.in.text.find("// kevo: workspace " + one.argument + " ");
      if (line == std::string::npos || one.type.find('*') == std::string::npos) continue;
      std::size_t uses = 0;
      for (const auto& other : launches_of(of_.in.text)) {
        for (const auto& argument : other.arguments) uses += argument.find(one.argument) == 0 ? 1U : 0U;
      }
      const node* store = nullptr;
      std::size_t writes = 0;
      for (const auto& access : first_accesses_) {
        if (first_names_.variables.at(access.base) != one.name) continue;
        ++writes;
        for (const node& statement : both_.first.body->children) {
          if (access.written && !access.accumulated && statement.kind == node_kind::binary &&
              &bare(statement.children[0]) == access.at)
            store = &statement;
        }
      }
      const bool read_only =
          std::none_of(second_accesses_.begin(), second_accesses_.end(), [&](const element_access& access) {
            return second_names_.variables.at(access.base) == one.name && access.written;
          });
      if (uses != 2 || writes != 1 || store == nullptr || !read_only) continue;
      const std::string name = fresh_("own_" + one.argument);
      const node& value = store->children[1];
      first_names_.nodes[store] = "const " + one.type.substr(0, one.type.find(' ')) + " " + name + " = " +
                                  renamed_text(of_.in, value, value.end, first_names_);
      for (const auto& access : second_accesses_) {
        if (second_names_.variables.at(access.base) == one.name) second_names_.nodes[access.at] = name;
      }
      one.forwarded = true;
      workspace_lines_.push_back(line);
    }
  }

  void remove_line(changes& all, std::size_t at) const {
    const std::size_t end = of_.in.text.find('\n', at);
    all.replace(at, end == std::string::npos ? of_.in.text.size() : end + 1, "");
  }

  void replace_function(changes& all, const device_kernel& one, const std::string& text) const {
    const std::size_t line = of_.in.text.rfind('\n', one.function->begin);
    const std::size_t begin = line == std::string::npos ? 0 : line + 1;
    const std::string head = of_.in.text.substr(begin, one.body->begin - begin);
    if (head.rfind("extern \"C\" __global__ void " + one.function->name + "(", 0) != 0)
      throw refusal{"a kernel with another heading"};
    all.replace(begin, one.body->end, text);
  }

  const kernel& of_;
  kernel_pair both_;
  fresh_names fresh_;
  std::vector<parameter> parameters_;
  new_names first_names_, second_names_;
  std::set<const node*> dropped_;
  std::vector<element_access> first_accesses_, second_accesses_;
  std::vector<std::size_t> workspace_lines_;
};

}  // namespace

std::vector<site> fuse_kernels_sites(const kernel& of) {
  std::vector<site> found;
  for (const auto& one : device_kernels(of)) {
    if (pair_of(of, one)) found.push_back({0, one.function});
  }
  return found;
}

std::string fuse_kernels(const kernel& of, const site& where, rng&) {
  auto both = pair_of(of, device_kernel_at(of, where));
  if (!both) throw refusal{"no kernel that is launched in the same way right behind"};
  return fusion(of, *std::move(both)).text();
}

}  // namespace kevo::rewriting
