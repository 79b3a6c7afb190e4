#pragma once
// Builds a candidate to a shared object: a sandboxed compiler that sees this one source and its own
// toolchain. The source is a translation unit of its own, compiled so that it becomes the code that it is in
// its user's program; the entry by which it is called is another. No build has a clock.

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/program.hpp>

#include "fitness/build/build_choices.hpp"
#include "fitness/build/running_builds.hpp"
#include "fitness/oracle/program_entry.hpp"
#include "fitness/process/process.hpp"

namespace kevo {

/// What to build.
struct build_request {
  kevo::program source;
  /// By what it is called. Empty: its functions are called by their names, which stay visible.
  program_entry entry = {};
  std::string compiler = "g++";  ///< a name that is looked up in PATH, or an absolute path
  /// From the config, never from a candidate. Without a -std= among them, the language is GNU C++20.
  std::vector<std::string> flags = {"-O3", "-march=native"};
  std::vector<std::string> link = {};  ///< arguments after the source, such as "-lm"
  /// Whether pragmas and attributes of the source may ask for fast math.
  fast_math_permission fast_math = {true, {}};
  bool executable = false;  ///< a program with a function `main` instead of an object to load; has no entry
};

/// What became of it. A failed build is a value; `object_path` belongs to the cache and must not be changed.
struct build_result {
  bool ok = false;
  bool cached = false;
  std::string object_path;
  std::string
      diagnostics;  ///< the compiler's standard error, capped, paths as the candidate's author knows them
  std::vector<std::string> reasons;  ///< short, one per failure: "the compiler timed out after 60 s", ...
  std::string choices;               ///< of the program's build lines, where the caller heeds them
  exit_report report;  ///< of the last compiler, with the time of all of the last try; not kept in the cache
  double wall_s = 0;   ///< what this call took, all tries together
};

/// The options with which a program's source is compiled to an object that candidates and bundles are linked
/// from; the compiler, the files and what only the linker reads are left out.
std::vector<std::string> unit_options(const std::vector<std::string>& flags);

/// Headers and libraries of this machine that hold finished kernels (Eigen, BLAS, LAPACK, FFTW, oneDNN, the
/// library of Fortran, Python's packages, ...): a candidate that includes, or embeds as bytes, one of them
/// would be somebody else's kernel.
std::vector<std::string> numeric_libraries();

/// How builds are done.
struct compiler_settings {
  std::string cache_folder;  ///< private to the controller; made if it does not exist; empty: no cache is
                             ///< kept on disk
  sandbox_mode sandbox = sandbox_mode::required;
  process_limits limits = default_limits();
  std::uint64_t object_bytes = 64U << 20U;  ///< largest object that is accepted
  std::uint64_t diagnostics_bytes = 64U << 10U;
  /// Folders and files of the toolchain that candidates must not see: see `numeric_libraries`.
  std::vector<std::string> hidden = numeric_libraries();
  std::vector<int> cpus;  ///< processors that builds may use; empty: any

  /// 60 s, 4 GB of address space, 64 processes, 256 MB a file, 1 MB of output.
  static process_limits default_limits();
};

/// Builds candidates. Thread-safe; builds of the same key at the same time are done once.
class compiler {
 public:
  /// @param pausable pauses the builds while a time is taken; may be null. Must outlive this.
  /// @throws kevo::error (environment) if the cache's folder cannot be used or the sandbox is refused
  explicit compiler(compiler_settings settings, running_builds* pausable = nullptr);
  compiler(compiler&&) noexcept;
  compiler& operator=(compiler&&) noexcept;
  ~compiler();

  /// Builds, or answers from the cache (failures too). A time-out or lack of memory is tried once more.
  /// @throws kevo::error: environment (no compiler, no disk, the sandbox fails), interrupted (`stop`)
  build_result build(const build_request& request, std::stop_token stop = {});

  /// Links a program that `build` has built again, with its code, constants and variables moved by multiples
  /// of 16 bytes within a page. What a source aligns stays aligned.
  /// @param first number of the first placement @param count of them; a number means the same places for all
  /// programs of this object, which are drawn when it is made
  /// @return paths of the objects, which belong to the cache
  /// @throws kevo::error: environment (the program does not build any more), interrupted (`stop`)
  std::vector<std::string> place(const build_request& request, std::size_t first, std::size_t count,
                                 std::stop_token stop = {});

  /// The first line of `name --version`, by which the cache knows it.
  /// @throws kevo::error (environment) if there is no such compiler
  std::string version_of(const std::string& name);

  /// The vector extensions that `flags` allow, as in instruction_sets.hpp; empty if the compiler does not
  /// say.
  /// @throws kevo::error (environment) if there is no such compiler
  std::string instruction_sets_of(const std::string& name, const std::vector<std::string>& flags);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kevo
