#pragma once
// Kernels as functions of the host, looked up by name.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fake_cuda {

/// How a kernel was launched, as far as the host's functions ask.
struct launch_shape {
  std::uint64_t blocks = 1;
  std::uint64_t threads = 1;
};

using stored_parameters = std::vector<std::array<std::byte, 16>>;

/// A kernel: takes its parameters from where `save` put them.
struct host_kernel {
  stored_parameters (*save)(void** parameters) = nullptr;
  void (*call)(const stored_parameters& parameters, launch_shape shape) = nullptr;
  /// What it takes on the simulated device. [ns]; null: as long as its source says
  double (*duration)(const stored_parameters& parameters) = nullptr;
};

/// The launch that is being carried out.
inline thread_local launch_shape current_shape;

template <class T>
T stored(const stored_parameters& from, std::size_t i) {
  static_assert(sizeof(T) <= 16);
  T value;
  std::memcpy(&value, from[i].data(), sizeof value);
  return value;
}

template <auto Function>
struct as_kernel;
template <class... Parameters, void (*Function)(Parameters...)>
struct as_kernel<Function> {
  static stored_parameters save(void** parameters) {
    stored_parameters kept;
    [[maybe_unused]] const auto keep = [&](std::size_t bytes) {
      std::array<std::byte, 16> value{};
      std::memcpy(value.data(), parameters[kept.size()], bytes);
      kept.push_back(value);
    };
    (keep(sizeof(Parameters)), ...);
    return kept;
  }
  static void call(const stored_parameters& parameters, launch_shape shape) {
    current_shape = shape;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      Function(stored<Parameters>(parameters, I)...);
    }
    (std::index_sequence_for<Parameters...>());
  }
  static constexpr host_kernel entry{save, call, nullptr};
};

/// A kernel of kevo's own trusted kernels (trusted_kernels_on_host.cpp) or of the toy tasks (kernels.cpp);
/// null if there is none.
const host_kernel* find_trusted_kernel(std::string_view name);
const host_kernel* find_toy_kernel(std::string_view name);

}  // namespace fake_cuda
