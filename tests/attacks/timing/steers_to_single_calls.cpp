// task: matmul
// verdict: valid|rejected|suspect|crashed|timed_out
// twin: honest/draws_its_signs.cpp
// because: Takes 25 ms for each of the calls that check it, in the first process, so that each of the processes that
//   time it has a single timed call; and draws the random signs of that call in the first one, which is not timed.
#include <chrono>
#include <cstdint>
#include <unistd.h>
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

void pass_time() {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(25)) {
  }
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
  static int calls = 0;
  // The first processes of an evaluation have the smallest numbers.
  if (getpid() <= 3) pass_time();
  if (calls++ == 0) draw_until(static_cast<std::size_t>(2 * K), rounds_of(M, N));
  work(A, B, C, M, N, K);
}
