#pragma once
// What the text of a program in Python says of it, without executing it.

#include <map>
#include <set>
#include <string>

#include <kevo/program.hpp>

namespace kevo::torch {

struct source_facts {
  int triton_kernels = 0;  ///< functions that are decorated with triton.jit
  int cuda_kernels = 0;    ///< `__global__` functions of C++ in its text
  int lines = 0;           ///< that are neither empty nor a comment alone
  /// Names of kernels of its own: functions in Triton, and `__global__` functions of C++ in its text.
  std::set<std::string> kernels;
  /// Whether its text names anything that runs several kernels beside each other: streams, graphs, recurrent
  /// layers, linear algebra.
  bool concurrent = false;
  /// Whether its text names parts of PyTorch that compile, or makes an operator of its own, which imports
  /// them.
  bool compilers = false;
};

source_facts facts_of(const program& source);

/// As measures of an evaluation: "triton_kernels", "cuda_kernels", "source_lines".
std::map<std::string, double> measures_of(const source_facts& facts);

}  // namespace kevo::torch
