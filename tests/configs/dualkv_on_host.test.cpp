// labels: slow
// timeout: 300
// The naive seeds and the float64 references of cuda_dualkv_forward and cuda_dualkv_backward compute what
// plain loops do, in bfloat16 and in float16, on the CPU: threads are coroutines
// (tests/support/cuda_on_host.hpp). The tolerances accept the seeds, and not probabilities of the next lower
// precision. The tunable seeds need a GPU.

#include <regex>
#include <string>

#include <doctest/doctest.h>

#include <kevo/task.hpp>

#include "src/base/process/find_program.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/shell.hpp"

namespace {

// What the kernels use besides, and the cases: prompt, responses, heads, heads of keys. Behind a line that
// defines FLOAT16.
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
  inline float from_half(word x) {
    const int exponent = x >> 10 & 31;
    const float size = std::ldexp(float((x & 0x3ff) + (exponent > 0 ? 0x400 : 0)), max(exponent, 1) - 25);
    return x & 0x8000 ? -size : size;
  }
  inline word to_half(float x) {  // to the nearest; no case has numbers of 65504 or more
    int exponent = -13;
    if (x != 0) std::frexp(x, &exponent);
    exponent = max(exponent, -13);
    const long steps = std::lrint(std::ldexp(std::fabs(x), 11 - exponent));
    return word((x < 0 ? 0x8000 : 0) + ((exponent + 13) << 10) + steps);
  }
  constexpr double u = FLOAT16 ? 0x1p-11 : 0x1p-8;
  // Rounded to the next lower precision: bfloat16, or four bits.
  inline float lower(float x) {
    int exponent = 0;
    const float part = std::frexp(x, &exponent);
    constexpr int bits = FLOAT16 ? 8 : 4;
    return std::ldexp(std::rint(std::ldexp(part, bits)), exponent - bits);
  }
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
    for (int i = 0; i < count; ++i) {
      const float x = float(3 * drand48() - 1.5);
      made[i] = FLOAT16 ? to_half(x) : word(packed(x, 0));
    }
    return made;
  }
  inline double value(word x) {
    return FLOAT16 ? from_half(x) : host_cuda::real(x, 0);
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
  // By the tolerance of the task.
  void judge(const char* what, const word* got, const double* want, const double* scale, int count,
             double factor) {
    int misses = 0;
    for (int i = 0; i < count; ++i)
      misses += !(std::fabs(value(got[i]) - want[i]) <= factor * u * scale[i] + (FLOAT16 ? 0x1p-24 : 0));
    if (misses == 0) return;
    ++wrong;
    std::printf("%d of %d outside of the tolerance: %s\n", misses, count, what);
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
      compare("o", o, want.o, u);
      compare("lse", lse, want.lse, 1e-5);
      auto *o64 = memory<double>(2 * rows * H * 128), *scale = memory<double>(2 * rows * H * 128),
           *lse64 = memory<double>(2 * rows * H);
      launch({ceildiv(rows, 8), unsigned(H)}, 128,
             [&] { exact::reference(q, k, v, c.offsets, o64, lse64, scale, c.H, c.G, c.P, c.N, c.rows); });
      compare("o of the reference", o64, want.o, 1e-12);
      compare("lse of the reference", lse64, want.lse, 1e-12);
      judge("o", o, o64, scale, rows * H * 128, 4);
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
      compare("dq", got_q, dq, u);
      compare("dk", got_k, dk, u);
      compare("dv", got_v, dv, u);
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
      judge("dq", got_q, q64, q_scale, rows * H * 128, 4);
      judge("dk", got_k, k64, k_scale, rows * G * 128, 6);
      judge("dv", got_v, v64, v_scale, rows * G * 128, 6);
    }
    return wrong;
  }
)cpp";

/// A kernel's text without what only a GPU's compiler understands.
std::string text_for_host(std::string_view text) {
  static const std::regex linkage(R"re(extern "C" )re");
  static const std::regex to_float(R"re(asm\("cvt\.f32\.f16 [^;]*;" : "=f"\(y\) : "h"\(x\)\);)re");
  static const std::regex to_half(R"re(asm\("cvt\.rn\.f16\.f32 [^;]*;" : "=h"\(y\) : "f"\(x\)\);)re");
  std::string made = std::regex_replace(std::string(text), linkage, "");
  made = std::regex_replace(made, to_float, "y = from_half(x);");
  return std::regex_replace(made, to_half, "y = to_half(x);");
}

/// What is wrong about a task's naive seed and reference: empty if nothing is.
std::string tried(const std::string& seed, const kevo::task& t, const std::string& ending) {
  const bool float16 = t.inputs.front().dtype == "float16";
  const shell::scratch folder;
  shell::write_file(folder / "k.cpp", "#define FLOAT16 " + std::string(float16 ? "1\n" : "0\n") + beginning +
                                          "namespace seed {\n" + text_for_host(seed) +
                                          "}\nnamespace exact {\n" +
                                          text_for_host(t.reference->source.text()) + "}\n" + ending);
  // Some systems define the macro. The C library then takes a jump to the stack of a coroutine for an error.
  const auto built =
      shell::run({kevo::find_program("g++"), "-std=c++20", "-O1", "-U_FORTIFY_SOURCE", "-w", "-I",
                  KEVO_SOURCE_DIR, (folder / "k.cpp").string(), "-o", (folder / "k").string()});
  if (built.code != 0) return "does not compile\n" + built.err;
  const auto ran = shell::run({(folder / "k").string()});
  return ran.code == 0 ? ran.out : "exit code " + std::to_string(ran.code) + "\n" + ran.out + ran.err;
}

std::string replaced(const std::string& text, const std::string& pattern, const std::string& by) {
  const std::regex found(pattern);
  REQUIRE(std::regex_search(text, found));
  return std::regex_replace(text, found, by);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string folder = KEVO_SOURCE_DIR "/configs/tasks/";

}  // namespace

TEST_CASE(
    "cuda_dualkv_forward: naive seed and reference are right, a wrong mask and a lower precision fail") {
  for (const std::string file : {"task.yaml", "fp16.yaml"}) {
    CAPTURE(file);
    const kevo::task t = kevo::load_task(folder + "cuda_dualkv_forward/" + file);
    const std::string seed(t.seeds.back().text());
    CHECK(tried(seed, t, forward) == "");
    CHECK(contains(tried(replaced(seed, "max\\(own, P\\); j <= i", "max(own, P); j < i"), t, forward),
                   "wrong by"));
    CHECK(contains(tried(replaced(seed, "weight = (expf\\([^;]*\\));", "weight = lower($1);"), t, forward),
                   "outside of the tolerance: o"));
  }
}

TEST_CASE("cuda_dualkv_backward: naive seed and reference are right, and a lower precision fails") {
  for (const std::string file : {"task.yaml", "fp16.yaml"}) {
    CAPTURE(file);
    const kevo::task t = kevo::load_task(folder + "cuda_dualkv_backward/" + file);
    const std::string seed(t.seeds.back().text());
    CHECK(tried(seed, t, backward) == "");
    const auto said =
        tried(replaced(seed, "float p = (expf\\([^;]*\\));", "float p = lower($1);"), t, backward);
    for (const std::string what : {"dq", "dk", "dv"})
      CHECK(contains(said, "outside of the tolerance: " + what));
  }
}
