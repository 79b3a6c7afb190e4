#include "fitness/torch/source_facts.hpp"

#include <sstream>
#include <string_view>

namespace kevo::torch {

source_facts facts_of(const program& source) {
  source_facts facts;
  for (const auto& file : source.files) {
    std::istringstream text(file.text);
    for (std::string line; std::getline(text, line);) {
      const auto begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || line[begin] == '#') continue;
      ++facts.lines;
      const auto words = std::string_view(line).substr(begin);
      if (words.starts_with("@triton.jit") || words.starts_with("@jit")) ++facts.triton_kernels;
    }
  }
  return facts;
}

std::map<std::string, double> measures_of(const source_facts& facts) {
  return {{"triton_kernels", facts.triton_kernels}, {"source_lines", facts.lines}};
}

}  // namespace kevo::torch
