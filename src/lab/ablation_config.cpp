// The config of an ablation, decoded.

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/annotation.hpp>
#include <kevo/load_task.hpp>

#include "operators/tune/setting_space.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/lab/ablation.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/load.hpp"
#include "src/task/source_file.hpp"

namespace kevo {
namespace {

using tunable_values = std::map<std::string, std::string>;

/// A part of the program: the values of tunables that switch it off.
struct ablation_part {
  std::string name;
  tunable_values off;
  error_place place;
};

void read_ablation_lab(settings& root, ablation_plan& plan) {
  settings lab = root.child_or_empty("lab", "the laboratory: name, folder and parallelism");
  plan.name = lab.text("name", {.def = "ablation", .doc = "name of the lab"});
  plan.output = lab.text("output", {.def = "labs/" + plan.name, .doc = "folder for the results"});
  if (plan.output.empty()) lab.fail("output", "the folder of the results is missing", "write output: FOLDER");
  plan.parallel = static_cast<std::size_t>(
      lab.integer("parallel", {.def = 2,
                               .min = 1,
                               .max = 1024,
                               .unit = "evaluations",
                               .doc = "evaluations at once: they build in parallel and measure in turn"}));
}

/// The values of tunables under `key`, each checked against the program.
tunable_values values_in(settings& of, const std::string& key, const std::string& doc,
                         const annotations& known) {
  settings given = of.child_or_empty(key, doc);
  std::vector<std::string> names;
  for (const auto& one : known.tunables) names.push_back(one.name);
  tunable_values values;
  for (const auto& name : given.keys()) {
    const settings_node* value = given.raw(name, "value of this tunable", "scalar");
    if (!value->is_scalar()) given.fail(name, "expected a value, found " + describe(*value));
    const tunable* found = known.find_tunable(name);
    if (found == nullptr)
      given.fail(name, "the program has no tunable '" + name + "'",
                 detail::hint_for(name, names, "tunables"));
    if (std::find(found->domain.begin(), found->domain.end(), value->text) == found->domain.end()) {
      given.fail(name, fmt::format("the tunable '{}' cannot have the value {}", name, value->text),
                 fmt::format("its values are: {}", fmt::join(found->domain, ", ")));
    }
    values[name] = value->text;
  }
  return values;
}

/// The program with these values. A combination that its conditions exclude is an error at `place`.
std::shared_ptr<const program> with_values(const program& source, const tunable_values& values,
                                           const error_place& place) {
  auto made = std::make_shared<program>(set_tunables(source, values));
  const setting_space space(parse_annotations(*made));
  if (!space.valid(space.current())) {
    throw error(error_code::input,
                "with these settings, the values of the tunables violate a condition of the program", place,
                "its conditions are the lines '// kevo: require ...' in the source");
  }
  return made;
}

tunable_values with_changes(tunable_values values, const tunable_values& changes) {
  for (const auto& [name, value] : changes) values[name] = value;
  return values;
}

/// The changes of all parts in `names` but `except` together.
tunable_values changes_of(const std::vector<ablation_part>& parts, const std::vector<std::string>& names,
                          const std::string& except, const settings& from) {
  tunable_values all;
  std::map<std::string, std::string> whose;
  for (const auto& name : names) {
    if (name == except) continue;
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.name == name; });
    for (const auto& [tunable, value] : part->off) {
      const auto [at, fresh] = all.try_emplace(tunable, value);
      if (!fresh && at->second != value) {
        from.fail(
            "alone",
            fmt::format("the parts '{}' and '{}' give the tunable '{}' different values, so they cannot "
                        "be off together",
                        whose[tunable], name, tunable),
            "remove one of them from this list");
      }
      whose[tunable] = name;
    }
  }
  return all;
}

/// Adds a variant, whose program must not be one that is there already.
void add_variant(ablation_plan& plan, const program& source, ablation_variant variant,
                 const error_place& place) {
  variant.source = with_values(source, variant.tunables, place);
  for (const auto& other : plan.variants) {
    if (*other.source == *variant.source) {
      throw error(error_code::input,
                  fmt::format("the variant '{}' is the same program as '{}'", variant.name, other.name),
                  place, "remove one of them, or let it change other values");
    }
  }
  plan.variants.push_back(std::move(variant));
}

void read_variants(settings& from, const program& source, ablation_plan& plan) {
  const annotations known = parse_annotations(source);
  const tunable_values base = values_in(
      from, "settings", "values of the tunables in the full program; others as in its source", known);
  add_variant(plan, source, {.name = "full", .tunables = base}, from.place("settings"));

  settings list = from.child("without", "parts by name, each with the values of tunables that switch it off");
  std::vector<ablation_part> parts;
  std::vector<std::string> names;
  for (const auto& name : list.keys()) {
    ablation_part part{name, values_in(list, name, "values of tunables that switch this part off", known),
                       list.place(name)};
    if (part.off.empty())
      list.fail(name, "a part needs at least one tunable that switches it off",
                "name a tunable and the value that switches the part off");
    add_variant(plan, source,
                {.name = "without " + name,
                 .kind = ablation_kind::without,
                 .part = name,
                 .tunables = with_changes(base, part.off)},
                part.place);
    names.push_back(name);
    parts.push_back(std::move(part));
  }
  if (parts.empty())
    from.fail("without", "an ablation needs at least one part", "without: {packing: {PACK: 0}}");

  const auto alone = from.texts(
      "alone",
      {.doc = "parts that are also measured alone: all others in this list are off", .one_of = names},
      std::vector<std::string>{});
  if (alone.empty()) return;
  if (alone.size() < 2 || std::set<std::string>(alone.begin(), alone.end()).size() != alone.size())
    from.fail("alone", "the list needs at least two different parts",
              "name two parts or more, or remove the list");
  for (const auto& name : alone) {
    // With two parts, one alone is the program without the other.
    if (alone.size() == 2) break;
    add_variant(plan, source,
                {.name = "only " + name,
                 .kind = ablation_kind::alone,
                 .part = name,
                 .tunables = with_changes(base, changes_of(parts, alone, name, from))},
                from.place("alone"));
  }
  add_variant(plan, source,
              {.name = "none",
               .kind = ablation_kind::none,
               .tunables = with_changes(base, changes_of(parts, alone, {}, from))},
              from.place("alone"));
}

program load_ablated(settings& from, const std::string& directory, ablation_plan& plan) {
  if (!from.has("program")) {
    if (plan.subject->seeds.empty())
      from.fail("program", "the program is missing, and the task has no seed", "program: FILE");
    from.text("program", {.def = "", .doc = "source file of the program; by default, the task's first seed"});
    plan.program_file = source_file_of(*plan.subject, plan.subject->seeds.front());
    plan.program_place = from.place("task");
    return plan.subject->seeds.front();
  }
  plan.program_file = path_from(from, "program", {.doc = "source file of the program"}, directory);
  plan.program_place = from.place("program");
  if (!std::filesystem::exists(plan.program_file))
    from.fail("program", "there is no file '" + plan.program_file + "'", path_rule);
  return load_program(plan.program_file);
}

void read_ablation(settings& root, const std::string& directory, ablation_plan& plan) {
  settings from = root.child("ablation", "the program, and its parts that are switched off");
  const std::string file = path_from(from, "task", {.doc = "task file"}, directory);
  if (!std::filesystem::is_regular_file(file))
    from.fail("task", "there is no file '" + file + "'", path_rule);
  plan.subject = std::make_shared<const task>(load_task(file));
  const program source = load_ablated(from, directory, plan);
  plan.repeats = static_cast<std::size_t>(from.integer(
      "repeats",
      {.def = 3, .min = 1, .max = 1000, .unit = "evaluations", .doc = "evaluations of each variant"}));
  const std::string stage =
      from.text("stage", {.def = "confirmed",
                          .doc = "how each variant is evaluated; confirmed: the whole protocol, in new "
                                 "processes; timed_short and timed_full take less time",
                          .one_of = {"timed_short", "timed_full", "confirmed"}});
  plan.stage = *parse_evaluation_stage(stage);
  plan.measures = from.texts("measures", {.doc = "measures in the printed table, where they are known"},
                             std::vector<std::string>{"workspace_bytes", "shared_bytes", "registers"});
  read_variants(from, source, plan);
}

/// Finds unknown keys before the first evaluation.
void read_ablation_fitness(settings& root, ablation_plan& plan) {
  const settings_node* given =
      root.raw("fitness", "how programs are evaluated, as in an evolution config", "map");
  plan.fitness = given != nullptr ? *given : settings_node::empty_map();
  if (!plan.fitness.is_map())
    root.fail("fitness", "expected a map, found " + describe(plan.fitness), "write fitness: {backend: cpu}");
  if (plan.fitness.find("backend") == nullptr) {
    const std::string language = plan.subject->reference ? plan.subject->reference->language : "cpp";
    plan.fitness.set("backend", settings_node::of(language == "cuda"     ? "cuda"
                                                  : language == "python" ? "torch"
                                                                         : "cpu"));
  }
  const std::string& backend = plan.fitness.find("backend")->text;
  if (plan.plugins->fitness.contains(backend) && !builtin_plugins().fitness.contains(backend)) return;
  settings reader(plan.fitness);
  plan.plugins->fitness.make(reader, {.directory = plan.directory, .plugins = plan.plugins.get()}, "backend");
  reader.finish();
  root.resolve("fitness", reader.resolved());
}

}  // namespace

std::string_view to_string(ablation_kind kind) {
  constexpr std::string_view names[] = {"full", "without", "alone", "none"};
  return names[static_cast<std::size_t>(kind)];
}

bool is_ablation(const config_source& config) {
  return config.tree.is_map() && config.tree.find("ablation") != nullptr;
}

ablation_plan plan_ablation(const config_source& config) {
  settings root(config.tree);
  for (const char* key : {"problem", "policies", "budget", "defaults", "compare"}) {
    if (root.has(key))
      root.fail(key, fmt::format("a lab with 'ablation' evaluates programs and has no '{}'", key),
                "remove this key, or 'ablation' if the lab compares policies");
  }
  ablation_plan plan;
  plan.directory = config.directory;
  read_ablation_lab(root, plan);
  auto plugins = std::make_shared<registry>(builtin_plugins());
  for (const auto& path :
       paths_from(root, "plugins",
                  {.doc = "shared libraries that register additional plug-ins, relative to the config"},
                  config.directory, std::vector<std::string>{})) {
    load_plugin(path, *plugins, root.place("plugins"));
  }
  plan.plugins = std::move(plugins);
  read_ablation(root, config.directory, plan);
  read_ablation_fitness(root, plan);
  root.finish();
  plan.resolved_config = dump_yaml(root.resolved());
  return plan;
}

}  // namespace kevo
