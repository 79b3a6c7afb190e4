#include "src/cli/fitness_options.hpp"

#include "src/base/settings/overrides.hpp"

namespace kevo::cli {

any_fitness fitness_from_options(const std::vector<std::string>& overrides, const registry& plugins,
                                 const build_context& context) {
  settings_node root = settings_node::empty_map();
  const std::string language = context.task->reference ? context.task->reference->language : "cpp";
  const std::string backend = language == "cuda" ? "cuda" : language == "python" ? "torch" : "cpu";
  root.set("fitness", settings_node::empty_map()).set("backend", settings_node::of(backend));
  for (const auto& assignment : overrides) apply_override(root, assignment);
  settings reader(root);
  settings inner = reader.child("fitness");
  any_fitness made = plugins.fitness.make(inner, context, "backend");
  reader.finish();
  return made;
}

}  // namespace kevo::cli
