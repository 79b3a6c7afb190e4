#include "src/base/settings/path_setting.hpp"

#include <filesystem>
#include <utility>

#include "src/base/settings/overrides.hpp"
#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::string found(const std::string& text, const error_place& place, bool given_on_command_line,
                  const std::string& directory) {
  if (text.empty()) return text;
  refuse_url(text, place);
  return given_on_command_line ? absolute(text) : path_beside(directory + "/config", text);
}

bool from_command_line(const settings_node* value) {
  return value != nullptr && is_override(value->place);
}

}  // namespace

std::string path_from(settings& from, std::string_view key, const setting<std::string>& what,
                      const std::string& directory) {
  const std::string text = from.text(key, what);
  const bool given = from_command_line(from.raw().find(key));
  const std::string path = found(text, from.place(key), given, directory);
  if (given) from.resolve(key, settings_node::of(path));
  return path;
}

std::vector<std::string> paths_from(settings& from, std::string_view key, const setting<std::string>& what,
                                    const std::string& directory,
                                    std::optional<std::vector<std::string>> def) {
  std::vector<std::string> texts = from.texts(key, what, std::move(def));
  const settings_node* list = from.raw().find(key);
  std::vector<std::string> paths;
  bool any_given = false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool given = list != nullptr && i < list->items.size() && from_command_line(&list->items[i]);
    any_given = any_given || given;
    paths.push_back(found(texts[i], from.place(key), given, directory));
    if (given) texts[i] = paths.back();
  }
  if (any_given) from.resolve(key, settings_node::of(texts));
  return paths;
}

}  // namespace kevo
