#include "fitness/torch/source_facts.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string_view>

#include <kevo/detail/kernel_names.hpp>

namespace kevo::torch {
namespace {

bool equal_letters(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool has_word(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(), equal_letters) != text.end();
}

// PyTorch and its libraries make streams of their own for recurrent layers and factorizations. Transposed
// convolutions took up to 28 % longer with one queue, probably because cuDNN does the same.
bool names_concurrency(std::string_view text) {
  constexpr std::string_view words[] = {"stream", "graph", "rnn", "lstm", "gru", "linalg", "conv"};
  return std::any_of(std::begin(words), std::end(words), [&](auto word) { return has_word(text, word); });
}

bool names_compilers(std::string_view text) {
  constexpr std::string_view words[] = {"_inductor", "_dynamo",       "custom_op",
                                        "triton_op", "torch.compile", "torch.export"};
  return std::any_of(std::begin(words), std::end(words), [&](auto word) { return has_word(text, word); });
}

}  // namespace

source_facts facts_of(const program& source) {
  source_facts facts;
  for (const auto& file : source.files) {
    std::istringstream text(file.text);
    for (std::string line; std::getline(text, line);) {
      const auto begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || line[begin] == '#') continue;
      ++facts.lines;
      if (detail::decorates_triton_kernel(std::string_view(line).substr(begin))) ++facts.triton_kernels;
    }
    auto global = detail::global_functions(file.text);
    facts.cuda_kernels += static_cast<int>(global.size());
    facts.kernels.merge(global);
    facts.kernels.merge(detail::triton_functions(file.text));
    facts.concurrent = facts.concurrent || names_concurrency(file.text);
    facts.compilers = facts.compilers || names_compilers(file.text);
  }
  return facts;
}

std::map<std::string, double> measures_of(const source_facts& facts) {
  return {{"triton_kernels", facts.triton_kernels},
          {"cuda_kernels", facts.cuda_kernels},
          {"source_lines", facts.lines}};
}

}  // namespace kevo::torch
