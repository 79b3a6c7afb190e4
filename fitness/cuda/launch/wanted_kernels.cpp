#include "fitness/cuda/launch/wanted_kernels.hpp"

#include <algorithm>
#include <utility>

namespace kevo::cuda {

std::variant<wanted_kernels, launch_failure> kernels_to_compile(const declared_launch& lines,
                                                                const program& source, const task& t,
                                                                const device_facts& facts) {
  wanted_kernels wanted;
  const bool triton = source.language == "triton";
  // In CUDA no workload decides what is compiled: the first says all.
  for (const bool hidden : {false, true}) {
    for (const auto& w : t.workloads) {
      if (triton && w.hidden != hidden) continue;
      auto names = triton ? triton_variants(lines, signature_of(t, w), facts)
                          : kernel_names(lines, signature_of(t, w), facts);
      if (auto* failure = std::get_if<launch_failure>(&names)) {
        if (triton && hidden) return launch_failure{"a hidden workload failed"};
        return std::move(*failure);
      }
      for (auto& name : std::get<std::vector<std::string>>(names)) {
        if (std::find(wanted.names.begin(), wanted.names.end(), name) == wanted.names.end())
          wanted.names.push_back(std::move(name));
      }
      if (!triton) break;
    }
    if (!hidden) wanted.visible = wanted.names.size();
    if (!triton) break;
  }
  return wanted;
}

}  // namespace kevo::cuda
