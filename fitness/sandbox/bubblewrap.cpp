#include "fitness/sandbox/bubblewrap.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/sandbox/reachable.hpp"
#include "src/base/process/spawn.hpp"

namespace kevo::detail {
namespace {

using arguments = std::vector<std::string>;

void add(arguments& list, std::initializer_list<std::string> more) {
  list.insert(list.end(), more);
}

bool has_user_bit(const std::string& program) {
  struct stat info = {};
  return ::stat(program.c_str(), &info) == 0 && (info.st_mode & S_ISUID) != 0;
}

void add_mount(arguments& list, const mount& m, bool dropped,
               const std::function<int(descriptor)>& hand_over) {
  struct stat info = {};
  if (::stat(m.host.c_str(), &info) != 0) {
    if (m.optional) return;
    throw error(error_code::environment,
                "cannot mount " + m.host + " in the sandbox: " + std::strerror(errno));
  }
  if (m.writable) {
    add(list, {"--bind", m.host, m.inside});
    return;
  }
  if (dropped && !reachable_by_others(m.host)) {
    if (!S_ISREG(info.st_mode)) {
      if (info.st_uid == sandbox_uid) {
        add(list, {"--ro-bind", m.host, m.inside});
        return;
      }
      throw error(error_code::environment, "the user of the sandbox (nobody) cannot read " + m.host, {},
                  "give other users read permission for the folder and search permission for its parent "
                  "folders, or do not run kevo as root");
    }
    descriptor file(::open(m.host.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) throw error(error_code::environment, "cannot open " + m.host + ": " + std::strerror(errno));
    const bool executable = (info.st_mode & S_IXUSR) != 0;
    add(list, {"--perms", executable ? "0555" : "0444", "--ro-bind-data",
               std::to_string(hand_over(std::move(file))), m.inside});
    return;
  }
  add(list, {"--ro-bind", m.host, m.inside});
}

/// Files of the host are never handed over as copies here: what the sandbox's user may not read stays so.
void add_part(arguments& list, const folder_part& part) {
  constexpr const char* bytes_of_names = "1048576";
  switch (part.what) {
    case folder_part::kind::memory:
      return add(list, {"--size", std::to_string(part.bytes), "--tmpfs", part.path});
    case folder_part::kind::names:
      return add(list, {"--size", bytes_of_names, "--tmpfs", part.path});
    case folder_part::kind::host:
      return add(list, {"--ro-bind-try", part.path, part.path});
    case folder_part::kind::link:
      return add(list, {"--symlink", part.target, part.path});
    case folder_part::kind::sealed:
      return add(list, {"--remount-ro", part.path});
  }
}

}  // namespace

std::vector<std::string> bubblewrap_arguments(const bubblewrap_plan& plan, const launch_spec& spec,
                                              bool dropped, const std::function<int(descriptor)>& hand_over) {
  arguments list = {plan.program};
  add(list, {"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
             "--unshare-cgroup-try"});
  add(list, {"--uid", "65534", "--gid", "65534", "--hostname", "kevo", "--cap-drop", "ALL"});
  // Of its own namespace alone. With the set-user-ID bit, bubblewrap refuses it.
  if (spec.policy == syscall_policy::forker && !has_user_bit(plan.program))
    add(list, {"--cap-add", "CAP_SYS_ADMIN"});
  // Without --as-pid-1 bubblewrap's child would be a reaper, and argv[0] a process whose id nobody tells us.
  add(list, {"--die-with-parent", "--as-pid-1", "--clearenv", "--unsetenv", "PWD"});
  for (const auto& variable : spec.environment) {
    const auto equals = variable.find('=');
    if (equals == std::string::npos)
      throw error(error_code::usage, "an environment entry must be NAME=value, not: " + variable);
    add(list, {"--setenv", variable.substr(0, equals), variable.substr(equals + 1)});
  }
  // First, for a mount may lie below it.
  if (spec.limits.scratch_bytes > 0) {
    add(list, {"--size", std::to_string(spec.limits.scratch_bytes), "--tmpfs", "/tmp"});
  }
  for (const auto& m : spec.mounts) add_mount(list, m, dropped, hand_over);
  for (const auto& part : spec.parts) add_part(list, part);
  std::set<std::string> masked;
  for (const auto& name : spec.hidden) {
    // A link is followed here, as it would be inside; what no mount brings needs no hiding.
    std::error_code code;
    const std::string path = std::filesystem::canonical(name, code).string();
    const auto brings = [&path](const mount& m) {
      return m.host == m.inside && path.starts_with(m.inside + '/');
    };
    if (code || std::none_of(spec.mounts.begin(), spec.mounts.end(), brings)) continue;
    const auto inside_masked = [&path](const std::string& m) {
      return path == m || path.starts_with(m + '/');
    };
    if (std::any_of(masked.begin(), masked.end(), inside_masked)) continue;
    masked.insert(path);
    if (std::filesystem::is_directory(path, code)) {
      add(list, {"--size", "4096", "--tmpfs", path, "--remount-ro", path});
    } else {
      add(list, {"--ro-bind", "/dev/null", path});
    }
  }
  // Not --dev: it brings terminals and an unbounded /dev/shm.
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/urandom"})
    add(list, {"--dev-bind-try", device, device});
  if (spec.usual_devices) {
    for (const char* device : {"/dev/random", "/dev/full"}) add(list, {"--dev-bind-try", device, device});
    add(list, {"--symlink", "/proc/self/fd", "/dev/fd"});
    for (const auto& [number, name] : {std::pair("0", "stdin"), {"1", "stdout"}, {"2", "stderr"}})
      add(list, {"--symlink", std::string("/proc/self/fd/") + number, std::string("/dev/") + name});
  }
  if (spec.limits.shared_memory_bytes > 0)
    add(list, {"--perms", "1777", "--size", std::to_string(spec.limits.shared_memory_bytes), "--tmpfs",
               "/dev/shm"});
  for (const auto& device : spec.devices) add(list, {"--dev-bind", device, device});
  if (spec.own_proc) add(list, {"--proc", "/proc"});
  // The root itself is a tmpfs that its user could fill.
  add(list, {"--remount-ro", "/"});
  add(list, {"--chdir", spec.directory.empty() ? "/" : spec.directory});
  if (plan.filter_fd >= 0) add(list, {"--seccomp", std::to_string(plan.filter_fd)});
  add(list, {"--json-status-fd", std::to_string(plan.status_fd), "--block-fd", std::to_string(plan.block_fd),
             "--"});
  list.insert(list.end(), spec.argv.begin(), spec.argv.end());
  return list;
}

std::string find_bubblewrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

}  // namespace kevo::detail
