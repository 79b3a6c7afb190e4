// The part of the CUDA driver API that bundles use, which prints what it is asked to do instead of doing it.
// A kernel is known by its name; `parameter_sizes` of the program under test says how long its arguments are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using cuuint64_t = std::uint64_t;
using cuuint32_t = std::uint32_t;
struct CUctx_st;
using CUcontext = CUctx_st*;
struct CUmod_st;
using CUmodule = CUmod_st*;
struct CUfunc_st {
  std::string name;
};
using CUfunction = CUfunc_st*;
struct CUstream_st;
using CUstream = CUstream_st*;
struct alignas(64) CUtensorMap {
  cuuint64_t opaque[16];
};

constexpr CUresult CUDA_SUCCESS = 0;
using CUdevice_attribute = int;
constexpr CUdevice_attribute CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16;
using CUfunction_attribute = int;
constexpr CUfunction_attribute CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1;
constexpr CUfunction_attribute CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
constexpr CUfunction_attribute CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9;
constexpr CUfunction_attribute CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14;

enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9
};
enum CUtensorMapInterleave {};
enum CUtensorMapSwizzle {};
enum CUtensorMapL2promotion {};
enum CUtensorMapFloatOOBfill {};

enum CUlaunchAttributeID {
  CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};
struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  struct {
    struct {
      unsigned x, y, z;
    } clusterDim;
    int cooperative;
    int programmaticStreamSerializationAllowed;
  } value;
};
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

/// By kernel: the size of each parameter, defined by the program under test.
extern const std::map<std::string, std::vector<std::size_t>> parameter_sizes;

inline CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error";
  return 0;
}
inline CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(1);
  return 0;
}
inline CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return 0;
}
inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 132;
  return 0;
}
inline CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = reinterpret_cast<CUmodule>(1);
  return 0;
}
inline CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = new CUfunc_st{name};
  return 0;
}
inline CUresult cuModuleGetGlobal(CUdeviceptr* at, std::size_t* bytes, CUmodule, const char* name) {
  *at = 0x5000;
  *bytes = std::strlen(name);
  return 0;
}
inline CUresult cuMemAlloc(CUdeviceptr* at, std::size_t) {
  *at = 0x6000;
  return 0;
}
inline CUresult cuMemcpyDtoD(CUdeviceptr, CUdeviceptr, std::size_t) {
  return 0;
}
inline CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  std::printf("restore %llx %llx %zu\n", to, from, bytes);
  return 0;
}
inline CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char byte, std::size_t bytes, CUstream) {
  std::printf("memset %llx %u %zu\n", at, byte, bytes);
  return 0;
}
inline CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction) {
  *value = 0;
  return 0;
}
inline CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute which, int value) {
  if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) std::printf("carveout %d\n", value);
  return 0;
}
inline CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                            std::size_t shared) {
  *blocks = 2048 / threads - static_cast<int>(shared / 65536);
  return 0;
}
inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* at,
                                       const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                       const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                       CUtensorMapFloatOOBfill fill) {
  std::printf("map %d %llx", type, static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(at)));
  for (cuuint32_t i = 0; i < rank; ++i) {
    std::printf(" %llu,%llu,%u,%u", static_cast<unsigned long long>(dims[i]),
                static_cast<unsigned long long>(i + 1 < rank ? strides[i] : 0), box[i], element_strides[i]);
  }
  std::printf(" %d %d %d %d\n", interleave, swizzle, l2, fill);
  std::memset(map, 0x77, sizeof *map);
  return 0;
}
inline CUresult cuLaunchKernelEx(const CUlaunchConfig* how, CUfunction function, void** arguments, void**) {
  std::printf("launch %s (%u %u %u) (%u %u %u) %u", function->name.c_str(), how->gridDimX, how->gridDimY,
              how->gridDimZ, how->blockDimX, how->blockDimY, how->blockDimZ, how->sharedMemBytes);
  for (unsigned i = 0; i < how->numAttrs; ++i) {
    const auto& a = how->attrs[i];
    if (a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      std::printf(" cluster %u %u %u", a.value.clusterDim.x, a.value.clusterDim.y, a.value.clusterDim.z);
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) std::printf(" cooperative");
  }
  std::size_t number = 0;
  for (const std::size_t size : parameter_sizes.at(function->name)) {
    std::printf(" ");
    const auto* bytes = static_cast<const unsigned char*>(arguments[number++]);
    for (std::size_t i = 0; i < size; ++i) std::printf("%02x", bytes[i]);
  }
  std::printf("\n");
  return 0;
}
