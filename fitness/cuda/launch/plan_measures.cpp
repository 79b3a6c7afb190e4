#include "fitness/cuda/launch/plan_measures.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kevo::cuda {
namespace {

std::uint64_t volume(const std::array<std::uint32_t, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

struct residency {
  std::int64_t blocks = 0;  ///< a multiprocessor
  double share = 0;         ///< of its threads
};

residency residency_of(const kernel_launch& launch, const compiled_kernel& kernel,
                       const device_facts& facts) {
  const auto threads = static_cast<std::uint32_t>(volume(launch.block));
  const auto blocks = blocks_per_sm(facts, kernel, threads, launch.dynamic_shared_bytes);
  const std::uint32_t warps = (threads + 31U) / 32U;
  return {blocks, static_cast<double>(blocks) * (32.0 * warps) / facts.threads_per_sm};
}

std::string shown(const std::array<std::uint32_t, 3>& extents) {
  auto text = std::to_string(extents[0]);
  if (extents[1] > 1 || extents[2] > 1) text += "x" + std::to_string(extents[1]);
  if (extents[2] > 1) text += "x" + std::to_string(extents[2]);
  return text;
}

/// The launch with the most threads of each kernel.
std::map<std::uint32_t, const kernel_launch*> largest_launches(const plan& p, const compiled_module& module) {
  std::map<std::uint32_t, const kernel_launch*> result;
  const auto threads = [](const kernel_launch& launch) { return volume(launch.grid) * volume(launch.block); };
  for (const auto& step : p.steps) {
    const auto* launch = std::get_if<kernel_launch>(&step);
    if (launch == nullptr || launch->kernel >= module.kernels.size()) continue;
    auto& known = result[launch->kernel];
    if (known == nullptr || threads(*launch) > threads(*known)) known = launch;
  }
  return result;
}

}  // namespace

std::map<std::string, double> measures_of_plan(const plan& p, const compiled_module& module,
                                               const device_facts& facts) {
  std::map<std::string, double> measures = {{"occupancy", 0}, {"shared_bytes", 0}, {"workspace_bytes", 0}};
  std::uint64_t most = 0;
  for (const auto& [index, launch] : largest_launches(p, module)) {
    const auto threads = volume(launch->grid) * volume(launch->block);
    if (threads <= most) continue;
    most = threads;
    measures["occupancy"] = residency_of(*launch, module.kernels[index], facts).share;
  }
  double launches = 0;
  for (const auto& step : p.steps) {
    const auto* launch = std::get_if<kernel_launch>(&step);
    if (launch == nullptr || launch->kernel >= module.kernels.size()) continue;
    ++launches;
    const auto shared =
        std::uint64_t{module.kernels[launch->kernel].static_shared_bytes} + launch->dynamic_shared_bytes;
    measures["shared_bytes"] = std::max(measures["shared_bytes"], static_cast<double>(shared));
  }
  measures["launches"] = launches;
  for (const auto& space : p.workspaces) measures["workspace_bytes"] += static_cast<double>(space.bytes);
  return measures;
}

std::string describe_launches(const plan& p, const compiled_module& module, const device_facts& facts) {
  std::string text;
  for (const auto& [index, launch] : largest_launches(p, module)) {
    const auto& kernel = module.kernels[index];
    const auto held = residency_of(*launch, kernel, facts);
    text += fmt::format(
        "{}: grid {}, block {}, {} bytes of shared memory, {} blocks a multiprocessor ({:.0f} % of its "
        "threads)\n",
        kernel.name, shown(launch->grid), shown(launch->block),
        kernel.static_shared_bytes + launch->dynamic_shared_bytes, held.blocks, 100 * held.share);
  }
  return text;
}

}  // namespace kevo::cuda
