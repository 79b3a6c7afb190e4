#pragma once
// Where NVRTC and CUDA's headers are on this machine.

#include <string>
#include <vector>

namespace kevo::cuda {

/// A CUDA compiler library and the headers that go with it.
struct toolchain {
  std::string library;                       ///< libnvrtc.so.N, absolute, links resolved
  std::string builtins;                      ///< libnvrtc-builtins.so.N.M; empty if it is not beside it
  std::vector<std::string> include_folders;  ///< with cuda_fp16.h and the like; empty if there are none
  std::string found_by;                      ///< "KEVO_NVRTC", "CUDA_HOME", "python packages", ...
  /// Path, size and time of the library: what a cache may know it by.
  std::string identity() const;
};

/// Finds NVRTC: where `configured` says (a library, or a folder of a toolkit or of python packages), else
/// where the environment says (KEVO_NVRTC, CUDA_HOME, CUDA_PATH), else /usr/local/cuda, where the loader
/// looks, and in python's site-packages/nvidia/*/lib. The highest version of the first place that has one.
/// @throws kevo::error (environment) that names every place, if there is none
toolchain find_toolchain(const std::string& configured = {});

/// The program that compiles, beside this one. @throws kevo::error (environment)
std::string find_compile_program();

}  // namespace kevo::cuda
