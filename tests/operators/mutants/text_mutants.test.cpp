#include "operators/mutants/text_mutants.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "src/task/task_loader.hpp"

namespace {

// "line: before -> after", sorted.
std::vector<std::string> text_changes(const std::string& text, std::string_view language,
                                      std::string_view kind) {
  std::vector<std::string> result;
  for (const auto& one : kevo::mutants::text_mutants_of(text, language)) {
    if (one.kind == kind) result.push_back(std::to_string(one.line) + ": " + one.before + " -> " + one.after);
  }
  std::sort(result.begin(), result.end());
  return result;
}

using changes = std::vector<std::string>;

constexpr const char* kernel_in_cuda = R"(#include <cstdint>
template <int N>  // if (this < that) is a comment
__global__ void add_up(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < n) atomicAdd(y + (i & 1), x[i] * rsqrtf(x[i] * x[i] + 1e-6f));
  __syncthreads();
}
)";

constexpr const char* kernel_in_triton = R"(import triton.language as tl

def kernel(x, y, n, B: tl.constexpr):  # tl.program_id(0) is here a comment
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=-float("inf"))
    tl.debug_barrier()
    tl.atomic_add(y + tl.where(i < 3, 0, 1), v,
                  mask=i < n)
    tl.store(y + 2, tl.sum(v, 0) / (n + eps), mask=n > 0)
)";

}  // namespace

TEST_CASE("of CUDA: barriers, atomic operations, guards, small numbers, comparisons and indices") {
  CHECK(text_changes(kernel_in_cuda, "cuda", "synchronization") ==
        changes{"5: atomicAdd(y + (i & 1), x[i] * rsqrtf(x[i] * x[i] + 1e-6f)) -> (*(y + (i & 1)) += (x[i] * "
                "rsqrtf(x[i] * x[i] + 1e-6f)))",
                "6: __syncthreads() -> ((void)0)"});
  CHECK(text_changes(kernel_in_cuda, "cuda", "guard") == changes{"5: if (i < n) -> if (true)"});
  CHECK(text_changes(kernel_in_cuda, "cuda", "epsilon") == changes{"5: + 1e-6f -> "});
  CHECK(text_changes(kernel_in_cuda, "cuda", "comparison") == changes{"5: < -> <="});
  CHECK(text_changes(kernel_in_cuda, "cuda", "index") ==
        changes{"4: i = blockIdx.x * int64_t{256} + threadIdx.x; -> i = ((blockIdx.x * int64_t{256} + "
                "threadIdx.x) & 0xff);",
                "4: i = blockIdx.x * int64_t{256} + threadIdx.x; -> i = ((blockIdx.x * int64_t{256} + "
                "threadIdx.x) & 0xffff);"});
  const auto all = kevo::mutants::text_mutants_of(kernel_in_cuda, "cuda");
  for (const auto& one : all) CHECK(one.text != kernel_in_cuda);
  CHECK(all.size() == 7);
}

TEST_CASE("of Triton: barriers, atomic operations, masks, small numbers and indices") {
  CHECK(
      text_changes(kernel_in_triton, "triton", "synchronization") ==
      changes{"6: tl.debug_barrier() -> None",
              "7: tl.atomic_add(y + tl.where(i < 3, 0, 1), v,\n                  mask=i < n) -> tl.store(y + "
              "tl.where(i < 3, 0, 1), tl.load(y + tl.where(i < 3, 0, 1), mask=i < n) + (v), mask=i < n)"});
  CHECK(
      text_changes(kernel_in_triton, "triton", "guard") ==
      changes{"5: other=-float(\"inf\") -> other=0.0",
              "5: tl.load(x + i, mask=i < n, other=-float(\"inf\")) -> tl.load(x + i)",
              "7: tl.where(i < 3, 0, 1) -> (0)",
              "9: tl.store(y + 2, tl.sum(v, 0) / (n + eps), mask=n > 0) -> tl.store(y + 2, tl.sum(v, 0) / (n "
              "+ eps))"});
  CHECK(text_changes(kernel_in_triton, "triton", "epsilon") == changes{"9: + eps -> "});
  CHECK(text_changes(kernel_in_triton, "triton", "index") ==
        changes{"4: tl.program_id(0) -> (tl.program_id(0) & 255)"});
}

TEST_CASE("what the parser reads has no rules on text, and unfinished text has no calls") {
  CHECK(kevo::mutants::text_mutants_of("if (a < b) c();", "cpp").empty());
  CHECK_FALSE(kevo::mutants::has_text_rules("cpp"));
  CHECK(kevo::mutants::text_mutants_of("__syncthreads(", "cuda").empty());
  CHECK(kevo::mutants::text_mutants_of("", "python").empty());
}

TEST_CASE("each shipped seed in CUDA, Triton or Python has mutants") {
  for (const char* name : {"cuda_softmax", "cuda_reduce", "cuda_sgemm", "triton_softmax", "triton_attention",
                           "torch_kernelbench"}) {
    const auto t = kevo::load_task(std::string(KEVO_SOURCE_DIR) + "/configs/tasks/" + name + "/task.yaml");
    for (const auto& seed : t.seeds) {
      CAPTURE(name);
      CAPTURE(seed.files.front().path);
      CHECK(kevo::mutants::has_text_rules(seed.language));
      CHECK(kevo::mutants::text_mutants_of(seed.text(), seed.language).size() > 2);
    }
  }
}
