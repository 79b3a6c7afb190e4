#pragma once
// The reader for configs: a decoder asks for each key with its type, range, unit, default and description.
// The reader records these, so that it can reject unknown keys, print every default and generate the
// reference.

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

/// What is known of a setting of type T: `reader.integer("evaluations", {.def = 400, .min = 1, .unit =
/// "evaluations", .doc = "stop after so many"})`. Without `def` the key must be given.
template <class T>
struct setting {
  std::optional<T> def{};    ///< the value if the key is absent
  std::optional<T> min{};    ///< smallest allowed value
  std::optional<T> max{};    ///< largest allowed value
  std::optional<T> above{};  ///< values must be greater than this
  std::string unit{};        ///< "s", "bytes", "evaluations", ...
  std::string doc{};         ///< description in one line, for the reference
  std::vector<T> one_of{};   ///< if not empty, the only allowed values
};

/// One key of a config as its decoder described it.
struct setting_description {
  std::string path;  ///< dotted
  std::string type;  ///< "integer", "real", "boolean", "text", "list of real", "map", ...
  std::string unit;
  std::string def;    ///< the default as it is written in a config; empty if the key is required
  std::string range;  ///< "1 .. 10", ">= 1", "one of: a, b"; empty if anything goes
  std::string doc;
  bool required = false;
};

/// Reads one map of a config. Copies share what they remember; it keeps the tree it was made from alive. Not
/// thread-safe. Every failure throws kevo::error (input) with file, line, column, dotted key and a hint.
class settings {
 public:
  /// Reads `node`, which must be a map (or nothing at all, which is an empty map).
  explicit settings(settings_node node)
      : settings(std::make_shared<const settings_node>(std::move(node)), false) {}

  /// A reader without a file behind it that gives defaults, and zeros where there is none, and never misses a
  /// key: a decoder run on it describes all its keys.
  static settings probe() {
    return {std::make_shared<const settings_node>(settings_node::empty_map()), true};
  }

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
  /// The value, or nothing if the key is absent or null.
  template <class T>
  std::optional<T> optional(std::string_view key, setting<T> what = {});

  /// Lists of scalars; bounds apply to each element.
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

  /// T is bool, an integer type, double, std::string, or a std::vector of int64_t, double or string.
  template <class T>
  T get(std::string_view key, const std::string& doc = {});
  template <class T>
  T get_or(std::string_view key, T def, const std::string& doc = {});

  /// Whether the key is written in the file (even as null). Does not count as reading it.
  bool has(std::string_view key) const { return node_->find(key) != nullptr; }
  /// The keys written in the file, in file order: for maps whose keys are the user's.
  std::vector<std::string> keys() const {
    std::vector<std::string> result;
    for (const auto& entry : node_->entries) result.push_back(entry.key);
    return result;
  }
  /// Fails unless the key is written.
  void require(std::string_view key) {
    if (!has(key) && !probing_) missing(key);
  }

  /// The map under `key`. `child` fails where it is absent, `child_or_empty` reads an empty map there.
  settings child(std::string_view key, std::string doc = {}) {
    require(key);
    return child_or_empty(key, std::move(doc));
  }
  settings child_or_empty(std::string_view key, std::string doc = {});
  /// The maps in the list under `key`; absent is an empty list, if allowed.
  std::vector<settings> children(std::string_view key, bool required = true, std::string doc = {});

  /// The raw value under `key` (null pointer where absent): it counts as read with all that it holds. Valid
  /// while the reader or a copy lives.
  const settings_node* raw(std::string_view key, std::string doc = {}, std::string type = "value");
  const settings_node& raw() const { return *node_; }
  /// Replaces what `resolved()` says of a key, e.g. by what a raw value was decoded to.
  void resolve(std::string_view key, settings_node value) { slot_of(key).value = std::move(value); }

  /// Throws kevo::error (input) at the place of `key`.
  [[noreturn]] void fail(std::string_view key, const std::string& message,
                         const std::string& hint = {}) const {
    throw error(error_code::input, message, place(key), hint);
  }
  /// Where the value of `key` is written, or this map where it is absent; `key` is always set.
  error_place place(std::string_view key) const {
    const settings_node* value = node_->find(key);
    error_place result = value != nullptr ? value->place : node_->place;
    result.key = path_of(key);
    return result;
  }
  const error_place& place() const { return node_->place; }
  bool probing() const { return probing_; }

  /// Fails if this map, or a child that was read, contains a key that the decoder did not ask for.
  void finish() const { finish(*record_); }

  /// All values that were read, including defaults, in the order of reading.
  settings_node resolved() const { return resolved(*record_); }
  /// The descriptions of all keys that were asked for, children included, in the order of reading.
  std::vector<setting_description> descriptions() const {
    std::vector<setting_description> result;
    describe_into(*record_, result);
    return result;
  }

 private:
  struct record;
  struct slot {
    std::string key;
    settings_node value;                            ///< what `resolved` shows, unless there are children
    std::vector<std::shared_ptr<record>> children;  ///< one for a map, any number for a list of maps
    bool list = false;
    setting_description description;
  };
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
