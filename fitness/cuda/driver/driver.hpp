#pragma once
// The CUDA driver, loaded when it is first asked for. Nothing of kevo links CUDA: where there is no driver,
// everything else works and this says what is missing.

#include <memory>
#include <string>
#include <string_view>

#include "fitness/cuda/driver/types.hpp"

namespace kevo::cuda {

// name in kevo, symbol in libcuda.so.1, parameters. All return CUresult.
// clang-format off
#define KEVO_CUDA_FUNCTIONS(X)                                                                        \
  X(init, "cuInit", (unsigned flags))                                                                 \
  X(driver_version, "cuDriverGetVersion", (int* version))                                             \
  X(error_name, "cuGetErrorName", (driver_code code, const char** text))                                   \
  X(error_text, "cuGetErrorString", (driver_code code, const char** text))                                 \
  X(device_count, "cuDeviceGetCount", (int* count))                                                   \
  X(device_get, "cuDeviceGet", (device_index* device, int ordinal))                                   \
  X(device_name, "cuDeviceGetName", (char* name, int length, device_index device))                    \
  X(device_uuid, "cuDeviceGetUuid_v2", (uuid* id, device_index device))                               \
  X(device_pci_address, "cuDeviceGetPCIBusId", (char* text, int length, device_index device))         \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t* bytes, device_index device))                  \
  X(device_attribute_of, "cuDeviceGetAttribute", (int* value, int attribute, device_index device))    \
  X(primary_retain, "cuDevicePrimaryCtxRetain", (context* result, device_index device))               \
  X(primary_release, "cuDevicePrimaryCtxRelease_v2", (device_index device))                           \
  X(context_set, "cuCtxSetCurrent", (context current))                                                \
  X(context_synchronize, "cuCtxSynchronize", ())                                                      \
  X(context_set_limit, "cuCtxSetLimit", (int which, std::size_t value))                               \
  X(reset_persisting_l2, "cuCtxResetPersistingL2Cache", ())                                           \
  X(memory_info, "cuMemGetInfo_v2", (std::size_t* available, std::size_t* total))                     \
  X(memory_allocate, "cuMemAlloc_v2", (address* result, std::size_t bytes))                           \
  X(memory_free, "cuMemFree_v2", (address memory))                                                    \
  X(host_allocate, "cuMemHostAlloc", (void** result, std::size_t bytes, unsigned flags))              \
  X(host_free, "cuMemFreeHost", (void* memory))                                                       \
  X(host_device_pointer, "cuMemHostGetDevicePointer_v2", (address* result, void* host, unsigned flags)) \
  X(granularity, "cuMemGetAllocationGranularity", (std::size_t* bytes, const allocation_properties* properties, int option)) \
  X(create, "cuMemCreate", (allocation* result, std::size_t bytes, const allocation_properties* properties, unsigned long long flags)) \
  X(release, "cuMemRelease", (allocation memory))                                                     \
  X(reserve, "cuMemAddressReserve", (address* result, std::size_t bytes, std::size_t alignment, address wish, unsigned long long flags)) \
  X(unreserve, "cuMemAddressFree", (address place, std::size_t bytes))                                \
  X(map, "cuMemMap", (address place, std::size_t bytes, std::size_t offset, allocation memory, unsigned long long flags)) \
  X(unmap, "cuMemUnmap", (address place, std::size_t bytes))                                          \
  X(set_access, "cuMemSetAccess", (address place, std::size_t bytes, const access_description* access, std::size_t count)) \
  X(export_handle, "cuMemExportToShareableHandle", (void* handle, allocation memory, int type, unsigned long long flags)) \
  X(import_handle, "cuMemImportFromShareableHandle", (allocation* result, void* handle, int type))    \
  X(copy_in, "cuMemcpyHtoDAsync_v2", (address target, const void* source, std::size_t bytes, stream on)) \
  X(copy_out, "cuMemcpyDtoHAsync_v2", (void* target, address source, std::size_t bytes, stream on))   \
  X(copy_on, "cuMemcpyDtoDAsync_v2", (address target, address source, std::size_t bytes, stream on))  \
  X(copy_rows, "cuMemcpy2DAsync_v2", (const copy_of_rows* what, stream on))                           \
  X(range_of, "cuMemGetAddressRange_v2", (address* begin, std::size_t* bytes, address within))        \
  X(pointer_attribute, "cuPointerGetAttribute", (void* value, int attribute, address pointer))        \
  X(ipc_export, "cuIpcGetMemHandle", (ipc_handle* handle, address memory))                            \
  X(ipc_open, "cuIpcOpenMemHandle_v2", (address* result, ipc_handle handle, unsigned flags))          \
  X(ipc_close, "cuIpcCloseMemHandle", (address memory))                                               \
  X(set_bytes, "cuMemsetD8Async", (address target, unsigned char value, std::size_t count, stream on)) \
  X(set_words, "cuMemsetD32Async", (address target, unsigned value, std::size_t count, stream on))    \
  X(stream_create, "cuStreamCreate", (stream* result, unsigned flags))                                \
  X(stream_synchronize, "cuStreamSynchronize", (stream on))                                           \
  X(stream_query, "cuStreamQuery", (stream on))                                                       \
  X(stream_wait_value, "cuStreamWaitValue32_v2", (stream on, address word, std::uint32_t value, unsigned flags)) \
  X(stream_write_value, "cuStreamWriteValue32_v2", (stream on, address word, std::uint32_t value, unsigned flags)) \
  X(event_create, "cuEventCreate", (event* result, unsigned flags))                                   \
  X(event_record, "cuEventRecord", (event one, stream on))                                            \
  X(event_record_with, "cuEventRecordWithFlags", (event one, stream on, unsigned flags))              \
  X(stream_wait, "cuStreamWaitEvent", (stream on, event one, unsigned flags))                         \
  X(event_query, "cuEventQuery", (event one))                                                         \
  X(event_synchronize, "cuEventSynchronize", (event one))                                             \
  X(event_elapsed, "cuEventElapsedTime", (float* milliseconds, event from, event to))                 \
  X(module_load, "cuModuleLoadDataEx", (module_handle* result, const void* image, unsigned count, int* options, void** values)) \
  X(module_unload, "cuModuleUnload", (module_handle one))                                             \
  X(module_function, "cuModuleGetFunction", (function* result, module_handle one, const char* name))  \
  X(module_global, "cuModuleGetGlobal_v2", (address* result, std::size_t* bytes, module_handle one, const char* name)) \
  X(function_get, "cuFuncGetAttribute", (int* value, int attribute, function one))                    \
  X(function_set, "cuFuncSetAttribute", (function one, int attribute, int value))                     \
  X(function_parameter, "cuFuncGetParamInfo", (function one, std::size_t index, std::size_t* offset, std::size_t* bytes)) \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int* blocks, function one, int threads, std::size_t shared_bytes)) \
  X(launch, "cuLaunchKernelEx", (const launch_configuration* how, function one, void** parameters, void** extra)) \
  X(capture_begin, "cuStreamBeginCapture_v2", (stream on, int mode))                                  \
  X(capture_end, "cuStreamEndCapture", (stream on, graph* result))                                    \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", (graph_exec* result, graph one, unsigned long long flags)) \
  X(graph_upload, "cuGraphUpload", (graph_exec one, stream on))                                       \
  X(graph_launch, "cuGraphLaunch", (graph_exec one, stream on))                                       \
  X(graph_exec_destroy, "cuGraphExecDestroy", (graph_exec one))                                       \
  X(graph_destroy, "cuGraphDestroy", (graph one))                                                     \
  X(encode_tiled, "cuTensorMapEncodeTiled", (tensor_map_bytes* result, int type, std::uint32_t rank, void* memory, const std::uint64_t* extents, const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* element_strides, int interleave, int swizzle, int l2, int out_of_bounds))
// clang-format on

/// How a stream waits for a word of memory (stream_wait_value): until it is equal.
inline constexpr unsigned wait_equal = 1;

/// Every function of the driver that kevo calls. Thread-safe as the driver is.
struct driver {
#define KEVO_CUDA_MEMBER(name, symbol, parameters) driver_code(*name) parameters = nullptr;
  KEVO_CUDA_FUNCTIONS(KEVO_CUDA_MEMBER)
#undef KEVO_CUDA_MEMBER
};

/// A driver, or why there is none.
struct loaded_driver {
  const driver* functions = nullptr;
  std::string missing;  ///< a sentence; empty if there is a driver
  int version = 0;      ///< 13000 for 13.0
};

/// Loads libcuda.so.1 alone: no device is opened.
void preload_driver();

/// Loads libcuda.so.1 and calls cuInit, once; the driver stays for the life of the process. Never throws.
const loaded_driver& load_driver();

/// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
std::string text_of(const driver& d, driver_code code);

/// 32 hexadecimal digits.
std::string text_of(const uuid& id);

/// The device with this id, which a sandbox may show beside others or in another order.
/// @return whether it is there
bool find_device(const driver& d, std::string_view id, device_index& device);

/// A failure of a driver call in trusted code. @throws kevo::error (environment) naming `what`
void check(const driver& d, driver_code code, const char* what);

/// Whether this result says that the device or its driver is not in order (and not the program that ran).
bool speaks_of_machine(driver_code code);

}  // namespace kevo::cuda
