#include "src/base/settings/json.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include "src/base/text/text_file.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo {
namespace {

// A parser of its own, because the places of values are what errors need, and Boost.JSON's values have none.
class json_reader {
 public:
  json_reader(std::string_view text, std::string file, int first_line)
      : text_(text), file_(std::move(file)), line_(first_line) {}

  settings_node read() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") line_start_ = at_ = 3;
    skip_space();
    settings_node root = read_value("/");
    skip_space();
    if (at_ < text_.size()) fail("unexpected text after the end of the document");
    return root;
  }

 private:
  static constexpr int max_depth = 64;

  error_place place() const { return {file_, line_, static_cast<int>(at_ - line_start_) + 1, path_}; }
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    throw error(error_code::input, "not valid JSON: " + message, place(), hint);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        break;
      }
    }
  }
  void expect(char c, const char* where) {
    if (peek() != c || at_ >= text_.size()) fail(std::string("expected '") + c + "' " + where);
    ++at_;
  }

  settings_node read_value(const std::string& path) {
    path_ = path;
    if (at_ >= text_.size()) fail("a value is missing");
    const error_place where = place();
    settings_node node = read_anything(path);
    node.place = where;
    node.quoted = node.type == settings_node::kind::text;
    return node;
  }

  settings_node read_anything(const std::string& path) {
    switch (peek()) {
      case '{':
        return read_object(path);
      case '[':
        return read_array(path);
      case '"':
        return settings_node::of(read_string());
      default:
        break;
    }
    for (const bool truth : {true, false}) {
      if (accept(truth ? "true" : "false")) return settings_node::of(truth);
    }
    if (accept("null")) return {};
    return read_number();
  }

  bool accept(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  settings_node read_object(const std::string& path) {
    if (++depth_ > max_depth) fail("lists and maps are nested more than 64 levels deep");
    settings_node node = settings_node::empty_map();
    std::unordered_set<std::string> keys;  // recorded tuning spaces have 10^5 of them in one map
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
    } else {
      for (;;) {
        if (peek() != '"') fail("expected a key in double quotes");
        const error_place key_place = place();
        settings_entry entry{read_string(), {}, key_place.line, key_place.column};
        if (!keys.insert(entry.key).second) {
          throw error(
              error_code::input, "duplicate key '" + entry.key + "'", key_place,
              "the key is already defined in line " + std::to_string(node.find(entry.key)->place.line));
        }
        skip_space();
        expect(':', "after the key");
        skip_space();
        entry.value = read_value(path_below(path, escaped(entry.key)));
        path_ = path;
        node.entries.push_back(std::move(entry));
        skip_space();
        if (peek() == '}') break;
        expect(',', "or '}' after a value");
        skip_space();
      }
      ++at_;
    }
    --depth_;
    return node;
  }

  settings_node read_array(const std::string& path) {
    if (++depth_ > max_depth) fail("lists and maps are nested more than 64 levels deep");
    settings_node node;
    node.type = settings_node::kind::list;
    ++at_;
    skip_space();
    if (peek() == ']') {
      ++at_;
    } else {
      for (;;) {
        node.items.push_back(read_value(path_below(path, node.items.size())));
        path_ = path;
        skip_space();
        if (peek() == ']') break;
        expect(',', "or ']' after a value");
        skip_space();
      }
      ++at_;
    }
    --depth_;
    return node;
  }

  // RFC 6901: '~' and '/' in a token of a pointer.
  static std::string escaped(const std::string& key) {
    std::string result;
    for (const char c : key) {
      if (c == '~')
        result += "~0";
      else if (c == '/')
        result += "~1";
      else
        result += c;
    }
    return result;
  }

  settings_node read_number() {
    std::size_t end = at_;
    const auto digits = [&] {
      const std::size_t start = end;
      while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
      return end - start;
    };
    const auto is = [&](std::string_view any) {
      return end < text_.size() && any.find(text_[end]) != std::string_view::npos;
    };
    if (is("-")) ++end;
    const std::size_t first = end;
    const std::size_t whole = digits();
    if (whole == 0) fail("expected a value", "strings are written in double quotes");
    if (whole > 1 && text_[first] == '0') fail("a number with a leading zero");
    bool integer = true;
    if (is(".")) {
      integer = false;
      ++end;
      if (digits() == 0) fail("digits are missing after the decimal point");
    }
    if (is("eE")) {
      integer = false;
      ++end;
      if (is("+-")) ++end;
      if (digits() == 0) fail("digits are missing in the exponent");
    }
    const std::string text(text_.substr(at_, end - at_));
    settings_node node;
    std::int64_t value = 0;
    if (integer && std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
      node = settings_node::of(value);
    } else {
      double real = 0;
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), real);
      if (parsed.ec == std::errc::result_out_of_range) real = std::strtod(text.c_str(), nullptr);
      node = settings_node::of(real);
    }
    node.text = text;
    at_ = end;
    return node;
  }

  std::uint32_t read_hex() {
    std::uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 4 || parsed.ptr != digits.data() + 4) fail("'\\u' needs four hex digits");
    at_ += 4;
    return value;
  }

  std::string read_string() {
    ++at_;
    std::string result;
    for (;;) {
      if (at_ >= text_.size()) fail("a string without its closing quote");
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20)
        fail("a control character in a string", "write \\n for a line break");
      ++at_;
      if (c != '\\') {
        result += c;
        continue;
      }
      const char escape = peek();
      static constexpr std::string_view from = "\"\\/bfnrt";
      static constexpr std::string_view to = "\"\\/\b\f\n\r\t";
      if (const auto plain = from.find(escape); at_ < text_.size() && plain != std::string_view::npos) {
        ++at_;
        result += to[plain];
      } else if (escape == 'u') {
        ++at_;
        std::uint32_t point = read_hex();
        if (point == 0) fail("a NUL character in a string");
        if (point >= 0xD800 && point < 0xDC00 && accept("\\u")) {
          const std::uint32_t low = read_hex();
          if (low < 0xDC00 || low > 0xDFFF) fail("an unpaired surrogate");
          point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
        } else if (point >= 0xD800 && point < 0xE000) {
          fail("an unpaired surrogate");
        }
        append_utf8(result, point);
      } else {
        fail("an unknown escape sequence in a string");
      }
    }
    ++at_;
    return result;
  }

  std::string_view text_;
  std::string file_;
  std::string path_ = "/";
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  int depth_ = 0;
};

}  // namespace

std::string json_of(const settings_node& node) {
  using kind = settings_node::kind;
  switch (node.type) {
    case kind::null:
      return "null";
    case kind::boolean:
      return node.boolean ? "true" : "false";
    case kind::integer:
      return std::to_string(node.integer);
    case kind::real:
      return boost::json::serialize(boost::json::value(node.real));
    case kind::text:
      return boost::json::serialize(boost::json::string(node.text));
    case kind::list:
    case kind::map:
      break;
  }
  std::string text;
  for (const auto& item : node.items) text += (text.empty() ? "" : ", ") + json_of(item);
  for (const auto& entry : node.entries)
    text += (text.empty() ? "" : ", ") + boost::json::serialize(boost::json::string(entry.key)) + ": " +
            json_of(entry.value);
  return node.is_map() ? "{" + text + "}" : "[" + text + "]";
}

settings_node parse_json(std::string_view text, const std::string& file, int first_line) {
  return json_reader(text, file, first_line).read();
}

settings_node load_json(const std::string& path) {
  return parse_json(read_text_file(path), path);
}

std::vector<settings_node> load_json_lines(const std::string& path) {
  const std::string text = read_text_file(path);
  std::vector<settings_node> result;
  int line = 1;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view one = std::string_view(text).substr(start, end - start);
    if (one.find_first_not_of(" \t\r") != std::string_view::npos)
      result.push_back(parse_json(one, path, line));
    start = end + 1;
  }
  return result;
}

}  // namespace kevo
