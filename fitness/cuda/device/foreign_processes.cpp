#include "fitness/cuda/device/foreign_processes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace kevo::cuda {
namespace {

// Of the NVML API reference: nvmlReturn_t, nvmlProcessInfo_v2_t.
constexpr int nvml_success = 0;
constexpr int nvml_insufficient_size = 7;
struct nvml_process {
  unsigned process = 0;
  unsigned long long memory_bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
constexpr unsigned long long memory_unknown = ~0ULL;

struct nvml {
  int (*init)() = nullptr;
  int (*device_by_uuid)(const char* uuid, void** device) = nullptr;
  int (*compute_processes)(void* device, unsigned* count, nvml_process* list) = nullptr;
  const char* (*error_text)(int code) = nullptr;
  std::string missing;  // a sentence; empty if it can be used
};

nvml load() {
  nvml found;
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    found.missing =
        std::string("cannot load NVML: ") + (why == nullptr ? "libnvidia-ml.so.1 was not found" : why);
    return found;
  }
  const auto get = [&](auto& function, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (function == nullptr)
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    }
    if (function == nullptr) found.missing = std::string("NVML is too old: it has no ") + *names.begin();
  };
  get(found.error_text, {"nvmlErrorString"});
  get(found.init, {"nvmlInit_v2"});
  get(found.device_by_uuid, {"nvmlDeviceGetHandleByUUID"});
  get(found.compute_processes,
      {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  if (!found.missing.empty()) return found;
  if (const int code = found.init(); code != nvml_success)
    found.missing = std::string("cannot initialize NVML: ") + found.error_text(code);
  return found;
}

const nvml& library() {
  static const nvml loaded = load();
  return loaded;
}

// "GPU-8-4-4-4-12", as NVML wants it.
std::string with_hyphens(const std::string& kind, const std::string& uuid) {
  std::string text = kind;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
    text += uuid[i];
  }
  return text;
}

// Answers what went wrong; empty if nothing did.
std::string list(const std::string& uuid, std::vector<listed_process>& to) {
  const nvml& api = library();
  if (!api.missing.empty()) return api.missing;
  void* device = nullptr;
  int code = api.device_by_uuid(with_hyphens("GPU-", uuid).c_str(), &device);
  if (code != nvml_success) code = api.device_by_uuid(with_hyphens("MIG-", uuid).c_str(), &device);
  std::vector<nvml_process> all(32);
  for (int attempt = 0; attempt < 4 && code == nvml_success; ++attempt) {
    auto count = static_cast<unsigned>(all.size());
    code = api.compute_processes(device, &count, all.data());
    if (code == nvml_success) {
      all.resize(std::min<std::size_t>(count, all.size()));
      for (const auto& one : all)
        to.push_back(
            {static_cast<pid_t>(one.process), one.memory_bytes == memory_unknown ? 0 : one.memory_bytes});
      return {};
    }
    if (code != nvml_insufficient_size) break;
    all.resize(std::max<std::size_t>(2 * all.size(), count + 16));  // some may come meanwhile
    code = nvml_success;
  }
  return std::string("NVML cannot list processes: ") + api.error_text(code);
}

std::string name_of_process(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  if (std::getline(file, name) && !name.empty()) return name;
  return ::kill(process, 0) != 0 && errno == ESRCH ? "" : "?";
}

// In a namespace of its own a container may be shown its own processes alone.
bool in_first_namespace() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/ns/pid", ignored) == "pid:[4026531836]";
}

}  // namespace

device_users foreign_among(const std::vector<listed_process>& listed, pid_t self,
                           const std::function<std::string(pid_t)>& name_of) {
  device_users users;
  users.told = std::any_of(listed.begin(), listed.end(), [&](const auto& one) { return one.id == self; });
  if (!users.told) {
    users.untold = listed.empty()
                       ? "NVML lists no processes, not even this one"
                       : "NVML lists the processes of another namespace, because this is a container";
    return users;
  }
  for (const auto& one : listed) {
    const std::string name = one.id == self ? "" : name_of(one.id);
    // Other runs of kevo take turns by the device's lock; their waiting contexts disturb nobody.
    if (name.empty() || name.starts_with("kevo-")) continue;
    users.foreign.push_back({one.id, name, one.bytes});
  }
  return users;
}

device_users users_of_device(const std::string& uuid) {
  std::vector<listed_process> listed;
  if (std::string problem = list(uuid, listed); !problem.empty()) {
    device_users users;
    users.untold = std::move(problem);
    return users;
  }
  device_users users = foreign_among(listed, ::getpid(), name_of_process);
  if (users.told && !in_first_namespace())
    users.untold = "processes outside this container may be missing from the list";
  return users;
}

}  // namespace kevo::cuda
