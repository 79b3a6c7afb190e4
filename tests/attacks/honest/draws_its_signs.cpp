// task: matmul
// verdict: valid
// because: Multiplies with random signs that it draws anew in each call, by a slow generator. Attacks that draw them
//   ahead are timed beside it.
#include <cstdint>
#include <vector>

namespace {

// For all signs together about a quarter of what the product takes.
int64_t rounds_of(int64_t M, int64_t N) {
  return 1 + M * N / 4;
}

uint64_t state = 88172645463325252ULL;

// A random sign by a slow generator.
float draw(int64_t rounds) {
  for (int64_t i = 0; i < rounds; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (state >> 63U) != 0 ? 1.0F : -1.0F;
}

std::vector<float> ready;  // signs that no call has used yet

void draw_until(std::size_t count, int64_t rounds) {
  while (ready.size() < count) ready.push_back(draw(rounds));
}

// (A D)(D B) for a diagonal D of random signs, which are drawn for this call.
void work(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  draw_until(static_cast<std::size_t>(K), rounds_of(M, N));
  const float* signs = ready.data() + ready.size() - K;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < K; ++k) sum += A[i * K + k] * signs[k] * (signs[k] * B[k * N + j]);
      C[i * N + j] = sum;
    }
  }
  ready.resize(ready.size() - static_cast<std::size_t>(K));
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  work(A, B, C, M, N, K);
}
