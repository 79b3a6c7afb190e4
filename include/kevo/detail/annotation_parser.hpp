#pragma once
// The parser of annotations. Include <kevo/annotation.hpp> instead.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/detail/annotation_line.hpp>
#include <kevo/detail/annotation_types.hpp>
#include <kevo/detail/literal.hpp>
#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>

namespace kevo::detail {

inline constexpr std::array<std::string_view, 6> launch_words = {"launch", "when",      "for",
                                                                 "memset", "workspace", "tensormap"};
inline constexpr std::array<std::string_view, 10> annotation_words = {
    "require", "begin", "end", "build", "launch", "when", "for", "memset", "workspace", "tensormap"};

/// What may stand before an EVOLVE-BLOCK mark besides # and //.
inline constexpr std::array<std::string_view, 7> block_markers = {"!", ";", "%", "--", "(*", "/*", "<!--"};

/// Parses the files of one program; see parse_annotations.
class annotation_parser {
 public:
  void read(std::string_view text, std::size_t file, std::string_view path) {
    file_ = file;
    path_ = path;
    line_ = 0;
    blocks_open_.reset();
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t newline = std::min(text.find('\n', start), text.size());
      ++line_;
      line_start_ = start;
      text_ = text.substr(start, newline - start);
      read_line(std::min(newline + 1, text.size()));
      start = newline + 1;
    }
    if (blocks_open_) {
      const source_region& open = result_.regions[*blocks_open_];
      line_ = open.begin_line;
      fail(0, "region '" + open.name + "' has no 'end' line", "add a line '// kevo: end " + open.name + "'");
    }
  }

  annotations finish() {
    for (auto& pending : pending_) {
      file_ = pending.file;
      path_ = pending.path;
      line_ = pending.line;
      auto condition = expression::parse(pending.text, place(pending.column));
      for (const auto& name : condition.names()) check_condition_name(name, pending.text, pending.column);
      result_.requirements.push_back({std::move(condition), pending.file, pending.line});
    }
    for (auto& part : result_.build) {
      const tunable* named = part.tunable.empty() ? result_.find_tunable(part.value) : nullptr;
      if (named == nullptr) continue;
      part.tunable = named->name;
      part.value = named->value;
    }
    return std::move(result_);
  }

 private:
  struct pending_requirement {  // parsed last, because conditions may use tunables that are defined later
    std::string text;
    std::size_t file;
    std::string path;
    int line;
    std::size_t column;
  };

  error_place place(std::size_t column) const { return current_line().place(column); }
  [[noreturn]] void fail(std::size_t column, const std::string& message, const std::string& hint = {}) const {
    current_line().fail(column, message, hint);
  }

  /// EVOLVE-BLOCK marks also stand in comments of languages that begin them otherwise, such as Fortran, Lisp,
  /// SQL, TeX and Wolfram.
  bool read_block_mark(std::size_t next_line) {
    const std::size_t mark = text_.find("EVOLVE-BLOCK-");
    if (mark == std::string_view::npos) return false;
    const std::string_view before = trimmed(text_.substr(0, mark));
    const auto same = [before](std::string_view marker) { return before == marker; };
    return std::any_of(block_markers.begin(), block_markers.end(), same) &&
           read_comment(mark, mark, next_line);
  }

  void read_line(std::size_t next_line) {
    if (read_block_mark(next_line)) return;
    // One pass over the comment markers of the line; a run such as "///" or "##" counts as one marker.
    for (std::size_t i = 0; i < text_.size();) {
      std::size_t body = i;
      if (text_[i] == '#') {
        while (body < text_.size() && text_[body] == '#') ++body;
      } else if (text_.substr(i, 2) == "//") {
        while (body < text_.size() && text_[body] == '/') ++body;
      }
      if (body == i) {
        ++i;
        continue;
      }
      const std::size_t word = skip_blanks(text_, body);
      if (read_comment(i, word, next_line)) return;
      i = body;
    }
  }

  /// Reads the comment whose marker is at `marker` and whose text starts at `word`; true if it is an
  /// annotation.
  bool read_comment(std::size_t marker, std::size_t word, std::size_t next_line) {
    const std::string_view rest = text_.substr(word);
    if (rest.substr(0, 18) == "EVOLVE-BLOCK-START") {
      begin_region("evolve_block_" + std::to_string(++blocks_), word, next_line);
      return true;
    }
    if (rest.substr(0, 16) == "EVOLVE-BLOCK-END") {
      if (!blocks_open_) fail(word, "EVOLVE-BLOCK-END without EVOLVE-BLOCK-START");
      end_region(result_.regions[*blocks_open_].name, word);
      return true;
    }
    if (rest.size() < 5) return false;
    for (std::size_t i = 0; i < 4; ++i) {
      const char lower = rest[i] >= 'A' && rest[i] <= 'Z' ? static_cast<char>(rest[i] - 'A' + 'a') : rest[i];
      if (lower != "kevo"[i]) return false;
    }
    const std::size_t colon = skip_blanks(text_, word + 4);
    if (colon >= text_.size() || text_[colon] != ':') return false;
    if (rest.substr(0, 5) != "kevo:")
      fail(word, "an annotation starts with 'kevo:'", "write 'kevo:' in lower case");
    read_annotation(marker, skip_blanks(text_, colon + 1), next_line);
    return true;
  }

  void read_annotation(std::size_t marker, std::size_t at, std::size_t next_line) {
    if (at < text_.size() && text_[at] == '{') return read_tunable(text_.substr(0, marker), at);
    const std::size_t end = end_of_name(text_, at);
    const std::string word(text_.substr(at, end - at));
    const std::size_t argument = skip_blanks(text_, end);
    if (word == "require") {
      const std::string_view condition = trimmed(text_.substr(argument));
      if (condition.empty())
        fail(argument, "'require' needs a condition", "for example, require BM * BN <= 4096");
      pending_.push_back({std::string(condition), file_, path_, line_, argument});
    } else if (word == "build") {
      read_build(argument);
    } else if (word == "begin") {
      begin_region(region_name(argument, word), argument, next_line);
    } else if (word == "end") {
      end_region(region_name(argument, word), argument);
    } else if (std::find(launch_words.begin(), launch_words.end(), word) != launch_words.end()) {
      result_.directives.push_back(
          {word, std::string(trimmed(text_.substr(at))), file_, line_, static_cast<int>(at) + 1});
    } else if (word.empty()) {
      fail(at,
           at >= text_.size() ? "'kevo:' without a directive" : "expected a directive or '{' after 'kevo:'",
           "write {values}, require, begin, end, build or launch");
    } else {
      fail(at, "unknown directive '" + shown(word, 40) + "'", hint_for(word, annotation_words, "directives"));
    }
  }

  /// {option: value, option: value {domain}, ...}
  void read_build(std::size_t at) {
    static constexpr const char* form = "write build {option: value} or build {option: value {value, value}}";
    if (at >= text_.size() || text_[at] != '{') fail(at, "'build' needs options in braces", form);
    do {
      at = skip_blanks(text_, at + 1);
      const std::size_t name_end = end_of_name(text_, at);
      if (name_end == at) fail(at, "expected the name of a build option", form);
      const std::string name(text_.substr(at, name_end - at));
      for (const auto& other : result_.build) {
        if (other.name == name)
          fail(at, "the build option '" + name + "' is already given in line " + std::to_string(other.line));
      }
      const std::size_t colon = skip_blanks(text_, name_end);
      if (colon >= text_.size() || text_[colon] != ':')
        fail(colon, "expected ':' after '" + name + "'", form);
      const std::size_t literal = skip_blanks(text_, colon + 1);
      std::size_t end = end_of_literal(text_, literal);
      if (end == literal) fail(literal, "the value of '" + name + "' must be a number or a name", form);
      build_part part{name,  std::string(text_.substr(literal, end - literal)),
                      {},    file_,
                      line_, static_cast<int>(literal) + 1};
      at = skip_blanks(text_, end);
      if (at < text_.size() && text_[at] == '{') {
        part.tunable = "build." + name;
        tunable own{part.tunable, part.value,           {}, 0, tunable_style::option, file_, line_,
                    part.column,  line_start_ + literal};
        own.domain = domain_reader(current_line()).read(at, end);
        add_tunable(std::move(own), literal);
        at = skip_blanks(text_, end);
      }
      result_.build.push_back(std::move(part));
      if (at >= text_.size()) fail(at, "the closing '}' is missing");
      if (text_[at] != ',' && text_[at] != '}') fail(at, "expected ',' or '}'", form);
    } while (text_[at] == ',');
    at = skip_blanks(text_, at + 1);
    if (at < text_.size()) fail(at, "unexpected text after '}'", "write remarks into a separate comment");
  }

  std::string region_name(std::size_t at, const std::string& word) const {
    std::size_t end = at;
    if (end < text_.size() && is_name_start(text_[end])) {
      while (end < text_.size() && (is_name_char(text_[end]) || text_[end] == '-' || text_[end] == '.'))
        ++end;
    }
    if (end == at) fail(at, "'" + word + "' needs the name of a region");
    if (skip_blanks(text_, end) != text_.size())
      fail(skip_blanks(text_, end), "unexpected text after the region's name");
    return std::string(text_.substr(at, end - at));
  }

  void begin_region(const std::string& name, std::size_t column, std::size_t next_line) {
    if (blocks_open_) {
      fail(column, "region '" + name + "' begins inside region '" + result_.regions[*blocks_open_].name + "'",
           "regions cannot be nested; end the outer region first");
    }
    if (const auto* other = result_.find_region(name)) {
      fail(column, "region '" + name + "' is already defined in line " + std::to_string(other->begin_line));
    }
    blocks_open_ = result_.regions.size();
    result_.regions.push_back({name, file_, line_, 0, next_line, 0});
  }

  void end_region(const std::string& name, std::size_t column) {
    if (!blocks_open_) fail(column, "region '" + name + "' ends here but has no 'begin' line");
    source_region& open = result_.regions[*blocks_open_];
    if (open.name != name)
      fail(column, "'end " + name + "' does not match the open region '" + open.name + "'");
    open.end_line = line_;
    open.length = line_start_ - open.offset;
    blocks_open_.reset();
  }

  void read_tunable(std::string_view code, std::size_t brace) {
    tunable result;
    result.file = file_;
    result.line = line_;
    const std::size_t literal = read_assignment(code, result);
    result.column = static_cast<int>(literal) + 1;
    result.offset = line_start_ + literal;
    result.domain = read_domain(brace);
    add_tunable(std::move(result), literal);
  }

  /// @param literal the column of its value
  void add_tunable(tunable result, std::size_t literal) {
    if (const auto* other = result_.find_tunable(result.name)) {
      fail(literal,
           "tunable '" + result.name + "' is already defined in line " + std::to_string(other->line));
    }
    const auto found =
        std::find_if(result.domain.begin(), result.domain.end(), [&](const std::string& value) {
          return value == result.value ||
                 (integer_literal(value) && integer_literal(value) == integer_literal(result.value));
        });
    if (found == result.domain.end()) {
      fail(literal, "the value " + shown(result.value) + " of '" + result.name + "' is not in its domain",
           "add it to the braces or change it");
    }
    result.current = static_cast<std::size_t>(found - result.domain.begin());
    *found = result.value;  // 0x40 and 64 are the same value; the spelling of the code is kept
    result_.tunables.push_back(std::move(result));
  }

  /// Fills name, value and style from the code before the comment; returns the literal's column.
  std::size_t read_assignment(std::string_view code, tunable& result) const {
    static constexpr const char* forms =
        "write '#define NAME value', 'constexpr int NAME = value;' or 'NAME = value'";
    const std::size_t start = skip_blanks(code, 0);
    std::size_t name_at = 0;
    std::size_t name_end = 0;
    std::size_t literal = 0;
    if (start < code.size() && code[start] == '#') {
      const std::size_t word = skip_blanks(code, start + 1);
      if (code.substr(word, 6) != "define")
        fail(start, "a domain must be on the line of its value, behind the value", forms);
      name_at = skip_blanks(code, word + 6);
      name_end = end_of_name(code, name_at);
      if (name_end < code.size() && !is_blank(code[name_end])) {
        fail(name_end, "a tunable cannot have parameters", "write '#define NAME value'");
      }
      literal = skip_blanks(code, name_end);
      result.style = tunable_style::define;
    } else {
      const std::size_t equals = code.find('=');
      if (equals == std::string_view::npos)
        fail(start, "a domain must be on the line of its value, behind the value", forms);
      const std::string_view left = code.substr(0, equals);
      result.style = tunable_style::assignment;
      name_at = start;
      name_end = end_of_name(left, start);
      const std::size_t after = skip_blanks(left, name_end);
      const bool annotated = after < left.size() && left[after] == ':' && left.substr(after, 2) != "::";
      if (after != left.size() && !annotated) {  // a declaration: the name is the last word
        std::size_t end = left.size();
        while (end > start && is_blank(left[end - 1])) --end;
        std::size_t begin = end;
        while (begin > start && is_name_char(left[begin - 1])) --begin;
        name_at = begin;
        name_end = end_of_name(left, begin) == end ? end : begin;
        if (!has_word(left, "const") && !has_word(left, "constexpr") && !has_word(left, "constinit")) {
          fail(start, "a tunable must be declared as a constant", forms);
        }
        result.style = tunable_style::constant;
      }
      literal = skip_blanks(code, equals + 1);
    }
    if (name_end == name_at) fail(name_at, "a name is missing before the tunable's value", forms);
    result.name = std::string(code.substr(name_at, name_end - name_at));
    const std::size_t end = end_of_literal(code, literal);
    std::size_t rest = skip_blanks(code, end);
    if (rest < code.size() && code[rest] == ';' && result.style != tunable_style::define)
      rest = skip_blanks(code, rest + 1);
    if (end == literal || rest != code.size()) {
      fail(literal, "the value of '" + result.name + "' must be a single literal", forms);
    }
    result.value = std::string(code.substr(literal, end - literal));
    return literal;
  }

  static bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      const bool starts = at == 0 || !is_name_char(text[at - 1]);
      const bool ends = at + word.size() >= text.size() || !is_name_char(text[at + word.size()]);
      if (starts && ends) return true;
    }
    return false;
  }

  /// Reads the domain that begins at `brace`. Only blanks may follow it.
  std::vector<std::string> read_domain(std::size_t brace) const {
    const auto here = current_line();
    std::size_t end = brace;
    auto values = domain_reader(here).read(brace, end);
    end = skip_blanks(text_, end);
    if (end < text_.size()) fail(end, "unexpected text after '}'", "write remarks into a separate comment");
    return values;
  }

  annotation_line current_line() const { return {text_, path_, line_, line_start_}; }

  void check_condition_name(const std::string& name, std::string_view text, std::size_t column) const {
    const std::size_t where = column + std::min(text.find(name), text.size());
    const tunable* found = result_.find_tunable(name);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const auto& t : result_.tunables) names.push_back(t.name);
      fail(where, "'require' may only use tunables, and '" + shown(name) + "' is not a tunable",
           hint_for(name, names, "tunables"));
    }
    for (const auto& value : found->domain) {
      if (!integer_literal(value))
        fail(where, "'require' needs integer values, and '" + name + "' can have the value " + shown(value));
    }
  }

  annotations result_;
  std::vector<pending_requirement> pending_;
  std::size_t file_ = 0;
  std::string path_;
  int line_ = 0;
  std::size_t line_start_ = 0;
  std::string_view text_;
  std::optional<std::size_t> blocks_open_;  ///< index of the open region
  int blocks_ = 0;
};

}  // namespace kevo::detail
