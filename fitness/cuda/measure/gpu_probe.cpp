#include "fitness/cuda/measure/gpu_probe.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/triton.hpp"
#include "fitness/cuda/device/trusted_kernels.hpp"
#include "fitness/cuda/hosted/hosted_compiler.hpp"
#include "fitness/cuda/measure/program_runner.hpp"
#include "fitness/cuda/measure/quiet_device.hpp"
#include "fitness/cuda/tools/tool.hpp"
#include "fitness/machine/cores.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace {

std::string path_of(const device_client& device, const std::string& folder) {
  return fmt::format("{}/gpu-{}-{}", folder, device.facts().uuid, device.facts().driver);
}

gpu_finding worker_finding(device_client& device, bool hosted) {
  const std::string name = hosted ? "GPU worker, hosted" : "GPU worker";
  try {
    worker_source workers(device, {.sandbox = sandbox_mode::required, .hosted = hosted}, 16U << 20U, 0);
    workers.fresh();
    workers.end();
    return {name, true, "starts in the sandbox"};
  } catch (const error& failure) {
    return {name, false, failure.message(), !hosted};
  }
}

gpu_finding triton_finding() {
  try {
    const auto tools = find_triton({}, contains(sandbox_mode::best));
    return {"Triton", true, fmt::format("{}, {} with {}", tools.version, tools.packages, tools.python),
            false};
  } catch (const error& failure) {
    return {"Triton", false, failure.message() + ": candidates in Triton cannot be compiled", false};
  }
}

gpu_finding nvcc_finding() {
  try {
    const hosted_compiler compiler;
    if (compiler.missing().empty()) return {"nvcc", true, find_hosted_nvcc()};
    return {"nvcc", false, compiler.missing(), false};
  } catch (const error& failure) {
    return {"nvcc", false, failure.message() + ": hosted programs cannot be built", false};
  }
}

gpu_finding tool_finding(const std::string& name, const std::string& without) {
  const std::string found = find_device_tool(name);
  return {name, !found.empty(), found.empty() ? "not found: " + without : found, false};
}

std::string described(const device_description& f) {
  return fmt::format("{}, {}, driver {}.{}, {} GiB", f.name, f.architecture(), f.driver / 1000,
                     f.driver % 1000 / 10, f.memory_bytes >> 30U);
}

gpu_finding users_finding(device_client& device, const std::string& name) {
  try {
    const auto users = device.users();
    if (!users.told)
      return {name, false, "processes of other programs cannot be detected: " + users.untold, false};
    return {name, true,
            (users.foreign.empty()
                 ? "no processes of other programs"
                 : "other programs use the GPU and would disturb measurements: " + describe(users.foreign)) +
                (users.untold.empty() ? "" : "; " + users.untold),
            false};
  } catch (const error& failure) {
    return {name, false, failure.message(), false};
  }
}

/// What there is of the device `number`, which a run uses only if its config says so.
void look_at_further(int number, std::vector<gpu_finding>& all) {
  const std::string name = fmt::format("NVIDIA GPU {}", number);
  try {
    device_client device(number);
    all.push_back({name, true, described(device.facts()), false});
    all.push_back(users_finding(device, fmt::format("GPU {} processes", number)));
  } catch (const error& failure) {
    all.push_back({name, false, failure.message() + ": fitness.devices cannot use it", false});
  }
}

}  // namespace

std::string user_cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/')
    return std::string(folder) + "/kevo";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/kevo";
  return {};
}

compiled_module compile_trusted_kernels(cuda_compiler& compiler, const std::string& architecture,
                                        std::stop_token stop) {
  const auto built =
      compiler.build({single_file_program("cuda", "trusted_kernels.cu", trusted_kernels_source()),
                      trusted_kernel_names(),
                      architecture,
                      {}},
                     std::move(stop));
  if (!built.ok)
    throw error(error_code::environment,
                "the kernels of kevo itself do not compile for " + architecture + ": " + built.diagnostics);
  return built.module;
}

device_ceilings ceilings_of_device(device_client& device, const std::string& folder, bool again) {
  const std::string path = folder.empty() ? "" : path_of(device, folder);
  if (!path.empty() && !again) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    try {
      device_ceilings found;
      decode(text.str(), found);
      return found;
    } catch (const error&) {  // not there, or of another version: measured again
    }
  }
  const auto measured = device.calibrate();
  if (!path.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    std::ofstream(path + ".new", std::ios::binary) << encode(measured);
    std::filesystem::rename(path + ".new", path, ignored);
  }
  return measured;
}

std::vector<gpu_finding> probe_gpu() {
  std::vector<gpu_finding> all;
  std::optional<cuda_compiler> compiler;
  std::unique_ptr<device_client> device;
  try {
    compiler.emplace();
    all.push_back({"NVRTC", true, compiler->tools().library});
  } catch (const error& failure) {
    all.push_back({"NVRTC", false, failure.message() + ": CUDA candidates cannot be compiled"});
  }
  all.push_back(nvcc_finding());
  all.push_back(triton_finding());
  all.push_back(
      tool_finding("compute-sanitizer", "fitness.gates.memcheck and fitness.gates.racecheck cannot be used"));
  all.push_back(tool_finding("ncu", "fitness.gates.profile uses only the figures of the driver"));
  try {
    device = std::make_unique<device_client>(0);
    all.push_back({"NVIDIA GPU", true, described(device->facts())});
  } catch (const error& failure) {
    all.push_back(
        {"NVIDIA GPU", false,
         failure.message() + ": CUDA candidates cannot be evaluated on this machine; everything else works"});
    return all;
  }
  all.push_back(users_finding(*device, "GPU processes"));
  for (int number = 1; number < device->facts().devices; ++number) look_at_further(number, all);
  if (!compiler) return all;
  try {
    device->set_trusted_kernels(compile_trusted_kernels(*compiler, device->facts().architecture()));
    all.push_back({"GPU kernels", true, "the kernels of kevo itself compile and load"});
  } catch (const error& failure) {
    all.push_back({"GPU kernels", false, failure.message()});
    return all;
  }
  all.push_back(worker_finding(*device, false));
  all.push_back(worker_finding(*device, true));
  return all;
}

std::optional<device_ceilings> calibrate_gpu(const std::string& folder) {
  try {
    cuda_compiler compiler;
    device_client device(0);
    device.set_trusted_kernels(compile_trusted_kernels(compiler, device.facts().architecture()));
    const measuring_lock alone(lock_name(device.facts()));
    if (!device.users().foreign.empty()) return std::nullopt;
    return ceilings_of_device(device, folder, true);
  } catch (const error&) {  // `probe_gpu` says what is missing
    return std::nullopt;
  }
}

}  // namespace kevo::cuda
