#include "src/cli/fitness_options.hpp"

#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/plugins/load.hpp"
#include "src/run/run_plan.hpp"

namespace kevo::cli {

void add_fitness_options(CLI::App& verb, fitness_options& given) {
  verb.add_option("--config", given.config,
                  "Config whose section 'fitness' says how programs are built and measured (compiler, flags, "
                  "threads, ...), so that the result can be compared with those of its runs. Without it, the "
                  "defaults are used");
  verb.add_option(
          "--set", given.overrides,
          "Set a fitness setting: --set fitness.compiler=clang++. Relative paths start in the current "
          "folder")
      ->allow_extra_args(false);
}

fitness_choice read_fitness_options(const fitness_options& given, registry& plugins) {
  fitness_choice choice{.tree = settings_node::empty_map()};
  if (!given.config.empty()) {
    const config_source config = read_config(given.config, {});
    choice.directory = config.directory;
    settings root(config.tree);
    for (const auto& path : root.texts("plugins", {}, std::vector<std::string>{}))
      load_plugin((std::filesystem::path(config.directory) / path).string(), plugins, root.place("plugins"));
    if (const auto* section = config.tree.find("fitness")) choice.tree.set("fitness", *section);
  }
  for (const auto& assignment : given.overrides) apply_override(choice.tree, assignment);
  return choice;
}

any_fitness make_fitness(const fitness_choice& choice, const registry& plugins, build_context context) {
  settings_node root = choice.tree;
  const std::string language = context.task->reference ? context.task->reference->language : "cpp";
  const std::string backend = language == "cuda" ? "cuda" : language == "python" ? "torch" : "cpu";
  if (root.find("fitness") == nullptr) root.set("fitness", settings_node::empty_map());
  if (settings_node& section = *root.find("fitness"); section.find("backend") == nullptr)
    section.set("backend", settings_node::of(backend));
  context.directory = choice.directory;
  settings reader(root);
  settings inner = reader.child("fitness");
  any_fitness made = plugins.fitness.make(inner, context, "backend");
  reader.finish();
  return made;
}

}  // namespace kevo::cli
