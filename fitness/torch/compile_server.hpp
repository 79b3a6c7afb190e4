#pragma once
// A process that compiles for candidates on a GPU which use Triton, and executes nothing of theirs
// (kevo_torch_compile.py).

#include <string>
#include <string_view>
#include <vector>

#include "fitness/build/python_packages.hpp"
#include "fitness/process/descriptor.hpp"
#include "fitness/process/process.hpp"

namespace kevo::torch {

/// One process in a sandbox of its own. One thread at a time.
class compile_server {
 public:
  /// @param libraries of the driver, which C code is linked with. @throws kevo::error (environment)
  compile_server(const python_tools& tools, sandbox_mode sandbox, const std::vector<std::string>& libraries);

  /// A socket for one more process that asks it. @throws kevo::error (environment)
  detail::descriptor connect();

 private:
  child_process process_;
  detail::descriptor socket_;
};

/// The text of kevo_torch_compile.py.
std::string_view compile_script();

}  // namespace kevo::torch
