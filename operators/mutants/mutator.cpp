#include "operators/mutants/mutator.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "operators/rewrite/text.hpp"

namespace kevo::mutants {

using rewriting::node;
using rewriting::node_kind;

namespace {

// In one line, and not too long for one.
std::string in_one_line(std::string_view text) {
  constexpr std::size_t most = 100;
  std::string result;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result.size() <= most ? result : result.substr(0, most - 3) + "...";
}

}  // namespace

const std::vector<std::string_view>& mutant_kinds() {
  static const std::vector<std::string_view> all = {
      "epsilon",      "subtrahend", "guard",          "tail",    "synchronization",
      "index",        "extent",     "counter",        "bound",   "comparison",
      "accumulation", "operand",    "smallest terms", "sampled", "call number"};
  return all;
}

void mutator::add(std::string_view kind, std::string change, std::size_t begin, std::size_t end,
                  std::string text, std::vector<edit> extra) {
  rewriting::changes all;
  for (auto& one : extra) all.replace(one.begin, one.end, std::move(one.text));
  source_mutant one;
  one.kind = kind;
  one.change = std::move(change);
  one.line = rewriting::line_of(in, begin);
  one.before = in_one_line(std::string_view(in.text).substr(begin, end - begin));
  one.after = in_one_line(text);
  all.replace(begin, end, std::move(text));
  one.text = all.applied_to(in.text);
  made.push_back(std::move(one));
}

edit mutator::defining(const helper& one) const {
  const std::size_t place = rewriting::place_for_declarations(in);
  return {place, place, std::string(one.definition)};
}

void visit_all(const rewriting::parsed_source& in, const std::function<void(const node&)>& visit) {
  for (const node& item : in.items) {
    rewriting::walk(item, [&](const node& one) {
      visit(one);
      return true;
    });
  }
}

const node* function_named(const rewriting::parsed_source& in, std::string_view name) {
  const node* found = nullptr;
  visit_all(in, [&](const node& one) {
    if (one.kind == node_kind::function && one.name == name && !one.children.empty() &&
        one.children.back().kind == node_kind::block)
      found = &one;
  });
  return found;
}

namespace {

std::string_view without_const(std::string_view type) {
  if (type.substr(0, 6) == "const ") type.remove_prefix(6);
  return type;
}

}  // namespace

bool is_integer(const std::string& type) {
  static constexpr std::array<std::string_view, 8> all = {
      "int",   "long",          "long long", "unsigned int", "unsigned long", "unsigned long long",
      "short", "unsigned short"};
  return std::find(all.begin(), all.end(), without_const(type)) != all.end();
}

bool is_real(const std::string& type) {
  if (type.find('*') != std::string::npos || type.find('&') != std::string::npos ||
      type.find('[') != std::string::npos || type.find('<') != std::string::npos)
    return false;
  const auto plain = without_const(type);
  const bool scalar = plain == "float" || plain == "double";
  return scalar || (plain.find("vector_size") != std::string_view::npos &&
                    (plain.substr(plain.size() - std::min<std::size_t>(plain.size(), 5)) == "float" ||
                     plain.substr(plain.size() - std::min<std::size_t>(plain.size(), 6)) == "double"));
}

bool is_fixed(const mutator& of, const node& one) {
  std::vector<long> constants;
  const auto look = [&](const node& inner, bool in_function) {
    if (inner.kind != node_kind::variable || inner.type.rfind("const ", 0) != 0) return;
    if (!in_function || inner.written.find("constexpr") != std::string::npos)
      constants.push_back(inner.declared);
  };
  visit_all(of.in, [&](const node& inner) { look(inner, true); });
  for (const node& item : of.in.items) {
    rewriting::walk(item, [&](const node& inner) {
      look(inner, false);
      return inner.kind != node_kind::function;
    });
  }
  return !rewriting::any_of(one, [&](const node& inner) {
    if (inner.kind == node_kind::call || inner.kind == node_kind::subscript) return true;
    if (inner.kind != node_kind::name) return false;
    return std::find(constants.begin(), constants.end(), inner.declared) == constants.end();
  });
}

std::vector<source_mutant> mutants_of(const rewriting::parsed_source& in, std::string_view entry,
                                      const task* t) {
  mutator all{in, entry, t, rewriting::loops_of(in), {}};
  leave_out_values(all);
  leave_out_guards(all);
  change_bounds(all);
  narrow_integers(all);
  narrow_sums(all);
  depend_on_calls(all);
  const auto& kinds = mutant_kinds();
  const auto rank = [&](const source_mutant& one) {
    return std::find(kinds.begin(), kinds.end(), one.kind) - kinds.begin();
  };
  std::stable_sort(all.made.begin(), all.made.end(), [&](const source_mutant& a, const source_mutant& b) {
    return std::pair(rank(a), a.line) < std::pair(rank(b), b.line);
  });
  std::erase_if(all.made, [&](const source_mutant& one) { return one.text == in.text; });
  return std::move(all.made);
}

std::vector<std::size_t> spread(const std::vector<std::string_view>& kinds, std::size_t most) {
  std::vector<std::vector<std::size_t>> groups;
  for (const auto kind : mutant_kinds()) {
    std::vector<std::size_t> group;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == kind) group.push_back(i);
    }
    if (!group.empty()) groups.push_back(std::move(group));
  }
  // How many of each kind.
  std::vector<std::size_t> shares(groups.size(), 0);
  std::size_t left = std::min(most, kinds.size());
  while (left > 0) {
    for (std::size_t g = 0; g < groups.size() && left > 0; ++g) {
      if (shares[g] == groups[g].size()) continue;
      ++shares[g];
      --left;
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t round = 0; chosen.size() < std::min(most, kinds.size()); ++round) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (round < shares[g]) chosen.push_back(groups[g][round * groups[g].size() / shares[g]]);
    }
  }
  return chosen;
}

}  // namespace kevo::mutants
