// labels: slow
// timeout: 300
// The shipped convolutions of cuda_im2win compute the right results for odd sizes, on the CPU: threads are
// coroutines (tests/support/cuda_on_host.hpp). What is fast, and what only a GPU can do wrong, is not tested
// here.

#include <map>
#include <regex>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/task.hpp>

#include "src/base/process/find_program.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/shell.hpp"

namespace {

/// A kernel's text without what only a GPU's compiler understands: the header has its own copies.
std::string text_for_host(std::string text) {
  static const std::regex instructions(
      R"re(// Instructions of the tensor cores[^]*?// End of the instructions.\n)re");
  static const std::regex copies(
      R"re(template <int bytes>\n__device__ __forceinline__ void copy_async[^]*?\n}\n)re");
  static const std::regex commits(R"re(__device__ __forceinline__ void commit_copies[^\n]*\n)re");
  static const std::regex waits(R"re(template <int pending>\n[^\n]*wait_for_copies[^]*?\n}\n)re");
  static const std::regex shared(R"re(extern __shared__ __align__\(16\) float shared\[\];)re");
  for (const auto* one : {&instructions, &copies, &commits, &waits})
    text = std::regex_replace(text, *one, "");
  return std::regex_replace(text, shared, "float* const shared = host_cuda::shared_memory;");
}

// What follows a kernel's text: `convolve` launches as the launch lines say, `main` compares with plain
// loops.
const std::string tunable = R"cpp(
  void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S,
                int P, int Q, int s) {
    using namespace host_cuda;
    const int pitch = (K + 3) / 4 * 4;
    float* filters = memory(C * R * S * pitch);
    int* offsets = memory<int>(C * R * S + 64);
    float* windows = memory(N * C * P * W * R);
    launch({ceildiv(C * R * S * pitch + 64, 256)}, 256, [&] {
      prepare(w, filters, offsets, C, R, S, K, WINDOW ? P * W * R : H * W, WINDOW ? 1 : W, WINDOW ? R : 1);
    });
    if (WINDOW) launch({unsigned(N * C), ceildiv(P, 8)}, 256, [&] { unroll_rows(x, windows, H, W, R, P, s); });
    if (SPLIT > 1) std::fill_n(y, N * K * P * Q, 0.0F);
    launch({ceildiv(K, BM) * ceildiv(N * P * Q, BN), SPLIT}, BM * BN / (TM * TN), [&] {
      if (WINDOW)
        im2win(windows, filters, offsets, y, N, C, R * S, K, P, Q, C * P * W * R, P * W * R, W * R, s * R);
      if (!WINDOW) im2win(x, filters, offsets, y, N, C, R * S, K, P, Q, C * H * W, H * W, s * W, s);
    });
  }
)cpp";
const std::string portfolio = R"cpp(
  template <int R>
  void by_points(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int P, int Q) {
    using namespace host_cuda;
    const int count = N * ceildiv(P, 4) * ceildiv(Q, 4), pitch = (count + 3) / 4 * 4, rows = (K + 3) / 4 * 4;
    constexpr int all = (R + 3) * (R + 3);
    float* points = memory(all * C * rows);
    float* tiles = memory(all * C * pitch);
    float* products = memory(all * K * pitch);
    launch({ceildiv(rows, 128), unsigned(C)}, 128, [&] { transform_filters<R>(w, points, C, K); });
    launch({ceildiv(count, W_IN), unsigned(C)}, W_IN, [&] { transform_inputs<R>(x, tiles, N, C, H, W, P, Q); });
    launch({ceildiv(K, WM) * ceildiv(count, WN), all}, WM * WN / (W_TM * W_TN),
           [&] { multiply_points(points, tiles, products, C, K, count); });
    launch({ceildiv(count, W_OUT), unsigned(K)}, W_OUT, [&] { transform_outputs<R>(products, y, N, K, P, Q); });
  }
  template <int T, int R, int S>
  void in_steps(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int P, int Q,
                int size, int images_each, int channels_each) {
    using namespace host_cuda;
    const int count = images_each * ceildiv(P, T) * ceildiv(Q, T), pitch = (count + 3) / 4 * 4,
              rows = (K + 3) / 4 * 4;
    constexpr int all = (T + R - 1) * (T + R - 1), threads = S_BM * S_BN / (S_TM * S_TN);
    float* points = memory(all * channels_each * rows);
    float* tiles = memory(all * channels_each * pitch);
    float* products = memory(all * K * pitch);
    const unsigned steps = 2 * ceildiv(N, images_each) * ceildiv(S * S * C, channels_each) + 1;
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned transforms =
          ceildiv(channels_each * rows, threads) + ceildiv(count, threads) * (channels_each + K);
      launch({step % 2 == 0 ? transforms : ceildiv(K, S_BM) * ceildiv(count, S_BN) * all}, threads, [&] {
        winograd_step<T, R, S>(x, w, y, points, tiles, products, N, C, H, W, K, P, Q, size, images_each,
                               channels_each, int(step));
      });
    }
  }
#define IM2WIN(X)                                                                                          \
    launch({ceildiv(C * R * S * ((K + 3) / 4 * 4) + 64, 256)}, 256,                                          \
           [&] { prepare(w, filters, offsets, C, R, S, K, H* W, W, X##_CHANNELS); });                        \
    if (X##_SPLIT > 1) std::fill_n(y, N* K* P* Q, 0.0F);                                                     \
    launch({ceildiv(K, X##_BM) * ceildiv(N * P * Q, X##_BN), X##_SPLIT}, X##_BM* X##_BN / (X##_TM * X##_TN), \
           [&] {                                                                                             \
             im2win<X##_BM, X##_BN, X##_BK, X##_TM, X##_TN, X##_LANES_M, X##_STAGES, X##_MIN_BLOCKS,         \
                    X##_LOAD_AT, X##_CHANNELS, X##_STORE, X##_SPLIT, X##_RASTER>(                            \
                 x, filters, offsets, y, N, C, R * S, K, P, Q, C * H * W, H * W, s * W, s);                  \
           })
  void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S,
                int P, int Q, int s) {
    using namespace host_cuda;
    // Parts of two images and of 16 channels: the launch lines make larger ones.
    if (R == S && s == 1 && R == 3 && C >= 16 && P * Q <= 100) {
      return in_steps<5, 3, 1>(x, w, y, N, C, H, W, K, P, Q, R, 2, 16);
    }
    if (R == S && s == 1 && R == 3 && C >= 16) return by_points<3>(x, w, y, N, C, H, W, K, P, Q);
    if (R == S && s == 1 && R == 5 && C >= 32) return by_points<5>(x, w, y, N, C, H, W, K, P, Q);
    if (R == S && s == 2 && R == 7 && C >= 16)
      return in_steps<5, 4, 2>(x, w, y, N, C, H, W, K, P, Q, R, 2, 4 * C);
    if (R == 3 && S == 3 && C == 3) {
      return launch({ceildiv(N * P * Q, F_THREADS * F_PIXELS)}, F_THREADS,
                    [&] { few<F_PIXELS, F_THREADS>(x, w, y, N, H, W, K, P, Q, s); });
    }
    float* filters = memory(C * R * S * ((K + 3) / 4 * 4));
    int* offsets = memory<int>(C * R * S + 64);
    if (R * S > 9 && K % 96 == 0) {
      IM2WIN(A);
    } else if (C < 16) {
      IM2WIN(B);
    } else {
      IM2WIN(D);
    }
  }
)cpp";
const std::string ceildiv = "inline unsigned ceildiv(long a, long b) { return unsigned((a + b - 1) / b); }\n";
const std::string compare = R"cpp(
  int main() {
    // images, channels, rows, columns, output channels, rows and columns of a filter, stride
    const int shapes[][8] = {
        {1, 1, 1, 1, 1, 1, 1, 1},     {2, 5, 13, 17, 7, 3, 3, 1},    {2, 9, 9, 8, 70, 5, 5, 1},
        {2, 3, 13, 15, 33, 7, 7, 2},  {1, 3, 19, 15, 96, 11, 11, 4}, {1, 6, 11, 12, 12, 5, 2, 2},
        {1, 2, 15, 14, 5, 3, 3, 4},   {2, 17, 6, 9, 21, 3, 3, 1},    {1, 33, 9, 8, 65, 5, 5, 1},
        {2, 3, 9, 8, 18, 3, 3, 1},    {1, 18, 7, 8, 66, 2, 2, 1},    {3, 37, 12, 12, 18, 3, 3, 1},
        {3, 17, 14, 18, 20, 3, 3, 1}, {5, 20, 7, 7, 66, 3, 3, 1},    {3, 33, 8, 7, 66, 3, 3, 1},
        {3, 17, 22, 19, 18, 7, 7, 2}, {3, 16, 95, 79, 4, 7, 7, 2},   {2, 16, 13, 14, 4, 3, 3, 1}};
    int wrong = 0;
    for (const auto& [N, C, H, W, K, R, S, s] : shapes) {
      const int P = (H - R) / s + 1, Q = (W - S) / s + 1;
      float* x = host_cuda::memory(N * C * H * W);
      float* w = host_cuda::memory(K * C * R * S);
      float* y = host_cuda::memory(N * K * P * Q);
      for (int i = 0; i < N * C * H * W; ++i) x[i] = float(drand48() - 0.5);
      for (int i = 0; i < K * C * R * S; ++i) w[i] = float(drand48() - 0.5);
      convolve(x, w, y, N, C, H, W, K, R, S, P, Q, s);
      double worst = 0;
      for (int at = 0; at < N * K * P * Q; ++at) {
        const int n = at / (K * P * Q), k = at / (P * Q) % K, p = at / Q % P, q = at % Q;
        double sum = 0;
        for (int c = 0; c < C; ++c)
          for (int r = 0; r < R; ++r)
            for (int t = 0; t < S; ++t)
              sum +=
                  double(x[((n * C + c) * H + p * s + r) * W + q * s + t]) * w[((k * C + c) * R + r) * S + t];
        const double error = std::fabs(y[at] - sum);
        worst = error <= worst ? worst : error;
      }
      if (worst <= 2e-4) continue;
      ++wrong;
      std::printf("wrong by %g: N %d C %d H %d W %d K %d R %d S %d stride %d\n", worst, N, C, H, W, K, R, S, s);
    }
    return wrong;
  }
)cpp";

const std::string attention = R"cpp(
  void attend(const std::uint16_t* q, const std::uint16_t* k, const std::uint16_t* v, std::uint16_t* o, int B,
              int H, int G, int S, int mask) {
    using namespace host_cuda;
    for (int b = 0; b < B; ++b) {  // blockIdx.z
      const dim grid = HEADS_FIRST ? dim{unsigned(H), ceildiv(S, BM)} : dim{ceildiv(S, BM), unsigned(H)};
      const int queries = b * H * S * 128, keys = b * G * S * 128;
      launch(grid, BM * 2, [&] { attention(q + queries, k + keys, v + keys, o + queries, H, G, S, mask); });
    }
  }
  int main() {
    // sequences, heads of queries, heads of keys, positions, mask
    const int shapes[][5] = {
        {1, 1, 1, 1, 2}, {2, 2, 1, 7, 1}, {1, 2, 2, 65, 2}, {1, 4, 2, 97, 1}, {1, 3, 1, 150, 2}};
    int wrong = 0;
    for (const auto& [B, H, G, S, mask] : shapes) {
      using word = std::uint16_t;
      const auto filled = [](int count) {
        auto* made = host_cuda::memory<word>(count);
        for (int i = 0; i < count; ++i) made[i] = word(packed(float(3 * drand48() - 1.5), 0));
        return made;
      };
      word* q = filled(B * H * S * 128);
      word* k = filled(B * G * S * 128);
      word* v = filled(B * G * S * 128);
      auto* o = host_cuda::memory<word>(B * H * S * 128);
      attend(q, k, v, o, B, H, G, S, mask);
      double worst = 0;
      for (int at = 0; at < B * H * S; ++at) {
        const int b = at / (H * S), h = at / S % H, i = at % S, g = h / (H / G);
        const int last = mask == 2 ? i + 1 : S;
        const auto real = [](word x) { return double(host_cuda::real(x, 0)); };
        std::vector<double> weights(last);
        double total = 0;
        for (int j = 0; j < last; ++j) {
          double score = 0;
          for (int d = 0; d < 128; ++d)
            score += real(q[at * 128 + d]) * real(k[((b * G + g) * S + j) * 128 + d]);
          total += weights[j] = std::exp(score / std::sqrt(128.0));
        }
        for (int d = 0; d < 128; ++d) {
          double sum = 0, squares = 0;
          for (int j = 0; j < last; ++j) {
            const double part = weights[j] / total * real(v[((b * G + g) * S + j) * 128 + d]);
            sum += part;
            squares += part * part;
          }
          const double error = std::fabs(sum - real(o[at * 128 + d])) / (std::fabs(sum) + std::sqrt(squares));
          worst = error <= worst ? worst : error;
        }
      }
      if (worst <= 4.0 / 256) continue;  // the tolerance of the task
      ++wrong;
      std::printf("wrong by %g: B %d H %d G %d S %d mask %d\n", worst, B, H, G, S, mask);
    }
    return wrong;
  }
)cpp";

/// What is wrong about a program: empty if nothing is.
std::string tried(std::string_view kernels, const std::string& launches) {
  const shell::scratch folder;
  shell::write_file(folder / "k.cpp", "#include \"tests/support/tensor_cores_on_host.hpp\"\n" +
                                          text_for_host(std::string(kernels)) + ceildiv + launches);
  // Some systems define the macro. The C library then takes a jump to the stack of a coroutine for an error.
  const auto built =
      shell::run({kevo::find_program("g++"), "-std=c++20", "-O1", "-U_FORTIFY_SOURCE", "-w", "-I",
                  KEVO_SOURCE_DIR, (folder / "k.cpp").string(), "-o", (folder / "k").string()});
  if (built.code != 0) return "does not compile\n" + built.err;
  const auto ran = shell::run({(folder / "k").string()});
  return ran.code == 0 ? ran.out : "exit code " + std::to_string(ran.code) + "\n" + ran.out + ran.err;
}

kevo::task task(const std::string& name) {
  return kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/" + name + "/task.yaml");
}
using setting = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("cuda_im2win: settings of the tunable seed are right for odd sizes, and a wrong index is found") {
  const kevo::program seed = task("cuda_im2win").seeds.front();
  for (const auto& one :
       {setting{{"WINDOW", "1"}, {"CHANNELS", "1"}, {"SPLIT", "3"}, {"STAGES", "1"}, {"PREFETCH", "0"}},
        setting{{"BM", "96"},
                {"BN", "128"},
                {"BK", "14"},
                {"TM", "12"},
                {"TN", "8"},
                {"VECTOR", "4"},
                {"STAGES", "4"},
                {"STORE", "1"}},
        setting{{"SHARED", "0"}, {"BM", "32"}, {"BN", "32"}, {"TM", "2"}, {"TN", "4"}, {"RASTER", "2"}}}) {
    CHECK(tried(kevo::set_tunables(seed, one).text(), tunable + compare) == "");
  }
  std::string broken(seed.text());
  const std::string barrier =
      "        wait_for_copies<tiles_ahead - 1>();\n      }\n      __syncthreads();\n";
  REQUIRE(broken.find(barrier) != std::string::npos);
  broken.replace(broken.find(barrier), barrier.size(),
                 "        wait_for_copies<tiles_ahead - 1>();\n      }\n");
  CHECK(tried(broken, tunable + compare).find("wrong by") != std::string::npos);
}

TEST_CASE("cuda_im2win: every kernel of the portfolio is right for odd sizes") {
  const kevo::program seed = task("cuda_im2win").seeds.back();
  CHECK(tried(seed.text(), portfolio + compare) == "");
}

TEST_CASE(
    "cuda_attention_forward: settings of the tunable seed are right for odd sizes, and a wrong mask is "
    "found") {
  const kevo::program seed = task("cuda_attention_forward").seeds.at(0);
  for (const auto& one :
       {setting{{"BM", "32"}, {"BN", "64"}, {"STAGES", "2"}, {"HEAVY_FIRST", "1"}, {"HEADS_FIRST", "1"}},
        setting{{"BM", "64"}, {"BN", "16"}, {"STAGES", "3"}}}) {
    CHECK(tried(kevo::set_tunables(seed, one).text(), attention) == "");
  }
  std::string broken(seed.text());
  const std::string masked = "key > own_row + u / 2 * 8";
  REQUIRE(broken.find(masked) != std::string::npos);
  broken.replace(broken.find(masked), masked.size(), "key > own_row + u / 2 * 8 + 1");
  CHECK(tried(broken, attention).find("wrong by") != std::string::npos);
}
