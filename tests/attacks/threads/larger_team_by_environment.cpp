// task: matmul@2
// verdict: valid
// because: Rewrites the environment, in which the number of threads stands, after OpenMP has read it, and asks for a
//   team of sixteen. It does no work if it gets more than two, so that only a team of two makes it valid.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <omp.h>

extern char** environ;

namespace {

[[gnu::constructor]] void rewrite() {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "OMP_", 4) != 0) continue;
    char* value = std::strchr(*variable, '=');
    if (value != nullptr && value[1] == '2') value[1] = '9';
  }
  setenv("OMP_NUM_THREADS", "16", 1);
  setenv("OMP_THREAD_LIMIT", "16", 1);
  omp_set_dynamic(0);
  omp_set_num_threads(16);
}

}  // namespace

extern "C" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel num_threads(16)
  {
    const int team = omp_get_num_threads();
#pragma omp for
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t j = 0; j < N; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < K && team <= 2; ++k) sum += A[i * K + k] * B[k * N + j];
        C[i * N + j] = sum;
      }
    }
  }
}
