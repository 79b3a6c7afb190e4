// Jacobi sweeps, point by point, between two grids.
#include <cstdint>
#include <utility>
#include <vector>

extern "C" void run(const float* X, float* Y, int64_t H, int64_t W, int64_t T) {
  std::vector<float> grid(X, X + H * W);
  std::vector<float> next(grid.size());
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t i = 0; i < H; ++i) {
      for (int64_t j = 0; j < W; ++j) {
        const auto at = static_cast<std::size_t>(i * W + j);
        if (i == 0 || i == H - 1 || j == 0 || j == W - 1) {
          next[at] = grid[at];
        } else {
          const auto row = static_cast<std::size_t>(W);
          next[at] = 0.25F * (grid[at - row] + grid[at + row] + grid[at - 1] + grid[at + 1]);
        }
      }
    }
    std::swap(grid, next);
  }
  for (int64_t i = 0; i < H * W; ++i) Y[i] = grid[static_cast<std::size_t>(i)];
}
