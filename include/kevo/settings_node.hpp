#pragma once
// The contents of a config or task file after parsing and before decoding: a tree of values, each with its
// place in the file.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <kevo/error.hpp>

namespace kevo {

struct settings_entry;

/// A value in a config: a scalar, a list, or a map with its keys in file order. A value type; copies are
/// deep.
struct settings_node {
  /// The kinds of values.
  enum class kind : std::uint8_t { null, boolean, integer, real, text, list, map };

  kind type = kind::null;    ///< decides which of the members below are set
  bool boolean = false;      ///< for booleans
  std::int64_t integer = 0;  ///< for integers
  double real = 0;           ///< for real numbers
  bool quoted = false;       ///< for texts: written in quotes, so that the text starts one column later
  std::string text;          ///< the value of a text; for other scalars, the text in the file ("1e3")
  std::vector<settings_node> items;     ///< for lists
  std::vector<settings_entry> entries;  ///< for maps
  /// File, line and column of the value; `key` is its dotted path ("vary.operators[0].steps").
  error_place place;

  settings_node() = default;
  /// A node with the given value.
  static settings_node of(bool value);
  static settings_node of(std::int64_t value);
  static settings_node of(double value);
  static settings_node of(std::string value);
  static settings_node of(const char* value);
  template <class T>
  static settings_node of(const std::vector<T>& values);
  /// A map without entries.
  static settings_node empty_map();

  bool is_map() const { return type == kind::map; }
  bool is_list() const { return type == kind::list; }
  bool is_scalar() const { return !is_map() && !is_list(); }

  /// The value of `key` in a map; a null pointer if there is none.
  const settings_node* find(std::string_view key) const;
  settings_node* find(std::string_view key);
  /// Adds or replaces an entry of a map; a node of another kind becomes a map. Returns a reference to the
  /// value, valid until the next change of the map.
  settings_node& set(std::string_view key, settings_node value);
};

/// A key of a map, with its value and the place of the key in the file.
struct settings_entry {
  std::string key;
  settings_node value;
  int line = 0;    ///< from 1; 0 if the key is not from a file
  int column = 0;  ///< from 1; 0 if the key is not from a file
};

/// The path of `key` below `base`: "archive" and "bins" give "archive.bins". If `base` is a JSON pointer
/// ("/axes", or "/" for the root), the result is a JSON pointer.
inline std::string path_below(const std::string& base, std::string_view key) {
  if (base.empty()) return std::string(key);
  if (base == "/") return base + std::string(key);
  return base + (base.front() == '/' ? '/' : '.') + std::string(key);
}
/// The path of element `index` of the list `base`: "vary.operators[0]" or "/workloads/0".
inline std::string path_below(const std::string& base, std::size_t index) {
  if (!base.empty() && base.front() == '/') return path_below(base, std::to_string(index));
  return base + '[' + std::to_string(index) + ']';
}

/// A description of a value for messages: "a map", "the integer 3", "the text 'abc'".
std::string describe(const settings_node& node);

/// The shortest decimal text that reads back as `value` and that is written as a real number (for
/// example "1.0" or "1e+30").
inline std::string real_text(double value) {
  char buffer[32] = {};
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // "inf" and "nan" hold an n
  return text;
}

inline settings_node settings_node::of(bool value) {
  settings_node node;
  node.type = kind::boolean;
  node.boolean = value;
  node.text = value ? "true" : "false";
  return node;
}
inline settings_node settings_node::of(std::int64_t value) {
  settings_node node;
  node.type = kind::integer;
  node.integer = value;
  node.text = std::to_string(value);
  return node;
}
inline settings_node settings_node::of(double value) {
  settings_node node;
  node.type = kind::real;
  node.real = value;
  node.text = real_text(value);
  return node;
}
inline settings_node settings_node::of(std::string value) {
  settings_node node;
  node.type = kind::text;
  node.text = std::move(value);
  return node;
}
inline settings_node settings_node::of(const char* value) {
  return of(std::string(value));
}
template <class T>
settings_node settings_node::of(const std::vector<T>& values) {
  settings_node node;
  node.type = kind::list;
  for (const auto& value : values) node.items.push_back(of(value));
  return node;
}
inline settings_node settings_node::empty_map() {
  settings_node node;
  node.type = kind::map;
  return node;
}

inline const settings_node* settings_node::find(std::string_view key) const {
  for (const auto& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}
inline settings_node* settings_node::find(std::string_view key) {
  for (auto& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}
inline settings_node& settings_node::set(std::string_view key, settings_node value) {
  type = kind::map;
  if (settings_node* old = find(key)) {
    *old = std::move(value);
    return *old;
  }
  entries.push_back({std::string(key), std::move(value), 0, 0});
  return entries.back().value;
}

inline std::string describe(const settings_node& node) {
  const std::string shown = node.text.size() > 40 ? node.text.substr(0, 40) + "..." : node.text;
  switch (node.type) {
    case settings_node::kind::null:
      return "nothing";
    case settings_node::kind::boolean:
      return node.boolean ? "the boolean true" : "the boolean false";
    case settings_node::kind::integer:
      return "the integer " + shown;
    case settings_node::kind::real:
      return "the number " + shown;
    case settings_node::kind::text:
      return "the text '" + shown + "'";
    case settings_node::kind::list:
      return "a list";
    case settings_node::kind::map:
      return "a map";
  }
  return "something";
}

}  // namespace kevo
