#include "operators/rewrite/choices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "operators/rewrite/dependence.hpp"
#include "operators/rewrite/rewrite.hpp"

namespace kevo {
namespace rewriting {
namespace {

/// How elements are accessed as an index grows.
struct access_counts {
  double all = 0, written = 0, unit = 0, invariant = 0, strided = 0, unknown = 0;
};

void count(access_counts& to, const element_access& access, const std::string& index) {
  to.all += 1;
  if (access.written) to.written += 1;
  const auto factor = coefficient(access.index, index);
  const auto step = factor ? constant_of(*factor) : std::nullopt;
  if (!factor) {
    to.unknown += 1;
  } else if (factor->empty() || (step && *step == 0)) {
    to.invariant += 1;
  } else if (step && std::abs(*step) == 1) {
    to.unit += 1;
  } else {
    to.strided += 1;
  }
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}
/// About 1 for the largest values that occur.
double logarithmic(double value, double large) {
  return std::log1p(std::max(0.0, value)) / std::log1p(large);
}

std::string variable_of(const counted_loop& loop) {
  return loop.index + "#" + std::to_string(loop.id);
}

int depth_of(const placed_loop& which) {
  int depth = 0;
  for (const node* around : which.around) depth += around->kind == node_kind::counted ? 1 : 0;
  return depth;
}

/// The loops with what lies in each.
struct looked_at {
  const placed_loop* which = nullptr;
  access_counts accesses;
  double arithmetic = 0, calls = 0, branches = 0;
  int depth = 0;
  bool innermost = true, collects = false, vectors = false, carried = false;
};

double arithmetic_in(const kernel& of, const node& body) {
  double found = 0;
  walk(body, [&](const node& one) {
    if (one.kind == node_kind::subscript) return false;  // arithmetic of indexes does not count
    if (one.kind == node_kind::binary) {
      const std::string op = operator_of(of.in, one);
      static constexpr std::array counted = {"+", "-", "*", "/", "+=", "-=", "*=", "/="};
      if (std::find(counted.begin(), counted.end(), op) != counted.end()) found += 1;
    }
    return true;
  });
  return found;
}

double number_of(const node& body, node_kind kind) {
  double found = 0;
  walk(body, [&](const node& one) {
    found += one.kind == kind ? 1 : 0;
    return true;
  });
  return found;
}

looked_at look_at(const kernel& of, const placed_loop& which) {
  looked_at made;
  made.which = &which;
  made.depth = depth_of(which);
  const node& body = *which.loop.body;
  const definitions known = definitions_of(of.in, *which.function);
  for (const auto& access : accesses_in(of.in, body, known))
    count(made.accesses, access, variable_of(which.loop));
  made.arithmetic = arithmetic_in(of, body);
  made.calls = number_of(body, node_kind::call);
  made.branches = number_of(body, node_kind::branch) + number_of(body, node_kind::conditional);
  for (const auto& other : of.loops) {
    if (other.loop.at->begin > which.loop.at->begin && other.loop.at->end <= which.loop.at->end)
      made.innermost = false;
  }
  std::string why;
  const auto sums = reductions_of(of.in, *which.function, body, why);
  made.collects = sums && !sums->empty();
  made.carried = !carried_by_arrays(of.in, which.loop, known).empty();
  made.vectors = of.in.of(*which.loop.at).find("lanes_") != std::string_view::npos;
  return made;
}

const std::vector<std::string>& own_states() {
  static const std::vector<std::string> names = {
      "loops",        "depth",       "innermost loops", "functions",    "arithmetic per access",
      "unit stride",  "no stride",   "long stride",     "other stride", "written",
      "collecting",   "carried",     "calls",           "branches",     "vectors",
      "tunables",     "bytes",       "pragmas",         "cuda",         "threads",
      "measured",     "log speedup", "log gain",        "sol fraction", "steps",
      "vector share", "code bytes",  "last gained"};
  return names;
}

const std::vector<std::string>& region_names() {
  static const std::vector<std::string> names = {"own weight",
                                                 "share of type",
                                                 "loop",
                                                 "depth",
                                                 "height",
                                                 "innermost",
                                                 "outermost",
                                                 "short",
                                                 "rest",
                                                 "widened",
                                                 "unit stride",
                                                 "no stride",
                                                 "long stride",
                                                 "written",
                                                 "collecting",
                                                 "carried",
                                                 "arithmetic per access",
                                                 "calls",
                                                 "branches",
                                                 "vectors",
                                                 "vectors around",
                                                 "share of accesses"};
  return names;
}

std::vector<double> state_of(const kernel& of, const std::vector<looked_at>& loops,
                             const program_history& before) {
  access_counts inner;
  double depth = 0, innermost = 0, arithmetic = 0, collecting = 0, carried = 0, vectors = 0;
  std::set<const node*> functions;
  for (const auto& one : loops) {
    depth = std::max(depth, one.depth + 1.0);
    functions.insert(one.which->function);
    collecting += one.collects ? 1 : 0;
    carried += one.carried ? 1 : 0;
    vectors += one.vectors ? 1 : 0;
    if (!one.innermost) continue;
    innermost += 1;
    arithmetic += one.arithmetic;
    inner.all += one.accesses.all;
    inner.unit += one.accesses.unit;
    inner.invariant += one.accesses.invariant;
    inner.strided += one.accesses.strided;
    inner.unknown += one.accesses.unknown;
    inner.written += one.accesses.written;
  }
  double calls = 0, branches = 0;
  for (const auto& item : of.in.items) {
    calls += number_of(item, node_kind::call);
    branches += number_of(item, node_kind::branch) + number_of(item, node_kind::conditional);
  }
  const auto occurrences = [&of](std::string_view what) {
    double found = 0;
    for (std::size_t at = 0; (at = of.in.text.find(what, at)) != std::string::npos; at += what.size())
      found += 1;
    return found;
  };
  const auto number = static_cast<double>(loops.size());
  const auto measure = [&before](const char* name) {
    const auto found = before.measures.find(name);
    return found == before.measures.end() ? 0 : found->second;
  };
  std::vector<double> state = {logarithmic(number, 30),
                               depth / 6,
                               logarithmic(innermost, 15),
                               static_cast<double>(functions.size()) / 4,
                               logarithmic(share(arithmetic, inner.all), 8),
                               share(inner.unit, inner.all),
                               share(inner.invariant, inner.all),
                               share(inner.strided, inner.all),
                               share(inner.unknown, inner.all),
                               share(inner.written, inner.all),
                               share(collecting, number),
                               share(carried, number),
                               logarithmic(calls, 50),
                               logarithmic(branches, 20),
                               share(vectors, number),
                               logarithmic(occurrences("// kevo: {"), 10),
                               logarithmic(static_cast<double>(of.in.text.size()), 50000),
                               logarithmic(occurrences("#pragma"), 10),
                               of.cuda ? 1.0 : 0.0,
                               of.threads > 1 ? 1.0 : 0.0,
                               before.measured ? 1.0 : 0.0,
                               std::clamp(before.log_speedup / 3, -1.0, 2.0),
                               std::clamp(before.log_gain, -1.0, 1.0),
                               before.sol_fraction,
                               logarithmic(static_cast<double>(before.actions.size()), 15),
                               measure("vector_fraction"),
                               logarithmic(measure("code_bytes"), 100000),
                               before.log_gain > 0.02 ? 1.0 : 0.0};
  for (const action& one : actions()) {
    const auto times = std::count(before.actions.begin(), before.actions.end(), one.name);
    state.push_back(std::min(1.0, static_cast<double>(times) / 2));
  }
  for (const action& one : actions())
    state.push_back(!before.actions.empty() && before.actions.front() == one.name ? 1 : 0);
  return state;
}

std::vector<double> region_of(const kernel& of, const std::vector<looked_at>& loops, const choice& one,
                              double total) {
  const placed_loop* which = nullptr;
  if (one.where.at != nullptr) {
    which = loop_around(of, *one.where.at);
  } else if (one.where.loop < of.loops.size()) {
    which = &of.loops[one.where.loop];
  }
  const auto found =
      std::find_if(loops.begin(), loops.end(), [which](const auto& l) { return l.which == which; });
  std::vector<double> made = {logarithmic(one.what->weight, 12), share(one.weight, total)};
  if (which == nullptr || found == loops.end()) {
    made.resize(region_names().size(), 0);
    return made;
  }
  double height = 0, everywhere = 0;
  bool vectors_around = false;
  for (const auto& other : loops) {
    if (other.innermost) everywhere += other.accesses.all;
    const bool inside = other.which->loop.at->begin >= which->loop.at->begin &&
                        other.which->loop.at->end <= which->loop.at->end;
    if (inside) height = std::max(height, static_cast<double>(other.depth - found->depth));
    vectors_around = vectors_around || (inside && other.vectors);
  }
  const access_counts& a = found->accesses;
  const std::vector<double> rest = {1,
                                    found->depth / 6.0,
                                    height / 5,
                                    found->innermost ? 1.0 : 0.0,
                                    found->depth == 0 ? 1.0 : 0.0,
                                    is_short(of, *which) ? 1.0 : 0.0,
                                    is_rest(*which) ? 1.0 : 0.0,
                                    which->loop.step != "1" ? 1.0 : 0.0,
                                    share(a.unit, a.all),
                                    share(a.invariant, a.all),
                                    share(a.strided, a.all),
                                    share(a.written, a.all),
                                    found->collects ? 1.0 : 0.0,
                                    found->carried ? 1.0 : 0.0,
                                    logarithmic(share(found->arithmetic, a.all), 8),
                                    found->calls > 0 ? 1.0 : 0.0,
                                    found->branches > 0 ? 1.0 : 0.0,
                                    found->vectors ? 1.0 : 0.0,
                                    vectors_around ? 1.0 : 0.0,
                                    std::min(1.0, share(a.all, everywhere))};
  made.insert(made.end(), rest.begin(), rest.end());
  return made;
}

}  // namespace

std::vector<choice> choices_of(const kernel& of, const std::vector<std::string>& only) {
  std::vector<choice> found;
  for (const action& one : actions()) {
    if (one.language != action_language::both && (one.language == action_language::cuda) != of.cuda) continue;
    if (!only.empty() && std::find(only.begin(), only.end(), one.name) == only.end()) continue;
    const auto sites = one.sites(of);
    // An action with many places is not taken more often for it, but one whose places promise little is taken
    // less often.
    double total = 1;
    for (const site& where : sites) total += where.weight;
    // A GPU runs many threads at a time, so that what one of them does in which order matters less.
    const double weight = of.cuda && one.language == action_language::both ? 0.3 * one.weight : one.weight;
    for (const site& where : sites) found.push_back({&one, where, weight * where.weight / total});
  }
  return found;
}

program_history history_of(const evaluation* result, const evaluation* parent,
                           std::vector<std::string> actions) {
  program_history made;
  made.actions = std::move(actions);
  if (result == nullptr) return made;
  made.measured = true;
  made.measures = result->measures;
  made.sol_fraction = result->sol_fraction;
  if (result->valid() && result->score > 0) made.log_speedup = std::log(result->score);
  if (parent != nullptr && parent->valid() && parent->score > 0 && made.log_speedup != 0)
    made.log_gain = made.log_speedup - std::log(parent->score);
  return made;
}

action_choice described(const kernel& of, const std::vector<choice>& all, const program_history& before) {
  std::vector<looked_at> loops;
  for (const auto& one : of.loops) loops.push_back(look_at(of, one));
  std::map<std::string_view, double> totals;
  for (const auto& one : all) totals[one.what->name] += one.weight;
  action_choice made;
  made.state = state_of(of, loops, before);
  for (const auto& one : all)
    made.actions.push_back({std::string(one.what->name), place_of(of, one.where), one.weight,
                            region_of(of, loops, one, totals[one.what->name])});
  return made;
}

std::vector<std::string> actions_in(std::string_view summary) {
  std::vector<std::string> found;
  while (!summary.empty()) {
    const std::size_t end = std::min(summary.find(", "), summary.size());
    const std::string_view step = summary.substr(0, end);
    found.emplace_back(step.substr(0, step.find(' ')));
    summary.remove_prefix(std::min(end + 2, summary.size()));
  }
  return found;
}

}  // namespace rewriting

const action_features& rewrite_features() {
  static const action_features all = [] {
    action_features made;
    made.states = rewriting::own_states();
    made.regions = rewriting::region_names();
    for (const auto& one : rewriting::actions()) made.types.emplace_back(one.name);
    for (const auto& one : made.types) made.states.push_back("done " + one);
    for (const auto& one : made.types) made.states.push_back("last " + one);
    return made;
  }();
  return all;
}

}  // namespace kevo
