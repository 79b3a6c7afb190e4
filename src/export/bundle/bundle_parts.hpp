#pragma once
// What the parts of a bundle share.

#include <map>
#include <string>
#include <string_view>

#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "src/export/bundle/bundle.hpp"

namespace kevo::bundle {

/// Files by their paths in the bundle.
using folder_text = std::map<std::string, std::string>;

/// C++: how many bytes behind the begin of a page the code begins.
struct placement {
  unsigned program = 0;
  unsigned baseline = 0;
};

/// A program that becomes a bundle. Borrows.
struct bundled {
  std::string name;  ///< a C++ identifier
  const task* what = nullptr;
  const program* source = nullptr;
  const evaluation* result = nullptr;
  std::string run_folder;
  sandbox_mode sandbox = sandbox_mode::required;  ///< of compilers
  /// C++: the baseline of the run's figure, where the bundle can be compared with it; else null.
  const baseline* compared_with = nullptr;
  placement places = {};  ///< C++
};

/// A shipped file of src/export/bundle/files, for example "launch_runtime.hpp".
std::string_view shipped_file(std::string_view name);

/// A shipped file with `@key@` replaced.
std::string filled(std::string_view name, const std::map<std::string, std::string>& values);

/// A value of the context of an evaluation.
std::string context_of(const evaluation& e, const std::string& key, const std::string& otherwise = {});

/// Adds the files of a program in C++ or CUDA: sources, header, library, CMake files. Says in `summary` what
/// is missing.
void add_cpp_files(bundled& b, folder_text& files, bundle_summary& summary);
void add_cuda_files(const bundled& b, folder_text& files, bundle_summary& summary);

/// Adds the file of a program in Triton with launch lines: its source, and a function of PyTorch's tensors
/// that launches its kernels.
void add_triton_files(const bundled& b, folder_text& files, bundle_summary& summary);

/// Adds the file of a program of PyTorch.
void add_python_files(const bundled& b, folder_text& files);

/// Whether a test can draw the inputs of the task and judge its outputs; otherwise why not.
std::string reason_against_test(const task& t);

/// Adds the test of a program in C++ or CUDA, which compares it with the task's reference on the visible
/// workloads.
void add_cpp_test(const bundled& b, folder_text& files);
void add_cuda_test(const bundled& b, folder_text& files);

/// Adds a PyTorch extension for CUDA. Returns why there is none; empty if there is one.
std::string add_torch_extension(const bundled& b, folder_text& files);

/// card.json and README.md.
void add_card(const bundled& b, const journal& record, const bundle_summary& summary, folder_text& files);

}  // namespace kevo::bundle
