#pragma once
// The other compiler: nvcc, in the sandbox, for code that needs its host headers or a newer front end than
// the NVRTC at hand. Slower than NVRTC: it starts five programs a build.

#include <functional>
#include <string>
#include <string_view>

#include <kevo/program.hpp>

#include "fitness/cuda/compile/message.hpp"
#include "fitness/process/process.hpp"

namespace kevo::cuda {

/// What nvcc is to make of a program, and within which limits.
struct nvcc_job {
  std::string nvcc;  ///< absolute path
  const kevo::program* source = nullptr;
  std::vector<std::string> kernels;
  std::vector<std::string> options;  ///< architecture, standard, flags
  process_limits limits;
  sandbox_mode sandbox = sandbox_mode::required;
  std::vector<int> cpus;
};

/// The real nvcc behind a name or a path: links are followed, and a script that starts another nvcc is asked
/// for the toolkit it stands for.
/// @throws kevo::error (environment) if there is none of that name
std::string find_nvcc(const std::string& name);

/// Compiles to a cubin and finds the symbol of each kernel. `run` starts the process and waits for it.
/// @param report how nvcc ended; the answer says `failed` for any end but success
/// @throws kevo::error (environment) if a source cannot be written
compile_answer compile_with_nvcc(const nvcc_job& job,
                                 const std::function<exit_report(const launch_spec&)>& run,
                                 exit_report& report);

/// Which of some symbols a kernel written as "f<64, float>" is: the one that reads the same, blanks aside, or
/// the only instantiation of f. Empty if neither is.
std::string symbol_of(std::string_view kernel, const std::vector<std::string>& symbols);

}  // namespace kevo::cuda
