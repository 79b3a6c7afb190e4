#include "src/base/settings/overrides.hpp"

#include <charconv>
#include <system_error>
#include <utility>

#include <kevo/detail/nearest.hpp>

#include "src/base/settings/yaml.hpp"

namespace kevo {
namespace {

/// Stands where the name of the file would, in the place of a value.
constexpr const char* override_mark = "--set ";

void set_place(settings_node& node, const std::string& file, const std::string& path) {
  node.place = {file, 0, 0, path};
  for (std::size_t i = 0; i < node.items.size(); ++i) set_place(node.items[i], file, path_below(path, i));
  for (auto& entry : node.entries) {
    entry.line = entry.column = 0;
    set_place(entry.value, file, path_below(path, entry.key));
  }
}

}  // namespace

bool is_override(const error_place& place) {
  return place.file.starts_with(override_mark);
}

void apply_override(settings_node& root, std::string_view assignment) {
  const std::string file = override_mark + detail::shown(assignment);
  const auto fail = [&](const std::string& message, const std::string& key = {}) {
    throw error(error_code::usage, message, {file, 0, 0, key}, "write --set section.key=value");
  };
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) fail("an override must be an assignment");
  const std::string_view path = assignment.substr(0, equals);
  settings_node value;
  try {
    value = parse_yaml(assignment.substr(equals + 1), file);
  } catch (const error& e) {
    fail(e.message(), std::string(path));
  }

  settings_node* node = &root;
  std::string reached;
  for (std::size_t at = 0; at < path.size();) {
    if (path[at] == '[') {
      const std::size_t close = path.find(']', at);
      std::size_t index = 0;
      const char* const end = path.data() + (close == std::string_view::npos ? at : close);
      const auto parsed = std::from_chars(path.data() + at + 1, std::max(end, path.data() + at + 1), index);
      if (close == std::string_view::npos || parsed.ec != std::errc() || parsed.ptr != end) {
        fail("an index must be a number in brackets", std::string(path));
      }
      if (!node->is_list()) fail("expected a list, found " + describe(*node), reached);
      if (index >= node->items.size()) {
        fail("the index is out of range: the list has only " + std::to_string(node->items.size()) +
                 " elements",
             reached);
      }
      reached = path_below(reached, index);
      node = &node->items[index];
      at = close + 1;
      if (at < path.size() && path[at] != '.' && path[at] != '[')
        fail("'.' or '[' must follow ']'", std::string(path));
      if (at < path.size() && path[at] == '.') ++at;
      if (at == path.size() && path.back() == '.') fail("a key is missing", std::string(path));
      continue;
    }
    const std::size_t end = std::min(path.find_first_of(".[", at), path.size());
    if (end == at) fail("a key is missing", std::string(path));
    const std::string_view key = path.substr(at, end - at);
    if (node->type == settings_node::kind::null) node->type = settings_node::kind::map;
    if (!node->is_map()) fail("expected a map, found " + describe(*node), reached);
    reached = path_below(reached, key);
    settings_node* next = node->find(key);
    if (next == nullptr) {
      settings_node fresh;
      fresh.place = {file, 0, 0, reached};
      next = &node->set(key, std::move(fresh));
    }
    node = next;
    at = end;
    if (at < path.size() && path[at] == '.') {
      ++at;
      if (at == path.size()) fail("a key is missing", std::string(path));
    }
  }
  set_place(value, file, reached);
  *node = std::move(value);
}

}  // namespace kevo
