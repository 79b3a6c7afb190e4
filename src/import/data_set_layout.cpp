#include "src/import/data_set_layout.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/text/text_file.hpp"
#include "src/import/data_set_definition.hpp"
#include "src/import/output_tasks.hpp"

namespace kevo::importing {
namespace {

namespace fs = std::filesystem;

/// The text of a key of the JSON object in a file; `otherwise` if it cannot be read: whoever imports the file
/// says what is wrong.
std::string key_of_file(const fs::path& file, std::string_view key, const std::string& otherwise) {
  try {
    return text_of(object_in(read_text_file(file.string(), largest_data_set_text), file.string()), key);
  } catch (const error&) {
    return otherwise;
  }
}

/// Solutions by the Definition that they name; those that cannot be read are given to every Definition of
/// their folder's name.
std::map<std::string, std::vector<fs::path>> solutions_by_definition(const fs::path& folder) {
  std::map<std::string, std::vector<fs::path>> found;
  for (const auto& file : files_below(folder, ".json"))
    found[key_of_file(file, "definition", file.parent_path().filename().string())].push_back(file);
  return found;
}

/// The root of the data set with a Definition in definitions/[OP_TYPE/]; else the folder of the Definition.
fs::path root_of_definition(const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  fs::path root = folder;
  while (root.has_relative_path() && root.filename() != "definitions") root = root.parent_path();
  return root.filename() == "definitions" ? root.parent_path() : folder;
}

/// Where the workloads of a Definition may be.
/// @param name of the Definition
std::vector<fs::path> workload_places(const fs::path& root, const fs::path& definition,
                                      const std::string& name) {
  const fs::path below = fs::absolute(definition).lexically_relative(fs::absolute(root) / "definitions");
  std::vector<std::string> names = {definition.stem().string()};
  const std::string own = file_name_of(name);
  if (!name.empty() && own != names.front()) names.push_back(own);
  std::vector<fs::path> places;
  for (const auto& [folder, ending] :
       {std::pair{"workloads", ".jsonl"}, std::pair{"traces/workloads", ".workload.jsonl"},
        std::pair{"traces/workloads", ".jsonl"}}) {
    for (const auto& one : names) {
      places.push_back(root / folder / below.parent_path() / (one + ending));
      places.push_back(root / folder / (one + ending));
    }
  }
  for (const auto& one : names) places.push_back(definition.parent_path() / (one + ".jsonl"));
  return places;
}

std::vector<std::string> left_over_solutions(const fs::path& root,
                                             const std::map<std::string, std::vector<fs::path>>& solutions,
                                             const std::map<std::string, std::string>& stems) {
  std::vector<std::string> notes;
  for (const auto& [of, files] : solutions) {
    const auto similar = std::find_if(stems.begin(), stems.end(),
                                      [&, &named = of](const auto& one) { return one.second == named; });
    for (const auto& file : files) {
      std::string next = "add the Definition, or correct the key 'definition' of the solution";
      if (similar != stems.end()) {
        next = fmt::format("the Definition in the file {}.json has the name '{}'; if it is meant, write that",
                           similar->second, similar->first);
      }
      notes.push_back(fmt::format("{}: the data set has no Definition with the name '{}' ({})",
                                  file.lexically_relative(root).string(), of, next));
    }
  }
  return notes;
}

std::vector<std::string> left_over_workloads(const fs::path& root,
                                             const std::vector<data_set_entry>& entries) {
  std::set<fs::path> known;
  for (const auto& entry : entries) {
    for (const auto& file : entry.workloads) known.insert(file.lexically_normal());
  }
  std::vector<std::string> notes;
  for (const char* folder : {"workloads", "traces/workloads"}) {
    for (const auto& file : files_below(root / folder, ".jsonl")) {
      if (known.contains(file.lexically_normal())) continue;
      notes.push_back(
          fmt::format("{}: no Definition has the name of this file of workloads (add the Definition, or give "
                      "the file the name of the Definition that its lines name)",
                      file.lexically_relative(root).string()));
    }
  }
  return notes;
}

}  // namespace

std::vector<fs::path> files_below(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, unreadable),
       end;
       !unreadable && at != end; at.increment(unreadable)) {
    if (at->is_regular_file(unreadable) && at->path().extension() == ending) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

data_set_layout flashinfer_layout(const std::string& path) {
  std::error_code unreadable;
  const bool single = fs::is_regular_file(path, unreadable);
  const fs::path root = single ? root_of_definition(path) : fs::path(path);
  const auto definitions = single ? std::vector<fs::path>{path} : files_below(root / "definitions", ".json");
  if (definitions.empty()) {
    throw error(error_code::input, "this folder contains no definitions", {.file = path, .key = {}},
                "give the root of a FlashInfer-Bench data set, which has the folder definitions");
  }
  auto solutions = solutions_by_definition(root / "solutions");
  data_set_layout set;
  std::map<std::string, std::string> stems;  // name of a Definition -> that of its file
  for (const auto& file : definitions) {
    const std::string stem = file.stem().string();
    const std::string name = key_of_file(file, "name", stem);
    stems[name] = stem;
    data_set_entry entry{
        .root = root, .definition = file, .workloads = workload_places(root, file, name), .solutions = {}};
    if (const auto own = solutions.find(name); own != solutions.end()) entry.solutions = own->second;
    set.entries.push_back(std::move(entry));
  }
  if (single) return set;
  for (const auto& [name, stem] : stems) solutions.erase(name);
  set.left_over = left_over_solutions(root, solutions, stems);
  for (auto& note : left_over_workloads(root, set.entries)) set.left_over.push_back(std::move(note));
  return set;
}

}  // namespace kevo::importing
