#include "src/suite/suite_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <kevo/detail/nearest.hpp>

#include "src/base/settings/path_setting.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/load.hpp"
#include "src/suite/suite_files.hpp"

namespace kevo {
namespace {

/// Whether the suite runs programs of PyTorch on a GPU.
bool torch_on_gpu(const settings_node& suite) {
  const settings_node* fitness = suite.find("fitness");
  const settings_node* backend = fitness != nullptr ? fitness->find("backend") : nullptr;
  const settings_node* device = fitness != nullptr ? fitness->find("device") : nullptr;
  return backend != nullptr && backend->text == "torch" && device != nullptr && device->text == "cuda";
}

/// `tasks_per_device` is the default of `suite.parallel`.
void read_suite(settings& root, std::int64_t tasks_per_device, suite_plan& plan) {
  settings suite = root.child_or_empty("suite", "the suite: name, folder, stage and parallelism");
  plan.name = suite.text("name", {.def = "suite", .doc = "name of the suite in reports"});
  plan.output =
      suite.text("output", {.def = "benches/" + plan.name,
                            .doc = "folder of the results; a relative path starts in the current folder"});
  if (plan.output.empty())
    suite.fail("output", "the folder of the results is missing", "write output: FOLDER");
  const std::string stage =
      suite.text("stage", {.def = "confirmed",
                           .doc = "how far each solution is evaluated; confirmed: the whole protocol, in new "
                                  "processes; checked: build and correctness, without times",
                           .one_of = {"checked", "timed_short", "timed_full", "confirmed"}});
  plan.stage = *parse_evaluation_stage(stage);
  plan.parallel = static_cast<std::size_t>(suite.integer(
      "parallel", {.def = tasks_per_device,
                   .min = 1,
                   .max = 1024,
                   .unit = "tasks",
                   .doc = "number of tasks at the same time per device: builds run in "
                          "parallel, measurements one after the other; by default 1 for PyTorch on "
                          "a GPU, whose tasks need much memory"}));
  plan.devices = suite.integers(
      "devices",
      {.min = 0,
       .doc = "numbers of the GPUs among which the tasks are shared; each replaces fitness.device "
              "(backend torch: fitness.gpu)"},
      std::vector<std::int64_t>{});
  plan.scores.confidence =
      suite.real("confidence",
                 {.def = 0.95, .max = 0.9999, .above = 0.0, .doc = "confidence level of shares and means"});
  plan.scores.thresholds = suite.reals(
      "thresholds", {.min = 0.0, .max = 1e6, .doc = "the thresholds p of fast_p, in ascending order"},
      plan.scores.thresholds);
  const auto& p = plan.scores.thresholds;
  if (p.empty() || std::adjacent_find(p.begin(), p.end(), std::greater_equal<>()) != p.end())
    suite.fail("thresholds", "thresholds must be in ascending order", "for example, [0, 1, 2]");
}

/// A name that may be written as a number: `level: 1`.
std::string label_from(settings& from, const char* key, const char* doc) {
  const settings_node* given = from.raw(key, doc, "text or number");
  if (given == nullptr || given->type == settings_node::kind::null) return {};
  if (!given->is_scalar()) from.fail(key, "expected a name or a number, found " + describe(*given));
  return given->text;
}

std::vector<std::string> solutions_in_entry(settings& entry, const std::string& directory) {
  std::vector<std::string> patterns;
  if (entry.has("solution"))
    patterns.push_back(path_from(entry, "solution", {.doc = "source file of the only solution"}, directory));
  for (auto& one : paths_from(entry, "solutions", {.doc = "source files of the solutions, or patterns"},
                              directory, std::vector<std::string>{}))
    patterns.push_back(std::move(one));
  std::vector<std::string> files;
  for (const auto& pattern : patterns) {
    for (auto& file :
         matching_files(pattern, entry.place(entry.has("solution") ? "solution" : "solutions"), true))
      files.push_back(std::move(file));
  }
  return files;
}

/// Values of tunables by name, as the suite file writes them.
std::map<std::string, std::string> tunables_of(settings& entry) {
  settings given = entry.child_or_empty("tunables", "values that tunables of the solutions get, by name");
  std::map<std::string, std::string> values;
  for (const auto& name : given.keys()) {
    const settings_node* value = given.raw(name, "value of this tunable", "scalar");
    if (!value->is_scalar()) given.fail(name, "expected a value, found " + describe(*value));
    values[name] = value->text;
  }
  return values;
}

struct entry_context {
  const std::string& directory;
  const std::string& solutions;  ///< folder; empty if there is none
  bool evolves = false;
};

/// An entry of `tasks`: one task, or all that its pattern matches.
void read_entry(settings& entry, const entry_context& context, suite_plan& plan) {
  const std::string pattern =
      path_from(entry, "task", {.doc = "task file, or a pattern (tasks/*/task.yaml)"}, context.directory);
  if (pattern.empty()) entry.fail("task", "the task is missing", "write task: FILE");
  const auto files = matching_files(pattern, entry.place("task"));
  const std::string name =
      entry.text("name", {.def = "", .doc = "name in reports; by default, that of the file"});
  const std::string level = label_from(entry, "level", "level of difficulty, for the report");
  const std::string category =
      label_from(entry, "category", "category, for the report; by default, the task's op_type");
  const auto problem = entry.optional<std::int64_t>(
      "problem", {.min = 0, .doc = "number of the problem in the published suite, for exports"});
  const auto own = solutions_in_entry(entry, context.directory);
  const auto tunables = tunables_of(entry);
  entry.finish();
  if (files.size() > 1 && (!name.empty() || problem || !own.empty())) {
    entry.fail(!name.empty()           ? "name"
               : problem               ? "problem"
               : entry.has("solution") ? "solution"
                                       : "solutions",
               "the pattern of this entry matches several tasks, which cannot share this key",
               "write an entry for each task, or put solutions into the folder 'solutions' of the suite");
  }
  if (context.evolves && !tunables.empty())
    entry.fail("tunables", "this suite evolves its tasks and therefore sets no tunables",
               "remove 'evolve' or this key");
  if (context.evolves && !own.empty())
    entry.fail(entry.has("solution") ? "solution" : "solutions",
               "this suite evolves its tasks and therefore accepts no solutions",
               "remove 'evolve' or this key");
  for (const auto& file : files) {
    suite_task one{.name = name.empty() ? task_name_of(file) : name,
                   .file = file,
                   .named = entry.place("task"),
                   .level = level,
                   .category = category,
                   .problem = problem};
    const auto found =
        own.empty() && !context.solutions.empty() ? solution_files(context.solutions, one.name) : own;
    one.solutions = named_solutions(found, entry.place("task"));
    one.tunables = tunables;
    for (const auto& other : plan.tasks) {
      if (other.name == one.name)
        entry.fail("task", "two tasks are named '" + one.name + "'",
                   "give one of them another name: name: OTHER");
    }
    plan.tasks.push_back(std::move(one));
  }
}

void read_tasks(settings& root, suite_plan& plan) {
  std::string folder;
  if (root.has("solutions")) {
    folder = path_from(root, "solutions",
                       {.doc = "folder with solutions: NAME.* and NAME/* are those of the task NAME"},
                       plan.directory);
    if (!std::filesystem::is_directory(folder))
      root.fail("solutions", "there is no folder '" + folder + "'", path_rule);
    if (plan.evolve)
      root.fail("solutions", "this suite evolves its tasks and therefore accepts no solutions",
                "remove 'evolve' or this key");
  }
  const entry_context context{plan.directory, folder, plan.evolve.has_value()};
  const settings_node* list =
      root.raw("tasks", "the tasks: files, patterns or maps with the key task", "list of texts or maps");
  if (list == nullptr || !list->is_list() || list->items.empty())
    root.fail("tasks", "a suite needs a list of tasks", "tasks: [{task: tasks/softmax/task.yaml}]");
  for (const auto& item : list->items) {
    settings_node map = item;
    if (item.type == settings_node::kind::text) {
      map = settings_node::empty_map();
      map.place = item.place;
      map.set("task", item);
    }
    if (!map.is_map())
      throw error(error_code::input, "expected a task, found " + describe(item), item.place,
                  "write tasks: [{task: tasks/softmax/task.yaml}]");
    settings entry(map);
    read_entry(entry, context, plan);
  }
}

void read_evolution(settings& root, suite_plan& plan) {
  if (!root.has("evolve")) return;
  settings evolve = root.child("evolve", "how each task is evolved: a config and a budget");
  const std::string path =
      path_from(evolve, "config", {.doc = "evolution config that serves as a template"}, plan.directory);
  const auto changes =
      evolve.texts("set", {.doc = "changes of that config, as key=value"}, std::vector<std::string>{});
  if (!std::filesystem::is_regular_file(path))
    evolve.fail("config", "there is no file '" + path + "'", path_rule);
  suite_evolution made{.config = read_config(path, changes), .budget = {}};
  if (const auto* budget = evolve.raw("budget", "stop rule of each run, in place of the config's", "map"))
    made.budget = *budget;
  if (made.budget && !made.budget->is_map())
    evolve.fail("budget", "expected a stop rule, found " + describe(*made.budget),
                "for example, budget: {evaluations: 100}");
  evolve.finish();
  plan.evolve = std::move(made);
}

/// The suite's own settings, else those of the config that evolves, else the defaults of the CPU.
void read_fitness(settings& root, suite_plan& plan) {
  plan.fitness_directory = plan.directory;
  const settings_node* given =
      root.raw("fitness", "how solutions are evaluated, as in an evolution config", "map");
  if (given == nullptr && plan.evolve) {
    given = plan.evolve->config.tree.find("fitness");
    if (given != nullptr) plan.fitness_directory = plan.evolve->config.directory;
  }
  plan.fitness = given != nullptr ? *given : settings_node::empty_map();
  if (!plan.fitness.is_map())
    root.fail("fitness", "expected a map, found " + describe(plan.fitness), "write fitness: {backend: cpu}");
  if (plan.fitness.find("backend") == nullptr) plan.fitness.set("backend", settings_node::of("cpu"));
}

/// Finds unknown keys before the first task. A backend from a plug-in is not asked: it may need a task.
void check_fitness(const suite_plan& plan) {
  const std::string& backend = plan.fitness.find("backend")->text;
  if (plan.plugins->fitness.contains(backend) && !builtin_plugins().fitness.contains(backend)) return;
  const auto* where = plan.fitness.find("device");
  if (backend == "torch" && !plan.devices.empty() && (where == nullptr || where->text != "cuda"))
    throw error(error_code::input, "suite.devices are GPUs, but the tensors are on the CPU",
                {.file = plan.file, .key = "suite.devices"}, "write fitness: {backend: torch, device: cuda}");
  settings reader(
      fitness_for(plan, plan.devices.empty() ? std::nullopt : std::optional(plan.devices.front())));
  plan.plugins->fitness.make(reader, {.directory = plan.fitness_directory, .plugins = plan.plugins.get()},
                             "backend");
  reader.finish();
}

}  // namespace

settings_node fitness_for(const suite_plan& plan, std::optional<std::int64_t> device) {
  settings_node node = plan.fitness;
  // The backend torch calls the kind of device `device`, and its number `gpu`.
  const auto* backend = node.find("backend");
  const bool torch = backend != nullptr && backend->text == "torch";
  if (device) node.set(torch ? "gpu" : "device", settings_node::of(*device));
  return node;
}

any_fitness make_fitness(const suite_plan& plan, std::shared_ptr<const task> t,
                         std::optional<std::int64_t> device) {
  settings reader(fitness_for(plan, device));
  const build_context context{.task = std::move(t),
                              .directory = plan.fitness_directory,
                              .run_directory = plan.output,
                              .builds = plan.parallel,
                              .plugins = plan.plugins.get()};
  any_fitness made = plan.plugins->fitness.make(reader, context, "backend");
  reader.finish();
  return made;
}

suite_plan load_suite(const std::string& path, const std::vector<std::string>& overrides) {
  const config_source source = read_config(path, overrides);
  settings root(source.tree);
  suite_plan plan;
  plan.file = path;
  plan.directory = source.directory;
  // A task of PyTorch on a GPU often needs most of the memory. Beside a second one its programs would run out
  // of it, and would be blamed.
  read_suite(root, torch_on_gpu(source.tree) ? 1 : 2, plan);
  auto plugins = std::make_shared<registry>(builtin_plugins());
  for (const auto& library :
       paths_from(root, "plugins", {.doc = "shared libraries that register additional plug-ins"},
                  source.directory, std::vector<std::string>{}))
    load_plugin(library, *plugins, root.place("plugins"));
  plan.plugins = std::move(plugins);
  read_evolution(root, plan);
  read_tasks(root, plan);
  read_fitness(root, plan);
  root.finish();
  check_fitness(plan);
  plan.resolved = dump_yaml(root.resolved());
  return plan;
}

}  // namespace kevo
