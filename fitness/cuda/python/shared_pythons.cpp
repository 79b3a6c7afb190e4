#include "fitness/cuda/python/shared_pythons.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/fitness/cuda.hpp>

#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/cuda/worker/driver_libraries.hpp"
#include "fitness/cuda/worker/process.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::cuda {
namespace {

// Inductor and Triton keep what they have compiled for baselines.
constexpr std::uint64_t scratch_of_trusted_python = std::uint64_t{1} << 30U;

torch::python_device device_for(const device_description& device, bool trusted) {
  torch::python_device made;
  made.visible = visible_name(device.uuid);
  made.libraries = device.libraries;
  const auto compilers = compilers_of_driver(device.libraries);
  made.libraries.insert(made.libraries.end(), compilers.begin(), compilers.end());
  made.nodes = device.nodes;
  made.scratch_bytes = trusted ? scratch_of_trusted_python : 0;
  return made;
}

torch::compile_settings compilers_for(const device_description& device, const std::string& nvcc,
                                      const std::string& modules) {
  torch::compile_settings wanted;
  wanted.libraries = device.libraries;
  wanted.modules = modules;
  if (!nvcc.empty()) {
    wanted.nvcc = nvcc;
    wanted.toolkit = toolkit_mounts(nvcc);
  }
  wanted.architecture = device.architecture().substr(std::string_view("sm_").size());
  return wanted;
}

}  // namespace

warm_pythons::warm_pythons(const python_settings& settings, const device_description& device)
    : tools_(torch::find_torch(settings.python, contains(settings.sandbox))),
      sandbox_(settings.sandbox),
      candidates_(tools_, settings.sandbox, "", device_for(device, false)),
      trusted_(tools_, settings.sandbox, "", device_for(device, true)),
      ahead_(tools_, settings.sandbox, "", torch::pretended_device()),
      compiling_(compilers_for(device, settings.nvcc, candidates_.modules())),
      compilers_(std::make_unique<torch::compile_server>(tools_, sandbox_, compiling_)) {}

detail::descriptor warm_pythons::connect_compiler() {
  const std::lock_guard lock(connecting_);
  if (!compilers_) compilers_ = std::make_unique<torch::compile_server>(tools_, sandbox_, compiling_);
  try {
    return compilers_->connect();
  } catch (const error&) {
    compilers_.reset();  // it has ended: the next program gets another
    throw;
  }
}

std::shared_ptr<warm_pythons> shared_pythons::of(const python_settings& settings,
                                                 const device_description& device) {
  const auto key = fmt::format("{}\n{}\n{}\n{}", device.uuid, settings.python, settings.nvcc,
                               describe_layers(settings.sandbox));
  const std::lock_guard lock(guard_);
  auto& found = all_[key];
  if (!found) found = std::make_shared<warm_pythons>(settings, device);
  return found;
}

}  // namespace kevo::cuda

namespace kevo {

std::shared_ptr<cuda::shared_pythons> make_shared_pythons() {
  return std::make_shared<cuda::shared_pythons>();
}

}  // namespace kevo
