#pragma once
// The trusted context: small owners of device memory and the trusted kernels, so that the rest reads like
// host code. Every failure here is a fault of the machine and throws kevo::error (environment).

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fitness/cuda/device/protocol.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo::cuda {

class gpu;

/// Device memory that only this process can map. Move-only.
class private_memory {
 public:
  private_memory() = default;
  private_memory(const driver& d, std::size_t bytes);
  private_memory(private_memory&& other) noexcept
      : driver_(other.driver_), place_(std::exchange(other.place_, 0)), bytes_(other.bytes_) {}
  private_memory& operator=(private_memory&& other) noexcept {
    std::swap(driver_, other.driver_), std::swap(place_, other.place_), std::swap(bytes_, other.bytes_);
    return *this;
  }
  private_memory(const private_memory&) = delete;
  private_memory& operator=(const private_memory&) = delete;
  ~private_memory();
  address at() const { return place_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const driver* driver_ = nullptr;
  address place_ = 0;
  std::size_t bytes_ = 0;
};

/// Memory of the host that copies from the device reach without a detour. Move-only.
class pinned_memory {
 public:
  pinned_memory() = default;
  pinned_memory(const driver& d, std::size_t bytes);
  pinned_memory(pinned_memory&& other) noexcept
      : driver_(other.driver_), place_(std::exchange(other.place_, nullptr)) {}
  pinned_memory& operator=(pinned_memory&& other) noexcept {
    std::swap(driver_, other.driver_), std::swap(place_, other.place_);
    return *this;
  }
  pinned_memory(const pinned_memory&) = delete;
  pinned_memory& operator=(const pinned_memory&) = delete;
  ~pinned_memory();
  std::byte* at() const { return static_cast<std::byte*>(place_); }

 private:
  const driver* driver_ = nullptr;
  void* place_ = nullptr;
};

/// Device memory that is handed to one worker by descriptor. Move-only.
class exported_memory {
 public:
  exported_memory() = default;
  exported_memory(const driver& d, device_index device, std::size_t bytes);
  exported_memory(exported_memory&& other) noexcept;
  exported_memory& operator=(exported_memory&& other) noexcept;
  exported_memory(const exported_memory&) = delete;
  exported_memory& operator=(const exported_memory&) = delete;
  ~exported_memory();
  address at() const { return place_; }
  std::size_t bytes() const { return bytes_; }  ///< rounded up to what the driver hands out
  /// A new descriptor of the memory.
  detail::descriptor descriptor() const;

 private:
  const driver* driver_ = nullptr;
  allocation handle_ = 0;
  address place_ = 0;
  std::size_t bytes_ = 0;
};

/// The device of one ordinal, its primary context current on the calling thread. Not thread-safe, not
/// movable.
class gpu {
 public:
  /// @throws kevo::error (environment) if there is no driver or no such device
  explicit gpu(int ordinal);
  gpu(const gpu&) = delete;
  gpu& operator=(const gpu&) = delete;
  ~gpu();

  const driver& api() const { return *driver_; }
  device_index device() const { return device_; }
  stream main() const { return stream_; }
  device_description facts() const;

  void load_trusted_kernels(const compiled_module& kernels);
  bool has_trusted_kernels() const { return trusted_kernels_.size() > 0; }
  const std::string& trusted_kernels_bytes() const { return trusted_kernels_bytes_; }

  /// Launches a trusted kernel over `items` elements (grid-stride). Arguments are passed by pointer, as
  /// cuLaunchKernel does.
  template <class... Arguments>
  void over(const char* kernel, std::uint64_t items, Arguments... arguments) {
    void* pointers[] = {static_cast<void*>(&arguments)...};
    launch(kernel, items, pointers);
  }
  void wait();
  void copy_out(void* target, address source, std::size_t bytes);  ///< and waits
  void copy_in(address target, const void* source, std::size_t bytes);
  void copy_on(address target, address source, std::size_t bytes);
  void clear(address target, std::size_t bytes);

  event new_event();
  double elapsed_ns(event from, event to);

 private:
  void launch(const char* kernel, std::uint64_t items, void** arguments);

  const driver* driver_ = nullptr;
  device_index device_ = 0;
  context context_ = nullptr;
  stream stream_ = nullptr;
  int multiprocessors_ = 1;
  loaded_module trusted_kernels_;
  compiled_module trusted_kernels_image_;
  std::string trusted_kernels_bytes_;
};

}  // namespace kevo::cuda
