#pragma once
// Stands for the functions of PyTorch's C interface that flash.cu of cuda_dualkv_* calls: tensors in the
// memory of the host, and attention of packed sequences in plain loops. Comes behind the program, which
// declares them. What PyTorch refuses is an error here, too.

#include "tests/support/libraries_on_host/attention.hpp"

struct AtenTensorOpaque {
  void* memory;
  std::vector<std::int64_t> sizes;
  std::int32_t dtype;
  bool own = false;
};
struct CUDAStreamGuardOpaque {};

namespace host_torch {
inline int living = 0;  ///< tensors that nobody has deleted
inline int guards = 0;
constexpr std::int32_t device = 7, bfloat16 = 15, float16 = 5, int32 = 3, float32 = 6,
                       of_words = FLOAT16 ? float16 : bfloat16;

inline AtenTensorHandle made(std::vector<std::int64_t> sizes, std::int32_t dtype) {
  std::size_t elements = 1;
  for (const auto size : sizes) elements *= size;
  ++living;
  return new AtenTensorOpaque{std::calloc(elements + 1, dtype == float32 ? 4 : 2), std::move(sizes), dtype,
                              true};
}
inline bool is(AtenTensorHandle t, std::vector<std::int64_t> sizes, std::int32_t dtype) {
  return t != nullptr && t->sizes == sizes && t->dtype == dtype;
}
/// One of the packed sequences.
inline sequence part(const int* begins, int number, AtenTensorHandle q, AtenTensorHandle k,
                     AtenTensorHandle v, AtenTensorHandle o, AtenTensorHandle logarithms) {
  const long begin = begins[number], length = begins[number + 1] - begin;
  const long H = q->sizes[1], G = k->sizes[1];
  const auto words = [&](AtenTensorHandle t, long heads) {
    return static_cast<word*>(t->memory) + begin * heads * 128;
  };
  return {length,      length,      H,           G,           true,
          words(q, H), words(k, G), words(v, G), words(o, H), static_cast<float*>(logarithms->memory) + begin,
          q->sizes[0]};
}
/// Whether the arguments are what PyTorch expects of packed sequences.
inline bool fits(AtenTensorHandle q, AtenTensorHandle k, AtenTensorHandle v, AtenTensorHandle begins,
                 std::int64_t longest) {
  if (guards != 1 || q->sizes.size() != 3 || k->sizes.size() != 3 || begins->dtype != int32 ||
      begins->sizes.size() != 1)
    return false;
  const auto rows = q->sizes[0];
  if (!is(q, {rows, q->sizes[1], 128}, of_words) || !is(k, {rows, k->sizes[1], 128}, of_words) ||
      !is(v, k->sizes, of_words))
    return false;
  const int* at = static_cast<const int*>(begins->memory);
  const auto count = begins->sizes[0] - 1;
  for (std::int64_t i = 0; i < count; ++i) {
    if (at[i + 1] - at[i] > longest || at[i + 1] < at[i]) return false;
  }
  return at[0] == 0 && at[count] == rows;
}
}  // namespace host_torch

extern "C" {
std::int32_t aoti_torch_device_type_cuda() {
  return host_torch::device;
}
std::int32_t aoti_torch_dtype_bfloat16() {
  return host_torch::bfloat16;
}
std::int32_t aoti_torch_dtype_float16() {
  return host_torch::float16;
}
std::int32_t aoti_torch_dtype_int32() {
  return host_torch::int32;
}
std::int32_t aoti_torch_create_tensor_from_blob(void* data, std::int64_t dims, const std::int64_t* sizes,
                                                const std::int64_t* strides, std::int64_t offset,
                                                std::int32_t dtype, std::int32_t device_type,
                                                std::int32_t device_index, AtenTensorHandle* made) {
  std::int64_t expected = 1;
  for (auto i = dims; i-- > 0; expected *= sizes[i]) {
    if (strides[i] != expected) return 1;
  }
  if (offset != 0 || device_type != host_torch::device || device_index != 0) return 1;
  ++host_torch::living;
  *made = new AtenTensorOpaque{data, {sizes, sizes + dims}, dtype};
  return 0;
}
std::int32_t aoti_torch_get_data_ptr(AtenTensorHandle tensor, void** data) {
  *data = tensor->memory;
  return 0;
}
std::int32_t aoti_torch_get_dim(AtenTensorHandle tensor, std::int64_t* dims) {
  *dims = static_cast<std::int64_t>(tensor->sizes.size());
  return 0;
}
std::int32_t aoti_torch_get_size(AtenTensorHandle tensor, std::int64_t dim, std::int64_t* size) {
  *size = tensor->sizes.at(dim);
  return 0;
}
std::int32_t aoti_torch_delete_tensor_object(AtenTensorHandle tensor) {
  --host_torch::living;
  if (tensor->own) std::free(tensor->memory);
  delete tensor;
  return 0;
}
std::int32_t aoti_torch_create_cuda_stream_guard(void*, std::int32_t device_index,
                                                 CUDAStreamGuardHandle* made) {
  ++host_torch::guards;
  *made = new CUDAStreamGuardOpaque;
  return device_index;
}
std::int32_t aoti_torch_delete_cuda_stream_guard(CUDAStreamGuardHandle guard) {
  --host_torch::guards;
  delete guard;
  return 0;
}
std::int32_t aoti_torch_cuda__flash_attention_forward(
    AtenTensorHandle q, AtenTensorHandle k, AtenTensorHandle v, AtenTensorHandle* of_q,
    AtenTensorHandle* of_k, std::int64_t max_q, std::int64_t max_k, double dropout, std::int32_t causal,
    std::int32_t mask, double* scale, std::int64_t* left, std::int64_t* right, AtenTensorHandle* used,
    AtenTensorHandle* slopes, AtenTensorHandle* o, AtenTensorHandle* logarithms, AtenTensorHandle* state,
    AtenTensorHandle* unused, AtenTensorHandle* debug) {
  if (of_q == nullptr || of_k == nullptr || *of_q != *of_k || max_q != max_k ||
      !host_torch::fits(q, k, v, *of_q, max_q))
    return 1;
  if (dropout != 0 || causal != 1 || mask != 0 || scale != nullptr || left != nullptr || right != nullptr)
    return 1;
  if (used != nullptr || slopes != nullptr) return 1;
  *o = host_torch::made(q->sizes, q->dtype);
  *logarithms = host_torch::made({q->sizes[1], q->sizes[0]}, host_torch::float32);
  for (auto* other : {state, unused, debug}) *other = host_torch::made({}, host_torch::float32);
  const int* begins = static_cast<const int*>((*of_q)->memory);
  for (int i = 0; i + 1 < (*of_q)->sizes[0]; ++i)
    attend(host_torch::part(begins, i, q, k, v, *o, *logarithms));
  return 0;
}
std::int32_t aoti_torch_cuda__flash_attention_backward(
    AtenTensorHandle d_o, AtenTensorHandle q, AtenTensorHandle k, AtenTensorHandle v, AtenTensorHandle o,
    AtenTensorHandle logarithms, AtenTensorHandle of_q, AtenTensorHandle of_k, std::int64_t max_q,
    std::int64_t max_k, double dropout, std::int32_t causal, AtenTensorHandle state, AtenTensorHandle unused,
    double* scale, std::int64_t* left, std::int64_t* right, AtenTensorHandle* dq, AtenTensorHandle* dk,
    AtenTensorHandle* dv) {
  if (of_q != of_k || max_q != max_k || !host_torch::fits(q, k, v, of_q, max_q)) return 1;
  if (!host_torch::is(d_o, q->sizes, q->dtype) || !host_torch::is(o, q->sizes, q->dtype)) return 1;
  if (dropout != 0 || causal != 1 || state == nullptr || unused == nullptr || scale != nullptr ||
      left != nullptr || right != nullptr)
    return 1;
  *dq = host_torch::made(q->sizes, q->dtype);
  *dk = host_torch::made(k->sizes, q->dtype);
  *dv = host_torch::made(k->sizes, q->dtype);
  const int* begins = static_cast<const int*>(of_q->memory);
  for (int i = 0; i + 1 < of_q->sizes[0]; ++i) {
    auto one = host_torch::part(begins, i, q, k, v, o, logarithms);
    const auto at = [&](AtenTensorHandle t, long heads) {
      return static_cast<word*>(t->memory) + begins[i] * heads * 128;
    };
    one.d_o = at(d_o, one.H);
    one.dq = at(*dq, one.H);
    one.dk = at(*dk, one.G);
    one.dv = at(*dv, one.G);
    differentiate(one);
  }
  return 0;
}
}
