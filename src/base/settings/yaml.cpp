#include "src/base/settings/yaml.hpp"

#include <charconv>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_values = 1000000;

std::size_t count_values(const settings_node& node) {
  std::size_t count = 1;
  for (const auto& item : node.items) count += count_values(item);
  for (const auto& entry : node.entries) count += count_values(entry.value);
  return count;
}

std::size_t depth_of(const settings_node& node) {
  std::size_t deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const auto& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
  return deepest + 1;
}

void set_paths(settings_node& node, std::string path) {
  for (std::size_t i = 0; i < node.items.size(); ++i) set_paths(node.items[i], path_below(path, i));
  for (auto& entry : node.entries) set_paths(entry.value, path_below(path, entry.key));
  node.place.key = std::move(path);
}

// Builds the tree from the parser's events: they come with a mark for every key and value, duplicates can be
// seen, and refusing to go deeper here also keeps the parser's own recursion within its stack.
class tree_builder final : public YAML::EventHandler {
 public:
  explicit tree_builder(std::string file) : file_(std::move(file)) {}

  bool complete() const { return root_.has_value(); }
  settings_node take() { return std::move(*root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_)
      fail(mark, "a second document starts here", "a file must contain one document only: remove the '---'");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, {}, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag == "!" || tag == "tag:yaml.org,2002:str") {
      settings_node node = settings_node::of(value);
      node.quoted = tag == "!";
      scalar(mark, std::move(node), anchor);
    } else {
      known_tag(mark, tag);
      scalar(mark, resolve_scalar(value), anchor);
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias refers to a value that contains the alias itself");
    settings_node copy = found->second;
    count(mark, count_values(copy));
    if (open_.size() + depth_of(copy) > max_depth)
      fail(mark, "lists and maps are nested more than 64 levels deep");
    add(mark, std::move(copy), 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, settings_node::kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, settings_node::kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct open_node {
    settings_node node;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::optional<settings_entry> key;  ///< of a map whose value is still to come
  };

  error_place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1, {}}; }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message,
                         const std::string& hint = {}) const {
    throw error(error_code::input, message, place(mark), hint);
  }

  void count(const YAML::Mark& mark, std::size_t n) {
    count_ += n;
    if (count_ > max_values)
      fail(mark, "more than a million values", "check for aliases that are nested in aliases");
  }

  void known_tag(const YAML::Mark& mark, const std::string& tag) const {
    static const std::string core = "tag:yaml.org,2002:";
    if (!tag.empty() && tag != "?" && tag.substr(0, core.size()) != core)
      fail(mark, "unknown tag '" + tag + "'");
  }

  void scalar(const YAML::Mark& mark, settings_node node, YAML::anchor_t anchor) {
    count(mark, 1);
    node.place = place(mark);
    add(mark, std::move(node), anchor);
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, settings_node::kind type) {
    if (open_.size() >= max_depth) fail(mark, "lists and maps are nested more than 64 levels deep");
    known_tag(mark, tag);
    if (!open_.empty() && open_.back().node.is_map() && !open_.back().key) {
      fail(mark, "a key must be a word or a string, not a list or a map");
    }
    count(mark, 1);
    open_node opened;
    opened.node.type = type;
    opened.node.place = place(mark);
    opened.mark = mark;
    opened.anchor = anchor;
    open_.push_back(std::move(opened));
  }

  void close() {
    open_node closed = std::move(open_.back());
    open_.pop_back();
    add(closed.mark, std::move(closed.node), closed.anchor);
  }

  void add(const YAML::Mark& mark, settings_node node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    open_node& parent = open_.back();
    if (parent.node.is_list()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      if (!node.is_scalar() || node.type == settings_node::kind::null)
        fail(mark, "a key must be a word or a string");
      for (const auto& entry : parent.node.entries) {
        if (entry.key != node.text) continue;
        error_place where = place(mark);
        where.key = path_below(path(), node.text);
        throw error(error_code::input, "duplicate key '" + node.text + "'", std::move(where),
                    "the key is already defined in line " + std::to_string(entry.line));
      }
      parent.key = settings_entry{node.text, {}, mark.line + 1, mark.column + 1};
    } else {
      parent.key->value = std::move(node);
      parent.node.entries.push_back(std::move(*parent.key));
      parent.key.reset();
    }
  }

  std::string path() const {
    std::string result;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const open_node& outer = open_[i];
      result = outer.key ? path_below(result, outer.key->key) : path_below(result, outer.node.items.size());
    }
    return result;
  }

  std::string file_;
  std::vector<open_node> open_;
  std::optional<settings_node> root_;
  std::map<YAML::anchor_t, settings_node> anchors_;
  std::size_t count_ = 0;
};

// The integer or real number that all of `text` is.
std::optional<settings_node> number(const std::string& text) {
  std::string_view digits = text;
  const bool negative = digits.front() == '-';
  if (digits.front() == '-' || digits.front() == '+') digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  if (digits == ".inf" || digits == ".Inf" || digits == ".INF") {
    return settings_node::of(negative ? -std::numeric_limits<double>::infinity()
                                      : std::numeric_limits<double>::infinity());
  }
  int base = 10;
  if (digits.substr(0, 2) == "0x") base = 16;
  if (digits.substr(0, 2) == "0o") base = 8;
  const std::string body = (negative ? "-" : "") + std::string(base == 10 ? digits : digits.substr(2));
  const char* const end = body.data() + body.size();
  std::int64_t integer = 0;
  const auto whole = std::from_chars(body.data(), end, integer, base);
  if (whole.ec == std::errc() && whole.ptr == end) return settings_node::of(integer);
  if (base != 10 || digits.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return std::nullopt;
  double real = 0;
  const auto fraction = std::from_chars(body.data(), end, real);
  if (fraction.ptr != end || (fraction.ec != std::errc() && fraction.ec != std::errc::result_out_of_range)) {
    return std::nullopt;
  }
  if (fraction.ec == std::errc::result_out_of_range) real = std::strtod(body.c_str(), nullptr);
  return settings_node::of(real);
}

}  // namespace

settings_node resolve_scalar(std::string text) {
  settings_node node;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    node.text = std::move(text);
    return node;
  }
  if (text == "true" || text == "True" || text == "TRUE")
    node = settings_node::of(true);
  else if (text == "false" || text == "False" || text == "FALSE")
    node = settings_node::of(false);
  else if (text == ".nan" || text == ".NaN" || text == ".NAN")
    node = settings_node::of(std::nan(""));
  else if (auto parsed = number(text))
    node = std::move(*parsed);
  else
    node.type = settings_node::kind::text;
  node.text = std::move(text);
  return node;
}

settings_node parse_yaml(std::string_view text, const std::string& file) {
  tree_builder builder(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    error_place place{file, 0, 0, {}};
    if (!e.mark.is_null()) place.line = e.mark.line + 1, place.column = e.mark.column + 1;
    const bool tab = e.msg.find("tab") != std::string::npos;
    throw error(error_code::input, "not valid YAML: " + e.msg, std::move(place),
                tab ? "indent with spaces" : "");
  }
  settings_node root;
  if (builder.complete()) {
    root = builder.take();
  } else {
    root.place = {file, 1, 1, {}};
  }
  set_paths(root, {});
  return root;
}

settings_node load_yaml(const std::string& path) {
  return parse_yaml(read_text_file(path), path);
}

namespace {

// Whether a text needs no quotes, in block and in flow style.
bool is_plain(const std::string& text) {
  static constexpr std::string_view first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
  static constexpr std::string_view rest =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.+-";
  if (text.empty() || first.find(text.front()) == std::string_view::npos) return false;
  if (text.find_first_not_of(rest) != std::string::npos) return false;
  return resolve_scalar(text).type == settings_node::kind::text;
}

std::string quoted(const std::string& text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += digits[byte >> 4U];
      result += digits[byte & 15U];
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string scalar_text(const settings_node& node) {
  switch (node.type) {
    case settings_node::kind::null:
      return "null";
    case settings_node::kind::boolean:
      return node.boolean ? "true" : "false";
    case settings_node::kind::integer:
      return std::to_string(node.integer);
    case settings_node::kind::real:
      if (std::isnan(node.real)) return ".nan";
      if (std::isinf(node.real)) return node.real < 0 ? "-.inf" : ".inf";
      return real_text(node.real);
    default:
      return is_plain(node.text) ? node.text : quoted(node.text);
  }
}

std::string key_text(const std::string& key) {
  return is_plain(key) || (!key.empty() && key.find_first_not_of("0123456789") == std::string::npos)
             ? key
             : quoted(key);
}

bool is_flat(const settings_node& node) {
  if (node.is_scalar()) return true;
  if (node.is_map()) return node.entries.empty();
  for (const auto& item : node.items) {
    if (!is_flat(item)) return false;
  }
  return true;
}

void dump_flat(const settings_node& node, std::string& out) {
  if (node.is_map()) {
    out += "{}";
  } else if (node.is_list()) {
    out += '[';
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (i > 0) out += ", ";
      dump_flat(node.items[i], out);
    }
    out += ']';
  } else {
    out += scalar_text(node);
  }
}

// Writes a map or list whose first line starts where `out` ends (`indent` columns in).
void dump_block(const settings_node& node, std::size_t indent, std::string& out) {
  const auto put = [&](const settings_node& value, std::size_t inner, bool after_key) {
    if (is_flat(value)) {
      if (after_key) out += ' ';
      dump_flat(value, out);
      out += '\n';
    } else {
      if (after_key) out += '\n' + std::string(inner, ' ');
      dump_block(value, inner, out);
    }
  };
  bool first = true;
  if (node.is_map()) {
    for (const auto& entry : node.entries) {
      if (!first) out.append(indent, ' ');
      first = false;
      out += key_text(entry.key) + ':';
      put(entry.value, indent + 2, true);
    }
  } else {
    for (const auto& item : node.items) {
      if (!first) out.append(indent, ' ');
      first = false;
      out += "- ";
      put(item, indent + 2, false);
    }
  }
}

}  // namespace

std::string dump_yaml(const settings_node& node) {
  std::string out;
  if (is_flat(node)) {
    dump_flat(node, out);
    out += '\n';
  } else {
    dump_block(node, 0, out);
  }
  return out;
}

}  // namespace kevo
