#include "fitness/worker/thread_runtime.hpp"

#include <algorithm>
#include <initializer_list>

namespace kevo {

std::vector<std::string> worker_environment(int threads, bool shared) {
  const std::string number = std::to_string(threads);
  std::vector<std::string> variables = {
      "PATH=/nonexistent", "LC_ALL=C", "OMP_NUM_THREADS=" + number, "OMP_THREAD_LIMIT=" + number,
      "OMP_DYNAMIC=false", "OMP_TOOL=disabled",
      // LLVM's runtime would bind its threads, which is not allowed, and
      // end the process.
      "KMP_AFFINITY=disabled", "OPENBLAS_NUM_THREADS=" + number,
      "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=" + std::to_string(static_thread_local_bytes)};
  if (shared) variables.emplace_back("OMP_WAIT_POLICY=passive");
  return variables;
}

std::vector<std::string> thread_libraries(const std::vector<std::string>& flags) {
  const auto any = [&](std::initializer_list<const char*> beginnings) {
    return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
      return std::any_of(beginnings.begin(), beginnings.end(),
                         [&](const char* beginning) { return flag.starts_with(beginning); });
    });
  };
  std::vector<std::string> names;
  // -fopenmp-simd needs no library.
  if (std::any_of(
          flags.begin(), flags.end(),
          [](const std::string& flag) { return flag == "-fopenmp" || flag.starts_with("-fopenmp="); }) ||
      any({"-lgomp", "-lomp"})) {
    names.insert(names.end(), {"libgomp.so.1", "libomp.so.5", "libomp.so"});
  }
  if (any({"-ltbb"})) names.insert(names.end(), {"libtbb.so.12", "libtbb.so.2"});
  return names;
}

}  // namespace kevo
