// What prompts say of the machine, of how programs are judged on it, and of what programs may do.

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "fitness/build/build_choices.hpp"
#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/oracle/generate.hpp"
#include "operators/llm/sections.hpp"

namespace kevo {
namespace {

std::string machine_fact(const evaluation* e, const char* key) {
  if (e == nullptr) return {};
  const auto it = e->context.find(key);
  return it == e->context.end() ? std::string() : it->second;
}

std::string both_of(const std::string& a, const char* between, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + between + b;
}

void bullet(std::string& text, const char* title, const std::string& what) {
  if (!what.empty()) text += fmt::format("- {}: {}\n", title, what);
}

/// The latest evaluation that says where it was made.
const evaluation* machine_source(const variation_request& request) {
  const evaluation* any = nullptr;
  for (const auto* list : {&request.parents, &request.inspirations}) {
    for (const auto& one : *list) {
      if (!one->evaluation) continue;
      if (one->evaluation->context.contains("peaks")) return one->evaluation.get();
      if (any == nullptr) any = one->evaluation.get();
    }
  }
  return any;
}

std::string caches_text(const task& t) {
  std::size_t visible = 0;
  std::string cold;
  std::size_t cold_ones = 0;
  for (const auto& w : t.workloads) {
    if (w.hidden) continue;
    ++visible;
    if (w.cache != "cold") continue;
    cold += (cold.empty() ? "" : ", ") + w.uuid;
    ++cold_ones;
  }
  if (cold_ones == 0) return "warm";
  return "flushed before each timed call" + (cold_ones == visible ? "" : " of " + cold + ", else warm");
}

std::string score_rule(const task& t) {
  std::string weights;
  for (const auto& w : t.workloads) {
    if (!w.hidden && w.weight != 1)
      weights += fmt::format("{}{} {:g}", weights.empty() ? "" : ", ", w.uuid, w.weight);
  }
  return fmt::format("geometric mean of the speedups over {} on the timed workloads{}",
                     t.baselines.empty() ? "the baseline" : t.baselines.front().name,
                     weights.empty() ? "" : ", with the weights " + weights);
}

std::string inputs_rule(const task& t) {
  // What a function of the task makes, or a file holds, is as it is.
  const auto is_drawn = [&](const tensor& one) {
    return std::any_of(t.workloads.begin(), t.workloads.end(),
                       [&](const workload& w) { return !w.hidden && !w.inputs.contains(one.name); });
  };
  const bool drawn = std::any_of(t.inputs.begin(), t.inputs.end(), [&](const tensor& one) {
    return !one.scalar && one.dtype.starts_with("float") && is_drawn(one);
  });
  const bool given = !std::all_of(t.inputs.begin(), t.inputs.end(), is_drawn);
  if (!drawn) return given ? "as the task makes or reads them" : "new in every call";
  std::string kinds;
  for (std::size_t i = 1; i < variety_count; ++i)
    kinds += (kinds.empty() ? "" : ", ") + std::string(to_string(static_cast<variety>(i)));
  return "new in every call; more than half are as the task draws them, the others " + kinds +
         (given ? "; some inputs are as the task makes or reads them" : "");
}

std::string rules_of_cpp(const task& t, int threads) {
  std::string text =
      "- Allowed: headers of C and C++, intrinsics (immintrin.h, arm_neon.h), inline assembly. Not allowed: "
      "libraries of kernels (BLAS, Eigen), files, processes, clocks.\n";
  text += threads > 1 ? fmt::format(
                            "- At most {} threads: OpenMP (if -fopenmp is among the flags), std::thread, "
                            "a pool of your own.\n",
                            threads)
                      : "- One thread.\n";
  if (!fast_math_of(t).allowed) text += "- No fast math by pragma or attribute.\n";
  return text +
         "- Memory may be kept between calls (static buffers, tables), results may not. The first call of a "
         "size in a process is not timed.\n";
}

std::string rules_of_cuda(const program& parent) {
  const bool triton = parent.language == "triton";
  std::string text =
      triton
          ? "- The file has `@triton.jit` kernels and launch lines, no other Python that runs.\n"
          : "- Allowed: PTX in asm, mma, cp.async, TMA, clusters, block-wide CUB. Not allowed: libraries of "
            "kernels (cuBLAS, cuDNN, CUTLASS, Thrust), files, processes, clocks, the device's heap.\n";
  if (!triton && cuda::is_hosted(parent))
    return text +
           "- `run` launches on `stream` and need not wait. Device memory and graphs may be kept between "
           "calls, "
           "results may not.\n";
  return text +
         fmt::format(
             "- Lines `{0} kevo: launch ...` launch the kernels in their order; there is no host code.\n"
             "- Scratch memory: `{0} kevo: workspace NAME float32 [M, N]`, cleared by `{0} kevo: memset "
             "NAME 0`. Nothing is kept between calls.\n",
             triton ? "#" : "//");
}

std::string rules_of_python(std::string_view place, int threads) {
  if (place == "cpu")
    return fmt::format(
        "- Allowed: operations of PyTorch; own C++ by torch.utils.cpp_extension.load_inline at the top of "
        "the "
        "file or in the constructor, with intrinsics and OpenMP. Not allowed: torch.compile, files, "
        "processes, "
        "clocks.\n- {}\n"
        "- Memory may be kept between calls, results may not. Parameters get the reference's values after "
        "the "
        "constructor: pack weights in the first call.\n",
        threads > 1 ? fmt::format("At most {} threads.", threads) : std::string("One thread."));
  return "- Allowed: operations of PyTorch, Triton kernels, own CUDA by load_inline, CUDA graphs, streams "
         "that wait for the default stream and that it waits for. Not allowed: torch.compile, threads, "
         "files, processes, clocks.\n"
         "- Memory may be kept between calls, results may not. A constructor runs on the CPU; parameters get "
         "the "
         "reference's values and the device after it: pack weights in the first call, make other tensors "
         "with "
         "device=x.device.\n";
}

std::string rule_of_tunables(std::string_view language) {
  const bool python = language == "python" || language == "triton";
  return fmt::format(
      "- Tunables: a literal on a line of its own with its possible values, `{}`; `{} kevo: require TILE % "
      "UNROLL == 0` excludes combinations. kevo tries the values by itself: make one of each number that you "
      "would try out (tiles, unrolling, prefetching).\n",
      python ? "TILE = 64  # kevo: {16, 32, 64}" : "constexpr int TILE = 64;  // kevo: {16, 32, 64}",
      python ? "#" : "//");
}

}  // namespace

std::string machine_section(const variation_request& request) {
  const task& t = *request.task;
  const evaluation* e = machine_source(request);
  std::string text;
  bullet(text, "processor", both_of(e != nullptr ? e->device : "", "; ", machine_fact(e, "processor")));
  bullet(text, "vector instructions",
         both_of(machine_fact(e, "instruction_sets"), "", machine_fact(e, "vector_instructions")));
  const std::string version = machine_fact(e, "compiler_version");
  bullet(
      text, "compiler",
      both_of(version.empty() ? machine_fact(e, "compiler") : version, ", flags ", machine_fact(e, "flags")));
  bullet(text, "PyTorch", machine_fact(e, "pytorch"));
  bullet(text, "architecture", machine_fact(e, "architecture"));
  bullet(text, "peaks", machine_fact(e, "peaks"));
  bullet(text, "threads", machine_fact(e, "threads"));
  bullet(text, "least time of a call by these peaks and the task's cost", machine_fact(e, "bounds"));
  if (!t.outputs.empty()) {
    if (t.cost.min_flops)
      bullet(text, "no program is believed to need fewer operations than", t.cost.min_flops->text());
    bullet(text, "caches", caches_text(t));
    bullet(text, "inputs", inputs_rule(t));
    bullet(text, "score", score_rule(t));
  }
  return text.empty() ? text : "## Machine and limits\n\n" + text;
}

std::string rules_section(const variation_request& request, bool tunables) {
  const task& t = *request.task;
  const candidate_snapshot& parent = *request.parents.front();
  const std::string& language = parent.program->language;
  std::string text;
  if (!t.outputs.empty()) {
    const int threads = std::max(1, std::atoi(machine_fact(machine_source(request), "threads").c_str()));
    text += has_hidden_sizes(t)
                ? "- Correct for every size: 1, primes and sizes that no tile divides are checked, too. "
                : "- Correct for the sizes of the task; no others are checked. ";
    text += "Write all of each output in every call; touch nothing beyond a buffer.\n";
    if (language == "cpp") text += rules_of_cpp(t, threads);
    if (language == "cuda" || language == "triton") text += rules_of_cuda(*parent.program);
    if (language == "python") text += rules_of_python(place_of(parent), threads);
  }
  if (tunables) text += rule_of_tunables(language);
  return text.empty() ? text : "## Rules\n\n" + text;
}

}  // namespace kevo
