// Split and merge with cuDNN, and its gradients: what a library without shared prompts can do instead of copying the prompt. A hosted
// launch. The prompt attends to itself, all rows of responses together attend to the prompt, as one long sequence without a mask, and each
// response attends to itself; both results of a response are merged by the logarithms of their sums. The backward pass of each of these
// products gets the merged result and logarithm, so that its weights are those of the whole and its gradients are parts of the gradients
// looked for: dq of a response, and dk and dv of the prompt, are sums of two parts, added in float32. Own rows of responses are copied into
// slots of L positions, of which cuDNN reads the true lengths on the device. All of it is part of the time. Plans and memory are kept from
// call to call.
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

/// What a product gives.
struct results {
  std::int64_t rows = 0;        ///< of a sequence
  std::uint16_t* o = nullptr;   ///< [N, rows, H, 128]; of responses: merged
  float* statistics = nullptr;  ///< [N, H, rows], logarithms of this product's sums
  float* logarithms = nullptr;  ///< [N, H, rows], of the sums over all keys that a row sees; the prompt's are its `statistics`
  float* delta = nullptr;       ///< [N, H, rows], sums of o d_o
  float* dq_sums = nullptr;     ///< [N, H, rows, 128]
  std::uint16_t* dq = nullptr;  ///< [N, rows, H, 128]
  std::uint16_t* dk = nullptr;  ///< [N, columns, G, 128]
  std::uint16_t* dv = nullptr;
};

/// Attention of N sequences of at most `rows` queries to at most `columns` keys, both multiples of 128, forward and backward.
struct product {
  std::int64_t N = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  pass forward = {};
  pass backward = {};
  results to = {};
};

/// Rows of the inputs, as many as a product takes; those that do not exist are 0.
struct copies {
  std::uint16_t* q = nullptr;
  std::uint16_t* d_o = nullptr;
  std::uint16_t* k = nullptr;
  std::uint16_t* v = nullptr;
};

struct plan {
  product prompt = {};
  product across = {};  ///< responses to the prompt
  product own = {};     ///< responses to themselves, in slots
  copies of_prompt = {};  ///< null if P is a multiple of 128
  copies of_across = {};  ///< null if T is one; without keys
  copies of_slots = {};
  int* lengths = nullptr;  ///< of the slots, then P and T
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

/// Memory for `count` elements, which are 0; null if there is none, and after an earlier failure.
template <class T>
T* allocate(bool& good, std::int64_t count) {
  void* memory = nullptr;
  const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
  good = good && cudaMalloc(&memory, bytes) == cudaSuccess && cudaMemset(memory, 0, bytes) == cudaSuccess;
  return good ? static_cast<T*>(memory) : nullptr;
}

bool make_forward(cudnnHandle_t handle, std::int64_t H, std::int64_t G, bool causal, product& made) {
  const std::int64_t N = made.N;
  const std::int64_t rows = made.rows;
  const std::int64_t columns = made.columns;
  builder b{handle};
  using kind = builder::kind;
  const shape of_row = {N, H, rows, 1};
  const shape along_rows = {H * rows, rows, 1, 1};
  const shape of_queries = {rows * H * 128, 128, H * 128, 1};
  const auto of_rows = [&] { return b.add(CUDNN_DATA_FLOAT, of_row, along_rows); };
  const tensor q = b.add(element_type, {N, H, rows, 128}, of_queries, kind::memory);
  const tensor k = b.add(element_type, {N, G, 128, columns}, {columns * G * 128, 128, 1, G * 128}, kind::memory);
  const tensor v = b.add(element_type, {N, G, columns, 128}, {columns * G * 128, 128, G * 128, 1}, kind::memory);
  const tensor o = b.add(element_type, {N, H, rows, 128}, of_queries, kind::memory);
  const tensor statistic = b.add(CUDNN_DATA_FLOAT, of_row, along_rows, kind::memory);
  const tensor queries = b.add(CUDNN_DATA_INT32, {N, 1, 1, 1}, {1, 1, 1, 1}, kind::memory);
  const tensor keys = b.add(CUDNN_DATA_INT32, {N, 1, 1, 1}, {1, 1, 1, 1}, kind::memory);
  const tensor scale = b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant);
  const tensor low = b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant);
  const score_shapes s = {{N, H, rows, columns}, {H * rows * columns, rows * columns, columns, 1}, low};
  const auto between = [&](cudnnDataType_t type = CUDNN_DATA_FLOAT) { return s.between(b, type); };
  const tensor raw = between();
  const tensor scaled = between();
  b.multiply(q, k, raw, {.m = queries, .n = keys}, true);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, raw, scaled, &scale);
  const tensor existing = of_existing(b, s, scaled, queries, keys);
  const tensor score = causal ? of_seen(b, s, existing) : existing;
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
  made.forward.ids = {q.id, k.id, v.id, o.id, statistic.id, queries.id, keys.id, scale.id, low.id};
  return build(handle, b, made.forward.it, made.forward.scratch);
}

/// Gradients of keys or values, which H / G heads share: left^T right, summed over these heads.
void of_shared(builder& b, const product& of, std::int64_t H, std::int64_t G, tensor left, tensor right, tensor to, tensor queries,
               tensor keys) {
  const std::int64_t N = of.N;
  const std::int64_t rows = of.rows;
  const std::int64_t columns = of.columns;
  const tensor turned = b.turned(left, {N, H, columns, rows}, {H * rows * columns, rows * columns, 1, columns});
  if (H == G) {
    b.multiply(turned, right, to, {.m = keys, .k = queries});
    return;
  }
  const tensor of_heads = b.add(element_type, {N, H, columns, 128}, {H * columns * 128, columns * 128, 128, 1});
  b.multiply(turned, right, of_heads, {.m = keys, .k = queries});
  b.reduce(CUDNN_REDUCE_TENSOR_ADD, of_heads, to);
}

bool make_backward(cudnnHandle_t handle, std::int64_t H, std::int64_t G, bool causal, product& made) {
  const std::int64_t N = made.N;
  const std::int64_t rows = made.rows;
  const std::int64_t columns = made.columns;
  builder b{handle};
  using kind = builder::kind;
  const shape of_row = {N, H, rows, 1};
  const shape along_rows = {H * rows, rows, 1, 1};
  const shape queries_shape = {N, H, rows, 128};
  const shape of_queries = {rows * H * 128, 128, H * 128, 1};
  const shape keys_shape = {N, G, columns, 128};
  const shape of_keys = {columns * G * 128, 128, G * 128, 1};
  const shape across_keys = {columns * G * 128, 128, 1, G * 128};
  const shape plain = {H * rows * 128, rows * 128, 128, 1};
  const auto queries_in = [&] { return b.add(element_type, queries_shape, of_queries, kind::memory); };
  const auto keys_out = [&] { return b.add(element_type, keys_shape, of_keys, kind::memory); };
  const auto keys_in = [&] { return b.add(element_type, {N, G, 128, columns}, across_keys, kind::memory); };
  const auto lengths = [&] { return b.add(CUDNN_DATA_INT32, {N, 1, 1, 1}, {1, 1, 1, 1}, kind::memory); };
  const auto number = [&] { return b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant); };
  const tensor q = queries_in();
  const tensor k = keys_in();
  const tensor v = keys_in();
  const tensor o = queries_in();
  const tensor d_o = queries_in();
  const tensor statistic = b.add(CUDNN_DATA_FLOAT, of_row, along_rows, kind::memory);
  const tensor queries = lengths();
  const tensor keys = lengths();
  const tensor scale = number();
  const tensor one = number();
  const tensor low = number();
  const tensor delta = b.add(CUDNN_DATA_FLOAT, of_row, along_rows, kind::memory);
  const tensor dq_sums = b.add(CUDNN_DATA_FLOAT, queries_shape, plain, kind::memory);
  const tensor dq = queries_in();
  const tensor dk = keys_out();
  const tensor dv = keys_out();
  const score_shapes s = {{N, H, rows, columns}, {H * rows * columns, rows * columns, columns, 1}, low};

  const tensor products = b.add(CUDNN_DATA_FLOAT, queries_shape, plain);
  const tensor sums = b.add(CUDNN_DATA_FLOAT, of_row, along_rows);
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
  const tensor seen = causal ? of_seen(b, s, shifted) : shifted;
  const tensor weight = s.between(b);
  b.pointwise(CUDNN_POINTWISE_EXP, CUDNN_DATA_FLOAT, seen, weight);
  of_shared(b, made, H, G, weight, d_o, dv, queries, keys);

  const tensor of_weight = s.between(b);
  const tensor without_delta = s.between(b);
  const tensor of_score = s.between(b);
  const tensor gradient = s.between(b);
  b.multiply(d_o, v, of_weight, {.m = queries, .n = keys});
  b.pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, of_weight, without_delta, &delta);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, without_delta, of_score, &weight);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, of_score, gradient, &scale);
  of_shared(b, made, H, G, gradient, q, dk, queries, keys);
  b.multiply(gradient, b.turned(k, keys_shape, of_keys), dq_sums, {.m = queries, .k = keys});
  b.pointwise(CUDNN_POINTWISE_IDENTITY, CUDNN_DATA_FLOAT, dq_sums, dq);
  made.backward.ids = {q.id,     k.id,       v.id,  o.id,  d_o.id, statistic.id, queries.id, keys.id,
                       delta.id, dq_sums.id, dq.id, dk.id, dv.id,  scale.id,     one.id,     low.id};
  return build(handle, b, made.backward.it, made.backward.scratch);
}

bool make(cudnnHandle_t handle, std::int64_t H, std::int64_t G, bool causal, product& made) {
  if (!make_forward(handle, H, G, causal, made) || !make_backward(handle, H, G, causal, made)) return false;
  const std::int64_t rows = made.N * made.rows * H;
  const std::int64_t columns = made.N * made.columns * G;
  results& to = made.to;
  bool good = true;
  to.rows = made.rows;
  for (auto* one : {&to.o, &to.dq}) *one = allocate<std::uint16_t>(good, rows * 128);
  for (auto* one : {&to.dk, &to.dv}) *one = allocate<std::uint16_t>(good, columns * 128);
  for (auto* one : {&to.statistics, &to.logarithms, &to.delta}) *one = allocate<float>(good, rows);
  to.dq_sums = allocate<float>(good, rows * 128);
  return good;
}

std::int64_t rounded_up(std::int64_t rows) { return (rows + 127) / 128 * 128; }

bool make(cudnnHandle_t handle, std::int64_t P, std::int64_t N, std::int64_t T, std::int64_t L, std::int64_t H, std::int64_t G,
          plan& made) {
  made.prompt = {1, rounded_up(P), rounded_up(P)};
  made.across = {1, rounded_up(T), rounded_up(P)};
  made.own = {N, rounded_up(L), rounded_up(L)};
  if (!make(handle, H, G, true, made.prompt) || !make(handle, H, G, false, made.across) || !make(handle, H, G, true, made.own))
    return false;
  bool good = true;
  const auto allocate_queries = [&](copies& to, std::int64_t rows) {
    to.q = allocate<std::uint16_t>(good, rows * H * 128);
    to.d_o = allocate<std::uint16_t>(good, rows * H * 128);
  };
  const auto allocate_keys = [&](copies& to, std::int64_t rows) {
    to.k = allocate<std::uint16_t>(good, rows * G * 128);
    to.v = allocate<std::uint16_t>(good, rows * G * 128);
  };
  if (P % 128 != 0) {
    allocate_queries(made.of_prompt, made.prompt.rows);
    allocate_keys(made.of_prompt, made.prompt.rows);
  }
  if (T % 128 != 0) allocate_queries(made.of_across, made.across.rows);
  allocate_queries(made.of_slots, N * made.own.rows);
  allocate_keys(made.of_slots, N * made.own.rows);
  made.lengths = allocate<int>(good, N + 2);
  return good;
}

// A row has `heads` heads of 16 vectors.
__device__ void copy_row(std::uint16_t* to, const std::uint16_t* from, int heads) {
  const auto* vectors = reinterpret_cast<const uint4*>(from);
  for (int i = static_cast<int>(threadIdx.x); i < heads * 16; i += static_cast<int>(blockDim.x))
    reinterpret_cast<uint4*>(to)[i] = from == nullptr ? uint4{0, 0, 0, 0} : vectors[i];
}

// The row of the responses that is at a place of a slot; -1 behind the end of the response.
__device__ long long row_of(const int* offsets, int slot, long long place) {
  const long long row = offsets[slot] + place;
  return row < offsets[slot + 1] ? row : -1;
}

// An empty response has a row that is 0 and whose result nobody reads, so that no length is 0.
__global__ void fill_slots(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const std::uint16_t* d_o,
                           const int* offsets, copies to, int* lengths, int P, int T, int N, long long S, int H, int G) {
  const int slot = static_cast<int>(blockIdx.y);
  if (blockIdx.x == 0 && threadIdx.x == 0) lengths[slot] = max(offsets[slot + 1] - offsets[slot], 1);
  if (blockIdx.x == 0 && slot == 0 && threadIdx.x == 1) lengths[N] = P;
  if (blockIdx.x == 0 && slot == 0 && threadIdx.x == 2) lengths[N + 1] = T;
  for (long long place = blockIdx.x; place < S; place += gridDim.x) {
    const long long row = row_of(offsets, slot, place);
    const long long of_queries = (P + row) * H * 128;
    const long long of_keys = (P + row) * G * 128;
    const long long at = slot * S + place;
    copy_row(to.q + at * H * 128, row < 0 ? nullptr : q + of_queries, H);
    copy_row(to.d_o + at * H * 128, row < 0 ? nullptr : d_o + of_queries, H);
    copy_row(to.k + at * G * 128, row < 0 ? nullptr : k + of_keys, G);
    copy_row(to.v + at * G * 128, row < 0 ? nullptr : v + of_keys, G);
  }
}

// The places behind these rows stay 0.
__global__ void copy_rows(const std::uint16_t* from, std::uint16_t* to, long long rows, int heads) {
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) copy_row(to + row * heads * 128, from + row * heads * 128, heads);
}

// The sum of two numbers of each vector, with weights; rounds to nearest.
__device__ uint4 sum_of(uint4 a, uint4 b, float of_a, float of_b) {
  auto* x = reinterpret_cast<two_elements*>(&a);
  const auto* y = reinterpret_cast<const two_elements*>(&b);
  for (int i = 0; i < 4; ++i) {
    const float2 left = to_floats(x[i]);
    const float2 right = to_floats(y[i]);
    x[i] = to_elements({left.x * of_a + right.x * of_b, left.y * of_a + right.y * of_b});
  }
  return a;
}

// The results of a response for the prompt's keys and for its own, each of which becomes the result for all.
__global__ void merge(results across, results own, const int* offsets, int H) {
  const int slot = static_cast<int>(blockIdx.y);
  for (long long place = blockIdx.x; place < own.rows; place += gridDim.x) {
    const long long row = row_of(offsets, slot, place);
    if (row < 0) return;
    for (int i = static_cast<int>(threadIdx.x); i < H * 16; i += static_cast<int>(blockDim.x)) {
      const long long h = i / 16;
      const long long of_across = h * across.rows + row;
      const long long of_own = (slot * static_cast<long long>(H) + h) * own.rows + place;
      const float a = across.statistics[of_across];
      const float b = own.statistics[of_own];
      const float most = fmaxf(a, b);
      const float total = most + logf(expf(a - most) + expf(b - most));
      auto* x = reinterpret_cast<uint4*>(across.o) + row * H * 16 + i;
      auto* y = reinterpret_cast<uint4*>(own.o) + (slot * own.rows + place) * H * 16 + i;
      const uint4 merged = sum_of(*x, *y, expf(a - total), expf(b - total));
      *x = merged;
      *y = merged;
      if (i % 16 == 0) {
        across.logarithms[of_across] = total;
        own.logarithms[of_own] = total;
      }
    }
  }
}

__device__ void add_rows(element* to, const std::uint16_t* a, const std::uint16_t* b, int heads) {
  const auto* x = reinterpret_cast<const uint4*>(a);
  const auto* y = reinterpret_cast<const uint4*>(b);
  for (int i = static_cast<int>(threadIdx.x); i < heads * 16; i += static_cast<int>(blockDim.x))
    reinterpret_cast<uint4*>(to)[i] = sum_of(x[i], y[i], 1.0F, 1.0F);
}

// A row of the grid of blocks for each slot, and one for the prompt.
__global__ void add_parts(results prompt, results across, results own, const int* offsets, element* dq, element* dk, element* dv,
                          long long P, int N, int H, int G) {
  const int slot = static_cast<int>(blockIdx.y);
  if (slot == N) {
    for (long long row = blockIdx.x; row < P; row += gridDim.x) {
      copy_row(reinterpret_cast<std::uint16_t*>(dq) + row * H * 128, prompt.dq + row * H * 128, H);
      add_rows(dk + row * G * 128, prompt.dk + row * G * 128, across.dk + row * G * 128, G);
      add_rows(dv + row * G * 128, prompt.dv + row * G * 128, across.dv + row * G * 128, G);
    }
    return;
  }
  for (long long place = blockIdx.x; place < own.rows; place += gridDim.x) {
    const long long row = row_of(offsets, slot, place);
    if (row < 0) return;
    const long long at = slot * own.rows + place;
    add_rows(dq + (P + row) * H * 128, across.dq + row * H * 128, own.dq + at * H * 128, H);
    copy_row(reinterpret_cast<std::uint16_t*>(dk) + (P + row) * G * 128, own.dk + at * G * 128, G);
    copy_row(reinterpret_cast<std::uint16_t*>(dv) + (P + row) * G * 128, own.dv + at * G * 128, G);
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

bool execute_forward(cudnnHandle_t handle, const product& of, const copies& from, const int* queries, const int* keys) {
  float scale = 0.08838834764831845F;  // 1 / sqrt(128)
  float low = -__builtin_inff();
  return execute(handle, of.forward, {from.q, from.k, from.v, of.to.o, of.to.statistics, queries, keys, &scale, &low});
}

/// @param logarithms of the sums over all keys that a row sees
bool execute_backward(cudnnHandle_t handle, const product& of, const copies& from, const float* logarithms, const int* queries,
                      const int* keys, std::int64_t H, cudaStream_t stream) {
  float scale = 0.08838834764831845F;
  float one = 1.0F;
  float low = -__builtin_inff();
  // Before version 9.6, sums of dq begin with what is in memory.
  const auto bytes = static_cast<std::size_t>(of.N * of.rows * H * 128) * sizeof(float);
  if (cudnnGetVersion() < 90600 && cudaMemsetAsync(of.to.dq_sums, 0, bytes, stream) != cudaSuccess) return false;
  return execute(handle, of.backward, {from.q, from.k, from.v, of.to.o, from.d_o, logarithms, queries, keys, of.to.delta, of.to.dq_sums,
                                       of.to.dq, of.to.dk, of.to.dv, &scale, &one, &low});
}

/// The inputs of the prompt's and the responses' products: copies where the number of rows is no multiple of 128.
std::array<copies, 2> inputs_of(const plan& p, const copies& given, std::int64_t P, std::int64_t T, int H, int G, cudaStream_t stream) {
  const auto copied = [&](const std::uint16_t* from, std::uint16_t* to, std::int64_t rows, int heads) {
    copy_rows<<<static_cast<unsigned>(std::min<std::int64_t>(rows, 4096)), 128, 0, stream>>>(from, to, rows, heads);
    return to;
  };
  std::array<copies, 2> made = {given, given};
  made[1].q += P * H * 128;
  made[1].d_o += P * H * 128;
  if (P % 128 != 0) {
    made[0] = {copied(given.q, p.of_prompt.q, P, H), copied(given.d_o, p.of_prompt.d_o, P, H), copied(given.k, p.of_prompt.k, P, G),
               copied(given.v, p.of_prompt.v, P, G)};
  }
  if (T % 128 != 0) {
    made[1].q = copied(made[1].q, p.of_across.q, T, H);
    made[1].d_o = copied(made[1].d_o, p.of_across.d_o, T, H);
  }
  made[1].k = made[0].k;
  made[1].v = made[0].v;
  return made;
}

}  // namespace

extern "C" int run(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, const std::uint16_t* d_o, const int* offsets,
                   element* dq, element* dk, element* dv, int64_t P, int64_t N, int64_t T, int64_t L, int64_t H, int64_t G,
                   cudaStream_t stream) {
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made = nullptr;
    return cudnnCreate(&made) == CUDNN_STATUS_SUCCESS ? made : cudnnHandle_t{};
  }();
  static std::map<std::array<std::int64_t, 6>, plan> plans;
  if (handle == nullptr || cudnnSetStream(handle, stream) != CUDNN_STATUS_SUCCESS) return 1;
  const std::array<std::int64_t, 6> axes = {P, N, T, rounded_up(L), H, G};
  auto at = plans.find(axes);
  if (at == plans.end()) {
    plan made;
    if (!make(handle, P, N, T, L, H, G, made)) return 2;
    at = plans.emplace(axes, made).first;
  }
  const plan& p = at->second;
  const int heads = static_cast<int>(H);
  const int key_heads = static_cast<int>(G);
  const int slots = static_cast<int>(N);
  const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(p.own.rows, 512)), static_cast<unsigned>(N));
  const auto from = [](const std::uint16_t* given) { return const_cast<std::uint16_t*>(given); };  // read only
  const auto [prompt, across] = inputs_of(p, {from(q), from(d_o), from(k), from(v)}, P, T, heads, key_heads, stream);
  fill_slots<<<grid, 128, 0, stream>>>(q, k, v, d_o, offsets, p.of_slots, p.lengths, static_cast<int>(P), static_cast<int>(T), slots,
                                       p.own.rows, heads, key_heads);
  const int* own_lengths = p.lengths;
  const int* prompt_length = p.lengths + N;
  const int* all_lengths = p.lengths + N + 1;
  if (!execute_forward(handle, p.prompt, prompt, prompt_length, prompt_length) ||
      !execute_forward(handle, p.across, across, all_lengths, prompt_length) ||
      !execute_forward(handle, p.own, p.of_slots, own_lengths, own_lengths)) {
    return 3;
  }
  merge<<<grid, 128, 0, stream>>>(p.across.to, p.own.to, offsets, heads);
  if (!execute_backward(handle, p.prompt, prompt, p.prompt.to.statistics, prompt_length, prompt_length, H, stream) ||
      !execute_backward(handle, p.across, across, p.across.to.logarithms, all_lengths, prompt_length, H, stream) ||
      !execute_backward(handle, p.own, p.of_slots, p.own.to.logarithms, own_lengths, own_lengths, H, stream)) {
    return 4;
  }
  add_parts<<<dim3(grid.x, grid.y + 1), 128, 0, stream>>>(p.prompt.to, p.across.to, p.own.to, offsets, dq, dk, dv, P, slots, heads,
                                                          key_heads);
  return cudaGetLastError() == cudaSuccess ? 0 : 5;
}
