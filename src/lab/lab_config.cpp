#include "src/lab/lab_config.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <kevo/registry.hpp>

#include "src/base/settings/path_setting.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/lab/ablation.hpp"
#include "src/lab/system_policy.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/load.hpp"

namespace kevo {
namespace {

void read_lab(settings& root, lab_plan& plan) {
  settings lab = root.child_or_empty("lab", "the laboratory: name, folder, seeds and parallelism");
  plan.name = lab.text("name", {.def = "lab", .doc = "name of the lab"});
  plan.output = lab.text("output", {.def = "labs/" + plan.name, .doc = "folder for the results"});
  plan.seeds = static_cast<std::size_t>(
      lab.integer("seeds", {.def = 30,
                            .min = 2,
                            .max = 100'000,
                            .unit = "seeds",
                            .doc = "number of searches of each policy, each with a different seed"}));
  plan.first_seed = static_cast<std::uint64_t>(lab.integer(
      "first_seed",
      {.def = 1,
       .min = 0,
       .doc =
           "first seed, for the problem and for the search; the other seeds are the numbers that follow"}));
  plan.parallel = static_cast<std::size_t>(lab.integer(
      "parallel",
      {.def = 2, .min = 1, .max = 1024, .unit = "searches", .doc = "maximum number of concurrent searches"}));
  plan.confidence = lab.real(
      "confidence", {.def = 0.95, .max = 0.9999, .above = 0.0, .doc = "confidence level of all intervals"});
  plan.believed = lab.text("believed", {.def = "champion",
                                        .doc = "which program a search is judged by; champion: its confirmed "
                                               "champion; leader: the candidate with the best score",
                                        .one_of = {"champion", "leader"}}) == "leader"
                      ? believed_program::leader
                      : believed_program::champion;
}

void read_budget(settings& root, lab_plan& plan) {
  settings budget = root.child("budget", "length of the searches and the points at which they are compared");
  const std::string unit = budget.text("unit", {.def = "evaluations",
                                                .doc = "unit of the budgets",
                                                .one_of = {lab_axis_names.begin(), lab_axis_names.end()}});
  for (std::size_t i = 0; i < lab_axis_names.size(); ++i) {
    if (lab_axis_names[i] == unit) plan.unit = static_cast<lab_axis>(i);
  }
  plan.budgets = budget.reals("at", {.above = 0.0,
                                     .doc = "budgets at which policies are compared, in ascending order; "
                                            "with unit cost they are simulated seconds"});
  if (plan.budgets.empty())
    budget.fail("at", "a lab needs at least one budget", "for example, at: [100, 400]");
  if (std::adjacent_find(plan.budgets.begin(), plan.budgets.end(), std::greater_equal<>()) !=
      plan.budgets.end())
    budget.fail("at", "budgets must be in ascending order", "for example, at: [100, 400]");
}

/// Takes `key` of the policy, or else of the defaults. One level down for `vary`, whose parts stand alone.
settings_node with_defaults(const settings_node& policy, const settings_node* defaults) {
  settings_node merged = policy;
  if (defaults == nullptr || !defaults->is_map()) return merged;
  for (const auto& entry : defaults->entries) {
    settings_node* own = merged.find(entry.key);
    if (own == nullptr) {
      merged.entries.push_back(entry);
    } else if (entry.key == "vary" && own->is_map() && entry.value.is_map()) {
      for (const auto& part : entry.value.entries) {
        if (own->find(part.key) == nullptr) own->entries.push_back(part);
      }
    }
  }
  return merged;
}

/// A policy that names a system gets the parts of its config that it does not give itself.
settings_node with_system(const settings_node& policy, const std::string& directory, bool recorded) {
  if (policy.find("system") == nullptr) {
    if (policy.find("set") != nullptr)
      throw error(error_code::input, "'set' changes the config of a system, and no system is named",
                  policy.find("set")->place, "add system: FILE, or remove 'set'");
    return policy;
  }
  settings from(policy);
  const std::string path = path_from(from, "system", {.doc = "evolution config"}, directory);
  const std::vector<std::string> changes =
      from.texts("set", {.doc = "changes of that config, as key=value"}, std::vector<std::string>{});
  settings_node merged = policy;
  std::erase_if(merged.entries,
                [](const auto& entry) { return entry.key == "system" || entry.key == "set"; });
  const settings_node system = policy_of_system(path, changes, recorded);
  return with_defaults(merged, &system);
}

lab_policy read_policy(settings_node node, const registry& plugins, const build_context& context) {
  settings from(std::move(node));
  lab_policy policy;
  policy.name = from.text("name", {.doc = "name of the policy in tables and plots"});
  decode_policies(from, plugins, context, policy.parts);
  policy.search.proposals_ahead = static_cast<std::size_t>(from.integer(
      "proposals_ahead", {.def = 1,
                          .min = 0,
                          .max = 1'000'000,
                          .unit = "candidates",
                          .doc = "maximum number of candidates that wait for an evaluation; 0: no "
                                 "turn begins before all results are known"}));
  from.finish();
  settings_node kept = from.resolved();
  std::erase_if(kept.entries, [](const settings_entry& entry) { return entry.key == "name"; });
  policy.identity = dump_yaml(kept);
  return policy;
}

void read_policies(settings& root, const registry& plugins, const build_context& context, lab_plan& plan) {
  const settings_node* defaults =
      root.raw("defaults", "settings of all policies that do not set their own", "map");
  const settings_node* list =
      root.raw("policies", "the policies that are compared: name, archive, select, vary", "list of maps");
  if (list == nullptr || !list->is_list() || list->items.empty())
    root.fail("policies", "a lab needs a list of policies",
              "policies: [{name: greedy, select: {type: greedy}}]");
  if (defaults != nullptr && !defaults->is_map()) root.fail("defaults", "expected a map (key: value)");
  std::set<std::string> names;
  for (const auto& node : list->items) {
    if (!node.is_map()) throw error(error_code::input, "expected a map, found " + describe(node), node.place);
    plan.policies.push_back(read_policy(
        with_defaults(with_system(node, context.directory, plan.problem.proposals_are_recorded), defaults),
        plugins, context));
    if (!names.insert(plan.policies.back().name).second) {
      throw error(error_code::input, "two policies are named '" + plan.policies.back().name + "'",
                  node.find("name")->place, "give each policy a different name");
    }
  }
}

void read_comparisons(settings& root, lab_plan& plan) {
  std::vector<std::string> names;
  for (const auto& policy : plan.policies) names.push_back(policy.name);
  for (settings& one : root.children("compare", false, "pairs of policies whose differences are reported")) {
    lab_comparison pair;
    pair.against =
        one.text("against", {.doc = "reference policy, whose results are subtracted", .one_of = names});
    std::vector<std::string> chosen = one.texts(
        "policies",
        {.doc = "policies that are compared with the reference; if absent, all others", .one_of = names},
        std::vector<std::string>{});
    if (chosen.empty()) chosen = names;
    for (const auto& name : chosen) {
      if (name != pair.against) plan.comparisons.push_back({name, pair.against});
    }
  }
}

}  // namespace

lab_plan plan_lab(const config_source& config, const registry* known) {
  settings root(config.tree);
  if (is_ablation(config))
    root.fail("ablation", "this lab measures the parts of a program and compares no policies",
              "run it with kevo lab");
  lab_plan plan;
  read_lab(root, plan);
  registry plugins = known != nullptr ? *known : builtin_plugins();
  for (const auto& path :
       paths_from(root, "plugins",
                  {.doc = "shared libraries that register additional plug-ins, relative to the config"},
                  config.directory, std::vector<std::string>{})) {
    load_plugin(path, plugins, root.place("plugins"));
  }
  settings problem = root.child("problem", "the problem that is searched");
  plan.problem = read_problem(problem, config.directory);
  if (plan.problem.extend) plan.problem.extend(plugins);
  read_budget(root, plan);
  const auto no_task = std::make_shared<const task>();
  read_policies(
      root, plugins,
      {.task = no_task, .directory = config.directory, .seed = plan.first_seed, .plugins = &plugins}, plan);
  read_comparisons(root, plan);
  root.finish();
  plan.resolved_config = dump_yaml(root.resolved());
  return plan;
}

lab_plan load_lab(const std::string& path, const config_options& options) {
  return plan_lab(read_config(path, options.overrides), options.plugins);
}

}  // namespace kevo
