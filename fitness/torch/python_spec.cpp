#include "fitness/torch/python_spec.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "fitness/sandbox/sandbox.hpp"

namespace kevo::torch {

launch_spec python_spec(const python_tools& tools, sandbox_mode sandbox, std::string_view script,
                        const std::vector<std::string>& arguments, int socket) {
  launch_spec spec;
  spec.argv = {tools.python, "-I", "-B", "-c", std::string(script)};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.mounts = mounts_of(tools);
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/tmp", "TMPDIR=/tmp", "PYTHONHASHSEED=0"};
  spec.file_descriptors = {{socket, 3}};
  spec.sandbox = sandbox;
  spec.policy = syscall_policy::command;  // it forks, and speaks through a socket
  spec.limits.wall_s = 1e9;
  spec.limits.output_bytes = 64U << 20U;
  spec.limits.scratch_bytes = 1U << 20U;
  return spec;
}

std::string mount_libraries(launch_spec& spec, const std::vector<std::string>& libraries) {
  std::set<std::string> there;
  for (const auto& library : libraries) {
    const std::string name = std::filesystem::path(library).filename().string();
    if (there.insert(name).second) spec.mounts.push_back({library, inside_libraries + name});
  }
  if (contains(spec.sandbox)) return inside_libraries;
  const char* paths = std::getenv("LD_LIBRARY_PATH");
  return paths == nullptr ? "" : paths;
}

}  // namespace kevo::torch
