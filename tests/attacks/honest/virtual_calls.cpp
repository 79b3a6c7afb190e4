// task: matmul
// verdict: valid
// because: Dispatches by virtual functions and function pointers.
#include <cstdint>
#include <memory>

namespace {

struct kernel {
  virtual ~kernel() = default;
  virtual float dot(const float* a, const float* b, int64_t step, int64_t count) const = 0;
};
struct forwards : kernel {
  float dot(const float* a, const float* b, int64_t step, int64_t count) const override {
    float sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += a[k] * b[k * step];
    return sum;
  }
};
struct in_pairs : kernel {
  float dot(const float* a, const float* b, int64_t step, int64_t count) const override {
    float even = 0;
    float odd = 0;
    for (int64_t k = 0; k + 1 < count; k += 2) {
      even += a[k] * b[k * step];
      odd += a[k + 1] * b[(k + 1) * step];
    }
    return even + odd + (count % 2 != 0 ? a[count - 1] * b[(count - 1) * step] : 0.0F);
  }
};
using maker = std::unique_ptr<kernel> (*)();
const maker makers[] = {[]() -> std::unique_ptr<kernel> { return std::make_unique<forwards>(); },
                        []() -> std::unique_ptr<kernel> { return std::make_unique<in_pairs>(); }};

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  const auto chosen = makers[M % 2]();
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) C[i * N + j] = chosen->dot(A + i * K, B + j, N, K);
  }
}
