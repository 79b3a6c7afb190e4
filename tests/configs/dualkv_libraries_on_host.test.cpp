// labels: slow
// timeout: 300
// What the baselines flash.cu and split.cu of cuda_dualkv_forward and cuda_dualkv_backward do around the
// library's functions: copies, offsets, merging, sums of gradients. Their kernels run on the CPU, and loops
// stand for the libraries (tests/support/libraries_on_host). Whether PyTorch and cuDNN accept what they get
// needs a GPU.

#include <regex>
#include <string>

#include <doctest/doctest.h>

#include "src/base/process/find_program.hpp"
#include "tests/support/shell.hpp"

namespace dualkv_libraries {

// Prompts, lengths of responses, heads; compares with loops over all rows. `L` may exceed the lengths.
const std::string ending = R"cpp(
  struct case_of {
    long P;
    std::vector<int> lengths;
    long L, H, G;
  };
  const case_of cases[] = {{1, {1}, 1, 1, 1},
                           {3, {3, 0, 4}, 9, 2, 1},
                           {130, {3, 0, 140, 2}, 140, 2, 1},
                           {128, {60, 68}, 68, 4, 2}};
  inline word* filled(long count) {
    auto* made = new word[count];
    for (long i = 0; i < count; ++i) made[i] = rounded(3 * drand48() - 1.5);
    return made;
  }
  int wrong = 0;
  template <class T>
  void compare(const char* what, const T* got, const std::vector<double>& want, double bound) {
    double worst = 0, size = 0.1;
    for (std::size_t i = 0; i < want.size(); ++i) {
      double value = 0;
      if constexpr (sizeof(T) == 2)
        value = number(std::bit_cast<word>(got[i]));
      else
        value = got[i];
      const double error = std::fabs(value - want[i]);
      worst = error <= worst ? worst : error;
      size = std::max(size, std::fabs(want[i]));
    }
    if (worst <= bound * size) return;
    ++wrong;
    std::printf("wrong by %g of %g: %s\n", worst, size, what);
  }
  int main() {
    for (const auto& [P, lengths, L, H, G] : cases) {
      std::vector<int> offsets{0}, begin(P, 0);  // of a row's own response; of the prompt: all that is before
      for (const int length : lengths) {
        begin.insert(begin.end(), length, int(P) + offsets.back());
        offsets.push_back(offsets.back() + length);
      }
      const long N = long(lengths.size()), T = offsets.back(), rows = P + T;
      const auto sees = [&](long i, long j) { return j <= i && (j < P || j >= begin[i]); };
      word *q = filled(rows * H * 128), *k = filled(rows * G * 128), *v = filled(rows * G * 128),
           *d_o = filled(rows * H * 128);
      const sequence all = {rows, rows, H, G, true, q, k, v, nullptr, nullptr, 0};
      std::vector<double> o(rows * H * 128), lse(H * rows), dq(o.size()), dk(rows * G * 128), dv(dk.size());
      for (long h = 0; h < H; ++h) {
        for (long i = 0; i < rows; ++i) {
          std::vector<double> p(i + 1);
          double total = 0, delta = 0;
          const long at = (i * H + h) * 128;
          const auto key = [&, h = h](long j) { return (j * G + h / (H / G)) * 128; };
          for (long j = 0; j <= i; ++j) total += p[j] = sees(i, j) ? std::exp(score_of(all, h, i, j)) : 0;
          lse[h * rows + i] = std::log(total);
          for (long j = 0; j <= i; ++j)
            for (long d = 0; d < 128; ++d) o[at + d] += (p[j] /= d == 0 ? total : 1) * number(v[key(j) + d]);
          for (long d = 0; d < 128; ++d) delta += o[at + d] * number(d_o[at + d]);
          for (long j = 0; j <= i; ++j) {
            double dp = -delta;
            for (long d = 0; d < 128; ++d) dp += double(number(d_o[at + d])) * number(v[key(j) + d]);
            for (long d = 0; d < 128; ++d) {
              dv[key(j) + d] += p[j] * number(d_o[at + d]);
              dk[key(j) + d] += p[j] * dp * number(q[at + d]) / std::sqrt(128.0);
              dq[at + d] += p[j] * dp * number(k[key(j) + d]) / std::sqrt(128.0);
            }
          }
        }
      }
      constexpr double u = FLOAT16 ? 0x1p-11 : 0x1p-8;
      for (int again = 0; again < 2; ++again) {
#if BACKWARD
        void *got_q = nullptr, *got_k = nullptr, *got_v = nullptr;
        cudaMalloc(&got_q, 2 * o.size()), cudaMalloc(&got_k, 2 * dk.size()), cudaMalloc(&got_v, 2 * dk.size());
        const auto of = [](void* memory) { return static_cast<element*>(memory); };
        const int code =
            run(q, k, v, d_o, offsets.data(), of(got_q), of(got_k), of(got_v), P, N, T, L, H, G, nullptr);
        compare("dq", of(got_q), dq, 4 * u);
        compare("dk", of(got_k), dk, 4 * u);
        compare("dv", of(got_v), dv, 4 * u);
#else
        void *got_o = nullptr, *got_lse = nullptr;
        cudaMalloc(&got_o, 2 * o.size()), cudaMalloc(&got_lse, 4 * lse.size());
        const int code = run(q, k, v, offsets.data(), static_cast<word*>(got_o), static_cast<float*>(got_lse),
                             P, N, T, L, H, G, nullptr);
        compare("o", static_cast<word*>(got_o), o, u);
        compare("lse", static_cast<float*>(got_lse), lse, 1e-5);
#endif
        if (code != 0) ++wrong, std::printf("run returned %d\n", code);
#ifdef LEFT_OVER
        if (LEFT_OVER != 0) ++wrong, std::printf("%d objects are left over\n", LEFT_OVER);
#endif
      }
    }
    return wrong;
  }
)cpp";

// Of cuDNN's header, what split.cu uses besides its graphs.
const std::string of_cudnn = R"cpp(
  using cudnnHandle_t = void*;
  using cudnnDataType_t = int;
  enum { CUDNN_STATUS_SUCCESS, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16 };
  inline int cudnnCreate(cudnnHandle_t* made) {
    *made = made;
    return CUDNN_STATUS_SUCCESS;
  }
  inline int cudnnSetStream(cudnnHandle_t, cudaStream_t) {
    return CUDNN_STATUS_SUCCESS;
  }
  inline int cudnnGetVersion() {
    return 90000;
  }
  using descriptor = void*;
)cpp";

inline std::string replaced(const std::string& text, const std::string& pattern, const std::string& by) {
  const std::regex found(pattern);
  REQUIRE_MESSAGE(std::regex_search(text, found), pattern);
  return std::regex_replace(text, found, by);
}

/// Without what begins with `first`, up to and without `last`.
inline std::string without(std::string text, const std::string& first, const std::string& last,
                           const std::string& by = {}) {
  const auto at = text.find(first);
  REQUIRE_MESSAGE(at != std::string::npos, first);
  const auto end = text.find(last, at);
  REQUIRE_MESSAGE(end != std::string::npos, last);
  return text.replace(at, end - at, by);
}

inline std::string program(const std::string& task, const std::string& file) {
  auto text = shell::read_file(KEVO_SOURCE_DIR "/configs/tasks/" + task + "/" + file);
  text = replaced(text, "#define FLOAT16 0[^\n]*\n", "");
  text = replaced(text, "#include <cu[^\n]*\n", "");
  text = replaced(text, R"(([a-z_]+)<<<(.*)>>>\()", "launch($1, $2)(");
  if (file == "flash.cu") {
    return text +
           "#include \"tests/support/libraries_on_host/torch.hpp\"\n#define LEFT_OVER (host_torch::living + "
           "host_torch::guards)\n";
  }
  text = without(text, "using descriptor", "struct pass");
  text = without(text, "/// Scores, and", "/// Memory for");
  text = without(text, "bool make_forward", "bool make(cudnnHandle_t handle, std::int64_t H",
                 "#include \"tests/support/libraries_on_host/cudnn.hpp\"\n");
  return of_cudnn + without(text, "bool execute(", "bool execute_forward");
}

/// What a program does wrong: empty if nothing.
inline std::string tried(const std::string& text, bool backward, bool float16 = false) {
  const shell::scratch folder;
  const auto define = [](const char* name, bool value) {
    return std::string("#define ") + name + (value ? " 1\n" : " 0\n");
  };
  shell::write_file(folder / "k.cpp", define("FLOAT16", float16) + define("BACKWARD", backward) +
                                          "#include \"tests/support/libraries_on_host/attention.hpp\"\n" +
                                          text + ending);
  const auto built =
      shell::run({kevo::find_program("g++"), "-std=c++20", "-O1", "-fno-strict-aliasing", "-w", "-I",
                  KEVO_SOURCE_DIR, (folder / "k.cpp").string(), "-o", (folder / "k").string()});
  if (built.code != 0) return "does not compile\n" + built.err;
  const auto ran = shell::run({(folder / "k").string()});
  return ran.code == 0 ? ran.out : "exit code " + std::to_string(ran.code) + "\n" + ran.out + ran.err;
}

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("cuda_dualkv_forward: FlashAttention's baseline gives it packed sequences and copies its results") {
  const auto flash = program("cuda_dualkv_forward", "flash.cu");
  CHECK(tried(flash, false) == "");
  CHECK(tried(flash, false, true) == "");
  const auto row = R"(place < P \? place : offsets\[sequence\] \+ place)";
  CHECK(says(tried(replaced(flash, row, "place"), false), "wrong by"));
}

TEST_CASE("cuda_dualkv_backward: FlashAttention's baseline adds up the gradients of the prompt") {
  const auto flash = program("cuda_dualkv_backward", "flash.cu");
  CHECK(tried(flash, true) == "");
  const auto counted_often = tried(replaced(flash, R"(place >= P \|\| sequence == 0)", "true"), true);
  CHECK(says(counted_often, ": dk"));
  CHECK(says(counted_often, ": dv"));
}

TEST_CASE("cuda_dualkv_backward: parts of split and merge add up to the gradients") {
  const auto split = program("cuda_dualkv_backward", "split.cu");
  CHECK(tried(split, true) == "");
  CHECK(tried(split, true, true) == "");
  const auto own_weights = tried(replaced(split, R"(p\.own\.to\.logarithms)", "p.own.to.statistics"), true);
  for (const std::string what : {": dq", ": dk", ": dv"}) CHECK(says(own_weights, what));
  const auto no_length = replaced(split, R"(max\((offsets[^,]*), 1\))", "$1");
  CHECK(says(tried(no_length, true), "run returned 3"));
}

}  // namespace dualkv_libraries
