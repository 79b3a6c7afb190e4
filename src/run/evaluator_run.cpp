#include "src/run/evaluator_run.hpp"

#include <algorithm>
#include <filesystem>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/task/evaluator_folder.hpp"

namespace kevo {
namespace {

/// YAML reads a JSON string as it is.
std::string quoted(const std::string& text) {
  return boost::json::serialize(boost::json::value(text));
}

std::string listed(const std::vector<std::string>& texts) {
  return boost::json::serialize(boost::json::value_from(texts));
}

std::string population(const evaluator_folder& found) {
  const double exploration = std::clamp(found.exploration, 0.0, 1.0);
  const double exploitation = std::clamp(found.exploitation, 0.0, 1.0 - exploration);
  return fmt::format(R"(archive:
  type: islands
  count: {}
  topology: ring
  interval: {}
  count_rejected: true
  share: {}
  of: {{type: feature_map, features: {}, bins: {}, references: 20}}
select:
  type: islands
  of:
    type: explore_exploit
    exploration: {}
    exploitation: {}
    elites: {}
    among: population
    scope: notes
    inspirations: {{top: {}, diverse: {}, neighbours: 3}}
)",
                     std::clamp<std::int64_t>(found.islands, 1, 1000),
                     std::max<std::int64_t>(found.migration_interval, 1),
                     std::clamp(found.migration_rate, 0.0, 1.0), listed(found.features),
                     std::clamp<std::int64_t>(found.bins, 1, 1000), exploration, exploitation,
                     std::max<std::int64_t>(found.elites, 1), std::max<std::int64_t>(found.top, 0),
                     std::max<std::int64_t>(found.diverse, 0));
}

constexpr const char* shinka_population = R"(archive:
  type: islands
  count: 2
  topology: none
  of: {type: top_k, k: 20}
select:
  type: islands
  of: {type: weighted, lambda: 10, scope: notes, inspirations: {top: 1, diverse: 1}}
)";

std::string operators(const evaluator_folder& found, bool models) {
  if (!models) return "vary: {operators: [{type: numbers}]}\n";
  if (found.system == evaluator_system::shinka)
    return "vary:\n  portfolio: {type: fixed, weights: [0.6, 0.3, 0.1]}\n"
           "  operators: [{type: llm_diff}, {type: llm_rewrite}, {type: llm_crossover}]\n";
  return fmt::format("vary: {{operators: [{{type: {}}}]}}\n", found.edits ? "llm_diff" : "llm_rewrite");
}

std::string whole_config(const evaluator_folder& found, const std::string& name, bool models) {
  const bool shinka = found.system == evaluator_system::shinka;
  // The confirmation of the champion may take as long as an evaluation.
  const double finish_s = std::max(120.0, found.timeout_s);
  return fmt::format(
             "run: {{name: {}, seed: {}, output: {}, finish: {}, parallel: {{variations: 2, builds: 1}}}}\n",
             quoted(name), std::max<std::int64_t>(found.seed, 0), quoted("runs/" + name), finish_s) +
         fmt::format("task: {}\nfitness: {{backend: {}}}\n", quoted(found.folder),
                     shinka ? "shinka" : "openevolve") +
         (shinka ? std::string(shinka_population) : population(found)) + operators(found, models) +
         fmt::format("stop: {{proposals: {}}}\n", std::max<std::int64_t>(found.proposals, 1));
}

}  // namespace

std::string words_of(const evaluator_choice& chosen) {
  const bool shinka = chosen.system == evaluator_system::shinka;
  return listed({shinka ? "--shinka" : "--openevolve", std::filesystem::absolute(chosen.folder).string()});
}

config_source evaluator_run(const evaluator_choice& chosen, const std::string& config,
                            const std::vector<std::string>& overrides) {
  const evaluator_folder found = read_evaluator_folder(chosen.folder, chosen.system);
  if (!config.empty()) {
    config_source source = read_config(config, {});
    source.tree.set("task", settings_node::of(found.folder));
    const std::string backend = chosen.system == evaluator_system::shinka ? "shinka" : "openevolve";
    const auto* fitness = source.tree.find("fitness");
    const auto* named = fitness != nullptr && fitness->is_map() ? fitness->find("backend") : nullptr;
    if (named == nullptr || named->text != backend) {
      settings_node own = settings_node::empty_map();
      own.set("backend", settings_node::of(backend));
      source.tree.set("fitness", std::move(own));
    }
    for (const auto& assignment : overrides) apply_override(source.tree, assignment);
    return source;
  }
  settings_node wished = settings_node::empty_map();
  for (const auto& assignment : overrides) {
    if (assignment.starts_with("llm")) apply_override(wished, assignment);
  }
  const std::string name = task_of_evaluator_folder(found.folder).name;
  config_source source{
      .tree = parse_yaml(whole_config(found, name, wished.find("llm") != nullptr), chosen.folder),
      .directory = "."};
  for (const auto& assignment : overrides) apply_override(source.tree, assignment);
  return source;
}

}  // namespace kevo
