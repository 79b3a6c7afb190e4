// FlashAttention 2, whose kernels PyTorch contains, on prompt and response together, with a copy of the prompt for each response: what a
// library without shared prompts does. A hosted launch. The rows of all prompts and responses are copied one sequence behind the other,
// PyTorch's function for sequences of different lengths reads where they begin on the device, and the rows of the result are copied
// back. All of it is part of the time. The copies' memory is kept from call to call, and PyTorch keeps what it allocates, too.
#define FLOAT16 0  // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
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
std::int32_t aoti_torch_get_dim(AtenTensorHandle tensor, std::int64_t* dims);
std::int32_t aoti_torch_get_size(AtenTensorHandle tensor, std::int64_t dim, std::int64_t* size);
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
  made.q = allocate<std::uint16_t>(good, rows * H * 128);
  made.k = allocate<std::uint16_t>(good, rows * G * 128);
  made.v = allocate<std::uint16_t>(good, rows * G * 128);
  made.begins = allocate<int>(good, N + 1);
  return good;
}

// A row has `heads` heads of 16 vectors.
__device__ void copy_row(uint4* to, const uint4* from, int heads) {
  for (int i = static_cast<int>(threadIdx.x); i < heads * 16; i += static_cast<int>(blockDim.x)) to[i] = from[i];
}

// A row of the grid of blocks copies a sequence.
__global__ void pack(const uint4* q, const uint4* k, const uint4* v, const int* offsets, uint4* to_q, uint4* to_k, uint4* to_v,
                     int* begins, long long P, int H, int G) {
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
    copy_row(to_q + at * H * 16, q + row * H * 16, H);
    copy_row(to_k + at * G * 16, k + row * G * 16, G);
    copy_row(to_v + at * G * 16, v + row * G * 16, G);
  }
}

// The prompt's rows come from the first sequence. `logarithms`: [H, `packed` rows].
__global__ void unpack(const uint4* from_o, const float* logarithms, const int* offsets, uint4* o, float* lse, long long P, long long rows,
                       long long packed, int H) {
  const int sequence = static_cast<int>(blockIdx.y);
  const long long begin = sequence * P + offsets[sequence];
  const long long length = P + offsets[sequence + 1] - offsets[sequence];
  for (long long place = blockIdx.x + (sequence > 0 ? P : 0); place < length; place += gridDim.x) {
    const long long row = place < P ? place : offsets[sequence] + place;
    copy_row(o + row * H * 16, from_o + (begin + place) * H * 16, H);
    for (int h = static_cast<int>(threadIdx.x); h < H; h += static_cast<int>(blockDim.x))
      lse[h * rows + row] = logarithms[h * packed + begin + place];
  }
}

/// Whether the logarithms of the sums are [H, rows], as they are since FlashAttention 2.6.
bool is_packed(AtenTensorHandle logarithms, std::int64_t H, std::int64_t rows) {
  std::int64_t dims = 0;
  std::int64_t heads = 0;
  std::int64_t columns = 0;
  return aoti_torch_get_dim(logarithms, &dims) == 0 && dims == 2 && aoti_torch_get_size(logarithms, 0, &heads) == 0 && heads == H &&
         aoti_torch_get_size(logarithms, 1, &columns) == 0 && columns == rows;
}

}  // namespace

extern "C" int run(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const int* offsets, std::uint16_t* o,
                   float* lse, int64_t P, int64_t N, int64_t T, int64_t L, int64_t H, int64_t G, cudaStream_t stream) {
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
  const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(P + L, 512)), static_cast<unsigned>(N));
  pack<<<grid, 128, 0, stream>>>(vectors(q), vectors(k), vectors(v), offsets, to(c.q), to(c.k), to(c.v), c.begins, P, heads,
                                 static_cast<int>(G));
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  const stream_guard on(stream, device);
  if (on.it == nullptr) return 1;
  tensors t(device);
  const std::int32_t type = FLOAT16 ? aoti_torch_dtype_float16() : aoti_torch_dtype_bfloat16();
  const std::array<std::int64_t, 3> of_keys = {rows, G, 128};
  const AtenTensorHandle queries = t.of<3>(c.q, {rows, H, 128}, type);
  const AtenTensorHandle keys = t.of(c.k, of_keys, type);
  const AtenTensorHandle values = t.of(c.v, of_keys, type);
  AtenTensorHandle begins = t.of<1>(c.begins, {N + 1}, aoti_torch_dtype_int32());
  if (!t.good) return 3;
  std::array<AtenTensorHandle, 5> results = {};  // o, logarithms, state of random numbers, unused, mask
  if (aoti_torch_cuda__flash_attention_forward(queries, keys, values, &begins, &begins, P + L, P + L, 0.0, 1, 0, nullptr, nullptr, nullptr,
                                               nullptr, nullptr, &results[0], &results[1], &results[2], &results[3],
                                               &results[4]) != 0) {
    return 4;
  }
  for (const AtenTensorHandle one : results) t.keep(one);
  if (!t.good || !is_packed(results[1], H, rows)) return 5;
  const void* packed_o = t.memory_of(results[0]);
  const void* logarithms = t.memory_of(results[1]);
  if (!t.good) return 5;
  unpack<<<grid, 128, 0, stream>>>(vectors(packed_o), static_cast<const float*>(logarithms), offsets, to(o), lse, P, P + T, rows, heads);
  return cudaGetLastError() == cudaSuccess ? 0 : 6;
}
