#pragma once
// Device memory and times for the tests of a bundle of kevo, through the CUDA driver API.

#include <cuda.h>
#include <vector>

#include "check_runtime.hpp"
#include "launch_runtime.hpp"

namespace kevo_bundle {

/// The first device and a context on it.
class device_context {
 public:
  device_context() {
    check(cuInit(0), "starting CUDA");
    check(cuDeviceGet(&device_, 0), "asking for a device");
    check(cuDevicePrimaryCtxRetain(&context_, device_), "making a context");
    check(cuCtxSetCurrent(context_), "using the context");
  }
  ~device_context() { cuDevicePrimaryCtxRelease(device_); }
  device_context(const device_context&) = delete;
  device_context& operator=(const device_context&) = delete;

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// Memory of the device, freed at the end.
class device_memory {
 public:
  explicit device_memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) check(cuMemAlloc(&at_, bytes), "device memory");
  }
  explicit device_memory(const tensor& from) : device_memory(from.bytes.size()) {
    if (bytes_ > 0) check(cuMemcpyHtoD(at_, from.bytes.data(), bytes_), "copying to the device");
  }
  ~device_memory() {
    if (at_ != 0) cuMemFree(at_);
  }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(at_);
  }
  void* raw() const { return reinterpret_cast<void*>(at_); }
  void read(tensor& to) const {
    if (bytes_ > 0) check(cuMemcpyDtoH(to.bytes.data(), at_, bytes_), "copying from the device");
  }
  void fill(unsigned char byte, CUstream stream) const {
    if (bytes_ > 0) check(cuMemsetD8Async(at_, byte, bytes_, stream), "filling device memory");
  }

 private:
  CUdeviceptr at_ = 0;
  std::size_t bytes_;
};

/// Times of single calls in milliseconds, by events, after a warm-up; with `cold`, the caches are overwritten
/// before each call. Short calls include some microseconds of launching.
template <class Call>
std::vector<double> times_of(const Call& call, bool cold, int calls) {
  const device_memory flush(cold ? std::size_t{512} << 20 : 0);
  CUevent before = nullptr;
  CUevent after = nullptr;
  check(cuEventCreate(&before, CU_EVENT_DEFAULT), "making an event");
  check(cuEventCreate(&after, CU_EVENT_DEFAULT), "making an event");
  std::vector<double> times;
  for (int i = -3; i < calls; ++i) {
    flush.fill(static_cast<unsigned char>(i), nullptr);
    check(cuEventRecord(before, nullptr), "recording an event");
    call();
    check(cuEventRecord(after, nullptr), "recording an event");
    check(cuEventSynchronize(after), "running the program");
    float ms = 0;
    check(cuEventElapsedTime(&ms, before, after), "reading a time");
    if (i >= 0) times.push_back(static_cast<double>(ms));
  }
  cuEventDestroy(before);
  cuEventDestroy(after);
  return times;
}

}  // namespace kevo_bundle
