// cuDNN's fused causal attention of prompt and response together and its gradients, with a copy of the prompt for each response: what a
// library without shared prompts does. A hosted launch. Rows are copied into a slot of P + L positions for each response, cuDNN's
// backend runs the graphs of the forward and the backward pass on all slots, whose true lengths it reads on the device, and the rows of
// the gradients are copied back; those of the prompt's keys and values are added up in float32. d_o of the prompt is in the first slot
// only, because its rows count once. All of it is part of the time. Plans and memory are kept from call to call.
#define FLOAT16 0  // 1: float16 instead of bfloat16; a task sets it (docs/tasks.md, `define`)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace {

#if FLOAT16
constexpr cudnnDataType_t element_type = CUDNN_DATA_HALF;
using element = __half;
using two_elements = __half2;
__device__ float2 to_floats(two_elements x) { return __half22float2(x); }
__device__ two_elements to_elements(float2 x) { return __float22half2_rn(x); }
#else
constexpr cudnnDataType_t element_type = CUDNN_DATA_BFLOAT16;
using element = __nv_bfloat16;
using two_elements = __nv_bfloat162;
__device__ float2 to_floats(two_elements x) { return __bfloat1622float2(x); }
__device__ two_elements to_elements(float2 x) { return __float22bfloat162_rn(x); }
#endif
using descriptor = cudnnBackendDescriptor_t;
using shape = std::array<std::int64_t, 4>;

struct tensor {
  descriptor it = nullptr;
  std::int64_t id = 0;
};

/// The true sizes of a product for each sequence, in device memory; empty: those of the tensors.
struct sizes {
  tensor m = {};
  tensor n = {};
  tensor k = {};
};

/// Builds a graph; after the first failure nothing more is done. Descriptors live as long as the process.
struct builder {
  cudnnHandle_t handle;
  bool good = true;
  std::int64_t ids = 0;
  std::vector<descriptor> operations = {};

  descriptor make(cudnnBackendDescriptorType_t type) {
    descriptor made = nullptr;
    good = good && cudnnBackendCreateDescriptor(type, &made) == CUDNN_STATUS_SUCCESS;
    return made;
  }
  template <class T>
  void set(descriptor to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value, std::int64_t count = 1) {
    good = good && cudnnBackendSetAttribute(to, name, type, count, &value) == CUDNN_STATUS_SUCCESS;
  }
  void finish(descriptor one) { good = good && cudnnBackendFinalize(one) == CUDNN_STATUS_SUCCESS; }

  enum class kind { memory, between, constant };
  tensor add(cudnnDataType_t type, const shape& dims, const shape& strides, kind what = kind::between) {
    tensor made{make(CUDNN_BACKEND_TENSOR_DESCRIPTOR), ++ids};
    set(made.it, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, made.id);
    set(made.it, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    set(made.it, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, std::int64_t{16});
    set(made.it, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, 4);
    set(made.it, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides, 4);
    set(made.it, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, what == kind::between);
    if (what == kind::constant) set(made.it, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
    finish(made.it);
    return made;
  }
  void operation(descriptor one) {
    finish(one);
    operations.push_back(one);
  }
  /// c = a b; `padded`: elements of c that do not exist are 0.
  void multiply(tensor a, tensor b, tensor c, const sizes& of, bool padded = false) {
    const descriptor how = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    if (padded) set(how, CUDNN_ATTR_MATMUL_PADDING_VALUE, CUDNN_TYPE_DOUBLE, 0.0);
    finish(how);
    const descriptor one = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, a.it);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, b.it);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, c.it);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, how);
    if (of.m.it != nullptr) set(one, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, of.m.it);
    if (of.n.it != nullptr) set(one, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, of.n.it);
    if (of.k.it != nullptr) set(one, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, of.k.it);
    operation(one);
  }
  tensor turned(tensor x, const shape& dims, const shape& strides) {  ///< x as another shape with 16 bits an element
    const tensor y = add(element_type, dims, strides);
    const descriptor one = make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    set(one, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x.it);
    set(one, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y.it);
    operation(one);
    return y;
  }
  void reduce(cudnnReduceTensorOp_t what, tensor x, tensor y) {
    const descriptor how = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    set(how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    set(how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, what);
    finish(how);
    const descriptor one = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    set(one, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x.it);
    set(one, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y.it);
    set(one, CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, how);
    operation(one);
  }
  void pointwise(cudnnPointwiseMode_t what, cudnnDataType_t precision, tensor x, tensor y, const tensor* b = nullptr,
                 const tensor* choice = nullptr, std::int64_t axis = -1) {
    const descriptor how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, what);
    set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, precision);
    if (axis >= 0) set(how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
    finish(how);
    const descriptor one = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set(one, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, how);
    set(one, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x.it);
    set(one, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y.it);
    if (b != nullptr) set(one, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, b->it);
    if (choice != nullptr) set(one, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, choice->it);
    operation(one);
  }
};

struct pass {
  descriptor it = nullptr;
  void* scratch = nullptr;
  std::vector<std::int64_t> ids = {};
};

struct plan {
  pass forward = {};
  pass backward = {};
  std::uint16_t* q = nullptr;  ///< [N, slot, H, 128]
  std::uint16_t* k = nullptr;  ///< [N, slot, G, 128]
  std::uint16_t* v = nullptr;
  std::uint16_t* o = nullptr;
  std::uint16_t* d_o = nullptr;
  std::uint16_t* dq = nullptr;
  std::uint16_t* dk = nullptr;
  std::uint16_t* dv = nullptr;
  float* statistics = nullptr;  ///< [N, H, slot]
  float* delta = nullptr;       ///< [N, H, slot], sums of o d_o
  float* dq_sums = nullptr;     ///< [N, H, slot, 128]
  int* lengths = nullptr;       ///< [N]
};

/// Scores, and what is made of them.
struct score_shapes {
  shape dims;
  shape strides;
  tensor low;  ///< minus infinity

  tensor between(builder& b, cudnnDataType_t type = CUDNN_DATA_FLOAT) const { return b.add(type, dims, strides); }
  tensor choose(builder& b, tensor from, tensor kept) const {
    const tensor chosen = between(b);
    b.pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, from, chosen, &low, &kept);
    return chosen;
  }
};

/// Keeps scores of queries and keys that exist.
tensor of_existing(builder& b, const score_shapes& s, tensor score, tensor queries, tensor keys) {
  const tensor row = s.between(b, CUDNN_DATA_INT32);
  const tensor column = s.between(b, CUDNN_DATA_INT32);
  const tensor row_exists = s.between(b, CUDNN_DATA_BOOLEAN);
  const tensor column_exists = s.between(b, CUDNN_DATA_BOOLEAN);
  const tensor exists = s.between(b, CUDNN_DATA_BOOLEAN);
  b.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, score, row, nullptr, nullptr, 2);
  b.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, score, column, nullptr, nullptr, 3);
  b.pointwise(CUDNN_POINTWISE_CMP_LT, CUDNN_DATA_BOOLEAN, row, row_exists, &queries);
  b.pointwise(CUDNN_POINTWISE_CMP_LT, CUDNN_DATA_BOOLEAN, column, column_exists, &keys);
  b.pointwise(CUDNN_POINTWISE_LOGICAL_AND, CUDNN_DATA_BOOLEAN, row_exists, exists, &column_exists);
  return s.choose(b, score, exists);
}

/// Keeps scores of keys that are not behind the query.
tensor of_seen(builder& b, const score_shapes& s, tensor score) {
  const tensor row = s.between(b, CUDNN_DATA_INT32);
  const tensor column = s.between(b, CUDNN_DATA_INT32);
  const tensor seen = s.between(b, CUDNN_DATA_BOOLEAN);
  b.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, score, row, nullptr, nullptr, 2);
  b.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, score, column, nullptr, nullptr, 3);
  b.pointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, row, seen, &column);
  return s.choose(b, score, seen);
}

/// The first execution plan of the heuristics that can be built, and its scratch memory.
bool build(cudnnHandle_t handle, builder& b, descriptor& it, void*& scratch) {
  const descriptor graph = b.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  b.set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  if (b.good) {
    b.set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, *b.operations.data(),
          static_cast<std::int64_t>(b.operations.size()));
  }
  b.finish(graph);
  const descriptor rule = b.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  b.set(rule, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph);
  b.set(rule, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  b.finish(rule);
  if (!b.good) return false;
  std::array<descriptor, 8> choices = {};
  for (auto& choice : choices) choice = b.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  std::int64_t found = 0;
  if (cudnnBackendGetAttribute(rule, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 8, &found, choices.data()) !=
      CUDNN_STATUS_SUCCESS) {
    return false;
  }
  for (std::int64_t i = 0; i < found && i < 8; ++i) {
    b.good = true;
    it = b.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    b.set(it, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    b.set(it, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, choices.at(static_cast<std::size_t>(i)));
    b.finish(it);
    std::int64_t bytes = 0;
    std::int64_t count = 0;
    if (!b.good || cudnnBackendGetAttribute(it, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes) !=
                       CUDNN_STATUS_SUCCESS) {
      continue;
    }
    if (bytes <= 0 || cudaMalloc(&scratch, static_cast<std::size_t>(bytes)) == cudaSuccess) return true;
  }
  return false;
}

/// Memory for `count` elements; null if there is none, and after an earlier failure.
template <class T>
T* allocate(bool& good, std::int64_t count) {
  void* memory = nullptr;
  good = good && cudaMalloc(&memory, static_cast<std::size_t>(count) * sizeof(T)) == cudaSuccess;
  return good ? static_cast<T*>(memory) : nullptr;
}

bool make_forward(cudnnHandle_t handle, std::int64_t N, std::int64_t S, std::int64_t H, std::int64_t G, pass& made) {
  builder b{handle};
  using kind = builder::kind;
  const shape rows = {N, H, S, 1};
  const shape along_rows = {H * S, S, 1, 1};
  const shape of_queries = {S * H * 128, 128, H * 128, 1};
  const auto of_rows = [&] { return b.add(CUDNN_DATA_FLOAT, rows, along_rows); };
  const tensor q = b.add(element_type, {N, H, S, 128}, of_queries, kind::memory);
  const tensor k = b.add(element_type, {N, G, 128, S}, {S * G * 128, 128, 1, G * 128}, kind::memory);
  const tensor v = b.add(element_type, {N, G, S, 128}, {S * G * 128, 128, G * 128, 1}, kind::memory);
  const tensor o = b.add(element_type, {N, H, S, 128}, of_queries, kind::memory);
  const tensor statistic = b.add(CUDNN_DATA_FLOAT, rows, along_rows, kind::memory);
  const tensor queries = b.add(CUDNN_DATA_INT32, {N, 1, 1, 1}, {1, 1, 1, 1}, kind::memory);
  const tensor keys = b.add(CUDNN_DATA_INT32, {N, 1, 1, 1}, {1, 1, 1, 1}, kind::memory);
  const tensor scale = b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant);
  const tensor low = b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant);
  const score_shapes s = {{N, H, S, S}, {H * S * S, S * S, S, 1}, low};
  const auto between = [&](cudnnDataType_t type = CUDNN_DATA_FLOAT) { return s.between(b, type); };
  const tensor raw = between();
  const tensor scaled = between();
  b.multiply(q, k, raw, {.m = queries, .n = keys}, true);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, raw, scaled, &scale);
  const tensor score = of_seen(b, s, of_existing(b, s, scaled, queries, keys));
  const tensor largest = of_rows();
  const tensor total = of_rows();
  const tensor logarithm = of_rows();
  const tensor shifted = between();
  const tensor weight = between();
  const tensor p = between(element_type);
  b.reduce(CUDNN_REDUCE_TENSOR_MAX, score, largest);
  b.pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, score, shifted, &largest);
  b.pointwise(CUDNN_POINTWISE_EXP, CUDNN_DATA_FLOAT, shifted, weight);
  b.reduce(CUDNN_REDUCE_TENSOR_ADD, weight, total);
  b.pointwise(CUDNN_POINTWISE_LOG, CUDNN_DATA_FLOAT, total, logarithm);
  b.pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, largest, statistic, &logarithm);
  b.pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, weight, p, &total);
  b.multiply(p, v, o, {.m = queries, .k = keys});
  made.ids = {q.id, k.id, v.id, o.id, statistic.id, queries.id, keys.id, scale.id, low.id};
  return build(handle, b, made.it, made.scratch);
}

/// Gradients of keys or values, which H / G heads share: left^T right, summed over these heads.
void of_shared(builder& b, std::int64_t N, std::int64_t S, std::int64_t H, std::int64_t G, tensor left, tensor right, tensor to,
               tensor queries, tensor keys) {
  const tensor turned = b.turned(left, {N, H, S, S}, {H * S * S, S * S, 1, S});
  if (H == G) {
    b.multiply(turned, right, to, {.m = keys, .k = queries});
    return;
  }
  const tensor of_heads = b.add(element_type, {N, H, S, 128}, {H * S * 128, S * 128, 128, 1});
  b.multiply(turned, right, of_heads, {.m = keys, .k = queries});
  b.reduce(CUDNN_REDUCE_TENSOR_ADD, of_heads, to);
}

bool make_backward(cudnnHandle_t handle, std::int64_t N, std::int64_t S, std::int64_t H, std::int64_t G, pass& made) {
  builder b{handle};
  using kind = builder::kind;
  const shape rows = {N, H, S, 1};
  const shape along_rows = {H * S, S, 1, 1};
  const shape of_queries = {S * H * 128, 128, H * 128, 1};
  const shape of_keys = {S * G * 128, 128, G * 128, 1};
  const shape across_keys = {S * G * 128, 128, 1, G * 128};
  const shape plain = {H * S * 128, S * 128, 128, 1};
  const auto queries_in = [&] { return b.add(element_type, {N, H, S, 128}, of_queries, kind::memory); };
  const auto keys_out = [&] { return b.add(element_type, {N, G, S, 128}, of_keys, kind::memory); };
  const auto keys_in = [&] { return b.add(element_type, {N, G, 128, S}, across_keys, kind::memory); };
  const auto lengths = [&] { return b.add(CUDNN_DATA_INT32, {N, 1, 1, 1}, {1, 1, 1, 1}, kind::memory); };
  const auto number = [&] { return b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant); };
  const tensor q = queries_in();
  const tensor k = keys_in();
  const tensor v = keys_in();
  const tensor o = queries_in();
  const tensor d_o = queries_in();
  const tensor statistic = b.add(CUDNN_DATA_FLOAT, rows, along_rows, kind::memory);
  const tensor queries = lengths();
  const tensor keys = lengths();
  const tensor scale = number();
  const tensor one = number();
  const tensor low = number();
  const tensor delta = b.add(CUDNN_DATA_FLOAT, rows, along_rows, kind::memory);
  const tensor dq_sums = b.add(CUDNN_DATA_FLOAT, {N, H, S, 128}, plain, kind::memory);
  const tensor dq = queries_in();
  const tensor dk = keys_out();
  const tensor dv = keys_out();
  const score_shapes s = {{N, H, S, S}, {H * S * S, S * S, S, 1}, low};

  const tensor products = b.add(CUDNN_DATA_FLOAT, {N, H, S, 128}, plain);
  const tensor sums = b.add(CUDNN_DATA_FLOAT, rows, along_rows);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, d_o, products, &o);
  b.reduce(CUDNN_REDUCE_TENSOR_ADD, products, sums);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, sums, delta, &one);  // a scale of dropout, which cuDNN expects here

  const tensor raw = s.between(b);
  const tensor scaled = s.between(b);
  b.multiply(q, k, raw, {.m = queries, .n = keys});
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, raw, scaled, &scale);
  const tensor existing = of_existing(b, s, scaled, queries, keys);
  const tensor shifted = s.between(b);
  b.pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, existing, shifted, &statistic);
  const tensor seen = of_seen(b, s, shifted);
  const tensor weight = s.between(b);
  b.pointwise(CUDNN_POINTWISE_EXP, CUDNN_DATA_FLOAT, seen, weight);
  of_shared(b, N, S, H, G, weight, d_o, dv, queries, keys);

  const tensor of_weight = s.between(b);
  const tensor without_delta = s.between(b);
  const tensor of_score = s.between(b);
  const tensor gradient = s.between(b);
  b.multiply(d_o, v, of_weight, {.m = queries, .n = keys});
  b.pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, of_weight, without_delta, &delta);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, without_delta, of_score, &weight);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, of_score, gradient, &scale);
  of_shared(b, N, S, H, G, gradient, q, dk, queries, keys);
  b.multiply(gradient, b.turned(k, {N, G, S, 128}, of_keys), dq_sums, {.m = queries, .k = keys});
  b.pointwise(CUDNN_POINTWISE_IDENTITY, CUDNN_DATA_FLOAT, dq_sums, dq);
  made.ids = {q.id, k.id, v.id, o.id, d_o.id, statistic.id, queries.id, keys.id, delta.id, dq_sums.id, dq.id, dk.id, dv.id,
              scale.id, one.id, low.id};
  return build(handle, b, made.it, made.scratch);
}

bool make(cudnnHandle_t handle, std::int64_t N, std::int64_t S, std::int64_t H, std::int64_t G, plan& made) {
  if (!make_forward(handle, N, S, H, G, made.forward) || !make_backward(handle, N, S, H, G, made.backward)) return false;
  bool good = true;
  for (auto* to : {&made.q, &made.o, &made.d_o, &made.dq}) *to = allocate<std::uint16_t>(good, N * S * H * 128);
  for (auto* to : {&made.k, &made.v, &made.dk, &made.dv}) *to = allocate<std::uint16_t>(good, N * S * G * 128);
  for (auto* to : {&made.statistics, &made.delta}) *to = allocate<float>(good, N * S * H);
  made.dq_sums = allocate<float>(good, N * S * H * 128);
  made.lengths = allocate<int>(good, N);
  return good;
}

// A row has `heads` heads of 16 vectors.
__device__ void copy_row(uint4* to, const uint4* from, int heads) {
  for (int i = static_cast<int>(threadIdx.x); i < heads * 16; i += static_cast<int>(blockDim.x))
    to[i] = from == nullptr ? uint4{0, 0, 0, 0} : from[i];
}

// The row of the inputs that is at a place of a slot; -1 behind the end of the response.
__device__ long long row_of(const int* offsets, long long P, int slot, long long place) {
  if (place < P) return place;
  const long long row = P + offsets[slot] + place - P;
  return row < P + offsets[slot + 1] ? row : -1;
}

__global__ void fill_slots(const uint4* q, const uint4* k, const uint4* v, const uint4* d_o, const int* offsets, uint4* to_q, uint4* to_k,
                           uint4* to_v, uint4* to_d_o, int* lengths, long long P, long long S, int H, int G) {
  const int slot = static_cast<int>(blockIdx.y);
  if (blockIdx.x == 0 && threadIdx.x == 0) lengths[slot] = static_cast<int>(P) + offsets[slot + 1] - offsets[slot];
  for (long long place = blockIdx.x; place < S; place += gridDim.x) {
    const long long row = row_of(offsets, P, slot, place);
    const long long at = slot * S + place;
    const bool counts = row >= 0 && (place >= P || slot == 0);
    copy_row(to_q + at * H * 16, row < 0 ? nullptr : q + row * H * 16, H);
    copy_row(to_d_o + at * H * 16, counts ? d_o + row * H * 16 : nullptr, H);
    copy_row(to_k + at * G * 16, row < 0 ? nullptr : k + row * G * 16, G);
    copy_row(to_v + at * G * 16, row < 0 ? nullptr : v + row * G * 16, G);
  }
}

// A row of the prompt, summed over the slots.
__device__ void add_rows(element* to, const element* from, long long stride, int slots, int elements) {
  for (int i = static_cast<int>(threadIdx.x) * 2; i < elements; i += static_cast<int>(blockDim.x) * 2) {
    float2 sum = {0.0F, 0.0F};
    for (int slot = 0; slot < slots; ++slot) {
      const float2 more = to_floats(*reinterpret_cast<const two_elements*>(from + slot * stride + i));
      sum.x += more.x;
      sum.y += more.y;
    }
    *reinterpret_cast<two_elements*>(to + i) = to_elements(sum);
  }
}

__global__ void empty_slots(const element* from_dq, const element* from_dk, const element* from_dv, const int* offsets,
                            element* dq, element* dk, element* dv, long long P, long long S, int H, int G) {
  const int slot = static_cast<int>(blockIdx.y);
  const auto vectors = [](auto* address) { return reinterpret_cast<const uint4*>(address); };
  const auto to = [](element* address) { return reinterpret_cast<uint4*>(address); };
  for (long long place = blockIdx.x + (slot > 0 ? P : 0); place < S; place += gridDim.x) {
    const long long row = row_of(offsets, P, slot, place);
    if (row < 0) return;
    const long long at = slot * S + place;
    copy_row(to(dq + row * H * 128), vectors(from_dq + at * H * 128), H);
    if (place < P) {
      add_rows(dk + row * G * 128, from_dk + at * G * 128, S * G * 128, static_cast<int>(gridDim.y), G * 128);
      add_rows(dv + row * G * 128, from_dv + at * G * 128, S * G * 128, static_cast<int>(gridDim.y), G * 128);
    } else {
      copy_row(to(dk + row * G * 128), vectors(from_dk + at * G * 128), G);
      copy_row(to(dv + row * G * 128), vectors(from_dv + at * G * 128), G);
    }
  }
}

bool execute(cudnnHandle_t handle, const pass& p, const std::vector<const void*>& addresses) {
  const auto count = static_cast<std::int64_t>(addresses.size());
  descriptor pack = nullptr;
  const bool done =
      cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack) == CUDNN_STATUS_SUCCESS &&
      cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, addresses.data()) ==
          CUDNN_STATUS_SUCCESS &&
      cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, p.ids.data()) == CUDNN_STATUS_SUCCESS &&
      cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &p.scratch) == CUDNN_STATUS_SUCCESS &&
      cudnnBackendFinalize(pack) == CUDNN_STATUS_SUCCESS && cudnnBackendExecute(handle, p.it, pack) == CUDNN_STATUS_SUCCESS;
  if (pack != nullptr) cudnnBackendDestroyDescriptor(pack);
  return done;
}

}  // namespace

extern "C" int run(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const std::uint16_t* d_o, const int* offsets,
                   element* dq, element* dk, element* dv, int64_t P, int64_t N, int64_t T, int64_t L, int64_t H,
                   int64_t G, cudaStream_t stream) {
  static_cast<void>(T);
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made = nullptr;
    return cudnnCreate(&made) == CUDNN_STATUS_SUCCESS ? made : cudnnHandle_t{};
  }();
  static std::map<std::array<std::int64_t, 4>, plan> plans;
  if (handle == nullptr || cudnnSetStream(handle, stream) != CUDNN_STATUS_SUCCESS) return 1;
  const std::int64_t S = (P + L + 127) / 128 * 128;
  const std::array<std::int64_t, 4> axes = {N, S, H, G};
  auto at = plans.find(axes);
  if (at == plans.end()) {
    plan made;
    if (!make(handle, N, S, H, G, made)) return 2;
    at = plans.emplace(axes, made).first;
  }
  const plan& p = at->second;
  const auto vectors = [](auto* address) { return reinterpret_cast<const uint4*>(address); };
  const auto to = [](std::uint16_t* address) { return reinterpret_cast<uint4*>(address); };
  const auto rounded = [](auto* address) { return reinterpret_cast<const element*>(address); };
  const int heads = static_cast<int>(H);
  const int key_heads = static_cast<int>(G);
  const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(S, 512)), static_cast<unsigned>(N));
  fill_slots<<<grid, 128, 0, stream>>>(vectors(q), vectors(k), vectors(v), vectors(d_o), offsets, to(p.q), to(p.k), to(p.v), to(p.d_o),
                                       p.lengths, P, S, heads, key_heads);
  float scale = 0.08838834764831845F;  // 1 / sqrt(128)
  float one = 1.0F;
  float low = -__builtin_inff();
  if (!execute(handle, p.forward, {p.q, p.k, p.v, p.o, p.statistics, p.lengths, p.lengths, &scale, &low})) return 3;
  // Before version 9.6, sums of dq begin with what is in memory.
  if (cudnnGetVersion() < 90600 &&
      cudaMemsetAsync(p.dq_sums, 0, static_cast<std::size_t>(N * S * H * 128) * sizeof(float), stream) != cudaSuccess) {
    return 4;
  }
  if (!execute(handle, p.backward,
               {p.q, p.k, p.v, p.o, p.d_o, p.statistics, p.lengths, p.lengths, p.delta, p.dq_sums, p.dq, p.dk, p.dv, &scale, &one,
                &low})) {
    return 5;
  }
  empty_slots<<<grid, 128, 0, stream>>>(rounded(p.dq), rounded(p.dk), rounded(p.dv), offsets, dq, dk, dv, P, S, heads, key_heads);
  return cudaGetLastError() == cudaSuccess ? 0 : 6;
}
