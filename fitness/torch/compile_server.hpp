#pragma once
// A process that compiles for candidates which use Triton on a GPU, or extensions in C++ and CUDA, and
// executes nothing of theirs (kevo_torch_compile.py).

#include <string>
#include <string_view>
#include <vector>

#include <kevo/program.hpp>

#include "fitness/build/python_packages.hpp"
#include "fitness/process/process.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo::torch {

/// What it compiles with and for.
struct compile_settings {
  std::vector<std::string> libraries;  ///< of the driver, which C code is linked with
  std::string modules;                 ///< folder for extensions, see `python_server::modules`; empty: none
  std::string nvcc = "none";           ///< absolute path; "none": CUDA is not compiled
  std::vector<mount> toolkit;          ///< what nvcc needs
  std::string architecture = "90";     ///< of nvcc: "90a"
};

/// Whether a program's text speaks of extensions (`names_extensions`).
bool uses_extensions(const program& source);

/// One process in a sandbox of its own. One thread at a time.
class compile_server {
 public:
  /// @throws kevo::error (environment)
  compile_server(const python_tools& tools, sandbox_mode sandbox, const compile_settings& settings);

  /// A socket for one more process that asks it. @throws kevo::error (environment)
  detail::descriptor connect();

 private:
  child_process process_;
  detail::descriptor socket_;
};

/// The text of kevo_torch_compile.py.
std::string_view compile_script();

}  // namespace kevo::torch
