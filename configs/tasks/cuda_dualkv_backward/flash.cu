// FlashAttention 2, whose kernels PyTorch contains, and its gradients on prompt and response together, with a copy of the prompt for each
// response: what a library without shared prompts does. A hosted launch. The rows of all prompts and responses are copied one sequence
// behind the other, PyTorch's functions for sequences of different lengths read where they begin on the device, and the rows of the
// gradients are copied back; those of the prompt's keys and values are added up in float32. d_o of the prompt is in the first sequence
// only, because its rows count once. All of it is part of the time. The copies' memory is kept from call to call, and PyTorch keeps what it
// allocates, too.
#define FLOAT16 0  // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
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
std::int32_t aoti_torch_dtype_float16();
std::int32_t aoti_torch_dtype_int32();
std::int32_t aoti_torch_create_tensor_from_blob(void* data, std::int64_t dims, const std::int64_t* sizes, const std::int64_t* strides,
                                                std::int64_t offset, std::int32_t dtype, std::int32_t device_type,
                                                std::int32_t device_index, AtenTensorHandle* made);
std::int32_t aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** data);
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
std::int32_t aoti_torch_cuda__flash_attention_backward(AtenTensorHandle grad_out, AtenTensorHandle query, AtenTensorHandle key,
                                                       AtenTensorHandle value, AtenTensorHandle out, AtenTensorHandle logsumexp,
                                                       AtenTensorHandle cum_seq_q, AtenTensorHandle cum_seq_k, std::int64_t max_q,
                                                       std::int64_t max_k, double dropout_p, std::int32_t is_causal,
                                                       AtenTensorHandle rng_state, AtenTensorHandle unused, double* scale,
                                                       std::int64_t* window_size_left, std::int64_t* window_size_right,
                                                       AtenTensorHandle* dq, AtenTensorHandle* dk, AtenTensorHandle* dv);
}

namespace {

#if FLOAT16
using element = __half;
using two_elements = __half2;
__device__ float2 to_floats(two_elements x) { return __half22float2(x); }
__device__ two_elements to_elements(float2 x) { return __float22half2_rn(x); }
#else
using element = __nv_bfloat16;
using two_elements = __nv_bfloat162;
__device__ float2 to_floats(two_elements x) { return __bfloat1622float2(x); }
__device__ two_elements to_elements(float2 x) { return __float22bfloat162_rn(x); }
#endif

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
  /// The given memory, row after row.
  template <std::size_t Dims>
  AtenTensorHandle of(void* memory, const std::array<std::int64_t, Dims>& sizes, std::int32_t dtype) {
    std::array<std::int64_t, Dims> strides = {};
    std::int64_t elements = 1;
    for (std::size_t i = Dims; i-- > 0;) {
      strides.at(i) = elements;
      elements *= sizes.at(i);
    }
    AtenTensorHandle made = nullptr;
    good = good && aoti_torch_create_tensor_from_blob(memory, Dims, sizes.data(), strides.data(), 0, dtype, aoti_torch_device_type_cuda(),
                                                      device, &made) == 0;
    return keep(made);
  }
  void* memory_of(AtenTensorHandle one) {
    void* memory = nullptr;
    good = good && aoti_torch_get_data_ptr(one, &memory) == 0;
    return memory;
  }
};

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

/// All sequences, one behind the other.
struct copies {
  std::uint16_t* q = nullptr;  ///< [N P + T, H, 128]
  std::uint16_t* d_o = nullptr;
  std::uint16_t* k = nullptr;  ///< [N P + T, G, 128]
  std::uint16_t* v = nullptr;
  int* begins = nullptr;  ///< [N + 1]
};

/// Memory for `count` elements; null if there is none, and after an earlier failure.
template <class T>
T* allocate(bool& good, std::int64_t count) {
  void* memory = nullptr;
  good = good && cudaMalloc(&memory, static_cast<std::size_t>(count) * sizeof(T)) == cudaSuccess;
  return good ? static_cast<T*>(memory) : nullptr;
}

bool make(std::int64_t rows, std::int64_t N, std::int64_t H, std::int64_t G, copies& made) {
  bool good = true;
  for (auto* to : {&made.q, &made.d_o}) *to = allocate<std::uint16_t>(good, rows * H * 128);
  for (auto* to : {&made.k, &made.v}) *to = allocate<std::uint16_t>(good, rows * G * 128);
  made.begins = allocate<int>(good, N + 1);
  return good;
}

// A row has `heads` heads of 16 vectors.
__device__ void copy_row(uint4* to, const uint4* from, int heads) {
  for (int i = static_cast<int>(threadIdx.x); i < heads * 16; i += static_cast<int>(blockDim.x))
    to[i] = from == nullptr ? uint4{0, 0, 0, 0} : from[i];
}

// A row of the grid of blocks copies a sequence.
__global__ void pack(const uint4* q, const uint4* k, const uint4* v, const uint4* d_o, const int* offsets, uint4* to_q, uint4* to_k,
                     uint4* to_v, uint4* to_d_o, int* begins, long long P, int H, int G) {
  const int sequence = static_cast<int>(blockIdx.y);
  const long long begin = sequence * P + offsets[sequence];
  const long long length = P + offsets[sequence + 1] - offsets[sequence];
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    begins[sequence] = static_cast<int>(begin);
    if (blockIdx.y + 1 == gridDim.y) begins[sequence + 1] = static_cast<int>(begin + length);
  }
  for (long long place = blockIdx.x; place < length; place += gridDim.x) {
    const long long row = place < P ? place : offsets[sequence] + place;
    const long long at = begin + place;
    const bool counts = place >= P || sequence == 0;
    copy_row(to_q + at * H * 16, q + row * H * 16, H);
    copy_row(to_d_o + at * H * 16, counts ? d_o + row * H * 16 : nullptr, H);
    copy_row(to_k + at * G * 16, k + row * G * 16, G);
    copy_row(to_v + at * G * 16, v + row * G * 16, G);
  }
}

// A row of the prompt, summed over the sequences.
__device__ void add_rows(element* to, const element* from, const int* offsets, long long P, int sequences, long long place, int elements) {
  for (int i = static_cast<int>(threadIdx.x) * 2; i < elements; i += static_cast<int>(blockDim.x) * 2) {
    float2 sum = {0.0F, 0.0F};
    for (int sequence = 0; sequence < sequences; ++sequence) {
      const long long at = sequence * P + offsets[sequence] + place;
      const float2 more = to_floats(*reinterpret_cast<const two_elements*>(from + at * elements + i));
      sum.x += more.x;
      sum.y += more.y;
    }
    *reinterpret_cast<two_elements*>(to + i) = to_elements(sum);
  }
}

__global__ void unpack(const element* from_dq, const element* from_dk, const element* from_dv, const int* offsets, element* dq,
                       element* dk, element* dv, long long P, int H, int G) {
  const int sequence = static_cast<int>(blockIdx.y);
  const int sequences = static_cast<int>(gridDim.y);
  const long long begin = sequence * P + offsets[sequence];
  const long long length = P + offsets[sequence + 1] - offsets[sequence];
  const auto vectors = [](auto* address) { return reinterpret_cast<const uint4*>(address); };
  const auto to = [](element* address) { return reinterpret_cast<uint4*>(address); };
  for (long long place = blockIdx.x + (sequence > 0 ? P : 0); place < length; place += gridDim.x) {
    const long long row = place < P ? place : offsets[sequence] + place;
    const long long at = begin + place;
    copy_row(to(dq + row * H * 128), vectors(from_dq + at * H * 128), H);
    if (place < P) {
      add_rows(dk + row * G * 128, from_dk, offsets, P, sequences, place, G * 128);
      add_rows(dv + row * G * 128, from_dv, offsets, P, sequences, place, G * 128);
    } else {
      copy_row(to(dk + row * G * 128), vectors(from_dk + at * G * 128), G);
      copy_row(to(dv + row * G * 128), vectors(from_dv + at * G * 128), G);
    }
  }
}

/// dq, dk, dv of all sequences. @return 0, or where it failed
int gradients(tensors& t, const copies& c, std::int64_t rows, std::int64_t longest, std::int64_t N, std::int64_t H, std::int64_t G,
              std::array<const element*, 3>& made) {
  const std::int32_t type = FLOAT16 ? aoti_torch_dtype_float16() : aoti_torch_dtype_bfloat16();
  const std::array<std::int64_t, 3> of_queries = {rows, H, 128};
  const std::array<std::int64_t, 3> of_keys = {rows, G, 128};
  const AtenTensorHandle q = t.of(c.q, of_queries, type);
  const AtenTensorHandle d_o = t.of(c.d_o, of_queries, type);
  const AtenTensorHandle k = t.of(c.k, of_keys, type);
  const AtenTensorHandle v = t.of(c.v, of_keys, type);
  AtenTensorHandle begins = t.of<1>(c.begins, {N + 1}, aoti_torch_dtype_int32());
  if (!t.good) return 3;
  std::array<AtenTensorHandle, 5> forward = {};  // o, logarithms, state of random numbers, unused, mask
  if (aoti_torch_cuda__flash_attention_forward(q, k, v, &begins, &begins, longest, longest, 0.0, 1, 0, nullptr, nullptr, nullptr, nullptr,
                                               nullptr, &forward[0], &forward[1], &forward[2], &forward[3], &forward[4]) != 0) {
    return 4;
  }
  for (const AtenTensorHandle one : forward) t.keep(one);
  if (!t.good) return 4;
  std::array<AtenTensorHandle, 3> backward = {};
  if (aoti_torch_cuda__flash_attention_backward(d_o, q, k, v, forward[0], forward[1], begins, begins, longest, longest, 0.0, 1, forward[2],
                                                forward[3], nullptr, nullptr, nullptr, &backward[0], &backward[1], &backward[2]) != 0) {
    return 5;
  }
  for (std::size_t i = 0; i < 3; ++i) made.at(i) = static_cast<const element*>(t.memory_of(t.keep(backward.at(i))));
  return t.good ? 0 : 5;
}

}  // namespace

extern "C" int run(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const std::uint16_t* d_o, const int* offsets,
                   element* dq, element* dk, element* dv, int64_t P, int64_t N, int64_t T, int64_t L, int64_t H, int64_t G,
                   cudaStream_t stream) {
  static std::map<std::array<std::int64_t, 4>, copies> all;
  const std::int64_t rows = N * P + T;
  const std::array<std::int64_t, 4> axes = {rows, N, H, G};
  auto at = all.find(axes);
  if (at == all.end()) {
    copies made;
    if (!make(rows, N, H, G, made)) return 2;
    at = all.emplace(axes, made).first;
  }
  const copies& c = at->second;
  const auto vectors = [](const auto* address) { return reinterpret_cast<const uint4*>(address); };
  const auto to = [](std::uint16_t* address) { return reinterpret_cast<uint4*>(address); };
  const int heads = static_cast<int>(H);
  const int key_heads = static_cast<int>(G);
  const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(P + L, 512)), static_cast<unsigned>(N));
  pack<<<grid, 128, 0, stream>>>(vectors(q), vectors(k), vectors(v), vectors(d_o), offsets, to(c.q), to(c.k), to(c.v), to(c.d_o), c.begins,
                                 P, heads, key_heads);
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  const stream_guard on(stream, device);
  if (on.it == nullptr) return 1;
  tensors t(device);
  std::array<const element*, 3> made = {};
  if (const int failed = gradients(t, c, rows, P + L, N, H, G, made)) return failed;
  unpack<<<grid, 128, 0, stream>>>(made[0], made[1], made[2], offsets, dq, dk, dv, P, heads, key_heads);
  return cudaGetLastError() == cudaSuccess ? 0 : 6;
}
