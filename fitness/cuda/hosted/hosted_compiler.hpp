#pragma once
// The compile stage of hosted launch: host and device code to one shared object, by nvcc in the sandbox.
// Needs no GPU.

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/process/process.hpp"

namespace kevo::cuda {

/// What became of a hosted program. A failed build is a value.
struct hosted_object {
  bool ok = false;
  std::string object;                ///< an ELF image for dlopen
  std::vector<std::string> needed;   ///< shared libraries that it needs, by file name
  std::vector<std::string> folders;  ///< of the libraries that a trusted program is linked with
  std::string diagnostics;           ///< what compiler and linker said, capped
  std::vector<std::string> reasons;  ///< short
  std::string compiler;              ///< "nvcc 13.0"
  std::string choices;               ///< what its build lines chose; empty: nothing
};

struct hosted_compiler_settings {
  std::string nvcc;    ///< name or path; empty: see find_hosted_nvcc
  std::string python;  ///< where PyTorch is: see find_torch_libraries
  std::string standard = "c++17";
  sandbox_mode sandbox = sandbox_mode::required;
  double wall_s = 120;  ///< [s] of one build
  std::uint64_t diagnostics_bytes = 64U << 10U;
};

/// Compiles hosted programs, each by a sandboxed nvcc of its own. Thread-safe.
class hosted_compiler {
 public:
  explicit hosted_compiler(hosted_compiler_settings settings = {});
  hosted_compiler(hosted_compiler&&) noexcept;
  hosted_compiler& operator=(hosted_compiler&&) noexcept;
  ~hosted_compiler();

  /// Empty if programs can be compiled; else what is missing, and what to do.
  const std::string& missing() const;

  /// Compiles, with the options that the program's build lines choose; the last results are remembered. A
  /// candidate may need the C, C++ and driver libraries alone: others are hidden from its compiler, and an
  /// object that needs them all the same is refused.
  /// @param link libraries that a trusted program is linked with: of the toolkit, the system, or PyTorch
  /// (see is_of_torch)
  /// @throws kevo::error: environment (nvcc cannot be run), interrupted
  hosted_object build(const task& t, const program& source, const std::string& architecture,
                      const std::vector<std::string>& flags, bool trusted = false,
                      const std::vector<std::string>& link = {}, std::stop_token stop = {});

  /// All that decides what is compiled to what, besides the request.
  std::string identity() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kevo::cuda
