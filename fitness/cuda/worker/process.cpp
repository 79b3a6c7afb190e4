#include "fitness/cuda/worker/process.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include <kevo/error.hpp>

#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"
#include "fitness/cuda/worker/driver_libraries.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace {

constexpr const char* inside_libraries = "/kevo/lib/";
constexpr std::uint64_t scratch_of_trusted = std::uint64_t{64} << 20U;

// Whether whoever started kevo (Ray, Slurm) chose its device among those of the machine. A part of a device
// has an identifier of another form.
bool is_given_a_device() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets variables
  const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
  return given != nullptr && !std::string_view(given).starts_with("MIG-");
}

launch_spec spec_of(const worker_options& options, const device_description& device, int region, int arena,
                    std::uint64_t arena_bytes) {
  launch_spec spec;
  const std::string worker = options.hosted ? "kevo-worker-hosted" : "kevo-worker-cuda";
  const std::string program =
      !options.program.empty()
          ? options.program
          : own_program(worker, options.hosted ? "KEVO_WORKER_HOSTED" : "KEVO_WORKER_CUDA");
  const std::string inside_program = "/kevo/" + worker;
  spec.argv = {inside_program, device.uuid, std::to_string(arena_bytes)};
  if (options.hosted)
    spec.argv.emplace_back(options.trusted ? "trusted" : std::to_string(options.memory_bytes));
  spec.mounts = runtime_mounts();
  spec.mounts.push_back({program, inside_program});
  std::set<std::string> there;
  for (const auto& m : spec.mounts) there.insert(std::filesystem::path(m.inside).filename().string());
  std::string folders;
  std::vector<std::string> libraries = device.libraries;
  if (options.trusted) {
    const auto compilers = compilers_of_driver(libraries);
    libraries.insert(libraries.end(), compilers.begin(), compilers.end());
  }
  for (const auto& library : libraries) {
    const std::string name = std::filesystem::path(library).filename().string();
    if (there.insert(name).second) spec.mounts.push_back({library, inside_libraries + name});
  }
  if (contains(options.sandbox)) {
    std::string places = inside_libraries;
    for (std::size_t i = 0; i < options.folders.size(); ++i) {
      const auto inside = "/kevo/libraries" + std::to_string(i);
      spec.mounts.push_back({options.folders[i], inside});
      places += ":" + inside;
    }
    spec.environment = {"LD_LIBRARY_PATH=" + places};
  } else if (!options.folders.empty()) {
    std::string places;
    for (const auto& folder : options.folders) places += folder + ":";
    const char* paths = std::getenv("LD_LIBRARY_PATH");
    spec.environment = {"LD_LIBRARY_PATH=" + places + (paths == nullptr ? "" : paths)};
  } else if (const char* paths = std::getenv("LD_LIBRARY_PATH")) {
    spec.environment = {std::string("LD_LIBRARY_PATH=") + paths};
  }
  // A vendor's library has thousands of kernels, of which the untimed first call loads what it needs.
  spec.environment.emplace_back(options.trusted ? "CUDA_MODULE_LOADING=LAZY" : "CUDA_MODULE_LOADING=EAGER");
  spec.environment.emplace_back("CUDA_CACHE_DISABLE=1");
  // The graph of a declared program is a row: with one queue to the device a context starts in half the time.
  if (!options.hosted) spec.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS=1");
  spec.devices = device.nodes;
  spec.file_descriptors = {{region, control_descriptor}, {arena, arena_descriptor}};
  spec.limits.wall_s = options.wall_s;
  spec.limits.scratch_bytes = options.trusted ? scratch_of_trusted : 0;
  // A context starts sooner, and takes no lock of the others, where the driver looks for one device only.
  if (options.hosted || device.devices > 1 || is_given_a_device())
    spec.environment.push_back("CUDA_VISIBLE_DEVICES=" + visible_name(device.uuid));
  spec.sandbox = options.sandbox;
  spec.policy = syscall_policy::device;
  spec.own_proc = true;
  return spec;
}

std::variant<child_process, forked_process> start(const worker_options& options,
                                                  const device_description& device, int region, int arena,
                                                  std::uint64_t arena_bytes) {
  if (options.fork) return options.fork(region, arena, arena_bytes);
  return launch(spec_of(options, device, region, arena, arena_bytes));
}

pid_t id_of(const std::variant<child_process, forked_process>& process) {
  return std::visit([](const auto& one) { return one.inner_pid(); }, process);
}

}  // namespace

std::string visible_name(const std::string& uuid) {
  if (uuid.size() != 32) return {};
  return "GPU-" + uuid.substr(0, 8) + '-' + uuid.substr(8, 4) + '-' + uuid.substr(12, 4) + '-' +
         uuid.substr(16, 4) + '-' + uuid.substr(20);
}

worker_process::worker_process(const worker_options& options, const device_description& device, int arena,
                               std::uint64_t arena_bytes)
    : region_("kevo-cuda-region", payload_offset + most_payload),
      process_(start(options, device, region_.descriptor(), arena, arena_bytes)),
      handle_(static_cast<int>(::syscall(SYS_pidfd_open, id_of(process_), 0))) {
  if (!handle_)
    throw error(error_code::environment, std::string("cannot watch a worker: ") + std::strerror(errno));
  // The region that it shares with kevo is its own memory, too.
  if (options.hosted && !options.trusted && options.memory_bytes > 0)
    watched_bytes_ = options.memory_bytes + payload_offset + most_payload;
}

void worker_process::begin() {
  // Not before: what others take while it rests is not its own.
  if (watched_bytes_ > 0 && !watch_)
    watch_ = std::make_unique<host_memory_watch>(id_of(process_), watched_bytes_);
  publish_and_wake(reinterpret_cast<control_page*>(region_.data())->begin, 1);
}

void worker_process::kill() {
  std::visit([](auto& one) { one.kill(); }, process_);
}

std::optional<exit_report> worker_process::report() {
  return std::visit([](auto& one) { return one.try_wait(); }, process_);
}

bool worker_process::ready() const {
  const auto& page = *reinterpret_cast<const control_page*>(region_.data());
  return page.state.load(std::memory_order_acquire) != static_cast<std::uint32_t>(worker_state::starting);
}

}  // namespace kevo::cuda
