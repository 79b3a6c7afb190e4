#include "src/task/evaluator_folder.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <kevo/error.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->is_regular_file(failed)) names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The first file that is called by one of these words and any ending, else the first folder.
std::string called(const std::string& folder, const std::vector<std::string>& names,
                   std::initializer_list<std::string_view> words) {
  for (const auto word : words) {
    for (const auto& name : names) {
      if (fs::path(name).stem().string() == word) return name;
    }
  }
  std::error_code failed;
  for (const auto word : words) {
    if (fs::is_directory(fs::path(folder) / word, failed)) return std::string(word);
  }
  return {};
}

std::string config_in(const std::vector<std::string>& names) {
  for (const char* name : {"config.yaml", "config.yml"}) {
    if (has(names, name)) return name;
  }
  for (const auto& name : names) {
    if (name.starts_with("config") && (name.ends_with(".yaml") || name.ends_with(".yml"))) return name;
  }
  return {};
}

/// Values of a file that was written for another program: what is there with the right type counts.
class found_values {
 public:
  explicit found_values(const settings_node* map) : map_(map) {}
  found_values under(std::string_view key) const { return found_values(find(key)); }
  void take(std::string_view key, double& to) const {
    const auto* value = find(key);
    if (value != nullptr && value->type == settings_node::kind::real) to = value->real;
    if (value != nullptr && value->type == settings_node::kind::integer)
      to = static_cast<double>(value->integer);
  }
  void take(std::string_view key, std::int64_t& to) const {
    const auto* value = find(key);
    if (value != nullptr && value->type == settings_node::kind::integer) to = value->integer;
  }
  void take(std::string_view key, bool& to) const {
    const auto* value = find(key);
    if (value != nullptr && value->type == settings_node::kind::boolean) to = value->boolean;
  }
  void take(std::string_view key, std::string& to) const {
    const auto* value = find(key);
    if (value != nullptr && value->type == settings_node::kind::text) to = value->text;
  }
  void take(std::string_view key, std::vector<double>& to) const {
    const auto* value = find(key);
    if (value == nullptr || !value->is_list()) return;
    to.clear();
    for (const auto& item : value->items) {
      if (item.type == settings_node::kind::real) to.push_back(item.real);
      if (item.type == settings_node::kind::integer) to.push_back(static_cast<double>(item.integer));
    }
  }
  void take(std::string_view key, std::vector<std::string>& to) const {
    const auto* value = find(key);
    if (value == nullptr || !value->is_list()) return;
    to.clear();
    for (const auto& item : value->items) {
      if (item.type == settings_node::kind::text) to.push_back(item.text);
    }
  }

 private:
  const settings_node* find(std::string_view key) const {
    return map_ == nullptr || !map_->is_map() ? nullptr : map_->find(key);
  }
  const settings_node* map_;
};

void read_openevolve(evaluator_folder& made) {
  if (made.config.empty()) return;
  const settings_node tree = load_yaml(made.folder + "/" + made.config);
  const found_values all(&tree);
  all.take("max_iterations", made.proposals);
  all.take("random_seed", made.seed);
  all.take("diff_based_evolution", made.edits);
  const auto evaluator = all.under("evaluator");
  evaluator.take("timeout", made.timeout_s);
  evaluator.take("cascade_evaluation", made.cascade);
  evaluator.take("cascade_thresholds", made.thresholds);
  const auto prompt = all.under("prompt");
  prompt.take("system_message", made.message);
  prompt.take("num_top_programs", made.top);
  prompt.take("num_diverse_programs", made.diverse);
  const auto database = all.under("database");
  database.take("feature_dimensions", made.features);
  database.take("feature_bins", made.bins);
  database.take("num_islands", made.islands);
  database.take("migration_interval", made.migration_interval);
  database.take("migration_rate", made.migration_rate);
  database.take("exploration_ratio", made.exploration);
  database.take("exploitation_ratio", made.exploitation);
  database.take("archive_size", made.elites);
}

/// The text in triple quotes behind the first `name = ` of a Python file; empty if there is none.
std::string python_text(std::string_view source, std::string_view name) {
  for (auto at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1)) {
    auto next = source.find_first_not_of(" \t", at + name.size());
    if (next == std::string_view::npos || source[next] != '=') continue;
    next = source.find_first_not_of(" \t(\r\n", next + 1);
    if (next != std::string_view::npos && (source[next] == 'r' || source[next] == 'f')) ++next;
    for (const std::string_view quotes : {"\"\"\"", "'''"}) {
      if (next == std::string_view::npos || source.substr(next, 3) != quotes) continue;
      const auto end = source.find(quotes, next + 3);
      if (end == std::string_view::npos) return {};
      return std::string(source.substr(next + 3, end - next - 3));
    }
  }
  return {};
}

/// The seconds of `time="HH:MM:SS"` in a Python file.
std::optional<double> python_time(std::string_view source) {
  constexpr std::string_view key = "time=\"";
  for (auto at = source.find(key); at != std::string_view::npos; at = source.find(key, at + 1)) {
    const std::string_view text = source.substr(at + key.size(), 8);
    const bool before = at == 0 || std::isalnum(static_cast<unsigned char>(source[at - 1])) == 0;
    if (!before || text.size() < 8 || text[2] != ':' || text[5] != ':') continue;
    double seconds = 0;
    for (const std::size_t part : {0U, 3U, 6U})
      seconds = seconds * 60 + (text[part] - '0') * 10 + (text[part + 1] - '0');
    return seconds;
  }
  return std::nullopt;
}

void read_shinka(evaluator_folder& made, const std::vector<std::string>& names) {
  made.cascade = false;
  made.features.clear();
  made.islands = 2;
  made.proposals = 50;
  made.seed = 1;
  if (has(names, "run_evo.py")) {
    made.config = "run_evo.py";
    const std::string source = read_text_file(made.folder + "/run_evo.py");
    made.message = python_text(source, "task_sys_msg");
    made.timeout_s = python_time(source).value_or(made.timeout_s);
  }
  for (const auto& name : names) {
    if (!name.starts_with("shinka") || !(name.ends_with(".yaml") || name.ends_with(".yml"))) continue;
    const settings_node tree = load_yaml(made.folder + "/" + name);
    const auto evolution = found_values(&tree).under("evo_config");
    evolution.take("task_sys_msg", made.message);
    break;
  }
}

std::string with_default_language(const std::string& file) {
  const std::string known = language_of(file);
  if (!known.empty()) return known;
  std::string ending = fs::path(file).extension().string();
  return ending.size() > 1 ? ending.substr(1) : std::string("text");
}

std::string task_name(const std::string& folder) {
  const fs::path path(folder);
  const std::string name = path.filename().string();
  const bool number =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return number ? path.parent_path().filename().string() + "_" + name : name;  // heilbronn_convex/13
}

}  // namespace

evaluator_folder read_evaluator_folder(const std::string& path, std::optional<evaluator_system> system) {
  evaluator_folder made;
  made.folder = fs::absolute(path).lexically_normal().string();
  while (made.folder.size() > 1 && made.folder.ends_with('/')) made.folder.pop_back();
  const auto names = files_in(made.folder);
  if (!system)
    system = has(names, "evaluate.py") && !has(names, "evaluator.py") ? evaluator_system::shinka
                                                                      : evaluator_system::openevolve;
  made.system = *system;
  const bool shinka = made.system == evaluator_system::shinka;
  made.evaluator = shinka ? "evaluate.py" : "evaluator.py";
  if (!has(names, made.evaluator)) {
    throw error(error_code::input,
                "the folder '" + made.folder + "' holds no " + made.evaluator +
                    ", so it is not an example of " + (shinka ? "ShinkaEvolve" : "OpenEvolve"),
                {.file = path}, "name the folder that holds the evaluator and the initial program");
  }
  if (shinka) {
    made.program = called(made.folder, names, {"initial"});
    read_shinka(made, names);
  } else {
    made.program =
        called(made.folder, names,
               {"initial_program", "init_program", "initial_prompt", "initial_content", "initial"});
    made.config = config_in(names);
    read_openevolve(made);
  }
  return made;
}

task task_of_evaluator_folder(const std::string& path) {
  const evaluator_folder found = read_evaluator_folder(path);
  if (found.program.empty()) {
    throw error(error_code::input,
                "the folder '" + found.folder + "' contains no initial program, which must be called " +
                    (found.system == evaluator_system::shinka ? "initial" : "initial_program"),
                {.file = path},
                "write a task file with seeds: [FILE], and name the folder with fitness.folder");
  }
  settings_node root = settings_node::empty_map();
  root.place.file = found.folder;
  root.set("name", settings_node::of(task_name(found.folder)));
  root.set("description",
           settings_node::of(
               found.message.empty()
                   ? std::string("Improve the program so that its evaluator gives it a higher score.")
                   : found.message));
  settings_node seed = settings_node::empty_map();
  seed.set("file", settings_node::of(found.program));
  const bool several = fs::is_directory(fs::path(found.folder) / found.program);
  if (!several) seed.set("language", settings_node::of(with_default_language(found.program)));
  settings_node seeds;
  seeds.type = settings_node::kind::list;
  seeds.items.push_back(std::move(seed));
  root.set("seeds", std::move(seeds));
  // The program's file keeps its ending, which evaluators look at.
  const source_reader read = [&](const std::string& file, const std::string& language,
                                 const error_place& named) {
    program made = load_program(found.folder + "/" + file, language, named);
    if (several) return made;
    made.files.front().path = "kernel" + fs::path(file).extension().string();
    return made;
  };
  return decode_task(root, read);
}

}  // namespace kevo
