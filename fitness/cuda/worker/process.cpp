#include "fitness/cuda/worker/process.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>

#include <kevo/error.hpp>

#include "fitness/cuda/device/client.hpp"
#include "fitness/cuda/worker/protocol.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace {

constexpr const char* inside_program = "/kevo/kevo-worker-cuda";
constexpr const char* inside_libraries = "/kevo/lib/";

launch_spec spec_of(const worker_options& options, const device_description& device, int region, int arena,
                    std::uint64_t arena_bytes) {
  launch_spec spec;
  const std::string program =
      options.program.empty() ? own_program("kevo-worker-cuda", "KEVO_WORKER_CUDA") : options.program;
  spec.argv = {inside_program, device.uuid, std::to_string(arena_bytes)};
  spec.mounts = runtime_mounts();
  spec.mounts.push_back({program, inside_program});
  std::set<std::string> there;
  for (const auto& m : spec.mounts) there.insert(std::filesystem::path(m.inside).filename().string());
  std::string folders;
  for (const auto& library : device.libraries) {
    const std::string name = std::filesystem::path(library).filename().string();
    if (there.insert(name).second) spec.mounts.push_back({library, inside_libraries + name});
  }
  if (contains(options.sandbox)) {
    spec.environment = {std::string("LD_LIBRARY_PATH=") + inside_libraries};
  } else if (const char* paths = std::getenv("LD_LIBRARY_PATH")) {
    spec.environment = {std::string("LD_LIBRARY_PATH=") + paths};
  }
  spec.environment.emplace_back("CUDA_MODULE_LOADING=EAGER");
  spec.environment.emplace_back("CUDA_CACHE_DISABLE=1");
  spec.devices = device.nodes;
  spec.file_descriptors = {{region, control_descriptor}, {arena, arena_descriptor}};
  spec.limits.wall_s = options.wall_s;
  spec.limits.scratch_bytes = 0;
  spec.sandbox = options.sandbox;
  spec.policy = syscall_policy::device;
  spec.own_proc = true;
  return spec;
}

}  // namespace

worker_process::worker_process(const worker_options& options, const device_description& device, int arena,
                               std::uint64_t arena_bytes)
    : region_("kevo-cuda-region", payload_offset + most_payload),
      process_(launch(spec_of(options, device, region_.descriptor(), arena, arena_bytes))),
      handle_(static_cast<int>(::syscall(SYS_pidfd_open, process_.inner_pid(), 0))) {
  if (!handle_)
    throw error(error_code::environment, std::string("cannot watch a worker: ") + std::strerror(errno));
}

bool worker_process::ready() const {
  const auto& page = *reinterpret_cast<const control_page*>(region_.data());
  return page.state.load(std::memory_order_acquire) != static_cast<std::uint32_t>(worker_state::starting);
}

}  // namespace kevo::cuda
