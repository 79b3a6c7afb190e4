// Actions that change which blocks do what: their programs compute the same. Kernels whose threads do not
// meet are plain functions, so that a loop over all threads of a grid runs them here, without a GPU.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/cuda/launches.hpp"
#include "src/base/process/find_program.hpp"
#include "src/task/task_loader.hpp"
#include "tests/operators/rewrite/apply.hpp"
#include "tests/support/shell.hpp"

namespace {

using namespace kevo::rewriting;
using namespace rewrite_test;

const std::string grid_prelude = R"(
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>
#define __global__
#define __device__
#define __forceinline__ inline
struct three { unsigned x = 0, y = 0, z = 0; };
static three blockIdx, threadIdx, gridDim;
static long long ceildiv(long long a, long long b) { return (a + b - 1) / b; }
static long long min(long long a, long long b) { return a < b ? a : b; }
static struct { long long sms = 3; } device;
template <class Call>
void on_grid(std::vector<long long> grid, std::vector<long long> block, Call call) {
  grid.resize(3, 1);
  block.resize(3, 1);
  gridDim = {unsigned(grid[0]), unsigned(grid[1]), unsigned(grid[2])};
  for (unsigned z = 0; z < grid[2]; ++z) for (unsigned y = 0; y < grid[1]; ++y) for (unsigned x = 0; x < grid[0]; ++x) {
    blockIdx = {x, y, z};
    for (unsigned c = 0; c < block[2]; ++c) for (unsigned b = 0; b < block[1]; ++b) for (unsigned a = 0; a < block[0]; ++a) {
      threadIdx = {a, b, c};
      call();
    }
  }
}
)";

std::string listed(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

/// The program as a namespace with a function `all_launches`, which has `parameters`.
std::string as_functions(const std::string& name, std::string text, const std::string& parameters) {
  std::string body;
  const std::string mark = "// kevo: workspace ";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t word = at + mark.size();
    const std::string space = text.substr(word, text.find(' ', word) - word);
    const std::size_t open = text.find('[', word);
    std::string size = text.substr(open + 1, text.find(']', open) - open - 1);
    for (std::size_t comma = size.find(", "); comma != std::string::npos; comma = size.find(", "))
      size.replace(comma, 2, ") * (");
    body += "std::vector<float> in_" + space + "((" + size + "), NAN); float* " + space + " = in_" + space +
            ".data();\n";
  }
  for (const auto& line : launches_of(text))
    body += "on_grid({" + listed(line.grid) + "}, {" + listed(line.block) + "}, [&] { " + line.kernel + "(" +
            listed(line.arguments) + "); });\n";
  for (std::size_t at = text.find("extern \"C\" "); at != std::string::npos; at = text.find("extern \"C\" "))
    text.erase(at, 11);
  return "namespace " + name + " {\n" + text + "\nvoid all_launches(" + parameters + ") {\n" + body +
         "}\n}\n";
}

/// Compiles a program whose main calls all variants, and gives what it prints: the numbers of those that
/// differ.
std::string differing(const std::vector<std::string>& variants, const std::string& parameters,
                      const std::string& comparison) {
  std::string text = grid_prelude;
  std::string calls;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    text += as_functions("v" + std::to_string(i), variants[i], parameters);
    calls += "  compare(" + std::to_string(i) + ", v" + std::to_string(i) + "::all_launches);\n";
  }
  text += comparison + "int main() {\n" + calls + "  std::puts(\"done\");\n}\n";
  const shell::scratch folder;
  shell::write_file(folder / "grid.cpp", text);
  const auto built = shell::run(
      {kevo::find_program("g++"), "-std=c++20", "-O1", "-w", "grid.cpp", "-o", "grid"}, folder.string());
  REQUIRE_MESSAGE(built.code == 0, built.err << text);
  return shell::run({(folder / "grid").string()}, folder.string()).out;
}

using steps = std::vector<std::pair<std::string, std::size_t>>;

std::string after_steps(const std::string& parser, std::string text, const steps& all,
                        const kevo::task* what) {
  kevo::rng random(5);
  for (const auto& step : all) {  // no binding: Clang 14 refuses one in the macro's lambda
    const std::string& name = step.first;
    const parsed_source in = parsed_whole(parser, text, on_device);
    const kernel of{in, loops_of(in), what, 1, true};
    const action& one = action_named(name);
    const auto sites = one.sites(of);
    REQUIRE_MESSAGE(step.second < sites.size(), name << " has no place in\n" << text);
    try {
      text = one.apply(of, sites[step.second], random);
    } catch (const refusal& r) {
      FAIL(name << " refuses: " << r.reason << "\n" << text);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("products whose blocks are split, stay or have several elements a thread compute the same") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string folder = KEVO_SOURCE_DIR "/configs/tasks/cuda_sgemm/";
  const kevo::task what = kevo::load_task(folder + "plain.yaml");
  const std::string seed = shell::read_file(folder + "seed.cu");
  const std::vector<steps> chains = {
      {{"split_k", 0}},
      {{"persistent", 0}},
      {{"block", 0}, {"split_k", 0}, {"block", 0}},
      {{"split_k", 0}, {"converge", 0}, {"coarsen", 0}, {"coarsen", 0}},
      {{"split_k", 0}, {"persistent", 0}},
      {{"converge", 0}, {"coarsen", 1}, {"persistent", 0}},
      {{"swap_axes", 0}, {"persistent", 0}},
  };
  std::vector<std::string> variants = {seed};
  for (const auto& chain : chains) {
    variants.push_back(after_steps(parser, seed, chain, &what));
  }
  const std::string said =
      differing(variants, "const float* A, const float* B, float* C, long long M, long long N, long long K",
                R"(
template <class Run> void compare(int number, Run run) {
  for (auto [M, N, K] : {std::array<int, 3>{1, 1, 1}, {7, 5, 3}, {33, 70, 41}, {9, 64, 1}}) {
    std::vector<float> A(M * K), B(K * N), C(M * N, NAN);
    for (int i = 0; i < M * K; ++i) A[i] = i * 7 % 11 - 5;
    for (int i = 0; i < K * N; ++i) B[i] = i * 5 % 13 - 6;
    run(A.data(), B.data(), C.data(), M, N, K);
    bool same = true;
    for (int m = 0; m < M; ++m) for (int n = 0; n < N; ++n) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += A[m * K + k] * B[k * N + n];
      same = same && C[m * N + n] == sum;
    }
    if (!same) std::printf("%d differs for %d %d %d\n", number, M, N, K);
  }
}
)");
  CHECK(said == "done\n");
}

TEST_CASE("two kernels become one, and what only they exchange a variable") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string kernels =
      "// kevo: workspace scaled float32 [N]\n"
      "// kevo: launch scale<<<ceildiv(N, 64), 64>>>(x, scaled, N)\n"
      "// kevo: launch shift<<<ceildiv(N, 64), 64>>>(scaled, x, y, N)\n"
      "extern \"C\" __global__ void scale(const float* from, float* to, int count) {\n"
      "  const int i = blockIdx.x * 64 + threadIdx.x;\n  if (i >= count) return;\n"
      "  const float factor = from[i] + 2;\n  to[i] = from[i] * factor;\n}\n"
      "extern \"C\" __global__ void shift(const float* from, const float* more, float* to, int n) {\n"
      "  const int place = blockIdx.x * 64 + threadIdx.x;\n  if (place >= n) return;\n"
      "  float factor = 3;\n  for (int j = 0; j < 4; ++j) factor += more[j % n];\n"
      "  to[place] = from[place] + factor;\n}\n";
  std::string kept = kernels;  // a third kernel needs the workspace, too
  kept.replace(kept.find("extern"), 0, "// kevo: launch third<<<1, 1>>>(scaled, y)\n");
  kept += "extern \"C\" __global__ void third(const float* from, float* to) { to[0] += from[0]; }\n";
  const std::string fused = after_steps(parser, kernels, {{"fuse_kernels", 0}}, nullptr);
  CHECK(launches_of(fused).size() == 1);
  CHECK(fused.find("workspace") == std::string::npos);
  const std::string both = after_steps(parser, kept, {{"fuse_kernels", 0}}, nullptr);
  CHECK(launches_of(both).size() == 2);
  CHECK(both.find("workspace") != std::string::npos);
  const std::string comparison = R"(
template <class Run> void compare(int number, Run run) {
  for (const int n : {1, 5, 64, 200}) {
    std::vector<float> x(n), y(n, NAN);
    for (int i = 0; i < n; ++i) x[i] = i % 17 - 8;
    run(x.data(), y.data(), n);
    bool same = true;
    for (int i = 0; i < n; ++i) {
      float sum = x[i] * (x[i] + 2) + 3;
      for (int j = 0; j < 4; ++j) sum += x[j % n];
      if (i == 0 && MORE) sum += x[0] * (x[0] + 2);
      same = same && y[i] == sum;
    }
    if (!same) std::printf("%d differs for %d\n", number, n);
  }
}
)";
  const std::string parameters = "const float* x, float* y, long long N";
  CHECK(differing({kernels, fused, after_steps(parser, fused, {{"persistent", 0}}, nullptr)}, parameters,
                  "#define MORE 0\n" + comparison) == "done\n");
  CHECK(differing({kept, both}, parameters, "#define MORE 1\n" + comparison) == "done\n");
}

TEST_CASE("kernels whose threads need each other's elements are not fused, split or kept") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const kevo::task what = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_sgemm/plain.yaml");
  const auto refused = [&](const std::string& text, std::string_view name) {
    const tries all = tried(parser, text, name, {&what, 1, true});
    for (const auto& reason : all.refused) MESSAGE(name << ": " << reason);
    return all.made.empty();
  };
  const std::string first =
      "// kevo: launch a<<<ceildiv(N, 64), 64>>>(A, C, N)\n// kevo: launch b<<<ceildiv(N, 64), 64>>>(C, B, "
      "N)\n"
      "extern \"C\" __global__ void a(const float* x, float* y, int n) {\n"
      "  const int i = blockIdx.x * 64 + threadIdx.x;\n  if (i >= n) return;\n  y[i] = x[i];\n}\n"
      "extern \"C\" __global__ void b(const float* x, float* y, int n) {\n"
      "  const int i = blockIdx.x * 64 + threadIdx.x;\n  if (i >= n) return;\n";
  CHECK_FALSE(refused(first + "  y[i] = x[i];\n}\n", "fuse_kernels"));
  CHECK(refused(first + "  y[i] = x[n - 1 - i];\n}\n", "fuse_kernels"));
  CHECK(refused(first + "  y[i] = x[0];\n}\n", "fuse_kernels"));
  const std::string sum =
      "// kevo: launch f<<<ceildiv(N, 64), 64>>>(A, C, N, K)\n"
      "extern \"C\" __global__ void f(const float* A, float* C, int N, int K) {\n"
      "  const int i = blockIdx.x * 64 + threadIdx.x;\n  if (i >= N) return;\n  float s = 0;\n"
      "  for (int k = 0; k < K; ++k) s += A[k * N + i];\n";
  CHECK_FALSE(refused(sum + "  C[i] = s;\n}\n", "split_k"));
  CHECK(refused(sum + "  C[i] = s * s;\n}\n", "split_k"));
  CHECK(refused(sum + "  C[i] = s;\n  if (s > 1) C[i] = 1;\n}\n", "split_k"));
  CHECK(
      refused("// kevo: launch f<<<ceildiv(N, 64), 64>>>(A, N)\n"
              "extern \"C\" __global__ void f(float* A, int N) {\n"
              "  A += blockIdx.x * 64;\n  if (threadIdx.x < N - blockIdx.x * 64) A[threadIdx.x] = 1;\n}\n",
              "persistent"));
  CHECK(
      refused("// kevo: launch f<<<128, 64>>>(A, N)\nextern \"C\" __global__ void f(float* A, int N) {\n"
              "  for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += gridDim.x * 64) A[i] = 1;\n}\n",
              "persistent"));
}
