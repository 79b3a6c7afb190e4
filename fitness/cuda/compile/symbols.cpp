// Names: what a mangled one says of its parameters, and which variables PTX uses.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>

#include "fitness/cuda/compile/cubin.hpp"

namespace kevo::cuda {
namespace {

bool is_symbol_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

}  // namespace

std::string readable(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "f" would read as the type float
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

std::vector<std::string> parameter_types(const std::string& mangled) {
  const std::string text = readable(mangled);
  std::vector<std::string> types;
  if (text == mangled || text.empty() || text.back() != ')') return types;
  // From the back: the last pair of parentheses at depth 0 holds the parameters.
  std::size_t open = text.size() - 1;
  int depth = 0;
  for (;; --open) {
    if (text[open] == ')' || text[open] == '>') ++depth;
    if (text[open] == '(' || text[open] == '<') --depth;
    if (depth == 0) break;
    if (open == 0) return types;
  }
  const std::string inside = text.substr(open + 1, text.size() - open - 2);
  if (inside.empty() || inside == "void") return types;
  std::string current;
  for (const char c : inside + ",") {
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      types.push_back(current);
      current.clear();
    } else if (c != ' ' || !current.empty()) {
      current += c;
    }
  }
  for (auto& type : types) {  // "float const* __restrict__" and the like are pointers
    for (const std::string_view word : {" __restrict__", " const"}) {
      while (type.ends_with(word)) type.resize(type.size() - word.size());
    }
  }
  return types;
}

std::vector<std::string> unused_words(std::string_view ptx) {
  struct seen {
    std::size_t count = 0;
    bool outside = true;
  };
  std::map<std::string_view, seen> words;
  std::vector<std::string> result;
  int depth = 0;
  for (std::size_t at = 0; at < ptx.size();) {
    if (ptx.substr(at, 2) == "//") {
      at = std::min(ptx.find('\n', at), ptx.size());
      continue;
    }
    std::size_t end = at;
    while (end < ptx.size() && is_symbol_char(ptx[end])) ++end;
    if (end == at) {
      depth += ptx[at] == '{' ? 1 : ptx[at] == '}' ? -1 : 0;
      ++at;
      continue;
    }
    const auto word = ptx.substr(at, end - at);
    auto& entry = words[word];
    ++entry.count;
    entry.outside = entry.outside && depth == 0;
    at = end;
  }
  for (const auto& [word, entry] : words) {
    if (entry.count == 1 && entry.outside) result.emplace_back(word);
  }
  return result;
}

}  // namespace kevo::cuda
