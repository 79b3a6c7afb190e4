// task: matmul
// verdict: build_failed|incorrect
// because: Takes its arguments by another signature.
#include <cstdint>

extern "C" void run(double* C) {
  C[0] = 0;
}
