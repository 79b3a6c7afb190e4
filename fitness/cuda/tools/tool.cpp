#include "fitness/cuda/tools/tool.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <kevo/error.hpp>

#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/worker/driver_libraries.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/process/find_program.hpp"

namespace kevo::cuda {
namespace fs = std::filesystem;
namespace {

constexpr const char* inside_runner = "/kevo/kevo-replay-cuda";
constexpr const char* inside_libraries = "/kevo/lib/";
constexpr std::size_t most_log = 1U << 20U;

std::string variable_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "KEVO_" + name;
}

std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    if (at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  }
  std::sort(found.rbegin(), found.rend());  // the newest first
  return found;
}

// A tool's files lie beside it, or beside the `bin` of its toolkit, where a script leads to them.
void see_tool(launch_spec& spec, const fs::path& program) {
  spec.mounts = toolchain_mounts("/usr/bin/env");
  const auto see = [&](const fs::path& folder) {
    std::error_code code;
    if (!fs::is_directory(folder, code)) return;
    const std::string path = folder.string();
    const bool seen = std::any_of(spec.mounts.begin(), spec.mounts.end(), [&](const mount& m) {
      return path == m.inside || path.starts_with(m.inside + '/');
    });
    if (!seen) spec.mounts.push_back({path, path});
  };
  const auto folder = program.parent_path();
  see(folder);
  if (folder.filename() != "bin") return;
  see(folder.parent_path() / "compute-sanitizer");
  see(folder.parent_path() / "extras");
  for (const auto& version : entries(folder.parent_path(), "nsight-compute")) see(version);
  see("/opt/nvidia/nsight-compute");
}

// As the workers see the driver, and its compilers: ncu brings PTX of its own.
void see_driver(launch_spec& spec, const device_description& device, sandbox_mode sandbox) {
  std::set<std::string> there;
  for (const auto& m : spec.mounts) there.insert(fs::path(m.inside).filename().string());
  auto libraries = device.libraries;
  const auto compilers = compilers_of_driver(libraries);
  libraries.insert(libraries.end(), compilers.begin(), compilers.end());
  for (const auto& library : libraries) {
    const std::string name = fs::path(library).filename().string();
    if (there.insert(name).second) spec.mounts.push_back({library, inside_libraries + name});
  }
  if (contains(sandbox)) {
    spec.environment.push_back(std::string("LD_LIBRARY_PATH=") + inside_libraries);
  } else if (const char* paths = std::getenv("LD_LIBRARY_PATH")) {
    spec.environment.push_back(std::string("LD_LIBRARY_PATH=") + paths);
  }
  spec.devices = device.nodes;
  spec.own_proc = true;
}

std::string log_at(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(path, code))) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text(most_log, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

}  // namespace

std::string find_device_tool(const std::string& name) {
  std::vector<fs::path> places;
  if (const char* named = std::getenv(variable_of(name).c_str())) {
    places.emplace_back(named);  // this one or none
  } else {
    std::vector<fs::path> toolkits;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
      if (const char* folder = std::getenv(variable)) toolkits.emplace_back(folder);
    }
    toolkits.emplace_back("/usr/local/cuda");
    for (const auto& toolkit : toolkits) {
      places.push_back(toolkit / name / name);
      places.push_back(toolkit / "bin" / name);
    }
    places.emplace_back(find_program(name));
    for (const auto& version : entries("/opt/nvidia/nsight-compute", "")) places.push_back(version / name);
  }
  for (const auto& place : places) {
    std::error_code code;
    const auto real = fs::canonical(place, code);
    if (!code && fs::is_regular_file(real, code)) return real.string();
  }
  return {};
}

tool_report run_device_tool(const std::string& program, std::vector<std::string> options,
                            const std::string& call, const device_description& device, sandbox_mode sandbox,
                            double wall_s, const std::stop_token& stop) {
  const scratch_folder scratch(sandbox != sandbox_mode::off);
  const fs::path given = scratch.folder("in");
  const fs::path left = scratch.folder("out");
  if (!(std::ofstream(given / "call", std::ios::binary) << call))
    throw error(error_code::environment, "cannot write a call for " + program + " to " + given.string());

  launch_spec spec;
  spec.argv = {program};
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  spec.argv.insert(spec.argv.end(), {"--log-file", "/out/log", inside_runner, "/in/call", device.uuid});
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/tmp", "TMPDIR=/tmp", "CUDA_CACHE_DISABLE=1"};
  see_tool(spec, program);
  see_driver(spec, device, sandbox);
  spec.mounts.push_back({own_program("kevo-replay-cuda", "KEVO_REPLAY_CUDA"), inside_runner});
  spec.mounts.push_back({given.string(), "/in"});
  spec.mounts.push_back({left.string(), "/out", true});
  spec.limits.wall_s = wall_s;
  spec.limits.open_files = 1024;
  spec.limits.scratch_bytes = 1U << 30U;
  spec.sandbox = sandbox;
  spec.policy = syscall_policy::command;  // a tool starts the program that it watches

  tool_report report;
  report.process = run(spec, stop);
  if (stop.stop_requested()) throw error(error_code::interrupted, "stopped while a tool was running");
  if (report.process.kind == exit_kind::not_started)
    throw error(error_code::environment, "cannot run " + program + ": " + report.process.err);
  report.log = log_at(left / "log");
  return report;
}

}  // namespace kevo::cuda
