#pragma once
// By which words a program's text is known to build extensions in C++ or CUDA.

#include <string_view>

namespace kevo {

/// Whether the text speaks of torch.utils.cpp_extension or of tvm_ffi, which build extensions. A program that
/// hides these words is offered no compiler.
inline bool names_extensions(std::string_view text) {
  return text.find("cpp_extension") != std::string_view::npos ||
         text.find("tvm_ffi") != std::string_view::npos;
}

}  // namespace kevo
