// labels: slow
// The naive seeds and the float64 references of cuda_dualkv_forward and cuda_dualkv_backward compute what
// plain loops do, on the CPU: threads are coroutines (tests/support/cuda_on_host.hpp). The tunable seeds need
// a GPU.

#include <regex>
#include <string>

#include <doctest/doctest.h>

#include <kevo/task.hpp>

#include "fitness/process/find_program.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/shell.hpp"

namespace {

// What the kernels use besides, and the cases: prompt, responses, heads, heads of keys.
const std::string beginning = R"cpp(
#include <cstring>
#include "tests/support/tensor_cores_on_host.hpp"
#define __shared__ static
  inline float __uint_as_float(unsigned x) {
    return std::bit_cast<float>(x);
  }
  inline unsigned __float_as_uint(float x) {
    return std::bit_cast<unsigned>(x);
  }
  inline float __shfl_xor_sync(unsigned, float x, unsigned other) {
    return from_lane_xor(x, other);
  }
  using word = std::uint16_t;
  const std::vector<std::vector<int>> all_lengths = {{1}, {3, 0, 4}, {3, 18, 0, 2}};
  const int sizes[][3] = {{1, 1, 1}, {3, 2, 1}, {21, 2, 1}};  // P, H, G
  struct case_of {
    int P, N, T, H, G, rows;
    int* offsets;
    std::vector<int> begin;  // of a row's own response; the prompt's rows: -1
    bool sees(int i, int j) const { return j <= i && (j < P || (begin[i] >= 0 && j >= begin[i])); }
  };
  inline case_of make_case(int number) {
    const auto& lengths = all_lengths[number];
    case_of c{sizes[number][0], int(lengths.size()), 0, sizes[number][1], sizes[number][2]};
    c.offsets = new int[lengths.size() + 1]();
    c.begin.assign(c.P, -1);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      c.begin.insert(c.begin.end(), lengths[s], c.P + c.T);
      c.offsets[s + 1] = c.T += lengths[s];
    }
    c.rows = c.P + c.T;
    return c;
  }
  inline word* filled(int count) {
    auto* made = host_cuda::memory<word>(count);
    for (int i = 0; i < count; ++i) made[i] = word(packed(float(3 * drand48() - 1.5), 0));
    return made;
  }
  inline double value(word x) {
    return host_cuda::real(x, 0);
  }
  inline double value(double x) {
    return x;
  }
  inline double value(float x) {
    return x;
  }
  inline unsigned ceildiv(long a, long b) {
    return unsigned((a + b - 1) / b);
  }
  int wrong = 0;
  template <class T>
  void compare(const char* what, const T* got, const std::vector<double>& want, double bound) {
    double worst = 0, size = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double error = std::fabs(value(got[i]) - want[i]);
      worst = error <= worst ? worst : error;
      size = std::max(size, std::fabs(want[i]));
    }
    if (worst <= bound * std::max(size, 0.1)) return;
    ++wrong;
    std::printf("wrong by %g of %g: %s\n", worst, size, what);
  }
  // Probabilities, and the results of the forward pass.
  struct plain {
    std::vector<double> p, o, lse;
    plain(const case_of& c, const word* q, const word* k, const word* v)
        : p(c.H * c.rows * c.rows), o(c.rows * c.H * 128), lse(c.H * c.rows) {
      for (int h = 0; h < c.H; ++h)
        for (int i = 0; i < c.rows; ++i) {
          const int g = h / (c.H / c.G);
          double* row = &p[(h * c.rows + i) * c.rows];
          double total = 0;
          for (int j = 0; j <= i; ++j) {
            double score = 0;
            for (int d = 0; d < 128; ++d)
              score += value(q[(i * c.H + h) * 128 + d]) * value(k[(j * c.G + g) * 128 + d]);
            row[j] = c.sees(i, j) ? std::exp(score / std::sqrt(128.0)) : 0;
            total += row[j];
          }
          for (int j = 0; j <= i; ++j) row[j] /= total;
          lse[h * c.rows + i] = std::log(total);
          for (int j = 0; j <= i; ++j)
            for (int d = 0; d < 128; ++d)
              o[(i * c.H + h) * 128 + d] += row[j] * value(v[(j * c.G + g) * 128 + d]);
        }
    }
  };
)cpp";

const std::string forward = R"cpp(
  int main() {
    using namespace host_cuda;
    for (int number = 0; number < 3; ++number) {
      const case_of c = make_case(number);
      const auto [P, N, T, H, G, rows, offsets, begin] = c;
      word *q = filled(rows * H * 128), *k = filled(rows * G * 128), *v = filled(rows * G * 128);
      const plain want(c, q, k, v);
      auto* o = memory<word>(rows * H * 128);
      auto* lse = memory<float>(rows * H);
      launch({ceildiv(rows, 4), unsigned(H)}, 128,
             [&] { seed::attention(q, k, v, c.offsets, o, lse, c.H, c.G, c.P, c.N, c.rows); });
      compare("o", o, want.o, 1.0 / 256);
      compare("lse", lse, want.lse, 1e-5);
      auto *o64 = memory<double>(2 * rows * H * 128), *scale = memory<double>(2 * rows * H * 128),
           *lse64 = memory<double>(2 * rows * H);
      launch({ceildiv(rows, 8), unsigned(H)}, 128,
             [&] { exact::reference(q, k, v, c.offsets, o64, lse64, scale, c.H, c.G, c.P, c.N, c.rows); });
      compare("o of the reference", o64, want.o, 1e-12);
      compare("lse of the reference", lse64, want.lse, 1e-12);
      for (int i = 0; i < rows * H * 128; ++i) wrong += !(scale[i] >= std::fabs(o64[i]) && scale[i] < 10);
    }
    return wrong;
  }
)cpp";

const std::string backward = R"cpp(
  int main() {
    using namespace host_cuda;
    for (int number = 0; number < 3; ++number) {
      const case_of c = make_case(number);
      const auto [P, N, T, H, G, rows, offsets, begin] = c;
      word *q = filled(rows * H * 128), *k = filled(rows * G * 128), *v = filled(rows * G * 128),
           *d_o = filled(rows * H * 128);
      const plain f(c, q, k, v);
      std::vector<double> dq(rows * H * 128), dk(rows * G * 128), dv(rows * G * 128);
      for (int h = 0; h < H; ++h)
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j <= i; ++j) {
            const double* o = &f.o[(i * H + h) * 128];
            const int at = (i * H + h) * 128, key = (j * G + h / (H / G)) * 128;
            const double p = f.p[(h * rows + i) * rows + j];
            double dp = 0;
            for (int d = 0; d < 128; ++d) dp += value(d_o[at + d]) * (value(v[key + d]) - o[d]);
            for (int d = 0; d < 128; ++d) {
              dv[key + d] += p * value(d_o[at + d]);
              dk[key + d] += p * dp * value(q[at + d]) / std::sqrt(128.0);
              dq[at + d] += p * dp * value(k[key + d]) / std::sqrt(128.0);
            }
          }
      auto *got_q = memory<word>(rows * H * 128), *got_k = memory<word>(rows * G * 128),
           *got_v = memory<word>(rows * G * 128);
      auto *lse = memory<float>(rows * H), *delta = memory<float>(rows * H);
      const dim by_query{ceildiv(rows, 4), unsigned(H)}, by_key{ceildiv(rows, 4), unsigned(G)};
      launch(by_query, 128,
             [&] { seed::forward(q, k, v, d_o, c.offsets, lse, delta, c.H, c.G, c.P, c.N, c.rows); });
      launch(by_query, 128, [&] {
        seed::of_queries(q, k, v, d_o, c.offsets, lse, delta, got_q, c.H, c.G, c.P, c.N, c.rows);
      });
      launch(by_key, 128, [&] {
        seed::of_keys(q, k, v, d_o, c.offsets, lse, delta, got_k, got_v, c.H, c.G, c.P, c.N, c.rows);
      });
      compare("dq", got_q, dq, 1.0 / 256);
      compare("dk", got_k, dk, 1.0 / 256);
      compare("dv", got_v, dv, 1.0 / 256);
      const auto many = [](int count) { return memory<double>(2 * count); };
      double *o64 = many(rows * H * 128), *lse64 = many(rows * H), *delta64 = many(rows * H),
             *spread = many(rows * H);
      double *q64 = many(rows * H * 128), *q_scale = many(rows * H * 128);
      double *k64 = many(rows * G * 128), *k_scale = many(rows * G * 128), *v64 = many(rows * G * 128),
             *v_scale = many(rows * G * 128);
      const dim eight{ceildiv(rows, 8), unsigned(H)}, keys{ceildiv(rows, 8), unsigned(G)};
      launch(eight, 128, [&] { exact::forward(q, k, v, c.offsets, o64, lse64, c.H, c.G, c.P, c.N, c.rows); });
      launch({unsigned(rows), unsigned(H)}, 128, [&] { exact::sums(o64, d_o, delta64, spread, c.H, c.rows); });
      launch(eight, 128, [&] {
        exact::of_queries(q, k, v, d_o, c.offsets, lse64, delta64, spread, q64, q_scale, c.H, c.G, c.P, c.N,
                          c.rows);
      });
      launch(keys, 128, [&] {
        exact::of_keys(q, k, v, d_o, c.offsets, lse64, delta64, spread, k64, v64, k_scale, v_scale, c.H, c.G,
                       c.P, c.N, c.rows);
      });
      compare("dq of the reference", q64, dq, 1e-12);
      compare("dk of the reference", k64, dk, 1e-12);
      compare("dv of the reference", v64, dv, 1e-12);
    }
    return wrong;
  }
)cpp";

std::string without_linkage(std::string_view text) {
  return std::regex_replace(std::string(text), std::regex("extern \"C\" "), "");
}

/// What is wrong about a task's naive seed and reference: empty if nothing is.
std::string tried(const std::string& seed, const kevo::task& t, const std::string& ending) {
  const shell::scratch folder;
  shell::write_file(folder / "k.cpp", beginning + "namespace seed {\n" + without_linkage(seed) +
                                          "}\nnamespace exact {\n" +
                                          without_linkage(t.reference->source.text()) + "}\n" + ending);
  // Some systems define the macro. The C library then takes a jump to the stack of a coroutine for an error.
  const auto built =
      shell::run({kevo::find_program("g++"), "-std=c++20", "-O1", "-U_FORTIFY_SOURCE", "-w", "-I",
                  KEVO_SOURCE_DIR, (folder / "k.cpp").string(), "-o", (folder / "k").string()});
  if (built.code != 0) return "does not compile\n" + built.err;
  const auto ran = shell::run({(folder / "k").string()});
  return ran.code == 0 ? ran.out : "exit code " + std::to_string(ran.code) + "\n" + ran.out + ran.err;
}

}  // namespace

TEST_CASE(
    "cuda_dualkv_forward: naive seed and reference are right for odd sizes, and a wrong mask is found") {
  const kevo::task t = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_dualkv_forward/task.yaml");
  std::string seed(t.seeds.back().text());
  CHECK(tried(seed, t, forward) == "");
  const std::string mask = "for (int j = max(own, P); j <= i; ++j)";
  REQUIRE(seed.find(mask) != std::string::npos);
  seed.replace(seed.find(mask), mask.size(), "for (int j = max(own, P); j < i; ++j)");
  CHECK(tried(seed, t, forward).find("wrong by") != std::string::npos);
}

TEST_CASE("cuda_dualkv_backward: naive seed and reference are right for odd sizes") {
  const kevo::task t = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_dualkv_backward/task.yaml");
  CHECK(tried(std::string(t.seeds.back().text()), t, backward) == "");
}
