#pragma once
// What the launchers of a bundle of kevo need: whole numbers that do not overflow silently, and kernels that
// are loaded into the contexts in which they are launched. C++17 and the CUDA driver API, nothing else.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <initializer_list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kevo_bundle {

/// A 64-bit integer. Division rounds toward negative infinity; overflow and division by zero throw.
class whole {
 public:
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  constexpr whole(Integer value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT: numbers convert
  constexpr std::int64_t value() const { return value_; }
  constexpr explicit operator bool() const { return value_ != 0; }

  friend whole operator+(whole a, whole b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? too_large() : whole(sum);
  }
  friend whole operator-(whole a, whole b) {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a.value_, b.value_, &difference) ? too_large() : whole(difference);
  }
  friend whole operator*(whole a, whole b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? too_large() : whole(product);
  }
  friend whole operator/(whole a, whole b) {
    if (b.value_ == 0) throw std::domain_error("division by zero");
    if (b.value_ == -1) return whole(0) - a;
    const std::int64_t quotient = a.value_ / b.value_;
    return quotient * b.value_ != a.value_ && (a.value_ < 0) != (b.value_ < 0) ? quotient - 1 : quotient;
  }
  friend whole operator%(whole a, whole b) { return b.value_ == -1 ? whole(0) : a - a / b * b; }
  friend whole operator<<(whole a, whole b) {
    whole result = a;
    for (std::int64_t i = shift(b); i > 0; --i) result = result * 2;
    return result;
  }
  friend whole operator>>(whole a, whole b) { return a.value_ >> shift(b); }
  friend whole operator-(whole a) { return whole(0) - a; }
  friend whole operator+(whole a) { return a; }
  friend whole operator!(whole a) { return a.value_ == 0; }
  friend whole operator<(whole a, whole b) { return a.value_ < b.value_; }
  friend whole operator<=(whole a, whole b) { return a.value_ <= b.value_; }
  friend whole operator>(whole a, whole b) { return a.value_ > b.value_; }
  friend whole operator>=(whole a, whole b) { return a.value_ >= b.value_; }
  friend whole operator==(whole a, whole b) { return a.value_ == b.value_; }
  friend whole operator!=(whole a, whole b) { return a.value_ != b.value_; }

 private:
  [[noreturn]] static whole too_large() { throw std::overflow_error("a size does not fit in 64 bits"); }
  static std::int64_t shift(whole by) {
    if (by.value_ < 0 || by.value_ > 63) throw std::domain_error("a shift by less than 0 or more than 63");
    return by.value_;
  }

  std::int64_t value_;
};

inline whole least(whole a) {
  return a;
}
template <class... Others>
whole least(whole a, whole b, Others... others) {
  return least(a < b ? a : b, others...);
}
inline whole greatest(whole a) {
  return a;
}
template <class... Others>
whole greatest(whole a, whole b, Others... others) {
  return greatest(a < b ? b : a, others...);
}
inline whole ceildiv(whole a, whole b) {
  return -(-a / b);
}
inline whole align_up(whole a, whole n) {
  return ceildiv(a, n) * n;
}
inline whole log2_ceil(whole a) {
  whole power = 0;
  for (whole reached = 1; reached < a; reached = reached * 2) power = power + 1;
  return power;
}
inline whole pow2_ceil(whole a) {
  return whole(1) << log2_ceil(a);
}

inline double real(whole a) {
  return static_cast<double>(a.value());
}
inline double real(double a) {
  return a;
}
inline double least(double a, double b) {
  return a < b ? a : b;
}
inline double greatest(double a, double b) {
  return a < b ? b : a;
}
inline double reciprocal_root(double a) {
  return 1 / std::sqrt(a);
}

/// An integer as an argument of `bytes` bytes: the first ones of the result. Throws std::overflow_error if it
/// does not fit.
inline std::int64_t fitting(whole a, int bytes, bool as_signed, bool as_unsigned) {
  const std::int64_t value = a.value();
  bool fits = bytes == 8 && (as_signed || value >= 0);
  if (bytes < 8) {
    const std::int64_t half = std::int64_t{1} << (8 * bytes - 1);
    fits = (as_signed && value >= -half && value < half) || (as_unsigned && value >= 0 && value < 2 * half);
  }
  if (!fits) throw std::overflow_error(std::to_string(value) + " does not fit in an argument of a kernel");
  return value;
}

/// The value in a narrower type. Throws std::overflow_error if it does not fit.
template <class Integer>
Integer narrow(whole a) {
  const auto result = static_cast<Integer>(a.value());
  if (static_cast<std::int64_t>(result) != a.value() || (result < Integer(0)) != (a.value() < 0))
    throw std::overflow_error(std::to_string(a.value()) + " does not fit in an argument of a kernel");
  return result;
}

inline void check(CUresult code, const char* doing) {
  if (code == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (cuGetErrorString(code, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  throw std::runtime_error(std::string(doing) + ": " + text);
}

/// The kernels of one image in the current context, and the variables of the module, which have their initial
/// values at the beginning of each call.
class loaded_image {
 public:
  loaded_image(const void* image, const std::vector<const char*>& kernels,
               const std::vector<const char*>& variables) {
    check(cuModuleLoadData(&module_, image), "loading the kernels");
    for (const char* name : kernels) {
      CUfunction found = nullptr;
      check(cuModuleGetFunction(&found, module_, name), name);
      kernels_.push_back(found);
    }
    for (const char* name : variables) {
      variable v;
      if (cuModuleGetGlobal(&v.at, &v.bytes, module_, name) != CUDA_SUCCESS) continue;
      check(cuMemAlloc(&v.initial, v.bytes), "memory for the initial values of variables");
      check(cuMemcpyDtoD(v.initial, v.at, v.bytes), "keeping the initial values of variables");
      variables_.push_back(v);
    }
  }

  CUfunction kernel(std::size_t number) const { return kernels_.at(number); }
  void restore_variables(CUstream stream) const {
    for (const auto& v : variables_)
      check(cuMemcpyDtoDAsync(v.at, v.initial, v.bytes, stream), "restoring a variable");
  }

 private:
  struct variable {
    CUdeviceptr at = 0;
    CUdeviceptr initial = 0;
    std::size_t bytes = 0;
  };
  CUmodule module_ = nullptr;
  std::vector<CUfunction> kernels_;
  std::vector<variable> variables_;
};

/// One image in each context that launches from it, loaded by the first launch and never unloaded. A context
/// must not be destroyed and made anew at the same address. Thread-safe.
class image_in_contexts {
 public:
  image_in_contexts(const void* image, std::vector<const char*> kernels, std::vector<const char*> variables)
      : image_(image), kernels_(std::move(kernels)), variables_(std::move(variables)) {}

  const loaded_image& here() {
    CUcontext context = nullptr;
    check(cuCtxGetCurrent(&context), "asking for the current CUDA context");
    if (context == nullptr) throw std::runtime_error("there is no current CUDA context");
    const std::lock_guard lock(mutex_);
    const auto found = loaded_.find(context);
    if (found != loaded_.end()) return found->second;
    return loaded_.emplace(context, loaded_image(image_, kernels_, variables_)).first->second;
  }

 private:
  const void* image_;
  std::vector<const char*> kernels_, variables_;
  std::mutex mutex_;
  std::map<CUcontext, loaded_image> loaded_;
};

inline int device_attribute(CUdevice_attribute which) {
  CUdevice device = 0;
  int value = 0;
  check(cuCtxGetDevice(&device), "asking for the current device");
  check(cuDeviceGetAttribute(&value, which, device), "asking for an attribute of the device");
  return value;
}

/// Grid, block and attributes of one launch.
struct launch_shape {
  whole grid[3] = {1, 1, 1};
  whole block[3] = {1, 1, 1};
  whole shared_bytes = 0;  ///< dynamic shared memory of a block
  whole cluster[3] = {0, 0, 0};
  bool cooperative = false;
  bool programmatic = false;  ///< may begin before the launch in front of it has ended
  int carveout = -1;          ///< preferred share of shared memory [percent]; -1: the driver's choice
};

inline whole threads_of(const launch_shape& s) {
  return s.block[0] * s.block[1] * s.block[2];
}

/// Dynamic shared memory beyond 48 KB has to be asked for.
inline void allow_shared_memory(CUfunction kernel, whole bytes) {
  int fixed = 0;
  check(cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel), "asking for shared memory");
  if (bytes + fixed > 48 * 1024) {
    check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, narrow<int>(bytes)),
          "asking for dynamic shared memory");
  }
}

/// Blocks of a kernel that fit on one multiprocessor.
inline whole blocks_per_multiprocessor(CUfunction kernel, const launch_shape& s) {
  allow_shared_memory(kernel, s.shared_bytes);
  int blocks = 0;
  check(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, narrow<int>(threads_of(s)),
                                                    narrow<std::size_t>(s.shared_bytes)),
        "asking for the occupancy");
  return blocks;
}

inline void launch_kernel(CUfunction kernel, const launch_shape& s, std::vector<void*> arguments,
                          CUstream stream) {
  allow_shared_memory(kernel, s.shared_bytes);
  if (s.carveout >= 0) {
    check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, s.carveout),
          "setting the share of shared memory");
  }
  CUlaunchAttribute attributes[3] = {};
  unsigned count = 0;
  if (s.cluster[0] > 0) {
    if (s.cluster[0] * s.cluster[1] * s.cluster[2] > 8) {
      check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
            "allowing a large cluster");
    }
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count].value.clusterDim.x = narrow<unsigned>(s.cluster[0]);
    attributes[count].value.clusterDim.y = narrow<unsigned>(s.cluster[1]);
    attributes[count++].value.clusterDim.z = narrow<unsigned>(s.cluster[2]);
  }
  if (s.cooperative) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[count++].value.cooperative = 1;
  }
  if (s.programmatic) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  CUlaunchConfig how = {};
  how.gridDimX = narrow<unsigned>(s.grid[0]);
  how.gridDimY = narrow<unsigned>(s.grid[1]);
  how.gridDimZ = narrow<unsigned>(s.grid[2]);
  how.blockDimX = narrow<unsigned>(s.block[0]);
  how.blockDimY = narrow<unsigned>(s.block[1]);
  how.blockDimZ = narrow<unsigned>(s.block[2]);
  how.sharedMemBytes = narrow<unsigned>(s.shared_bytes);
  how.hStream = stream;
  how.attrs = attributes;
  how.numAttrs = count;
  check(cuLaunchKernelEx(&how, kernel, arguments.data(), nullptr), "launching a kernel");
}

/// The place of a mode's number among those that exist: 0, 32, 64, 128 of swizzling.
inline int mode(whole number, std::initializer_list<int> known) {
  int place = 0;
  for (const int one : known) {
    if (number == one) return place;
    ++place;
  }
  throw std::domain_error("a tensor map has no mode " + std::to_string(number.value()));
}

/// A tensor map; dimensions innermost first, strides in bytes without the innermost one.
inline CUtensorMap tensor_map(CUtensorMapDataType type, CUdeviceptr at, std::initializer_list<whole> dims,
                              std::initializer_list<whole> strides, std::initializer_list<whole> box,
                              std::initializer_list<whole> element_strides, int swizzle, int interleave,
                              int l2, int beyond) {
  cuuint64_t d[5] = {}, s[5] = {};
  cuuint32_t b[5] = {}, e[5] = {1, 1, 1, 1, 1};
  const auto copy = [](std::initializer_list<whole> from, auto* to) {
    if (from.size() > 5) throw std::domain_error("a tensor map has at most 5 dimensions");
    for (const whole one : from) *to++ = narrow<std::remove_reference_t<decltype(*to)>>(one);
  };
  copy(dims, d);
  copy(strides, s);
  copy(box, b);
  copy(element_strides, e);
  CUtensorMap map = {};
  check(cuTensorMapEncodeTiled(
            &map, type, static_cast<cuuint32_t>(dims.size()), reinterpret_cast<void*>(at), d, s, b, e,
            static_cast<CUtensorMapInterleave>(interleave), static_cast<CUtensorMapSwizzle>(swizzle),
            static_cast<CUtensorMapL2promotion>(l2), static_cast<CUtensorMapFloatOOBfill>(beyond)),
        "encoding a tensor map");
  return map;
}

/// Hands out parts of the caller's workspace, one after the other. Without memory it counts only.
class workspace_parts {
 public:
  explicit workspace_parts(void* memory) : memory_(reinterpret_cast<std::uintptr_t>(memory)) {}
  CUdeviceptr take(whole elements, whole element_bytes, whole alignment) {
    if (elements < 0) throw std::domain_error("a workspace with a negative size");
    const whole start = align_up(used_, alignment);
    used_ = start + elements * element_bytes;
    return memory_ + static_cast<CUdeviceptr>(start.value());
  }
  std::size_t bytes() const { return static_cast<std::size_t>(used_.value()); }

 private:
  CUdeviceptr memory_;
  whole used_ = 0;
};

}  // namespace kevo_bundle
