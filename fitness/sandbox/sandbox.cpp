#include "fitness/sandbox/sandbox.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/sandbox/bubblewrap.hpp"
#include "fitness/sandbox/filters.hpp"
#include "fitness/sandbox/launch_in.hpp"
#include "fitness/sandbox/reachable.hpp"
#include "src/base/process/spawn.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

std::string link_target(const std::string& path) {
  std::error_code ignored;
  return fs::read_symlink(path, ignored).string();
}

std::string field_of_status(pid_t process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) {
      const auto at = line.find_first_not_of(" \t", name.size() + 1);
      return at == std::string::npos ? "" : line.substr(at);
    }
  }
  return {};
}

// RLIMIT_NPROC of a process. (prlimit needs rights over it; the file does not.)
long process_limit_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/limits");
  const std::string name = "Max processes";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::atol(line.c_str() + name.size());
  }
  return -1;
}

// A process that lives long enough to be looked at.
launch_spec probe_spec() {
  launch_spec spec;
  spec.argv = {"/usr/bin/sleep", "10"};
  spec.mounts = {{"/usr/bin", "/usr/bin"},
                 {"/usr/lib", "/usr/lib"},
                 {"/usr/lib64", "/usr/lib64", false, true},
                 {"/lib", "/lib", false, true},
                 {"/lib64", "/lib64", false, true}};
  spec.limits.wall_s = 20;
  spec.limits.processes = 4;
  spec.limits.memory_bytes = std::uint64_t{1} << 30U;
  spec.policy = syscall_policy::worker;
  return spec;
}

// What usually stands in the way of user namespaces, and how to mend it.
std::string advice() {
  const auto value = [](const char* path) {
    std::string text;
    std::getline(std::ifstream(path), text);
    return text;
  };
  if (value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "AppArmor does not let unprivileged users create user namespaces: install the profile "
           "bwrap-userns-restrict (package apparmor-profiles), or run sysctl "
           "kernel.apparmor_restrict_unprivileged_userns=0";
  }
  if (value("/proc/sys/kernel/unprivileged_userns_clone") == "0")
    return "run sysctl kernel.unprivileged_userns_clone=1";
  if (value("/proc/sys/user/max_user_namespaces") == "0")
    return "run sysctl user.max_user_namespaces=1000, or set a larger value";
  std::error_code ignored;
  if (fs::exists("/.dockerenv", ignored) || fs::exists("/run/.containerenv", ignored)) {
    return "this is a container: start it with --security-opt seccomp=unconfined --security-opt "
           "apparmor=unconfined";
  }
  return {};
}

struct findings {
  bool contained = false;
  bool filter = false;
  std::string failure;  // why a sandboxed process could not be started
  std::vector<sandbox_layer> layers;
};

bool wait_for_exec(pid_t process) {
  for (int i = 0; i < 500; ++i) {
    if (field_of_status(process, "Name") == "sleep") return true;
    ::usleep(2000);
  }
  return false;
}

std::string landlock_detail() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  if (version < 0) return "not available in this kernel";
  return "available (version " + std::to_string(version) +
         ") but not used: the mount namespace already hides the files that it would protect";
}

std::string cgroup_detail() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    const std::string folder = "/sys/fs/cgroup" + line.substr(3);
    if (::access((folder + "/cgroup.procs").c_str(), W_OK) == 0) return "available but not used";
  }
  return "not available to this process; memory is limited for each process, not for all of them together";
}

findings probe() {
  findings result;
  detail::require_ends();  // else each probe would fail, and the reason given be another
  auto& layers = result.layers;
  const std::string program = detail::find_bubblewrap();
  const bool root = ::geteuid() == 0;
  try {
    (void)compile_filter(syscall_policy::worker);
    result.filter = true;
  } catch (const error& e) {
    result.failure = e.message();
  }
  std::string version;
  pid_t inner = 0;
  child_process child;
  if (program.empty()) {
    result.failure = "bubblewrap is not installed (install the package bubblewrap)";
  } else {
    try {
      detail::containment how{program, root, result.filter};
      child = detail::launch_in(how, probe_spec());
      inner = child.inner_pid();
      if (!wait_for_exec(inner)) {
        child.kill();
        const auto report = child.wait();
        throw error(error_code::environment, "cannot start a process in the sandbox: " + report.err);
      }
      result.contained = true;
      launch_spec ask;
      ask.argv = {program, "--version"};
      ask.limits.wall_s = 5;
      ask.sandbox = sandbox_mode::off;
      version = detail::launch_in({}, ask).wait().out;
      while (!version.empty() && version.back() == '\n') version.pop_back();
    } catch (const error& e) {
      result.failure = e.message();
      if (const auto mend = advice(); !mend.empty()) result.failure += "; " + mend;
    }
  }
  const auto add = [&layers](std::string name, bool in_force, bool required, std::string detail) {
    layers.push_back({std::move(name), in_force, required, std::move(detail)});
  };
  add("bubblewrap", result.contained, true, result.contained ? version : result.failure);
  const auto space = [&](const std::string& name, const std::string& file, bool required) {
    const std::string theirs = inner > 0 ? link_target("/proc/" + std::to_string(inner) + "/ns/" + file) : "";
    const bool own = !theirs.empty() && theirs != link_target("/proc/self/ns/" + file);
    add(name, own, required,
        own ? theirs : "not isolated" + (result.failure.empty() ? "" : ": " + result.failure));
  };
  space("user namespace", "user", true);
  space("mount namespace", "mnt", true);
  space("pid namespace", "pid", true);
  space("network namespace", "net", true);
  space("ipc namespace", "ipc", true);
  space("uts namespace", "uts", false);
  space("cgroup namespace", "cgroup", false);
  const bool filtered = inner > 0 && field_of_status(inner, "Seccomp") == "2";
  add("seccomp", filtered, true,
      filtered ? "system call filter"
               : "no system call filter" + (result.failure.empty() ? "" : ": " + result.failure));
  const std::string capabilities =
      inner > 0 ? field_of_status(inner, "CapEff") + field_of_status(inner, "CapBnd") : "";
  const bool none = !capabilities.empty() && capabilities.find_first_not_of('0') == std::string::npos;
  add("no capabilities", none, true, none ? "all dropped" : "capabilities could not be dropped");
  const bool no_rights = inner > 0 && field_of_status(inner, "NoNewPrivs") == "1";
  add("no new privileges", no_rights, true, no_rights ? "set" : "not set");
  const std::string user = inner > 0 ? field_of_status(inner, "Uid") : "";
  const bool unprivileged = !user.empty() && !user.starts_with("0\t");
  add("unprivileged user", unprivileged || (!root && inner == 0), true,
      root ? (unprivileged ? "runs as nobody; kevo was started by root" : "runs as root")
           : "kevo was started by an unprivileged user");
  const bool limited = inner > 0 && process_limit_of(inner) == 4;
  add("resource limits", limited || inner == 0, true,
      limited      ? "process limit applies to each sandbox separately"
      : inner == 0 ? "process limit applies to all processes of the user"
                   : "the process limit is not in force");
  add("landlock", false, false, landlock_detail());
  add("cgroup", false, false, cgroup_detail());
  return result;
}

const findings& known_findings() {
  static const findings result = probe();
  return result;
}

const sandbox_layer* missing_layer() {
  for (const auto& layer : known_findings().layers) {
    if (layer.required && !layer.in_force) return &layer;
  }
  return nullptr;
}

detail::containment containment_for(const launch_spec& spec) {
  if (spec.sandbox == sandbox_mode::off) return {};
  const auto& found = known_findings();
  const bool root = ::geteuid() == 0;
  if (contains(spec.sandbox)) return {detail::find_bubblewrap(), root, true};
  // Without namespaces nobody must still be able to reach the program.
  return {"", root && !spec.argv.empty() && detail::reachable_by_others(spec.argv.front()), found.filter};
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void add_once(std::vector<mount>& mounts, const std::string& path) {
  const auto same = [&](const mount& m) { return m.inside == path; };
  if (std::none_of(mounts.begin(), mounts.end(), same)) mounts.push_back({path, path, false, true});
}

// /usr/share and /usr/local are left out: an installed kevo keeps tasks and seeds there.
void add_prefix(std::vector<mount>& mounts, const std::string& prefix) {
  for (const char* name :
       {"bin", "lib", "lib32", "lib64", "libx32", "libexec", "include", "x86_64-linux-gnu"}) {
    const std::string path = (prefix == "/" ? "" : prefix) + "/" + name;
    if (is_folder(path)) add_once(mounts, path);
  }
}

}  // namespace

child_process launch(const launch_spec& spec, void (*held)(pid_t, void*), void* context) {
  return detail::launch_in(containment_for(spec), spec, held, context);
}

exit_report run(const launch_spec& spec, std::stop_token stop) {
  return launch(spec).wait(std::move(stop));
}

const std::vector<sandbox_layer>& probe_sandbox() {
  return known_findings().layers;
}

std::vector<sandbox_layer> probe_sandbox_again() {
  return probe().layers;
}

bool contains(sandbox_mode mode) {
  if (mode == sandbox_mode::off) return false;
  const sandbox_layer* missing = missing_layer();
  if (mode == sandbox_mode::required && missing != nullptr) {
    throw error(error_code::environment,
                "a required sandbox layer is missing: " + missing->name + ": " + missing->detail, {},
                "install bubblewrap and allow user namespaces, or set sandbox: best to use the available "
                "layers; `kevo doctor` lists them");
  }
  return missing == nullptr;
}

bool addresses_can_be_fixed(sandbox_mode mode) {
  // The setting is one of the calling thread, which gets its own back.
  static const bool allowed = [] {
    const int usual = ::personality(0xffffffff);
    if (usual < 0) return false;
    const bool changed = ::personality(static_cast<unsigned>(usual) | ADDR_NO_RANDOMIZE) >= 0;
    ::personality(static_cast<unsigned>(usual));
    return changed;
  }();
  if (!allowed || !contains(mode)) return allowed;
  struct stat about = {};
  return ::stat(detail::find_bubblewrap().c_str(), &about) == 0 && (about.st_mode & S_ISUID) == 0;
}

std::string describe_layers(sandbox_mode mode) {
  if (mode == sandbox_mode::off) return "off: only resource limits and a separate session";
  if (!contains(mode)) {
    const auto& found = known_findings();
    return std::string("incomplete: resource limits") + (found.filter ? ", seccomp" : "") +
           (::geteuid() == 0 ? ", unprivileged user if that user can read the program" : "") + "; without " +
           missing_layer()->name + " (" + missing_layer()->detail + ')';
  }
  std::string text;
  for (const auto& layer : probe_sandbox()) {
    if (!layer.in_force) continue;
    text += (text.empty() ? "" : ", ") + (layer.name == "bubblewrap" ? layer.detail : layer.name);
  }
  return text;
}

std::vector<mount> runtime_mounts(const std::vector<std::string>& libraries) {
  std::vector<mount> mounts;
  std::error_code ignored;
  for (const char* loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"}) {
    if (fs::exists(loader, ignored)) mounts.push_back({loader, loader});
  }
  for (const auto& name : libraries) {
    for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
                               "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
      const std::string path = std::string(folder) + "/" + name;
      if (!fs::exists(path, ignored)) continue;
      mounts.push_back({path, path});
      break;
    }
  }
  return mounts;
}

std::vector<mount> runtime_mounts() {
  return runtime_mounts({"libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0",
                         "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1"});
}

std::vector<mount> toolchain_mounts(const std::string& compiler) {
  std::vector<mount> mounts;
  add_prefix(mounts, "/usr");
  for (const char* folder : {"/bin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    if (is_folder(folder)) add_once(mounts, folder);
  }
  add_once(mounts, "/etc/alternatives");
  add_once(mounts, "/etc/ld.so.cache");
  // A compiler may be a chain of links from one prefix to another.
  std::error_code ignored;
  fs::path at = compiler;
  for (int i = 0; i < 16 && at.is_absolute(); ++i) {
    const fs::path folder = at.parent_path();
    const bool seen =
        std::any_of(mounts.begin(), mounts.end(), [&](const mount& m) { return m.inside == folder; });
    if (!seen && folder.filename() == "bin") add_prefix(mounts, folder.parent_path().string());
    if (!fs::is_symlink(at, ignored)) break;
    const fs::path target = fs::read_symlink(at, ignored);
    at = (target.is_absolute() ? target : folder / target).lexically_normal();
  }
  return mounts;
}

}  // namespace kevo
