#include "src/import/model_configs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <kevo/error.hpp>

#include "src/base/text/text_file.hpp"

namespace kevo::importing {
namespace fs = std::filesystem;
namespace json = boost::json;
namespace {

constexpr std::size_t largest_config = std::size_t{1} << 20U;

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code unknown;
    if (it->is_directory(unknown)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

// "models--ORG--NAME" becomes "ORG/NAME"; empty for other folders.
std::string cached_name(std::string name) {
  constexpr std::string_view start = "models--";
  if (!name.starts_with(start)) return {};
  name.erase(0, start.size());
  if (const auto gap = name.find("--"); gap != std::string::npos) name.replace(gap, 2, "/");
  return name;
}

// The configuration in the cache's folder of a model; an empty path if there is none.
fs::path cached_config(const fs::path& folder) {
  if (const auto main = folder / "refs" / "main"; is_file(main)) {
    auto revision = read_text_file(main.string(), largest_config);
    while (!revision.empty() && (revision.back() == '\n' || revision.back() == ' ')) revision.pop_back();
    if (auto config = folder / "snapshots" / revision / "config.json"; is_file(config)) return config;
  }
  for (const auto& one : folders_in(folder / "snapshots")) {
    if (auto config = one / "config.json"; is_file(config)) return config;
  }
  return {};
}

json::object config_in(const fs::path& file) {
  boost::system::error_code failed;
  const auto value = json::parse(read_text_file(file.string(), largest_config), failed);
  if (failed || !value.is_object())
    throw error(error_code::input, "this configuration of a model is no JSON object", {.file = file.string()},
                "fetch the file again");
  return value.as_object();
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

}  // namespace

std::string usual_model_folder() {
  if (const auto* cache = variable("HF_HUB_CACHE")) return cache;
  if (const auto* home = variable("HF_HOME")) return (fs::path(home) / "hub").string();
  if (const auto* home = variable("HOME")) return (fs::path(home) / ".cache/huggingface/hub").string();
  return {};
}

json::object model_configs(const std::string& folder, std::string_view text) {
  json::object found;
  const auto add = [&](const std::string& name, const fs::path& file) {
    if (!name.empty() && text.find(name) != std::string_view::npos && is_file(file))
      found.insert_or_assign(name, config_in(file));
  };
  for (const auto& outer : folders_in(folder)) {
    const auto name = outer.filename().string();
    if (const auto cached = cached_name(name); !cached.empty()) {
      add(cached, cached_config(outer));
      continue;
    }
    add(name, outer / "config.json");
    if (text.find(name + "/") == std::string_view::npos) continue;
    for (const auto& inner : folders_in(outer))
      add(name + "/" + inner.filename().string(), inner / "config.json");
  }
  return found;
}

}  // namespace kevo::importing
