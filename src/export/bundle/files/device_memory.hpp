#pragma once
// Device memory and times of calls for the tests of a bundle of kevo, through the CUDA driver API.

#include <cuda.h>
#include <memory>
#include <random>
#include <string>
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
  std::string name() const {
    char text[256] = {};
    check(cuDeviceGetName(text, sizeof text, device_), "asking for the name of the device");
    return text;
  }
  device_context(const device_context&) = delete;
  device_context& operator=(const device_context&) = delete;

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// Memory of the device, freed at the end. It can be moved to other addresses.
class device_memory {
 public:
  explicit device_memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) check(cuMemAlloc(&home_, bytes), "device memory");
    at_ = home_;
  }
  explicit device_memory(const tensor& from) : device_memory(from.bytes.size()) {
    if (bytes_ > 0) check(cuMemcpyHtoD(at_, from.bytes.data(), bytes_), "copying to the device");
  }
  ~device_memory() {
    if (home_ != 0) cuMemFree(home_);
    if (room_ != 0) cuMemFree(room_);
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

  /// Copies the first contents to a random place of other memory, which as() and raw() give from then on. Its
  /// address is a multiple of 256, as kevo chooses the places of its calls.
  void move(random_numbers& random) {
    constexpr std::size_t step = 256;
    constexpr std::size_t steps = (std::size_t{4} << 20) / step;
    if (bytes_ == 0) return;
    if (room_ == 0) check(cuMemAlloc(&room_, bytes_ + step * steps), "device memory");
    at_ = room_ + step * std::uniform_int_distribution<std::size_t>(0, steps)(random);
    check(cuMemcpyDtoD(at_, home_, bytes_), "copying on the device");
  }

 private:
  CUdeviceptr home_ = 0;
  CUdeviceptr room_ = 0;
  CUdeviceptr at_ = 0;
  std::size_t bytes_;
};

/// Empties the caches as kevo does before a cold call: in another context, by writing more than they hold and
/// then reading as much, so that no line has to be written back during the call.
class cache_flush {
 public:
  cache_flush() {
    check(cuCtxGetCurrent(&user_), "asking for the current context");
    CUdevice device = 0;
    check(cuCtxGetDevice(&device), "asking for the current device");
#if CUDA_VERSION >= 13000
    check(cuCtxCreate(&own_, nullptr, 0, device), "making a context");
#else
    check(cuCtxCreate(&own_, 0, device), "making a context");
#endif
    check(cuMemAlloc(&memory_, 2 * half), "device memory");
    check(cuCtxSetCurrent(user_), "using the context");
  }
  ~cache_flush() {
    cuCtxDestroy(own_);
  }
  cache_flush(const cache_flush&) = delete;
  cache_flush& operator=(const cache_flush&) = delete;

  void operator()() {
    check(cuCtxSetCurrent(own_), "using the context");
    check(cuMemsetD8Async(memory_, ++value_, half, nullptr), "filling device memory");
    for (std::size_t at = half; at < 2 * half; at += chunk)
      check(cuMemcpyDtoDAsync(memory_, memory_ + at, chunk, nullptr), "reading device memory");
    check(cuCtxSynchronize(), "emptying the caches");
    check(cuCtxSetCurrent(user_), "using the context");
  }

 private:
  static constexpr std::size_t half = std::size_t{128} << 20;  // more than twice the cache of an H200
  static constexpr std::size_t chunk = std::size_t{4} << 20;
  CUcontext user_ = nullptr;
  CUcontext own_ = nullptr;
  CUdeviceptr memory_ = 0;
  unsigned char value_ = 0;
};

/// Times of single calls in milliseconds, by events, after a warm-up. `prepare()` comes before each call and
/// is not timed; `call(stream)` launches it. As in kevo, nothing runs when a call begins, and the call is in
/// the stream before it may begin, so that the time of launching does not count.
template <class Prepare, class Call>
std::vector<double> times_of(const Prepare& prepare, const Call& call, bool cold, int calls) {
  const auto flush = cold ? std::make_unique<cache_flush>() : nullptr;
  CUstream stream = nullptr;
  CUevent before = nullptr;
  CUevent after = nullptr;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a stream");
  check(cuEventCreate(&before, CU_EVENT_DEFAULT), "making an event");
  check(cuEventCreate(&after, CU_EVENT_DEFAULT), "making an event");
  void* word = nullptr;
  CUdeviceptr word_there = 0;
  check(cuMemHostAlloc(&word, sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP), "memory of the host");
  check(cuMemHostGetDevicePointer(&word_there, word, 0), "memory of the host");
  volatile auto* released = static_cast<volatile unsigned*>(word);
  std::vector<double> times;
  for (int i = -3; i < calls; ++i) {
    prepare();
    if (cold) (*flush)();
    check(cuCtxSynchronize(), "waiting for the device");
    *released = 0;
    check(cuStreamWaitValue32(stream, word_there, 1, CU_STREAM_WAIT_VALUE_GEQ), "holding the stream back");
    check(cuEventRecord(before, stream), "recording an event");
    call(stream);
    check(cuEventRecord(after, stream), "recording an event");
    *released = 1;
    check(cuEventSynchronize(after), "running the program");
    float ms = 0;
    check(cuEventElapsedTime(&ms, before, after), "reading a time");
    if (i >= 0) times.push_back(static_cast<double>(ms));
  }
  cuMemFreeHost(word);
  cuEventDestroy(before);
  cuEventDestroy(after);
  cuStreamDestroy(stream);
  return times;
}

}  // namespace kevo_bundle
