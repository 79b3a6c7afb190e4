#include "fitness/cuda/compile/module_parts.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace kevo::cuda {

bool take_kernels(const cuda_build_request& request, const compile_answer& answer,
                  const std::vector<compiled_kernel>& found, cuda_build_result& result) {
  for (std::size_t i = 0; i < request.kernels.size(); ++i) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const auto& kernel) {
      return kernel.mangled == answer.symbols.at(i);
    });
    if (same == found.end()) {
      result.reasons.push_back(request.kernels[i] + " is not a kernel: __global__ is missing");
      return false;
    }
    auto kernel = *same;
    kernel.name = request.kernels[i];
    result.module.kernels.push_back(std::move(kernel));
  }
  for (const auto& other : found) {
    if (std::find(answer.symbols.begin(), answer.symbols.end(), other.mangled) != answer.symbols.end())
      continue;
    auto kernel = other;
    kernel.name = readable(kernel.mangled);
    result.module.kernels.push_back(std::move(kernel));
  }
  return true;
}

void take_lasting(const compile_answer& answer, cubin_contents contents, compiled_module& module) {
  const auto unused = unused_words(answer.ptx);
  std::map<std::string, int> times;
  for (const auto& global : contents.globals) ++times[global.symbol];
  const bool used = std::any_of(contents.globals.begin(), contents.globals.end(), [&](const auto& global) {
    return times[global.symbol] > 1 || !std::binary_search(unused.begin(), unused.end(), global.symbol);
  });
  // Who uses one variable can reach its neighbours, so that they are restored all or none.
  if (used) module.globals = std::move(contents.globals);
  // Managed variables lie apart from their section, in memory that moves between host and device.
  for (const auto& symbol : contents.managed)
    module.lasting.push_back("the managed variable " + readable(symbol));
  for (const auto& function : contents.external) {
    if (function == "malloc" || function == "free") module.lasting.push_back(function + "()");
  }
}

void append(compiled_module more, bool hidden, compiled_module& module) {
  const auto images = static_cast<std::uint32_t>(module.images.size());
  module.architecture = more.architecture;
  for (auto& image : more.images) module.images.push_back(std::move(image));
  for (auto& kernel : more.kernels) {
    kernel.image += images;
    kernel.hidden = hidden;
    module.kernels.push_back(std::move(kernel));
  }
  for (auto& global : more.globals) {
    global.image += images;
    module.globals.push_back(std::move(global));
  }
  for (auto& lasting : more.lasting) module.lasting.push_back(std::move(lasting));
}

std::map<std::string, double> measures_of_module(const compiled_module& module) {
  std::map<std::string, double> measures;
  const auto largest = [&](const std::string& name, std::uint64_t value) {
    measures[name] = std::max(measures[name], static_cast<double>(value));
  };
  for (const auto& kernel : module.kernels) {
    if (kernel.hidden) continue;
    largest("registers", kernel.registers);
    largest("spill_bytes", std::uint64_t{kernel.spill_stores} + kernel.spill_loads);
    largest("shared_bytes", kernel.static_shared_bytes);
    largest("stack_bytes", kernel.stack_bytes);
    measures["code_bytes"] += static_cast<double>(kernel.code_bytes);
  }
  return measures;
}

std::string describe_resources(const compiled_module& module) {
  std::string text;
  for (const auto& kernel : module.kernels) {
    if (kernel.hidden) continue;
    text += fmt::format("{}: {} registers", kernel.name, kernel.registers);
    if (kernel.spill_stores + kernel.spill_loads > 0)
      text += fmt::format(", spills {} bytes stored and {} loaded", kernel.spill_stores, kernel.spill_loads);
    if (kernel.stack_bytes > 0) text += fmt::format(", {} bytes of stack", kernel.stack_bytes);
    text += fmt::format(", {} bytes of static shared memory, {} bytes of code\n", kernel.static_shared_bytes,
                        kernel.code_bytes);
  }
  return text;
}

}  // namespace kevo::cuda
