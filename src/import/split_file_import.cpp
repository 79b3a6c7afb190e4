#include "src/import/split_file_import.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/exact_parse.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/base/text/utf8.hpp"
#include "src/import/output_tasks.hpp"
#include "src/import/tested_import.hpp"

namespace kevo {
namespace importing {
namespace {

constexpr std::size_t usual_separator = 146;
constexpr std::size_t shortest_separator = 100;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The name in "def NAME(" at the begin of a line; empty for other lines.
std::string defined_name(std::string_view line) {
  if (!line.starts_with("def ")) return {};
  line.remove_prefix(4);
  std::string name;
  for (const char c : line) {
    if (!is_name_char(c)) break;
    name += c;
  }
  return name;
}

std::size_t hashes_in(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line.find_first_not_of('#') == std::string_view::npos ? line.size() : 0;
}

/// Whether `text` calls a function: its name, not as the end of another, before a parenthesis.
bool calls(std::string_view text, const std::string& name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || (!is_name_char(text[at - 1]) && text[at - 1] != '.');
    const auto end = at + name.size();
    const bool defined = at >= 4 && text.substr(at - 4, 4) == "def ";
    if (begins && !defined && end < text.size() && text[end] == '(') return true;
  }
  return false;
}

}  // namespace

std::optional<split_file> split_at_hashes(std::string_view text) {
  split_file file;
  const auto lines = lines_of(text);
  // A test may contain lines of hashes of its own.
  const auto usual = std::count_if(lines.begin(), lines.end(),
                                   [](std::string_view line) { return hashes_in(line) == usual_separator; });
  std::size_t separators = 0;
  for (const auto line : lines) {
    const std::size_t hashes = hashes_in(line);
    if (usual == 1 ? hashes == usual_separator : hashes >= shortest_separator) {
      ++separators;
      continue;
    }
    (separators == 0 ? file.reference : file.test) += std::string(line) + '\n';
    const std::string name = defined_name(line);
    if (separators == 0 && !name.empty()) file.functions.push_back(name);
    if (separators == 0) continue;
    if (file.test_function.empty() && name.starts_with("test_")) file.test_function = name;
    for (const std::string_view word : {"results[\"", "results['", "results[f\"", "results[f'"})
      file.cases += line.find(word) != std::string_view::npos ? 1 : 0;
  }
  return separators == 1 ? std::optional(std::move(file)) : std::nullopt;
}

std::string entry_of(const split_file& file, const std::string& stem) {
  const auto defines = [&](const std::string& name) {
    return std::find(file.functions.begin(), file.functions.end(), name) != file.functions.end();
  };
  if (defines(stem)) return stem;
  if (defines("kernel_function")) return "kernel_function";
  for (auto name = file.functions.rbegin(); name != file.functions.rend(); ++name) {
    if (calls(file.test, *name)) return *name;
  }
  return {};
}

}  // namespace importing

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// What a suite says of its problems, by the file that it names: "Math/div.py", "div.py".
using problem_rows = std::map<std::string, json::object>;

std::string row_text(const json::object& row, std::string_view key) {
  const auto* found = row.if_contains(key);
  if (found == nullptr) return {};
  if (found->is_string()) return std::string(found->as_string());
  return found->is_int64() ? std::to_string(found->as_int64()) : std::string();
}

problem_rows rows_in(const std::vector<fs::path>& places) {
  problem_rows rows;
  for (const auto& place : places) {
    std::error_code unreadable;
    if (!fs::is_regular_file(place, unreadable)) continue;
    json::value all;
    try {
      all = parse_json_exactly(read_text_file(place.string(), std::size_t{64} << 20U));
    } catch (const error& wrong) {
      throw error(wrong.code(), wrong.message(),
                  {.file = place.string(), .line = wrong.place().line, .key = {}});
    }
    if (!all.is_array())
      throw error(error_code::input, "expected a list of problems", {.file = place.string(), .key = {}});
    for (auto& row : all.as_array()) {
      if (row.is_object()) rows[row_text(row.as_object(), "file")] = std::move(row.as_object());
    }
    break;
  }
  return rows;
}

// KernelBench-X's contract of a quantized operator, in kevo's words; what kevo does not know stays out.
std::optional<settings_node> contract_of(const json::object& row) {
  const auto* given = row.if_contains("precision_thresholds");
  if (given == nullptr || !given->is_object()) return std::nullopt;
  constexpr std::pair<const char*, const char*> words[] = {
      {"cosine_sim", "min_cosine"}, {"l1_relative", "max_relative_l1"}, {"rmse", "max_rmse"}};
  settings_node made = settings_node::empty_map();
  made.set("rule", settings_node::of("finite"));
  bool any = false;
  for (const auto& [theirs, ours] : words) {
    const auto* limit = given->as_object().if_contains(theirs);
    if (limit == nullptr || !limit->is_number()) continue;
    made.set(ours, settings_node::of(limit->to_number<double>()));
    any = true;
  }
  return any ? std::optional(made) : std::nullopt;
}

settings_node draft_of(const std::string& suite, const suite_import_task& made, const std::string& entry,
                       const json::object& row) {
  settings_node root = settings_node::empty_map();
  root.set("name", settings_node::of(made.name));
  root.set("op_type", settings_node::of(made.category.empty() ? "other" : made.category));
  const std::string description = as_utf8(row_text(row, "description"));
  if (!description.empty()) root.set("description", settings_node::of(description));
  std::vector<std::string> tags = {"suite:" + suite};
  if (const auto level = row_text(row, "difficulty"); !level.empty()) tags.push_back("level:" + level);
  root.set("tags", settings_node::of(tags));
  settings_node reference = settings_node::empty_map();
  reference.set("language", settings_node::of("python"));
  reference.set("file", settings_node::of("reference.py"));
  reference.set("form", settings_node::of("function"));
  if (!entry.empty()) reference.set("entry", settings_node::of(entry));
  root.set("reference", std::move(reference));
  if (auto contract = contract_of(row)) root.set("tolerance", std::move(*contract));
  return root;
}

std::string text_of_draft(const std::string& suite, const settings_node& root) {
  const std::string missing = root.find("tolerance") != nullptr
                                  ? "inputs, outputs and workloads"
                                  : "inputs, outputs, workloads and a tolerance";
  return "# Written by kevo import " + suite +
         ". Not complete: the inputs are made by the Python code in test.py.\n# Add axes, " + missing +
         ", and call this file task.yaml.\n" + dump_yaml(root);
}

/// What all problems of an import have in common.
struct split_import {
  std::string suite;
  fs::path root;       ///< the folder with the files
  std::string output;  ///< the folder for the tasks
  problem_rows rows;
  importing::test_runner* runner = nullptr;  ///< null: only drafts are written
  std::set<std::string> taken;               ///< names of folders
};

/// A first part that takes PyTorch from the imports of the test is no program by itself.
std::string with_imports(const importing::split_file& file) {
  const std::string line = "import torch\n";
  const bool has = file.reference.find("import torch") != std::string::npos;
  return has || file.test.find(line) == std::string::npos ? file.reference : line + "\n" + file.reference;
}

/// The modules of the suite that a test imports: Python files of the folder utils beside its data.
std::vector<source_file> helpers_of(const std::string& test, const fs::path& root) {
  std::vector<source_file> found;
  std::error_code unreadable;
  const fs::path folder = fs::absolute(root).lexically_normal().parent_path().parent_path() / "utils";
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().stem().string();
    const bool asked = test.find("from " + name + " import") != std::string::npos ||
                       test.find("import " + name) != std::string::npos;
    if (entry.path().extension() == ".py" && asked)
      found.push_back({name + ".py", read_text_file(entry.path().string())});
  }
  return found;
}

suite_import_task import_split_file(split_import& with, const fs::path& file) {
  const auto& [suite, root, output, rows, runner, taken] = with;
  const std::string stem = file.stem().string();
  suite_import_task made{.name = stem, .folder = {}, .category = {}, .draft = true, .notes = {}};
  try {
    const auto split = importing::split_at_hashes(read_text_file(file.string()));
    if (!split)
      throw error(error_code::input,
                  "it must have exactly one line of '#' characters, between the reference and the test");
    const std::string entry = importing::entry_of(*split, stem);
    if (entry.empty() && runner == nullptr)
      made.notes.emplace_back(
          "its test calls no function of its first part, so that the draft names no entry");
    if (!with.taken.insert(importing::file_name_of(stem)).second)
      throw error(error_code::input, "another problem has this name");
    const fs::path inside = file.lexically_relative(root);
    auto found = rows.find(inside.generic_string());
    if (found == rows.end()) found = rows.find(inside.filename().string());
    const json::object row = found == rows.end() ? json::object() : found->second;
    if (inside.has_parent_path()) made.category = inside.parent_path().begin()->string();
    made.cases = split->cases;
    if (found == rows.end() && !rows.empty())
      made.notes.emplace_back("the list of problems of the suite does not have it");
    if (row.contains("precision_thresholds")) {
      const auto rule = json::serialize(row.at("precision_thresholds"));
      made.notes.push_back(contract_of(row) ? "its rule " + rule + " is the tolerance"
                                            : "its rule " + rule + " is stored only in problem.json");
    }
    const fs::path folder = importing::fresh_task_folder(output, stem);
    const std::string reference = with_imports(*split);
    importing::write_file(folder / "reference.py", reference);
    importing::write_file(folder / "test.py", split->test);
    importing::write_file(folder / "problem.json",
                          json::serialize(json::object{{"suite", suite},
                                                       {"file", as_utf8(inside.generic_string())},
                                                       {"entry", entry},
                                                       {"test", split->test_function},
                                                       {"cases", split->cases},
                                                       {"given", row}}) +
                              '\n');
    const auto draft = draft_of(suite, made, entry, row);
    importing::write_file(folder / "task.draft.yaml", text_of_draft(suite, draft));
    made.folder = folder.string();
    if (runner != nullptr)
      runner->complete({stem, reference, split->test, entry, helpers_of(split->test, root)}, draft,
                       made.folder, made);
  } catch (const error& wrong) {
    if (wrong.code() != error_code::input) throw;
    made.notes.emplace_back(wrong.what());
  }
  return made;
}

/// @param path the folder that is searched for problems
/// @param root the folder of the suite: `path`, or one that has it
suite_import import_split_files(const std::string& suite, const std::string& path, const fs::path& root,
                                const std::string& output, const std::vector<fs::path>& lists,
                                const tested_import& how) {
  std::vector<fs::path> files;
  std::error_code unreadable;
  for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, unreadable),
       end;
       !unreadable && at != end; at.increment(unreadable)) {
    if (at->is_regular_file(unreadable) && at->path().extension() == ".py") files.push_back(at->path());
  }
  if (files.empty())
    throw error(error_code::input, "this folder contains no problems", {.file = path, .key = {}},
                "give the folder with the Python files of the suite");
  std::sort(files.begin(), files.end());
  split_import with{suite, root, output, rows_in(lists), nullptr, {}};
  std::optional<importing::test_runner> runner;
  if (!how.drafts) with.runner = &runner.emplace(how);
  importing::open_output(output);
  suite_import report{.suite = suite, .output = output, .suite_file = {}, .tasks = {}};
  for (const auto& file : files) {
    report.tasks.push_back(import_split_file(with, file));
    if (how.done) how.done(report.tasks.back());
  }
  importing::write_suite(report, "task.yaml", how.device, true);
  return report;
}

/// PATH without a slash at its end, and with something behind it.
fs::path beside(const std::string& path, const char* ending) {
  return fs::absolute(path + "/.").lexically_normal().parent_path().string() + ending;
}

/// Where the problems of KernelBench-X are: PATH may be its repository, the folder of its data, that of its
/// problems, or one category of these. `root` has the list of problems beside it.
struct problem_folder {
  std::string path;
  fs::path root;
};

problem_folder kernelbench_x_folder(const std::string& path) {
  const fs::path given = beside(path, "");
  std::error_code unreadable;
  for (const fs::path& inside : {given / "data" / "kernelbenchx", given / "kernelbenchx"}) {
    if (fs::is_directory(inside, unreadable)) return {inside.string(), inside};
  }
  for (fs::path root = given; root.has_relative_path(); root = root.parent_path()) {
    if (fs::is_regular_file(beside(root.string(), "_v1.json"), unreadable)) return {given.string(), root};
  }
  return {given.string(), given};
}

}  // namespace

suite_import import_tritonbench(const std::string& path, const std::string& output,
                                const tested_import& how) {
  const fs::path root = beside(path, "");
  return import_split_files("tritonbench", root.string(), root, output,
                            {beside(path, ".jsonl"), beside(path, ".json")}, how);
}

suite_import import_kernelbench_x(const std::string& path, const std::string& output,
                                  const tested_import& how) {
  const auto [folder, root] = kernelbench_x_folder(path);
  return import_split_files("kernelbench-x", folder, root, output,
                            {beside(root.string(), "_v1.json"), beside(root.string(), ".json")}, how);
}

}  // namespace kevo
