// cuDNN's fused attention, as a graph of its backend: scores, scale, causal mask, softmax, sums. A hosted launch; plans are kept from
// call to call.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace {

using descriptor = cudnnBackendDescriptor_t;
using shape = std::array<std::int64_t, 4>;

struct tensor {
  descriptor it = nullptr;
  std::int64_t id = 0;
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
  void multiply(tensor a, tensor b, tensor c) {
    const descriptor how = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    finish(how);
    const descriptor one = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, a.it);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, b.it);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, c.it);
    set(one, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, how);
    operation(one);
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

struct plan {
  descriptor it = nullptr;
  void* scratch = nullptr;
  std::array<std::int64_t, 6> ids = {};  ///< q, k, v, o, scale, minus infinity
};

bool make(cudnnHandle_t handle, std::int64_t B, std::int64_t H, std::int64_t G, std::int64_t S, bool causal, plan& made) {
  builder b{handle};
  using kind = builder::kind;
  const shape scores = {B, H, S, S};
  const shape along = {H * S * S, S * S, S, 1};
  const auto between = [&](cudnnDataType_t type = CUDNN_DATA_FLOAT) { return b.add(type, scores, along); };
  const auto of_rows = [&] { return b.add(CUDNN_DATA_FLOAT, {B, H, S, 1}, {H * S, S, 1, 1}); };
  const tensor q = b.add(CUDNN_DATA_BFLOAT16, {B, H, S, 128}, {H * S * 128, S * 128, 128, 1}, kind::memory);
  const tensor k = b.add(CUDNN_DATA_BFLOAT16, {B, G, 128, S}, {G * S * 128, S * 128, 1, 128}, kind::memory);
  const tensor v = b.add(CUDNN_DATA_BFLOAT16, {B, G, S, 128}, {G * S * 128, S * 128, 128, 1}, kind::memory);
  const tensor o = b.add(CUDNN_DATA_BFLOAT16, {B, H, S, 128}, {H * S * 128, S * 128, 128, 1}, kind::memory);
  const tensor scale = b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant);
  const tensor low = b.add(CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, kind::constant);
  const tensor raw = between();
  tensor score = between();
  b.multiply(q, k, raw);
  b.pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, raw, score, &scale);
  if (causal) {
    const tensor row = between(CUDNN_DATA_INT32);
    const tensor column = between(CUDNN_DATA_INT32);
    const tensor seen = between(CUDNN_DATA_BOOLEAN);
    const tensor masked = between();
    b.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, score, row, nullptr, nullptr, 2);
    b.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, score, column, nullptr, nullptr, 3);
    b.pointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, row, seen, &column);
    b.pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, score, masked, &low, &seen);
    score = masked;
  }
  const tensor largest = of_rows();
  const tensor total = of_rows();
  const tensor shifted = between();
  const tensor weight = between();
  const tensor p = between(CUDNN_DATA_BFLOAT16);
  b.reduce(CUDNN_REDUCE_TENSOR_MAX, score, largest);
  b.pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, score, shifted, &largest);
  b.pointwise(CUDNN_POINTWISE_EXP, CUDNN_DATA_FLOAT, shifted, weight);
  b.reduce(CUDNN_REDUCE_TENSOR_ADD, weight, total);
  // The logarithms of the sums, which nothing reads. cuDNN 9.19 finds no engine for a graph without them: it then takes
  // the division for a part of dropout, and says so in its log (CUDNN_LOGWARN_DBG=1).
  const tensor logarithm = of_rows();
  const tensor statistic = of_rows();
  b.pointwise(CUDNN_POINTWISE_LOG, CUDNN_DATA_FLOAT, total, logarithm);
  b.pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, largest, statistic, &logarithm);
  b.pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, weight, p, &total);
  b.multiply(p, v, o);

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
  for (std::int64_t i = 0; i < found && i < 8; ++i) {  // the first one that can be built
    b.good = true;
    made.it = b.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    b.set(made.it, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    b.set(made.it, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, choices.at(static_cast<std::size_t>(i)));
    b.finish(made.it);
    std::int64_t bytes = 0;
    std::int64_t count = 0;
    if (!b.good || cudnnBackendGetAttribute(made.it, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes) !=
                       CUDNN_STATUS_SUCCESS) {
      continue;
    }
    if (bytes > 0 && cudaMalloc(&made.scratch, static_cast<std::size_t>(bytes)) != cudaSuccess) continue;
    made.ids = {q.id, k.id, v.id, o.id, scale.id, low.id};
    return true;
  }
  return false;
}

}  // namespace

extern "C" int run(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, std::uint16_t* o, int64_t B, int64_t H,
                   int64_t G, int64_t S, int64_t mask, cudaStream_t stream) {
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made = nullptr;
    return cudnnCreate(&made) == CUDNN_STATUS_SUCCESS ? made : cudnnHandle_t{};
  }();
  static std::map<std::array<std::int64_t, 5>, plan> plans;
  if (handle == nullptr || cudnnSetStream(handle, stream) != CUDNN_STATUS_SUCCESS) return 1;
  const std::array<std::int64_t, 5> axes = {B, H, G, S, mask};
  auto at = plans.find(axes);
  if (at == plans.end()) {
    plan made;
    if (!make(handle, B, H, G, S, mask == 2, made)) return 2;
    at = plans.emplace(axes, made).first;
  }
  const plan& p = at->second;
  float scale = 0.08838834764831845F;  // 1 / sqrt(128)
  float low = -__builtin_inff();
  const std::array<const void*, 6> addresses = {q, k, v, o, &scale, &low};
  const std::int64_t count = mask == 2 ? 6 : 5;
  cudnnBackendDescriptor_t pack = nullptr;
  const bool ready =
      cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack) == CUDNN_STATUS_SUCCESS &&
      cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, addresses.data()) ==
          CUDNN_STATUS_SUCCESS &&
      cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, p.ids.data()) ==
          CUDNN_STATUS_SUCCESS &&
      cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &p.scratch) == CUDNN_STATUS_SUCCESS &&
      cudnnBackendFinalize(pack) == CUDNN_STATUS_SUCCESS;
  const int failed = ready && cudnnBackendExecute(handle, p.it, pack) == CUDNN_STATUS_SUCCESS ? 0 : 3;
  if (pack != nullptr) cudnnBackendDestroyDescriptor(pack);
  return failed;
}
