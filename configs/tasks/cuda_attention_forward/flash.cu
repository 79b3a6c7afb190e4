// FlashAttention 2, whose kernels PyTorch contains. A hosted launch. PyTorch writes its result into memory of its own, which it keeps from
// call to call; the copy of this result is part of the time.
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// Of PyTorch's C interface (torch/csrc/inductor/aoti_torch: c/shim.h, generated/c_shim_cuda.h). 0 means success; a handle that a function
// writes belongs to its caller. Tensors made from memory do not own it.
extern "C" {
struct AtenTensorOpaque;
using AtenTensorHandle = AtenTensorOpaque*;
struct CUDAStreamGuardOpaque;
using CUDAStreamGuardHandle = CUDAStreamGuardOpaque*;
std::int32_t aoti_torch_device_type_cuda();
std::int32_t aoti_torch_dtype_bfloat16();
std::int32_t aoti_torch_create_tensor_from_blob(void* data, std::int64_t dims, const std::int64_t* sizes, const std::int64_t* strides,
                                                std::int64_t offset, std::int32_t dtype, std::int32_t device_type,
                                                std::int32_t device_index, AtenTensorHandle* made);
std::int32_t aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** data);
std::int32_t aoti_torch_get_dim(AtenTensorHandle tensor, std::int64_t* dims);
std::int32_t aoti_torch_get_stride(AtenTensorHandle tensor, std::int64_t dim, std::int64_t* stride);
std::int32_t aoti_torch_delete_tensor_object(AtenTensorHandle tensor);
std::int32_t aoti_torch_create_cuda_stream_guard(void* stream, std::int32_t device_index, CUDAStreamGuardHandle* made);
std::int32_t aoti_torch_delete_cuda_stream_guard(CUDAStreamGuardHandle guard);
std::int32_t aoti_torch_cuda__flash_attention_forward(AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
                                                      AtenTensorHandle* cum_seq_q, AtenTensorHandle* cum_seq_k, std::int64_t max_q,
                                                      std::int64_t max_k, double dropout_p, std::int32_t is_causal,
                                                      std::int32_t return_debug_mask, double* scale, std::int64_t* window_size_left,
                                                      std::int64_t* window_size_right, AtenTensorHandle* seqused_k,
                                                      AtenTensorHandle* alibi_slopes, AtenTensorHandle* output,
                                                      AtenTensorHandle* logsumexp, AtenTensorHandle* rng_state,
                                                      AtenTensorHandle* unused, AtenTensorHandle* debug_attn_mask);
}

namespace {

/// The tensors of a call. After a failure `good` is false.
struct tensors {
  std::int32_t device;
  bool good = true;
  std::vector<AtenTensorHandle> all = {};

  explicit tensors(std::int32_t device_index) : device(device_index) {}
  tensors(const tensors&) = delete;
  tensors& operator=(const tensors&) = delete;
  ~tensors() {
    for (const AtenTensorHandle one : all) aoti_torch_delete_tensor_object(one);
  }
  AtenTensorHandle keep(AtenTensorHandle one) {
    if (one != nullptr) all.push_back(one);
    good = good && one != nullptr;
    return one;
  }
  /// [B, S, heads, 128], as PyTorch wants it, of memory in which a head's rows are behind each other.
  AtenTensorHandle of(const std::uint16_t* memory, std::int64_t B, std::int64_t heads, std::int64_t S) {
    const std::array<std::int64_t, 4> sizes = {B, S, heads, 128};
    const auto strides = strides_of(heads, S);
    AtenTensorHandle made = nullptr;
    good = good && aoti_torch_create_tensor_from_blob(const_cast<std::uint16_t*>(memory), 4, sizes.data(), strides.data(), 0,
                                                      aoti_torch_dtype_bfloat16(), aoti_torch_device_type_cuda(), device, &made) == 0;
    return keep(made);
  }
  static std::array<std::int64_t, 4> strides_of(std::int64_t heads, std::int64_t S) { return {heads * S * 128, 128, S * 128, 1}; }
};

/// Whether PyTorch's result lies as q does: a stride of a dimension with one element does not count.
bool lies_as(AtenTensorHandle o, const std::array<std::int64_t, 4>& sizes, const std::array<std::int64_t, 4>& strides) {
  std::int64_t dims = 0;
  if (aoti_torch_get_dim(o, &dims) != 0 || dims != 4) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    std::int64_t stride = 0;
    if (aoti_torch_get_stride(o, static_cast<std::int64_t>(i), &stride) != 0) return false;
    if (sizes.at(i) > 1 && stride != strides.at(i)) return false;
  }
  return true;
}

/// PyTorch's current stream, until the end of a block.
struct stream_guard {
  CUDAStreamGuardHandle it = nullptr;

  stream_guard(cudaStream_t stream, int device) {
    if (aoti_torch_create_cuda_stream_guard(stream, device, &it) != 0) it = nullptr;
  }
  stream_guard(const stream_guard&) = delete;
  stream_guard& operator=(const stream_guard&) = delete;
  ~stream_guard() {
    if (it != nullptr) aoti_torch_delete_cuda_stream_guard(it);
  }
};

}  // namespace

extern "C" int run(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, std::uint16_t* o, int64_t B, int64_t H,
                   int64_t G, int64_t S, int64_t mask, cudaStream_t stream) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  const stream_guard on(stream, device);
  if (on.it == nullptr) return 1;
  tensors t(device);
  const AtenTensorHandle queries = t.of(q, B, H, S);
  const AtenTensorHandle keys = t.of(k, B, G, S);
  const AtenTensorHandle values = t.of(v, B, G, S);
  if (!t.good) return 2;
  std::array<AtenTensorHandle, 5> results = {};  // o, logarithms, state of random numbers, unused, mask
  if (aoti_torch_cuda__flash_attention_forward(queries, keys, values, nullptr, nullptr, S, S, 0.0, mask == 2 ? 1 : 0, 0, nullptr, nullptr,
                                               nullptr, nullptr, nullptr, &results[0], &results[1], &results[2], &results[3],
                                               &results[4]) != 0) {
    return 3;
  }
  for (const AtenTensorHandle one : results) t.keep(one);
  if (!t.good || !lies_as(results[0], {B, S, H, 128}, tensors::strides_of(H, S))) return 4;
  void* made = nullptr;
  if (aoti_torch_get_data_ptr(results[0], &made) != 0) return 4;
  const auto bytes = static_cast<std::size_t>(B * H * S * 128) * sizeof(std::uint16_t);
  return cudaMemcpyAsync(o, made, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess ? 0 : 5;
}
