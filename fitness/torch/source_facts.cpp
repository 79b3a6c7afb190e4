#include "fitness/torch/source_facts.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string_view>

namespace kevo::torch {
namespace {

constexpr std::string_view blanks = " \t\r\n";

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The name that stands in front of `end`; empty if there is none.
std::string name_before(std::string_view text, std::size_t end) {
  const auto last = text.find_last_not_of(blanks, end == 0 ? std::string_view::npos : end - 1);
  if (end == 0 || last == std::string_view::npos || !is_of_name(text[last])) return {};
  auto begin = last;
  while (begin > 0 && is_of_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, last + 1 - begin));
}

// "def name(": the function that the decorators above belong to.
std::string name_of_function(std::string_view line) {
  return line.starts_with("def ") ? name_before(line, std::min(line.find('('), line.size())) : std::string();
}

// The functions of C++ that are declared with __global__: the name in front of the first parenthesis that
// does not belong to __launch_bounds__ or to another attribute.
void add_global_functions(std::string_view text, std::set<std::string>& names) {
  constexpr std::string_view word = "__global__";
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    auto open = text.find('(', at);
    for (; open != std::string_view::npos; open = text.find('(', open + 1)) {
      auto name = name_before(text, open);
      if (!name.empty() && name != "__launch_bounds__" && name != "__attribute__") {
        names.insert(std::move(name));
        break;
      }
    }
  }
}

bool equal_letters(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool has_word(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(), equal_letters) != text.end();
}

// PyTorch and its libraries make streams of their own for recurrent layers and for factorizations.
bool names_concurrency(std::string_view text) {
  constexpr std::string_view words[] = {"stream", "graph", "rnn", "lstm", "gru", "linalg"};
  return std::any_of(std::begin(words), std::end(words), [&](auto word) { return has_word(text, word); });
}

}  // namespace

source_facts facts_of(const program& source) {
  source_facts facts;
  for (const auto& file : source.files) {
    std::istringstream text(file.text);
    bool decorated = false;
    for (std::string line; std::getline(text, line);) {
      const auto begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || line[begin] == '#') continue;
      ++facts.lines;
      const auto words = std::string_view(line).substr(begin);
      if (words.starts_with("@triton.jit") || words.starts_with("@jit")) {
        ++facts.triton_kernels;
        decorated = true;
      } else if (decorated && words.starts_with("def ")) {
        facts.kernels.insert(name_of_function(words));
        decorated = false;
      }
    }
    std::set<std::string> global;
    add_global_functions(file.text, global);
    facts.cuda_kernels += static_cast<int>(global.size());
    facts.kernels.insert(global.begin(), global.end());
    facts.concurrent = facts.concurrent || names_concurrency(file.text);
  }
  facts.kernels.erase("");
  return facts;
}

std::map<std::string, double> measures_of(const source_facts& facts) {
  return {{"triton_kernels", facts.triton_kernels},
          {"cuda_kernels", facts.cuda_kernels},
          {"source_lines", facts.lines}};
}

}  // namespace kevo::torch
