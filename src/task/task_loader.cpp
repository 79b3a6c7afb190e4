#include "src/task/task_loader.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "src/base/settings/json.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/task/allowed_file.hpp"
#include "src/task/evaluator_folder.hpp"
#include "src/task/source_file.hpp"

namespace kevo {
namespace {

constexpr std::size_t largest_contents = std::size_t{1} << 32U;

std::vector<settings_node> traces_of(const settings_node& root, const std::string& path,
                                     const std::string& given) {
  if (!given.empty()) return load_json_lines(given);
  const std::filesystem::path file(path);
  auto beside = file;
  beside.replace_extension(".jsonl");
  std::vector<std::filesystem::path> places = {beside};
  const auto* op_type = root.find("op_type");
  const auto* name = root.find("name");
  // The layout of FlashInfer's data set, definitions/<op_type>/<name>.json and
  // workloads/<op_type>/<name>.jsonl, and that of the example in FlashInfer-Bench, without folders of types.
  if (op_type != nullptr && name != nullptr && op_type->text.find('/') == std::string::npos &&
      name->text.find('/') == std::string::npos) {
    places.push_back(file.parent_path() / ".." / ".." / "workloads" / op_type->text /
                     (name->text + ".jsonl"));
    places.push_back(file.parent_path() / ".." / "workloads" / (name->text + ".jsonl"));
  }
  for (const auto& place : places) {
    std::error_code failed;
    if (std::filesystem::is_regular_file(place, failed)) return load_json_lines(place.string());
  }
  return {};
}

}  // namespace

task load_task(const std::string& path, const std::string& workloads) {
  if (std::error_code failed; std::filesystem::is_directory(path, failed))
    return task_of_evaluator_folder(path);
  const bool json = std::filesystem::path(path).extension() == ".json";
  const settings_node root = json ? load_json(path) : load_yaml(path);
  const source_reader read = [&](const std::string& file, const std::string& language,
                                 const error_place& named) {
    const std::string found = path_beside(path, file);
    require_allowed_file(path, found, named);
    return load_program(found, language, named);
  };
  const contents_reader contents = [&](const std::string& file, const error_place& named) {
    const std::string found = path_beside(path, file);
    require_allowed_file(path, found, named);
    return read_binary_file(found, largest_contents, named);
  };
  return decode_task(root, read,
                     json                ? traces_of(root, path, workloads)
                     : workloads.empty() ? std::vector<settings_node>()
                                         : load_json_lines(workloads),
                     contents);
}

}  // namespace kevo
