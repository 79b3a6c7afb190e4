#pragma once
// The other compiler: nvcc, in the sandbox, for code that needs its host headers or a newer front end than
// the NVRTC at hand. Slower than NVRTC: it starts five programs a build.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

/// nvcc, where `configured`, KEVO_NVCC, CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda say.
/// @return its absolute path; empty if there is none, or if it is configured as "none"
std::string find_hosted_nvcc(const std::string& configured = {});

/// "nvcc 13.0"; "nvcc" if it does not say. @param nvcc its absolute path
std::string nvcc_version(const std::string& nvcc);

/// What nvcc compiles as kevo_entry.cu: the program's main file, and what makes nvcc instantiate its kernels.
std::string nvcc_entry(const program& source, const std::vector<std::string>& kernels);

/// Compiles to a cubin and finds the symbol of each kernel. `run` starts the process and waits for it.
/// @param report how nvcc ended; the answer says `failed` for any end but success
/// @throws kevo::error (environment) if a source cannot be written
compile_answer compile_with_nvcc(const nvcc_job& job,
                                 const std::function<exit_report(const launch_spec&)>& run,
                                 exit_report& report);

/// A program with host code that is to become a shared object.
struct hosted_job {
  std::string nvcc;  ///< absolute path
  const kevo::program* source = nullptr;
  std::string entry;                 ///< trusted text that includes the main file and exports the entry
  std::vector<std::string> options;  ///< architecture, standard, flags
  bool trusted = false;              ///< libraries of finished kernels are not hidden
  std::vector<std::string> link;     ///< libraries: "cublas"
  /// Where they are besides the folders of the toolkit and the system; seen by the compiler, absolute.
  std::vector<std::string> library_folders;
  process_limits limits;
  sandbox_mode sandbox = sandbox_mode::required;
  std::vector<int> cpus;
};

/// What became of it: the object, or what compiler and linker said.
struct hosted_answer {
  bool ok = false;
  std::string object;  ///< an ELF image for dlopen
  std::string log;
  std::string message;  ///< where nvcc is not to blame
};

/// Compiles to a shared object that takes the CUDA runtime along (libcudart_static) and leaves no symbol
/// open.
/// @param report how nvcc ended @throws kevo::error (environment) if a source cannot be written
hosted_answer compile_hosted(const hosted_job& job, const std::function<exit_report(const launch_spec&)>& run,
                             exit_report& report);

/// What nvcc needs in a sandbox, read-only: its toolkit and the system's compilers.
std::vector<mount> toolkit_mounts(const std::string& nvcc);

/// Folders of an nvcc's toolkit in which libraries lie; there may be none.
std::vector<std::string> toolkit_library_folders(const std::string& nvcc);

/// Which of some symbols a kernel written as "f<64, float>" is: the one that reads the same, blanks aside, or
/// the only instantiation of f. Empty if neither is.
std::string symbol_of(std::string_view kernel, const std::vector<std::string>& symbols);

}  // namespace kevo::cuda
