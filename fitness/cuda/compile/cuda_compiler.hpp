#pragma once
// The compile stage: device code to a cubin, by NVRTC in a sandboxed process that sees this one source, the
// library and CUDA's headers, by nvcc where the program chooses it, or kernels in Triton to cubins
// (triton.hpp). Needs no GPU.

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/program.hpp>

#include "fitness/build/build_choices.hpp"
#include "fitness/build/running_builds.hpp"
#include "fitness/cuda/compile/message.hpp"
#include "fitness/cuda/compile/toolchain.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/process/process.hpp"

namespace kevo::cuda {

/// What to compile.
struct cuda_build_request {
  kevo::program source;                 ///< files[0] is compiled, the others can be included
  std::vector<std::string> kernels;     ///< as `kernel_names` gives them, or `triton_variants`
  std::string architecture = "sm_90a";  ///< a real one: "sm_80", "sm_90a", ...
  std::vector<std::string> flags;       ///< from the config, never from a candidate
  /// How many of `kernels` are told of; the others are those that only hidden workloads launch (Triton), and
  /// what is wrong with them is not said.
  std::size_t visible = static_cast<std::size_t>(-1);
  fast_math_permission fast_math = {};  ///< for what the program's build lines choose
};

/// What became of it. A failed build is a value.
struct cuda_build_result {
  bool ok = false;
  bool cached = false;
  compiled_module module;
  std::string diagnostics;           ///< what compiler and assembler said, capped
  std::vector<std::string> reasons;  ///< short: the first error, "the compiler timed out after 60 s", ...
  std::string compiler;              ///< "NVRTC 13.0", "nvcc 13.0"
  build_choices chosen;              ///< by the program's build lines
  double wall_s = 0;
};

struct cuda_compiler_settings {
  /// Of programs that choose none: "nvrtc", or "nvcc" (looked up in PATH), or the path of an nvcc.
  std::string compiler = "nvrtc";
  std::string nvcc;  ///< of programs that choose it: name or path; empty: see find_hosted_nvcc; "none"
  std::string cuda;  ///< where NVRTC is; empty: see find_toolchain
  std::string standard = "c++17";
  std::string python;  ///< a Python with Triton; empty: see find_triton
  sandbox_mode sandbox = sandbox_mode::required;
  process_limits limits = default_limits();
  std::uint64_t diagnostics_bytes = 64U << 10U;
  std::size_t remembered = 256;  ///< results that are kept in memory
  std::string cache_dir;         ///< results are kept in this folder, too; empty: in memory alone
  std::vector<int> cpus;         ///< processors that it may use; empty: any

  /// 60 s, 8 GB of address space, 64 MB of output.
  static process_limits default_limits();
};

/// The options of NVRTC or nvcc for a request, without folders of headers. @param standard "c++17" or "c++20"
std::vector<std::string> nvrtc_options(const cuda_build_request& request, const build_choices& chosen,
                                       const std::string& standard);
std::vector<std::string> nvcc_options(const cuda_build_request& request, const build_choices& chosen,
                                      const std::string& standard);

/// The headers that kevo gives to NVRTC with each program.
std::vector<source_text> nvrtc_headers();

/// Compiles candidates, each in a process of its own. Thread-safe: as many at a time as there are callers.
class cuda_compiler {
 public:
  /// @param pausable pauses compilations while a time is taken; may be null. Must outlive this.
  /// @throws kevo::error (environment) if there is no NVRTC or the sandbox is refused
  explicit cuda_compiler(cuda_compiler_settings settings = {}, running_builds* pausable = nullptr);
  cuda_compiler(cuda_compiler&&) noexcept;
  cuda_compiler& operator=(cuda_compiler&&) noexcept;
  ~cuda_compiler();

  /// Compiles, or answers from memory or disk (failures too; a time-out is not remembered, and
  /// tried once more unless it is the program itself that hangs while it is executed). Build lines that ask
  /// for what they may not have make the build fail.
  /// @throws kevo::error: environment (NVRTC does not work, the architecture is unknown to it), interrupted
  cuda_build_result build(const cuda_build_request& request, std::stop_token stop = {});

  /// NVRTC and its headers; empty with nvcc.
  const toolchain& tools() const;
  /// All that decides what is compiled to what, besides the request: for keys of caches.
  std::string identity() const;
  /// What is to be added to it for a program in Triton, or one that chooses nvcc; empty for others.
  /// @throws kevo::error (environment) if there is no Triton
  std::string identity_for(const program& source) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Measures of a module for archives: `registers`, `spill_bytes`, `shared_bytes` (static), `stack_bytes` and
/// `code_bytes`; the largest of its kernels, code their sum.
std::map<std::string, double> measures_of_module(const compiled_module& module);

/// A line a kernel, for people and operators: "matmul<64>: 128 registers, 0 bytes spilled, ...".
std::string describe_resources(const compiled_module& module);

}  // namespace kevo::cuda
