#pragma once
// The reader for configs. A decoder asks it for each key, with type, range, unit, default and description.
// The reader records these, so that it can reject unknown keys, print every default and generate the
// reference of all keys.

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>
#include <kevo/settings_node.hpp>

namespace kevo {

/// The declaration of a setting of type T, as in
/// `reader.integer("evaluations", {.def = 400, .min = 1, .unit = "evaluations", .doc = "budget"})`.
/// Without `def` the key is required.
template <class T>
struct setting {
  std::optional<T> def{};    ///< the value if the key is absent
  std::optional<T> min{};    ///< smallest allowed value
  std::optional<T> max{};    ///< largest allowed value
  std::optional<T> above{};  ///< values must be greater than this
  std::string unit{};        ///< "s", "bytes", "evaluations", ...
  std::string doc{};         ///< description in one line, for the reference of all keys
  std::vector<T> one_of{};   ///< if not empty, the only allowed values
};

/// The description of one key of a config, as its decoder declared it.
struct setting_description {
  std::string path;       ///< dotted, e.g. "search.seed"
  std::string type;       ///< "integer", "real", "boolean", "text", "list of real", "map", ...
  std::string unit;       ///< unit of the value; empty if it has none
  std::string def;        ///< the default as it is written in a config; empty if the key is required
  std::string range;      ///< "1 .. 10", ">= 1", "one of: a, b"; empty if all values are allowed
  std::string doc;        ///< description in one line
  bool required = false;  ///< whether the key has no default
};

/// A reader of one map of a config. Copies share the record of what was read. A reader shares ownership of
/// the tree that it reads. Not thread-safe. Every failure throws kevo::error (input) with file, line, column,
/// dotted key and, where there is one, a hint.
class settings {
 public:
  /// A reader of `node`, which must be a map, or null, which counts as an empty map.
  explicit settings(settings_node node)
      : settings(std::make_shared<const settings_node>(std::move(node)), false) {}

  /// A reader without a file, to obtain the descriptions of all keys of a decoder. It returns the default of
  /// each key; for a required key the minimum, the first allowed value or zero. A missing key is not an
  /// error.
  static settings probe() {
    return {std::make_shared<const settings_node>(settings_node::empty_map()), true};
  }

  /// The value of a scalar key; its default if the key is absent or null. Fails if a key without a default is
  /// absent, if the value has another type, or if it is outside the bounds of `what`.
  bool boolean(std::string_view key, const setting<bool>& what = {}) {
    return scalar<bool>(key, what, "boolean");
  }
  std::int64_t integer(std::string_view key, const setting<std::int64_t>& what = {}) {
    return scalar<std::int64_t>(key, what, "integer");
  }
  double real(std::string_view key, const setting<double>& what = {}) {
    return scalar<double>(key, what, "real");
  }
  std::string text(std::string_view key, const setting<std::string>& what = {}) {
    return scalar<std::string>(key, what, "text");
  }
  /// The value of an optional key; nothing if the key is absent or null.
  template <class T>
  std::optional<T> optional(std::string_view key, setting<T> what = {});

  /// The value of a list of scalars; `def` is used if the key is absent. The bounds apply to each element.
  std::vector<std::int64_t> integers(std::string_view key, const setting<std::int64_t>& what = {},
                                     std::optional<std::vector<std::int64_t>> def = std::nullopt) {
    return scalars(key, what, std::move(def), "list of integers");
  }
  std::vector<double> reals(std::string_view key, const setting<double>& what = {},
                            std::optional<std::vector<double>> def = std::nullopt) {
    return scalars(key, what, std::move(def), "list of reals");
  }
  std::vector<std::string> texts(std::string_view key, const setting<std::string>& what = {},
                                 std::optional<std::vector<std::string>> def = std::nullopt) {
    return scalars(key, what, std::move(def), "list of texts");
  }

  /// The value of a required key (`get`), or of a key with a default (`get_or`). T is bool, an integer type,
  /// double, std::string, or a std::vector of int64_t, double or string.
  template <class T>
  T get(std::string_view key, const std::string& doc = {});
  template <class T>
  T get_or(std::string_view key, T def, const std::string& doc = {});

  /// Whether the key is in the file, even as null. Does not count as reading the key.
  bool has(std::string_view key) const { return node_->find(key) != nullptr; }
  /// The keys in the file, in file order. For maps whose keys the user chooses.
  std::vector<std::string> keys() const {
    std::vector<std::string> result;
    for (const auto& entry : node_->entries) result.push_back(entry.key);
    return result;
  }
  /// Fails unless the key is in the file; never fails while probing.
  void require(std::string_view key) {
    if (!has(key) && !probing_) missing(key);
  }

  /// A reader of the map under `key`. If the key is absent, `child` fails and `child_or_empty` reads an empty
  /// map.
  settings child(std::string_view key, std::string doc = {}) {
    require(key);
    return child_or_empty(key, std::move(doc));
  }
  settings child_or_empty(std::string_view key, std::string doc = {});
  /// Readers of the maps in the list under `key`. An absent key is an empty list, or an error if `required`.
  std::vector<settings> children(std::string_view key, bool required = true, std::string doc = {});

  /// The value under `key` without conversion; a null pointer if the key is absent. The value and everything
  /// in it count as read. Valid while this reader or a copy of it exists.
  const settings_node* raw(std::string_view key, std::string doc = {}, std::string type = "value");
  /// The whole map without conversion.
  const settings_node& raw() const { return *node_; }
  /// Sets the value of a key in `resolved()`, e.g. the decoded form of a raw value.
  void resolve(std::string_view key, settings_node value) { slot_of(key).value = std::move(value); }

  /// Throws kevo::error (input) that names the place of `key`.
  [[noreturn]] void fail(std::string_view key, const std::string& message,
                         const std::string& hint = {}) const {
    throw error(error_code::input, message, place(key), hint);
  }
  /// The place of the value of `key`, or of this map if the key is absent. The field `key` of the result is
  /// always set.
  error_place place(std::string_view key) const {
    const settings_node* value = node_->find(key);
    error_place result = value != nullptr ? value->place : node_->place;
    result.key = path_of(key);
    return result;
  }
  /// The place of this map.
  const error_place& place() const { return node_->place; }
  /// Whether this reader was made by `probe()`.
  bool probing() const { return probing_; }

  /// Fails if this map, or a child map that was read, contains a key that was not read.
  void finish() const { finish(*record_); }

  /// A map of all values that were read, defaults included, in the order of reading.
  settings_node resolved() const { return resolved(*record_); }
  /// The descriptions of all keys that were read, those of child maps included, in the order of reading.
  std::vector<setting_description> descriptions() const {
    std::vector<setting_description> result;
    describe_into(*record_, result);
    return result;
  }

 private:
  struct record;
  /// One key that was read.
  struct slot {
    std::string key;
    settings_node value;                            ///< for `resolved`, unless there are children
    std::vector<std::shared_ptr<record>> children;  ///< one for a map, any number for a list of maps
    bool list = false;
    setting_description description;
  };
  /// What was read of one map.
  struct record {
    std::shared_ptr<const settings_node> node;
    std::vector<slot> slots;
  };

  settings(std::shared_ptr<const settings_node> node, bool probing)
      : node_(std::move(node)), record_(std::make_shared<record>()), probing_(probing) {
    if (node_->type == settings_node::kind::null) {
      auto empty = settings_node::empty_map();
      empty.place = node_->place;
      node_ = std::make_shared<const settings_node>(std::move(empty));
    }
    if (!node_->is_map())
      throw error(error_code::input, "expected a map, found " + describe(*node_), node_->place);
    record_->node = node_;
  }

  std::string path_of(std::string_view key) const { return path_below(node_->place.key, key); }

  slot& slot_of(std::string_view key) {
    for (auto& existing : record_->slots) {
      if (existing.key == key) return existing;
    }
    record_->slots.push_back({std::string(key), {}, {}, false, {}});
    record_->slots.back().description.path = path_of(key);
    return record_->slots.back();
  }

  [[noreturn]] void missing(std::string_view key) const {
    std::vector<std::string> unread;
    for (const auto& entry : node_->entries) {
      bool read = false;
      for (const auto& known : record_->slots) read = read || known.key == entry.key;
      if (!read) unread.push_back(entry.key);
    }
    const auto near = detail::nearest(key, unread);
    fail(key, "this key is missing",
         near ? "check whether '" + *near + "' is a misspelling of it" : std::string());
  }

  template <class T>
  static std::string text_of(const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      return value;
    else
      return settings_node::of(value).text;
  }
  template <class T>
  static std::string range_of(const setting<T>& what);
  template <class T>
  T convert(const settings_node& value, const error_place& where) const;
  template <class T>
  void check(const T& value, const setting<T>& what, const error_place& where) const;
  template <class T>
  T scalar(std::string_view key, const setting<T>& what, const char* type);
  template <class T>
  std::vector<T> scalars(std::string_view key, const setting<T>& what, std::optional<std::vector<T>> def,
                         const char* type);

  static void finish(const record& of);
  static settings_node resolved(const record& of);
  static void describe_into(const record& of, std::vector<setting_description>& result);

  std::shared_ptr<const settings_node> node_;
  std::shared_ptr<record> record_;
  bool probing_ = false;
};

}  // namespace kevo

#include <kevo/detail/settings_reader.hpp>
