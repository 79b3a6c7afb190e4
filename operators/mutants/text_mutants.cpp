#include "operators/mutants/text_mutants.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <utility>

namespace kevo::mutants {
namespace {

enum class languages : std::uint8_t { cuda, python, both };

// A call of `function` becomes `by`, in which $1, $2, ... are the arguments without keyword, and $mask is
// ", mask=..." if the call has one.
struct call_rule {
  languages of;
  std::string_view kind;
  std::string_view change;
  std::string_view function;
  std::string_view by;
};

constexpr call_rule call_rules[] = {
    {languages::cuda, "synchronization", "a barrier is left out", "__syncthreads", "((void)0)"},
    {languages::cuda, "synchronization", "a barrier is left out", "__syncwarp", "((void)0)"},
    {languages::cuda, "synchronization", "a fence is left out", "__threadfence", "((void)0)"},
    {languages::cuda, "synchronization", "a sum is not atomic", "atomicAdd", "(*($1) += ($2))"},
    {languages::cuda, "synchronization", "a maximum is not atomic", "atomicMax",
     "(*($1) = *($1) < ($2) ? ($2) : *($1))"},
    {languages::cuda, "synchronization", "a minimum is not atomic", "atomicMin",
     "(*($1) = *($1) < ($2) ? *($1) : ($2))"},
    {languages::cuda, "guard", "a condition is taken as true", "if", "if (true)"},
    {languages::cuda, "subtrahend", "a maximum is its first value", "fmaxf", "($1)"},
    {languages::cuda, "subtrahend", "a maximum is its first value", "max", "($1)"},
    {languages::python, "synchronization", "a barrier is left out", "tl.debug_barrier", "None"},
    {languages::python, "synchronization", "a sum is not atomic", "tl.atomic_add",
     "tl.store($1, tl.load($1$mask) + ($2)$mask)"},
    {languages::python, "synchronization", "a maximum is not atomic", "tl.atomic_max",
     "tl.store($1, tl.maximum(tl.load($1$mask), $2)$mask)"},
    {languages::python, "guard", "a mask is left out", "tl.load", "tl.load($1)"},
    {languages::python, "guard", "a mask is left out", "tl.store", "tl.store($1, $2)"},
    {languages::python, "guard", "a condition is taken as true", "tl.where", "($2)"},
    {languages::python, "guard", "a condition is taken as true", "torch.where", "($2)"},
    {languages::python, "guard", "a bound is left out", "torch.clamp", "($1)"},
    {languages::python, "subtrahend", "a maximum is its first value", "tl.maximum", "($1)"},
    {languages::python, "index", "the number of a program has 8 bits", "tl.program_id",
     "(tl.program_id($1) & 255)"},
};

// What the expression matches becomes `by`.
struct text_rule {
  languages of;
  std::string_view kind;
  std::string_view change;
  const char* expression;
  const char* by;
};

constexpr text_rule text_rules[] = {
    {languages::both, "epsilon", "a small number is not added",
     R"(\s*\+\s*(?:1e-\d+|0?\.0+\d+|(?:self\.)?eps(?:ilon)?\b)[fF]?)", ""},
    {languages::both, "comparison", "<= for <", " < (?!<)", " <= "},
    {languages::both, "comparison", "< for <=", " <= ", " < "},
    {languages::both, "comparison", ">= for >", " > (?!>)", " >= "},
    {languages::both, "comparison", "> for >=", " >= ", " > "},
    {languages::cuda, "index", "an index of 8 bits", R"((\w+) = ([^;=]*\b(?:blockIdx|threadIdx)\b[^;=]*);)",
     "$1 = (($2) & 0xff);"},
    {languages::cuda, "index", "an index of 16 bits", R"((\w+) = ([^;=]*\b(?:blockIdx|threadIdx)\b[^;=]*);)",
     "$1 = (($2) & 0xffff);"},
    {languages::python, "index", "an index of 32 bits", R"(\.to\(tl\.int64\))", ""},
    {languages::python, "accumulation", "a sum has half precision", R"(dtype=tl\.float32)",
     "dtype=tl.float16"},
    {languages::python, "guard", "a masked element is 0", R"(other=-float\(["']inf["']\))", "other=0.0"},
};

bool holds(languages of, bool python) {
  return of == languages::both || (of == languages::python) == python;
}

// Comments are blanks here, so that places are those of the text.
std::string without_comments(std::string_view text, bool python) {
  std::string result(text);
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote || c == '\n') quote = 0;
      continue;
    }
    const bool block = !python && text.substr(i, 2) == "/*";
    if (block || (python ? c == '#' : text.substr(i, 2) == "//")) {
      const std::size_t found = block ? text.find("*/", i) : text.find('\n', i);
      const std::size_t end = std::min(found, text.size());
      std::fill(result.begin() + static_cast<std::ptrdiff_t>(i),
                result.begin() + static_cast<std::ptrdiff_t>(end), ' ');
      i = end;
    } else if (c == '"' || c == '\'') {
      quote = c;
    }
  }
  return result;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

struct called {
  std::size_t end = 0;  // behind the closing parenthesis
  std::vector<std::string> arguments;
};

// The call whose parenthesis opens at `open`; nothing if it does not close.
std::optional<called> call_at(std::string_view text, std::size_t open) {
  called result;
  int depth = 0;
  std::size_t start = open + 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth > 1 || (depth == 1 && c != ',')) continue;
    if (auto argument = trimmed(text.substr(start, i - start)); !argument.empty())
      result.arguments.push_back(std::move(argument));
    start = i + 1;
    if (depth > 0) continue;
    result.end = i + 1;
    return result;
  }
  return std::nullopt;
}

// @return nothing where the call has fewer arguments than the rule needs
std::optional<std::string> filled(std::string_view by, const std::vector<std::string>& arguments) {
  std::vector<std::string> plain;
  std::string mask;
  for (const auto& one : arguments) {
    const std::size_t equals = one.find('=');
    const bool keyword = equals != std::string::npos && equals > 0 && equals + 1 < one.size() &&
                         one[equals + 1] != '=' &&
                         std::all_of(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(equals), is_word);
    if (!keyword) {
      plain.push_back(one);
    } else if (one.starts_with("mask=")) {
      mask = ", " + one;
    }
  }
  std::string result;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (by.substr(i, 5) == "$mask") {
      result += mask;
      i += 4;
    } else if (by[i] == '$') {
      const auto number = static_cast<std::size_t>(by[++i] - '1');
      if (number >= plain.size()) return std::nullopt;
      result += plain[number];
    } else {
      result += by[i];
    }
  }
  return result;
}

struct changed_text {
  std::string_view of;
  std::vector<source_mutant> made;

  void add(std::string_view kind, std::string_view change, std::size_t begin, std::size_t end,
           const std::string& by) {
    source_mutant one;
    one.before = trimmed(of.substr(begin, end - begin));
    one.after = trimmed(by);
    if (one.before == one.after) return;
    one.kind = kind;
    one.change = change;
    // Of blanks that are left out with what follows them, the line of the latter.
    const std::size_t place = std::min(of.find_first_not_of(" \t\n", begin), of.size());
    one.line =
        1 + static_cast<int>(std::count(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
    one.text = std::string(of.substr(0, begin)) + by + std::string(of.substr(end));
    made.push_back(std::move(one));
  }
};

void apply(const call_rule& rule, std::string_view code, changed_text& to) {
  for (std::size_t at = code.find(rule.function); at != std::string_view::npos;
       at = code.find(rule.function, at + 1)) {
    const std::size_t open = code.find_first_not_of(' ', at + rule.function.size());
    if ((at > 0 && is_word(code[at - 1])) || open == std::string_view::npos || code[open] != '(') continue;
    const auto found = call_at(code, open);
    if (!found) continue;
    if (const auto by = filled(rule.by, found->arguments))
      to.add(rule.kind, rule.change, at, found->end, *by);
  }
}

void apply(const text_rule& rule, const std::string& code, changed_text& to) {
  const std::regex expression(rule.expression);
  for (std::sregex_iterator one(code.begin(), code.end(), expression), end; one != end; ++one) {
    const auto begin = static_cast<std::size_t>(one->position());
    to.add(rule.kind, rule.change, begin, begin + static_cast<std::size_t>(one->length()),
           one->format(rule.by));
  }
}

}  // namespace

bool has_text_rules(std::string_view language) {
  return language == "cuda" || language == "triton" || language == "python";
}

std::vector<source_mutant> text_mutants_of(std::string_view text, std::string_view language) {
  if (!has_text_rules(language)) return {};
  const bool python = language != "cuda";
  const std::string code = without_comments(text, python);
  changed_text all{text, {}};
  for (const auto& rule : call_rules) {
    if (holds(rule.of, python)) apply(rule, code, all);
  }
  for (const auto& rule : text_rules) {
    if (holds(rule.of, python)) apply(rule, code, all);
  }
  return std::move(all.made);
}

}  // namespace kevo::mutants
