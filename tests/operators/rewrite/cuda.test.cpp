// timeout: 300
// Actions on device code, which are compiled where there is NVRTC.
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/launch/launch_signature.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/cuda/launches.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/fitness/cuda/compile/nvrtc_place.hpp"
#include "tests/operators/rewrite/apply.hpp"
#include "tests/support/shell.hpp"

namespace {

using namespace kevo::rewriting;
using namespace rewrite_test;

/// Why there is no plan for a workload of the task; empty if there is one for each.
std::string no_plan(kevo::cuda::cuda_compiler& compiler, const kevo::task& t, const std::string& text) {
  using namespace kevo::cuda;
  const auto source = kevo::program_of("cuda", text);
  const auto lines = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&lines)) return failure->reason;
  const auto& declared = std::get<declared_launch>(lines);
  const device_facts facts;
  const auto names = kernel_names(declared, signature_of(t, t.workloads.front()), facts);
  if (const auto* failure = std::get_if<launch_failure>(&names)) return failure->reason;
  const auto built =
      compiler.build({source, std::get<std::vector<std::string>>(names), facts.architecture, {}});
  if (!built.ok) return built.diagnostics;
  for (const auto& w : t.workloads) {
    const auto resolved = resolve(declared, signature_of(t, w), built.module, facts);
    if (const auto* failure = std::get_if<launch_failure>(&resolved)) return w.uuid + ": " + failure->reason;
  }
  return {};
}

const std::string two_kernels =
    "// kevo: workspace w float32 [N]\n// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, w, N)\n"
    "// kevo: launch g<<<ceildiv(N, 128), 128>>>(w, y, N)\n"
    "extern \"C\" __global__ void f(const float* x, float* y, int N) {\n"
    "  const int i = blockIdx.x * 128 + threadIdx.x;\n  if (i >= N) return;\n  y[i] = 2 * x[i];\n}\n"
    "extern \"C\" __global__ void g(const float* x, float* y, int N) {\n"
    "  const int i = blockIdx.x * 128 + threadIdx.x;\n  if (i >= N) return;\n  float s = x[i];\n"
    "  for (int j = 0; j < 7; ++j) s += 1 / s;\n  y[i] = s;\n}\n";
const std::string tasks = KEVO_SOURCE_DIR "/configs/tasks/";

}  // namespace

TEST_CASE("launch lines are read and written") {
  const std::string text =
      "// kevo: when N % 4 == 0: launch f<<<(ceildiv(N, 32), min(M, 8)), (32, 8), smem(4 * 32)>>>(A, N)\n"
      "// kevo: launch g<<<(M + 1) * 2, 128>>>(A, N)\nint x;\n";
  const auto all = launches_of(text);
  REQUIRE(all.size() == 2);
  CHECK(all[0].kernel == "f");
  CHECK(all[0].grid == std::vector<std::string>{"ceildiv(N, 32)", "min(M, 8)"});
  CHECK(all[0].block == std::vector<std::string>{"32", "8"});
  CHECK(all[1].grid == std::vector<std::string>{"(M + 1) * 2"});
  for (const auto& one : all) CHECK(text.substr(one.begin, one.end - one.begin) == configuration_of(one));
  CHECK(with_word("8 * x8 + 8LL - f(8)", "8", "size") == "size * x8 + 8LL - f(size)");
}

TEST_CASE("what the actions make of plain kernels has a plan for every workload") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  struct expected {
    const char* task;
    const char* seed;
    std::vector<std::pair<const char*, std::size_t>> steps;
  };
  const std::vector<expected> all = {
      {"cuda_sgemm",
       "seed.cu",
       {{"block", 0}, {"converge", 0}, {"coarsen", 0}, {"coarsen", 0}, {"stage", 0}, {"launch_bounds", 0}}},
      {"cuda_sgemm",
       "seed.cu",
       {{"block", 0}, {"split_k", 0}, {"converge", 0}, {"coarsen", 0}, {"coarsen", 0}, {"stage", 0}}},
      {"cuda_sgemm",
       "seed.cu",
       {{"block", 0}, {"converge", 0}, {"coarsen", 0}, {"coarsen", 0}, {"stage", 0}, {"persistent", 0}}},
      {"cuda_softmax", "plain.cu", {{"cooperate", 0}, {"persistent", 0}, {"launch_bounds", 0}}},
      {"cuda_softmax", "plain.cu", {{"cooperate", 0}, {"wide_loads", 2}, {"wide_loads", 0}, {"restrict", 0}}},
      {"cuda_rmsnorm", "plain.cu", {{"cooperate", 0}, {"wide_loads", 1}, {"unroll", 0}}},
      {"cuda_reduce", "seed.cu", {{"block", 0}, {"blocks", 0}, {"wide_loads", 0}, {"unroll", 0}}},
      {"cuda_transpose", "seed.cu", {{"exchange", 0}}},
      {"cuda_transpose", "seed.cu", {{"block", 0}, {"swap_axes", 0}, {"converge", 0}}},
  };
  std::optional<kevo::cuda::cuda_compiler> compiler;
  if (nvrtc_place() != "none") {
    kevo::cuda::cuda_compiler_settings settings;
    settings.cuda = nvrtc_place();
    settings.sandbox = kevo::sandbox_mode::best;
    compiler.emplace(settings);
  }
  for (const auto& one : all) {
    const std::string folder = tasks + one.task + "/";
    const kevo::task what = kevo::load_task(folder + "plain.yaml");
    std::string text = shell::read_file(folder + one.seed);
    for (const auto& step : one.steps) {  // no binding: Clang 14 refuses one in the macro's lambda
      const std::string name = step.first;
      const std::string before = text;
      text = after(parser, text, name, step.second, {&what, 1, true});
      REQUIRE_MESSAGE(!text.empty(), one.task << ": " << name << " has no place in\n" << before);
    }
    CHECK_NOTHROW(kevo::parse_annotations(text, "child"));
    (void)parsed_whole(parser, text, on_device);
    if (compiler) {
      const std::string why = no_plan(*compiler, what, text);
      CHECK_MESSAGE(why.empty(), one.task << ": " << why << "\n" << text);
    }
  }
}

TEST_CASE("chains of random actions on device code give code that parses, with launch lines that are read") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const char* wanted = std::getenv("KEVO_REWRITE_VARIANTS");
  const std::size_t variants = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 200;
  std::vector<std::string> seeds;
  std::vector<kevo::task> what;
  for (const char* name :
       {"cuda_sgemm/seed.cu", "cuda_softmax/plain.cu", "cuda_softmax/seed.cu", "cuda_rmsnorm/plain.cu",
        "cuda_reduce/seed.cu", "cuda_transpose/seed.cu", "cuda_conv2d/seed.cu"}) {
    const std::string path = tasks + name;
    seeds.push_back(shell::read_file(path));
    what.push_back(kevo::load_task(path.substr(0, path.rfind('/')) + "/task.yaml"));
  }
  seeds.push_back(two_kernels);
  what.emplace_back();
  kevo::rng random(11);
  std::size_t children = 0;
  while (children < variants) {
    std::vector<std::string> now = seeds;
    std::vector<std::size_t> from(seeds.size());  // the seed of each
    std::iota(from.begin(), from.end(), 0);
    for (int level = 0; level < 6; ++level) {
      std::vector<std::string> next;
      std::vector<std::size_t> next_from;
      const auto trees = parse(parser, now, {}, dialect::cuda);
      for (std::size_t i = 0; i < trees.size(); ++i) {
        REQUIRE(trees[i]);
        CHECK_MESSAGE(trees[i]->errors == 0, trees[i]->first_error << "\n" << now[i]);
        const kernel of{*trees[i], loops_of(*trees[i]), &what[from[i]], 1, true};
        std::vector<std::pair<const action*, site>> all;
        for (const action& one : actions()) {
          if (one.language == action_language::cpp) continue;
          for (const site& where : one.sites(of)) all.emplace_back(&one, where);
        }
        for (int tries = 0; tries < 8 && !all.empty(); ++tries) {
          const auto& [taken, where] = all[random.below(all.size())];
          try {
            next.push_back(taken->apply(of, where, random));
            next_from.push_back(from[i]);
            CHECK_NOTHROW(kevo::parse_annotations(next.back(), "child"));
            const int more = taken->name == "split_k" ? 1 : taken->name == "fuse_kernels" ? -1 : 0;
            CHECK(static_cast<int>(launches_of(next.back()).size()) ==
                  static_cast<int>(launches_of(now[i]).size()) + more);
            break;
          } catch (const refusal&) {
          }
        }
      }
      children += next.size();
      now = std::move(next);
      from = std::move(next_from);
      if (now.empty()) break;
    }
  }
}
