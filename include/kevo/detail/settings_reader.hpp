#pragma once
// The member functions of class settings. Include <kevo/settings.hpp> instead.

#include <kevo/settings.hpp>

namespace kevo {

template <class T>
std::string settings::range_of(const setting<T>& what) {
  if (!what.one_of.empty()) {
    std::string list = "one of: ";
    for (std::size_t i = 0; i < what.one_of.size(); ++i)
      list += (i == 0 ? "" : ", ") + text_of<T>(what.one_of[i]);
    return list;
  }
  if constexpr (std::is_arithmetic_v<T>) {
    if (what.min && what.max) return text_of<T>(*what.min) + " .. " + text_of<T>(*what.max);
    if (what.above && what.max) return "> " + text_of<T>(*what.above) + ", <= " + text_of<T>(*what.max);
    if (what.min) return ">= " + text_of<T>(*what.min);
    if (what.above) return "> " + text_of<T>(*what.above);
    if (what.max) return "<= " + text_of<T>(*what.max);
  }
  return {};
}

template <class T>
T settings::convert(const settings_node& value, const error_place& where) const {
  using kind = settings_node::kind;
  const auto wrong = [&](const char* expected, const char* hint) {
    throw error(error_code::input, std::string("expected ") + expected + ", found " + describe(value), where,
                hint);
  };
  if constexpr (std::is_same_v<T, bool>) {
    if (value.type != kind::boolean) wrong("true or false", "write true or false, without quotes");
    return value.boolean;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    if (value.type == kind::integer) return value.integer;
    // 1e6 is accepted as an integer. Beyond 2^53 a double no longer identifies one integer.
    if (value.type == kind::real && std::abs(value.real) <= 9007199254740992.0 &&
        std::trunc(value.real) == value.real) {
      return static_cast<std::int64_t>(value.real);
    }
    wrong("an integer", value.type == kind::text ? "write it without quotes, underscores or units" : "");
  } else if constexpr (std::is_same_v<T, double>) {
    if (value.type == kind::integer) return static_cast<double>(value.integer);
    if (value.type != kind::real)
      wrong("a number", value.type == kind::text ? "write it without quotes or units" : "");
    if (!std::isfinite(value.real)) wrong("a finite number", "");
    return value.real;
  } else {
    static_assert(std::is_same_v<T, std::string>);
    if (value.type != kind::text) wrong("text", value.is_scalar() ? "put it in quotes" : "");
    return value.text;
  }
  return T{};
}

template <class T>
void settings::check(const T& value, const setting<T>& what, const error_place& where) const {
  const std::string unit = what.unit.empty() ? "" : ' ' + what.unit;
  const auto refuse = [&](const std::string& demand, const std::string& hint) {
    throw error(error_code::input, "must be " + demand + ", not " + text_of<T>(value), where, hint);
  };
  if constexpr (std::is_arithmetic_v<T>) {
    if (what.min && value < *what.min) refuse("at least " + text_of<T>(*what.min) + unit, "");
    if (what.above && !(value > *what.above)) refuse("more than " + text_of<T>(*what.above) + unit, "");
    if (what.max && value > *what.max) refuse("at most " + text_of<T>(*what.max) + unit, "");
  }
  if (!what.one_of.empty()) {
    std::vector<std::string> words;
    for (const T& allowed : what.one_of) {
      if (allowed == value) return;
      words.push_back(text_of<T>(allowed));
    }
    refuse(range_of(what), detail::hint_for(text_of<T>(value), words, "valid values"));
  }
}

template <class T>
T settings::scalar(std::string_view key, const setting<T>& what, const char* type) {
  const settings_node* value = node_->find(key);
  slot& mine = slot_of(key);
  mine.description.type = type;
  mine.description.unit = what.unit;
  mine.description.doc = what.doc;
  mine.description.range = range_of(what);
  mine.description.required = !what.def;
  mine.description.def = what.def ? text_of<T>(*what.def) : std::string();
  if (value == nullptr || (value->type == settings_node::kind::null && what.def)) {
    if (!what.def && !probing_) missing(key);
    T result = what.def              ? *what.def
               : what.min            ? *what.min
               : what.one_of.empty() ? T{}
                                     : T(what.one_of.front());
    mine.value = settings_node::of(result);
    mine.value.place.key = path_of(key);
    return result;
  }
  T result = convert<T>(*value, place(key));
  check(result, what, place(key));
  mine.value = settings_node::of(result);
  mine.value.place = place(key);
  return result;
}

template <class T>
std::optional<T> settings::optional(std::string_view key, setting<T> what) {
  const settings_node* value = node_->find(key);
  what.def = T{};
  const bool absent = value == nullptr || value->type == settings_node::kind::null;
  const char* type = std::is_same_v<T, bool>          ? "boolean"
                     : std::is_same_v<T, double>      ? "real"
                     : std::is_same_v<T, std::string> ? "text"
                                                      : "integer";
  T result = scalar<T>(key, what, type);
  slot_of(key).description.def = "null";
  if (!absent) return result;
  slot_of(key).value = {};
  return std::nullopt;
}

template <class T>
std::vector<T> settings::scalars(std::string_view key, const setting<T>& what,
                                 std::optional<std::vector<T>> def, const char* type) {
  const settings_node* value = node_->find(key);
  slot& mine = slot_of(key);
  mine.description.type = type;
  mine.description.unit = what.unit;
  mine.description.doc = what.doc;
  mine.description.range = range_of(what);
  mine.description.required = !def;
  if (def) {
    mine.description.def = "[";
    for (std::size_t i = 0; i < def->size(); ++i)
      mine.description.def += (i == 0 ? "" : ", ") + text_of<T>((*def)[i]);
    mine.description.def += "]";
  }
  std::vector<T> result;
  if (value == nullptr) {
    if (!def && !probing_) missing(key);
    if (def) result = std::move(*def);
  } else {
    if (!value->is_list())
      fail(key, "expected a list, found " + describe(*value), "write a list as [a, b, c]");
    for (const auto& item : value->items) {
      T one = convert<T>(item, item.place);
      check(one, what, item.place);
      result.push_back(std::move(one));
    }
  }
  mine.value = settings_node::of(result);
  mine.value.place = place(key);
  return result;
}

template <class T>
T settings::get(std::string_view key, const std::string& doc) {
  if constexpr (std::is_same_v<T, bool>) {
    return boolean(key, {.doc = doc});
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(integer(
        key, {.min = std::is_unsigned_v<T> ? 0 : static_cast<std::int64_t>(std::numeric_limits<T>::min()),
              .max = sizeof(T) >= 8 ? std::numeric_limits<std::int64_t>::max()
                                    : static_cast<std::int64_t>(std::numeric_limits<T>::max()),
              .doc = doc}));
  } else if constexpr (std::is_same_v<T, double>) {
    return real(key, {.doc = doc});
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text(key, {.doc = doc});
  } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
    return integers(key, {.doc = doc});
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return reals(key, {.doc = doc});
  } else {
    static_assert(std::is_same_v<T, std::vector<std::string>>, "settings::get knows no such type");
    return texts(key, {.doc = doc});
  }
}

template <class T>
T settings::get_or(std::string_view key, T def, const std::string& doc) {
  if constexpr (std::is_same_v<T, bool>) {
    return boolean(key, {.def = def, .doc = doc});
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(integer(
        key, {.def = static_cast<std::int64_t>(def),
              .min = std::is_unsigned_v<T> ? 0 : static_cast<std::int64_t>(std::numeric_limits<T>::min()),
              .max = sizeof(T) >= 8 ? std::numeric_limits<std::int64_t>::max()
                                    : static_cast<std::int64_t>(std::numeric_limits<T>::max()),
              .doc = doc}));
  } else if constexpr (std::is_same_v<T, double>) {
    return real(key, {.def = def, .doc = doc});
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text(key, {.def = std::move(def), .doc = doc});
  } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
    return integers(key, {.doc = doc}, std::move(def));
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return reals(key, {.doc = doc}, std::move(def));
  } else {
    static_assert(std::is_same_v<T, std::vector<std::string>>, "settings::get_or knows no such type");
    return texts(key, {.doc = doc}, std::move(def));
  }
}

inline settings settings::child_or_empty(std::string_view key, std::string doc) {
  const settings_node* value = node_->find(key);
  std::shared_ptr<const settings_node> node;
  if (value != nullptr) {
    if (!value->is_map() && value->type != settings_node::kind::null) {
      fail(key, "expected a map, found " + describe(*value));
    }
    node = {node_, value};  // keeps the whole tree alive
  } else {
    auto empty = settings_node::empty_map();
    empty.place = place(key);
    node = std::make_shared<const settings_node>(std::move(empty));
  }
  settings reader(std::move(node), probing_);
  slot& mine = slot_of(key);
  if (!mine.children.empty()) {  // read before: use the same record
    reader.record_ = mine.children.front();
    return reader;
  }
  mine.children = {reader.record_};
  mine.description.type = "map";
  mine.description.doc = std::move(doc);
  return reader;
}

inline std::vector<settings> settings::children(std::string_view key, bool required, std::string doc) {
  const settings_node* value = node_->find(key);
  if (value == nullptr && required && !probing_) missing(key);
  if (value != nullptr && !value->is_list()) {
    fail(key, "expected a list, found " + describe(*value),
         "write [{...}, {...}], or one line with '- ' for each map");
  }
  std::vector<settings> readers;
  if (value != nullptr) {
    for (const auto& item : value->items) {
      readers.push_back(settings(std::shared_ptr<const settings_node>(node_, &item), probing_));
    }
  }
  slot& mine = slot_of(key);
  mine.children.clear();
  for (const auto& reader : readers) mine.children.push_back(reader.record_);
  mine.list = true;
  mine.description.type = "list of maps";
  mine.description.required = required;
  mine.description.doc = std::move(doc);
  return readers;
}

inline const settings_node* settings::raw(std::string_view key, std::string doc, std::string type) {
  const settings_node* value = node_->find(key);
  slot& mine = slot_of(key);
  mine.description.type = std::move(type);
  mine.description.doc = std::move(doc);
  if (value != nullptr) mine.value = *value;
  return value;
}

inline void settings::finish(const record& of) {
  for (const auto& entry : of.node->entries) {
    std::vector<std::string> known;
    bool read = false;
    for (const auto& mine : of.slots) {
      known.push_back(mine.key);
      read = read || mine.key == entry.key;
    }
    if (read) continue;
    error_place place = entry.value.place;
    if (entry.line > 0) place.line = entry.line, place.column = entry.column;
    throw error(error_code::input, "unknown key", std::move(place), detail::hint_for(entry.key, known));
  }
  for (const auto& mine : of.slots) {
    for (const auto& child : mine.children) finish(*child);
  }
}

inline settings_node settings::resolved(const record& of) {
  settings_node result = settings_node::empty_map();
  result.place = of.node->place;
  for (const auto& mine : of.slots) {
    if (mine.list) {
      settings_node list;
      list.type = settings_node::kind::list;
      for (const auto& child : mine.children) list.items.push_back(resolved(*child));
      result.set(mine.key, std::move(list));
    } else {
      result.set(mine.key, mine.children.empty() ? mine.value : resolved(*mine.children.front()));
    }
  }
  return result;
}

inline void settings::describe_into(const record& of, std::vector<setting_description>& result) {
  for (const auto& mine : of.slots) {
    result.push_back(mine.description);
    for (const auto& child : mine.children) describe_into(*child, result);
  }
}

}  // namespace kevo
