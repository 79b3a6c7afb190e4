#include "src/import/output_tasks.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/settings/yaml.hpp"

namespace kevo {

std::size_t suite_import::imported() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const suite_import_task& t) { return !t.folder.empty(); }));
}

std::size_t suite_import::drafts() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const suite_import_task& t) { return !t.folder.empty() && t.draft; }));
}

namespace importing {
namespace {

namespace fs = std::filesystem;

/// Marks a folder as written by an importer.
constexpr const char* mark = ".kevo_import";

}  // namespace

std::string file_name_of(std::string_view name) {
  std::string safe;
  for (const char c : name.substr(0, 120)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !safe.empty());
    safe += plain ? c : '_';
  }
  return safe.empty() ? "unnamed" : safe;
}

void open_output(const std::string& folder) {
  std::error_code wrong;
  const bool empty =
      !fs::exists(folder, wrong) || (fs::is_directory(folder, wrong) && fs::is_empty(folder, wrong));
  if (!empty && !fs::exists(fs::path(folder) / mark, wrong)) {
    throw error(error_code::input,
                "the folder contains files that are not from an import; they might be overwritten",
                {.file = folder, .key = {}}, "choose an empty or new folder with --output");
  }
  fs::create_directories(folder, wrong);
  if (wrong)
    throw error(error_code::environment, "cannot make the folder: " + wrong.message(),
                {.file = folder, .key = {}}, "choose a writable folder with --output");
  write_file(fs::path(folder) / mark, "tasks in this folder were written by kevo import\n");
}

fs::path fresh_task_folder(const std::string& output, const std::string& name) {
  fs::path folder = fs::path(output) / file_name_of(name);
  std::error_code wrong;
  fs::remove_all(folder, wrong);
  if (!wrong) fs::create_directories(folder, wrong);
  if (wrong)
    throw error(error_code::environment, "cannot make the folder: " + wrong.message(),
                {.file = folder.string(), .key = {}}, "choose a writable folder with --output");
  return folder;
}

void write_file(const fs::path& path, std::string_view text) {
  std::error_code wrong;
  fs::create_directories(path.parent_path(), wrong);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw error(error_code::environment, "cannot write this file; check the free disk space",
                {.file = path.string(), .key = {}});
}

void write_suite(suite_import& report, std::string_view task_file, const std::string& torch_device,
                 bool solutions) {
  settings_node tasks;
  tasks.type = settings_node::kind::list;
  for (const auto& one : report.tasks) {
    if (one.folder.empty() || one.draft) continue;
    const std::string folder = fs::path(one.folder).filename().string();
    settings_node entry = settings_node::empty_map();
    entry.set("task", settings_node::of(folder + "/" + std::string(task_file)));
    if (!one.category.empty()) entry.set("category", settings_node::of(one.category));
    if (one.solutions > 0) {
      settings_node list;
      list.type = settings_node::kind::list;
      list.items.push_back(settings_node::of(folder + "/solutions/*"));
      entry.set("solutions", std::move(list));
    }
    tasks.items.push_back(std::move(entry));
  }
  if (tasks.items.empty()) return;
  settings_node root = settings_node::empty_map();
  settings_node suite = settings_node::empty_map();
  suite.set("name", settings_node::of(report.suite));
  root.set("suite", std::move(suite));
  settings_node fitness = settings_node::empty_map();
  fitness.set("backend", settings_node::of("torch"));
  fitness.set("device", settings_node::of(torch_device));
  root.set("fitness", std::move(fitness));
  if (solutions) root.set("solutions", settings_node::of("solutions"));
  root.set("tasks", std::move(tasks));
  report.suite_file = (fs::path(report.output) / "suite.yaml").string();
  write_file(report.suite_file,
             "# Written by kevo import " + report.suite + "; kevo bench reads it." +
                 (solutions ? " The solution of a task NAME is solutions/NAME.py.\n" : "\n") +
                 dump_yaml(root));
}

}  // namespace importing
}  // namespace kevo
