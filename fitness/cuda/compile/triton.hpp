#pragma once
// The compile stage of Triton programs: Python with Triton, in the sandbox and without a GPU, compiles the
// variants of the kernels that launch lines name, in two processes. The first executes the program's file as
// a module and writes the kernels in Triton's intermediate language. The second compiles those to cubins and
// never sees the program, which therefore cannot hand in machine code of another origin.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/program.hpp>

#include "fitness/build/python_packages.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/process/process.hpp"

namespace kevo::cuda {

/// A Python that has Triton.
struct triton_tools : python_tools {
  /// What a cache may know it by.
  std::string identity() const;
};

/// Finds a Python with Triton. `configured`, else the environment variable KEVO_PYTHON, is a Python or a
/// folder of packages; else it is looked for in the folder `python` beside this program or one or two folders
/// above (scripts/setup.sh --triton makes it in build/), and in the packages of python3 along PATH and of
/// /usr/bin/python3. Asks each for its version of Triton, which takes some 150 ms.
/// @param contained it is to run in the sandbox: if this process is root's, others must be able to read it
/// @throws kevo::error (environment) that names every place, if none has it
triton_tools find_triton(const std::string& configured = {}, bool contained = false);

/// What to compile.
struct triton_job {
  const triton_tools* tools = nullptr;
  const kevo::program* source = nullptr;
  std::vector<std::string> variants;  ///< as `triton_variants` gives them
  std::string architecture;           ///< "sm_90a"
  process_limits limits;
  sandbox_mode sandbox = sandbox_mode::required;
  std::vector<int> cpus;
  std::map<std::string, std::string> options = {};  ///< of Triton's compiler, as JSON: see triton_words
};

/// What became of it.
struct triton_answer {
  bool ok = false;
  bool lowered = false;    ///< the process that executes the program has ended well
  std::string error;       ///< one line
  std::string log;         ///< what Triton said
  compiled_module module;  ///< kernels in the order of the variants, an image for each
};

/// Compiles. `run` starts a process and waits for it.
/// @param report how the last process ended; `ok` is false for any end but success
triton_answer compile_with_triton(const triton_job& job,
                                  const std::function<exit_report(const launch_spec&)>& run,
                                  exit_report& report);

/// The text of kevo_triton.py.
std::string_view triton_script();

}  // namespace kevo::cuda
