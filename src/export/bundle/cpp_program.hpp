#pragma once
// What the bundle of a program in C++ is built with.

#include <string>
#include <vector>

#include "src/export/bundle/bundle_parts.hpp"

namespace kevo::bundle {

/// The compiler of the run and the options of its config.
struct cpp_build {
  std::string compiler;
  std::vector<std::string> flags;
};
cpp_build cpp_build_of(const bundled& b);

/// "A, C, M": the arguments of a call in the order of the parameters of `run`.
std::string argument_names(const task& t);

/// The text of CMakeLists.txt.
std::string cpp_build_file(const bundled& b);

}  // namespace kevo::bundle
