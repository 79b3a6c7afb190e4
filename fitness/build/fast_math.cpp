#include "fitness/build/fast_math.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

namespace kevo {
namespace {

bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 128;
}
bool continues_word(char c) {
  return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

enum class token_kind : std::uint8_t { end, line_end, word, number, text, other };

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;  // of a text literal, what stands between its quotes
  bool plain = true;      // a text literal without prefix and escapes
};

/// The tokens of preprocessed C++: no comments, no joined lines, no macros.
class token_reader {
 public:
  explicit token_reader(std::string_view all) : text_(all) {}

  token next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ >= text_.size()) return {};
    const auto start = at_;
    const char c = text_[at_];
    if (c == '\n') return made(token_kind::line_end, start, at_ + 1);
    if (c == '"' || c == '\'') return literal(false);
    if (begins_word(c)) {
      const auto word = text_.substr(start, word_end(start) - start);
      const auto behind = start + word.size();
      const bool quoted = behind < text_.size() && (text_[behind] == '"' || text_[behind] == '\'');
      constexpr std::array<std::string_view, 4> prefixes = {"L", "u", "U", "u8"};
      const bool raw = word.ends_with('R') && text_.substr(behind).starts_with('"');
      const auto coding = raw ? word.substr(0, word.size() - 1) : word;
      const bool prefix =
          (raw && coding.empty()) || std::find(prefixes.begin(), prefixes.end(), coding) != prefixes.end();
      at_ = behind;
      if (quoted && prefix) return raw ? raw_literal() : literal(true);
      return made(token_kind::word, start, behind);
    }
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool point = c == '.' && start + 1 < text_.size() &&
                       std::isdigit(static_cast<unsigned char>(text_[start + 1])) != 0;
    if (digit || point) return made(token_kind::number, start, number_end(start));
    return made(token_kind::other, start, start + 1);
  }

 private:
  token made(token_kind kind, std::size_t from, std::size_t to) {
    at_ = to;
    return {kind, text_.substr(from, to - from), true};
  }
  std::size_t word_end(std::size_t at) const {
    while (at < text_.size() && continues_word(text_[at])) ++at;
    return at;
  }
  // A preprocessing number: digits are separated by quotes, exponents have signs.
  std::size_t number_end(std::size_t at) const {
    for (++at; at < text_.size(); ++at) {
      const char c = text_[at];
      const bool sign =
          (c == '+' || c == '-') && std::string_view("eEpP").find(text_[at - 1]) != std::string_view::npos;
      const bool quote = c == '\'' && at + 1 < text_.size() && continues_word(text_[at + 1]);
      if (!continues_word(c) && c != '.' && !sign && !quote) break;
    }
    return at;
  }
  // At a quote. A literal that is not closed ends with its line.
  token literal(bool prefixed) {
    const char quote = text_[at_];
    const auto start = ++at_;
    bool escapes = false;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        escapes = true;
        ++at_;
      }
      ++at_;
    }
    token result{quote == '"' ? token_kind::text : token_kind::other, text_.substr(start, at_ - start),
                 !prefixed && !escapes};
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    return result;
  }
  token raw_literal() {
    const auto start = ++at_;
    const auto open = text_.find('(', start);
    at_ = text_.size();
    if (open == std::string_view::npos) return {token_kind::text, {}, false};
    const auto closing = ")" + std::string(text_.substr(start, open - start)) + '"';
    const auto end = text_.find(closing, open);
    if (end == std::string_view::npos) return {token_kind::text, {}, false};
    at_ = end + closing.size();
    return {token_kind::text, text_.substr(open + 1, end - open - 1), false};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The options of g++ with which an operation may give another value than IEEE arithmetic demands.
bool is_fast_option(std::string_view option) {
  constexpr std::array<std::string_view, 10> fast = {"fast-math",
                                                     "Ofast",
                                                     "unsafe-math-optimizations",
                                                     "associative-math",
                                                     "reciprocal-math",
                                                     "finite-math-only",
                                                     "no-signed-zeros",
                                                     "cx-limited-range",
                                                     "cx-fortran-rules",
                                                     "single-precision-constant"};
  const auto is_fast = [&](std::string_view word) {
    return std::find(fast.begin(), fast.end(), word) != fast.end();
  };
  while (option.starts_with('-')) option.remove_prefix(1);
  return is_fast(option) || (option.starts_with('f') && is_fast(option.substr(1)));
}

/// What literals with options ask for; empty if they are harmless. @param tokens others among them separate
/// the literals; ones behind each other are one
std::string fast_part(const std::vector<token>& tokens) {
  std::string asked;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != token_kind::text) continue;
    if (!tokens[i].plain) return "options that are written with escapes or a prefix";
    const bool goes_on = i > 0 && tokens[i - 1].kind == token_kind::text;
    if (!goes_on) asked += ',';
    asked += tokens[i].text;
  }
  for (std::size_t at = 0; at <= asked.size();) {
    const auto comma = std::min(asked.find(',', at), asked.size());
    auto option = asked.substr(at, comma - at);
    if (is_fast_option(option)) return option;
    at = comma + 1;
  }
  return {};
}

/// What a pragma asks for; empty if it is harmless. @param words the tokens behind `#pragma`
std::string fast_pragma(const std::vector<token>& words) {
  const auto has = [&](std::string_view word) {
    return std::any_of(words.begin(), words.end(),
                       [&](const token& t) { return t.kind == token_kind::word && t.text == word; });
  };
  const auto is = [&](std::size_t at, std::string_view word) {
    return at < words.size() && words[at].text == word;
  };
  if (has("optimize") || has("__optimize__")) {
    if (auto part = fast_part(words); !part.empty()) return part;
  }
  if (is(0, "clang") && is(1, "fp")) {
    for (std::size_t at = 2; at + 2 < words.size(); ++at) {
      for (const char* way : {"reassociate", "reciprocal"}) {
        if (is(at, way) && is(at + 1, "(") && !is(at + 2, "off")) return std::string(way) + "(on)";
      }
    }
  }
  if (has("float_control") && has("precise") && !has("on")) return "float_control(precise, off)";
  if (has("CX_LIMITED_RANGE") && !has("OFF")) return "CX_LIMITED_RANGE";
  return {};
}

/// Whether a source says itself in which file it is: "# 1 "file"" at the start of a line. Numbers behind a
/// number sign elsewhere, as in comments, count too.
bool names_its_place(std::string_view text) {
  if (text.find("?\?=") != std::string_view::npos) return true;
  for (auto at = text.find_first_of("#:"); at != std::string_view::npos;
       at = text.find_first_of("#:", at + 1)) {
    auto next = at + 1;
    while (next < text.size() && is_blank(text[next])) ++next;
    if (next < text.size() &&
        (std::isdigit(static_cast<unsigned char>(text[next])) != 0 || text[next] == '/' ||
         text[next] == '\\') &&
        (text[at] == '#' || (at > 0 && text[at - 1] == '%')))
      return true;
  }
  return false;
}

/// Where one is in preprocessed text, by its lines "# 12 "file" 1".
struct source_place {
  std::string_view file;
  std::size_t line = 1;
  std::vector<bool> of_system;  // for each file that is being included

  bool in_system() const { return !of_system.empty() && of_system.back(); }

  // @param words the tokens behind the number sign
  void follow(const std::vector<token>& words) {
    std::from_chars(words[0].text.data(), words[0].text.data() + words[0].text.size(), line);
    if (words.size() < 2 || words[1].kind != token_kind::text) return;
    file = words[1].text;
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i].text == "1")
        of_system.push_back(file.starts_with("/usr/") && file.find("/../") == std::string_view::npos);
      if (words[i].text == "2" && !of_system.empty()) of_system.pop_back();
    }
  }
};

/// Whether a word, or a sign of the preprocessor, goes on in the next line.
bool joins_words(std::string_view text) {
  constexpr std::string_view signs = "#%:?";
  for (auto at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at + 1)) {
    auto next = at + 1;
    while (next < text.size() && is_blank(text[next])) ++next;
    const bool within = at > 0 && (continues_word(text[at - 1]) || signs.find(text[at - 1]) != signs.npos);
    if (within && next + 1 < text.size() && text[next] == '\n' && !is_blank(text[next + 1])) return true;
  }
  return false;
}

}  // namespace

bool may_ask_for_fast_math(const program& source) {
  constexpr std::array<std::string_view, 8> signs = {"optimize", "clang", "float_control", "STDC",
                                                     "##",       "%:%:",  "?\?",           "_GLIBCXX_SIMD"};
  return std::any_of(source.files.begin(), source.files.end(), [&](const source_file& file) {
    return joins_words(file.text) || std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
             return file.text.find(sign) != std::string::npos;
           });
  });
}

std::optional<fast_math_request> find_fast_math(const program& source, std::string_view preprocessed) {
  const bool trusts_places = std::none_of(source.files.begin(), source.files.end(),
                                          [](const auto& file) { return names_its_place(file.text); });
  token_reader reader(preprocessed);
  source_place here;
  const auto found = [&](std::string what) {
    return fast_math_request{std::string(here.file), here.line, std::move(what)};
  };
  bool line_begins = true;
  const char* counted = preprocessed.data();
  for (token t = reader.next(); t.kind != token_kind::end; t = reader.next()) {
    // Also the lines within raw literals.
    here.line += static_cast<std::size_t>(std::count(counted, t.text.data(), '\n'));
    counted = t.text.data();
    const bool first = line_begins;
    line_begins = t.kind == token_kind::line_end;
    const bool heeded = !trusts_places || !here.in_system();
    if (first && t.text == "#") {
      std::vector<token> words;
      for (t = reader.next(); t.kind != token_kind::end && t.kind != token_kind::line_end; t = reader.next())
        words.push_back(t);
      line_begins = true;
      if (words.empty()) continue;
      if (words[0].kind == token_kind::number) {
        here.follow(words);
        if (t.kind == token_kind::line_end) counted = t.text.data() + 1;
      } else if (words[0].text == "pragma" && heeded) {
        words.erase(words.begin());
        if (auto what = fast_pragma(words); !what.empty()) return found(std::move(what));
      }
      continue;
    }
    if (t.kind == token_kind::word && t.text == "_Pragma") return found("a pragma that cannot be read");
    if (!heeded || t.kind != token_kind::word || (t.text != "optimize" && t.text != "__optimize__")) continue;
    // An attribute, in either spelling; what stands between the word and its parenthesis is blank.
    auto behind = reader;
    std::vector<token> arguments;
    int depth = 0;
    for (token a = behind.next(); a.kind != token_kind::end; a = behind.next()) {
      if (a.kind == token_kind::line_end) {
        // Lines that tell the place stand anywhere, also between two literals.
        auto line = behind;
        if (line.next().text != "#") continue;
        while (a = line.next(), a.kind != token_kind::end && a.kind != token_kind::line_end) behind = line;
        continue;
      }
      if (a.text == "(" && a.kind == token_kind::other) ++depth;
      if (a.text == ")" && a.kind == token_kind::other) --depth;
      if (depth <= 0) break;
      arguments.push_back(a);
    }
    if (auto what = fast_part(arguments); !what.empty()) return found(std::move(what));
  }
  return std::nullopt;
}

}  // namespace kevo
