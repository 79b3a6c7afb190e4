#include "src/cli/init_templates.hpp"

#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>

namespace kevo::cli {
namespace {

constexpr const char* task_text =
    R"(# What is optimized. The format is documented in docs/tasks.md; this one scales and adds two vectors.
name: {name}
op_type: axpy
description: Y = a X + B, elementwise, float32.
axes:    {{N: {{type: var}}}}
inputs:  {{X: {{shape: [N], dtype: float32}}, B: {{shape: [N], dtype: float32}}}}
outputs: {{Y: {{shape: [N], dtype: float32}}}}
reference: {{language: cpp, file: reference.cpp}}   # trusted; computes the correct result in float64
generate: {{X: normal, B: normal}}
workloads:
  - {{uuid: medium, axes: {{N: 300000}}}}
  - {{uuid: one, axes: {{N: 1}}, hidden: true}}       # hidden sizes check correctness only
  - {{uuid: odd, axes: {{N: 4097}}, hidden: true}}
tolerance: {{max_atol: 1.0e-6, max_rtol: 1.0e-6}}
cost: {{flops: "2*N", bytes: "12*N"}}
seeds: [seed.cpp]
baselines: [{{name: seed, file: seed.cpp}}]
)";

constexpr const char* reference_text = R"(#include <cstdint>

extern "C" void reference(const double* X, const double* B, double* Y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) Y[i] = 2.5 * X[i] + B[i];
}
)";

constexpr const char* seed_text = R"(#include <cstdint>

// A tunable is a value with a list of allowed values, among which `kevo run` chooses. Regions can be exchanged between candidates.
#define WIDTH 1  // kevo: {1, 2, 4, 8, 16, 32}
constexpr int ahead = 0;  // kevo: {0, 64, 256, 1024}

extern "C" void run(const float* X, const float* B, float* Y, int64_t N) {
  // kevo: begin loop
  int64_t i = 0;
  for (; i + WIDTH <= N; i += WIDTH) {
    if (ahead > 0) __builtin_prefetch(X + i + ahead);
    for (int64_t k = 0; k < WIDTH; ++k) Y[i + k] = 2.5f * X[i + k] + B[i + k];
  }
  for (; i < N; ++i) Y[i] = 2.5f * X[i] + B[i];
  // kevo: end loop
}
)";

constexpr const char* config_text =
    R"(# How the search works; start it with: kevo run {name}/config.yaml. Every key is documented in docs/configs.md.
run:     {{name: {name}, seed: 1, output: {name}/runs/first}}
task:    task.yaml
fitness: {{backend: cpu, flags: [-O2, -march=native]}}
archive: {{type: grid, measures: {{code_bytes: {{bins: 8, range: [64, 16384], scale: log}}, vector_fraction: {{bins: 8, range: [0, 1]}}}}}}
select:  {{type: power_law, alpha: 2.0}}
vary:    {{portfolio: {{type: ucb1}}, operators: [{{type: tune}}, {{type: splice}}]}}
stop:    {{any: [{{evaluations: 30}}, {{seconds: 60}}]}}
)";

constexpr const char* openmp_task_text =
    R"(# What is optimized. The format is documented in docs/tasks.md; this one sums the rows of a matrix on several cores.
name: {name}
op_type: reduction
description: "Y[i] is the sum of row i of X, float32, several threads."
axes:    {{M: {{type: var}}, N: {{type: var}}}}
inputs:  {{X: {{shape: [M, N], dtype: float32}}}}
outputs: {{Y: {{shape: [M], dtype: float32}}}}
reference: {{language: cpp, file: reference.cpp}}   # trusted; computes the correct result in float64
generate: {{X: normal}}
workloads:
  - {{uuid: large, axes: {{M: 2000, N: 1000}}}}
  - {{uuid: one, axes: {{M: 1, N: 1}}, hidden: true}}       # hidden sizes check correctness only
  - {{uuid: odd, axes: {{M: 37, N: 509}}, hidden: true}}
tolerance: {{rule: accumulation, scale: Y_abs, length: N}}
cost: {{flops: "M*N", bytes: "4*M*N + 4*M"}}
seeds: [seed.cpp]
baselines: [{{name: seed, file: seed.cpp}}]
)";

constexpr const char* openmp_reference_text = R"(#include <cmath>
#include <cstdint>

// Y_abs scales the tolerance: the sum of the magnitudes.
extern "C" void reference(const double* X, double* Y, double* Y_abs, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    Y[i] = Y_abs[i] = 0;
    for (int64_t j = 0; j < N; ++j) Y[i] += X[i * N + j], Y_abs[i] += std::abs(X[i * N + j]);
  }
}
)";

constexpr const char* openmp_seed_text = R"(#include <cstdint>

// A tunable is a value with a list of allowed values, among which `kevo run` chooses. Regions can be exchanged between candidates.
#define THREADS 1  // kevo: {1, 2}
#define SUMS 1     // kevo: {1, 2, 4, 8, 16}

extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  // kevo: begin rows
#pragma omp parallel for num_threads(THREADS) schedule(static)
  for (int64_t i = 0; i < M; ++i) {
    const float* row = X + i * N;
    float part[SUMS] = {};
    int64_t j = 0;
    for (; j + SUMS <= N; j += SUMS) {
      for (int64_t s = 0; s < SUMS; ++s) part[s] += row[j + s];
    }
    for (; j < N; ++j) part[0] += row[j];
    float sum = 0;
    for (int64_t s = 0; s < SUMS; ++s) sum += part[s];
    Y[i] = sum;
  }
  // kevo: end rows
}
)";

constexpr const char* openmp_config_text =
    R"(# How the search works; start it with: kevo run {name}/config.yaml. Every key is documented in docs/configs.md.
run:     {{name: {name}, seed: 1, output: {name}/runs/first}}
task:    task.yaml
fitness: {{backend: cpu, flags: [-O2, -march=native, -fopenmp], threads: 2}}   # maximum number of threads of a candidate
archive: {{type: grid, measures: {{code_bytes: {{bins: 8, range: [64, 16384], scale: log}}, vector_fraction: {{bins: 8, range: [0, 1]}}}}}}
select:  {{type: power_law, alpha: 2.0}}
vary:    {{portfolio: {{type: ucb1}}, operators: [{{type: tune}}, {{type: splice}}]}}
stop:    {{any: [{{evaluations: 30}}, {{seconds: 60}}]}}
)";

constexpr const char* cuda_task_text =
    R"(# What is optimized. The format is documented in docs/tasks.md and docs/gpu.md; this one scales and adds two vectors.
name: {name}
op_type: axpy
description: Y = a X + B, elementwise, float32.
axes:    {{N: {{type: var}}}}
inputs:  {{X: {{shape: [N], dtype: float32}}, B: {{shape: [N], dtype: float32}}}}
outputs: {{Y: {{shape: [N], dtype: float32}}}}
reference: {{language: cuda, file: reference.cu}}   # trusted; computes the correct result in float64
generate: {{X: normal, B: normal}}
workloads:
  - {{uuid: large, axes: {{N: 16777216}}}}
  - {{uuid: one, axes: {{N: 1}}, hidden: true}}       # hidden sizes check correctness only
  - {{uuid: odd, axes: {{N: 4097}}, hidden: true}}
tolerance: {{max_atol: 1.0e-6, max_rtol: 1.0e-6}}
cost: {{flops: "2*N", bytes: "12*N"}}
seeds: [seed.cu]
baselines: [{{name: seed, file: seed.cu}}]
)";

constexpr const char* cuda_reference_text = R"(// kevo: launch axpy<<<ceildiv(N, 256), 256>>>(X, B, Y, N)
extern "C" __global__ void axpy(const float* X, const float* B, double* Y, long long N) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < N) Y[i] = 2.5 * X[i] + B[i];
}
)";

constexpr const char* cuda_seed_text =
    R"(// A tunable is a value with a list of allowed values, among which `kevo run` chooses.
#define BLOCK 64  // kevo: {64, 128, 256, 512, 1024}
#define ITEMS 1   // kevo: {1, 2, 4, 8}
// How the kernel is launched; the language of these lines is documented in docs/launch.md.
// kevo: launch axpy<<<ceildiv(N, BLOCK * ITEMS), BLOCK>>>(X, B, Y, N)
extern "C" __global__ void axpy(const float* X, const float* B, float* Y, long long N) {
  // kevo: begin loop
  const long long start = blockIdx.x * static_cast<long long>(BLOCK * ITEMS) + threadIdx.x;
  for (int k = 0; k < ITEMS; ++k) {
    const long long i = start + static_cast<long long>(k) * BLOCK;
    if (i < N) Y[i] = 2.5f * X[i] + B[i];
  }
  // kevo: end loop
}
)";

constexpr const char* triton_seed_text =
    R"(# A tunable is a value with a list of allowed values, among which `kevo run` chooses.
import triton
import triton.language as tl

BLOCK = 64  # kevo: {64, 128, 256, 512, 1024}
WARPS = 1  # kevo: {1, 2, 4, 8}
# How the kernel is launched; the language of these lines is documented in docs/launch.md.
# kevo: launch axpy[ceildiv(N, BLOCK)](X, B, Y, N, BLOCK=BLOCK) warps WARPS


@triton.jit
def axpy(x, b, y, n, BLOCK: tl.constexpr):
    # kevo: begin body
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2.5 * tl.load(x + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)
    # kevo: end body
)";

constexpr const char* cuda_config_text =
    R"(# How the search works; start it with: kevo run {name}/config.yaml. Every key is documented in docs/configs.md.
run:     {{name: {name}, seed: 1, output: {name}/runs/first}}
task:    task.yaml
fitness: {{backend: cuda}}
archive: {{type: grid, measures: {{registers: {{bins: 8, range: [16, 256]}}, code_bytes: {{bins: 6, range: [512, 65536], scale: log}}}}}}
select:  {{type: power_law, alpha: 2.0}}
vary:    {{portfolio: {{type: ucb1}}, operators: [{{type: tune}}, {{type: splice}}]}}
stop:    {{any: [{{evaluations: 30}}, {{seconds: 120}}]}}
)";

constexpr const char* command_task_text =
    R"(# What is optimized. A program of yours judges the candidates, so the task needs only a name and seeds (docs/guide/command.md).
name: {name}
description: "The numbers with which score.py gives the highest score."
seeds: [seed.txt]
)";

constexpr const char* command_seed_text = R"(x = 1  # kevo: {1..40 step 1}
y = 1  # kevo: {1..40 step 1}
)";

constexpr const char* command_score_text =
    R"(# Judges a candidate: gets the path of its file and prints one JSON object. A higher score is better.
import json
import sys

values = {}
for line in open(sys.argv[1]):
    name, value = line.split("#")[0].split("=")
    values[name.strip()] = int(value)
x, y = values["x"], values["y"]
print(json.dumps({"score": 1000 - (x - 17) ** 2 - (y - x) ** 2, "valid": True, "feedback": "", "size": x + y}))
)";

constexpr const char* command_config_text =
    R"(# How the search works; start it with: kevo run {name}/config.yaml. Every key is documented in docs/configs.md.
run:     {{name: {name}, seed: 1, output: {name}/runs/first}}
task:    task.yaml
fitness: {{backend: command, command: [/usr/bin/python3, score.py]}}
archive: {{type: top_k}}
select:  {{type: power_law, alpha: 2.0}}
vary:    {{operators: [{{type: tune}}]}}
stop:    {{any: [{{evaluations: 60}}, {{seconds: 60}}]}}
)";

std::string named(const char* text, const std::string& name) {
  return fmt::format(fmt::runtime(text), fmt::arg("name", name));
}

}  // namespace

const std::vector<std::string>& init_templates() {
  static const std::vector<std::string> all = {"cpu", "openmp", "cuda", "triton", "command"};
  return all;
}

std::vector<project_file> project_of(std::string_view chosen, const std::string& name) {
  if (chosen == "cpu") {
    return {{"task.yaml", named(task_text, name)},
            {"reference.cpp", reference_text},
            {"seed.cpp", seed_text},
            {"config.yaml", named(config_text, name)}};
  }
  if (chosen == "openmp") {
    return {{"task.yaml", named(openmp_task_text, name)},
            {"reference.cpp", openmp_reference_text},
            {"seed.cpp", openmp_seed_text},
            {"config.yaml", named(openmp_config_text, name)}};
  }
  if (chosen == "cuda") {
    return {{"task.yaml", named(cuda_task_text, name)},
            {"reference.cu", cuda_reference_text},
            {"seed.cu", cuda_seed_text},
            {"config.yaml", named(cuda_config_text, name)}};
  }
  if (chosen == "triton") {
    std::string task = named(cuda_task_text, name);
    const std::string seeds = "seeds: [seed.cu]\nbaselines: [{name: seed, file: seed.cu}]";
    task.replace(task.find(seeds), seeds.size(),
                 "seeds: [seed.py]\nbaselines: [{name: seed, file: seed.py}]");
    return {{"task.yaml", std::move(task)},
            {"reference.cu", cuda_reference_text},
            {"seed.py", triton_seed_text},
            {"config.yaml", named(cuda_config_text, name)}};
  }
  if (chosen == "command") {
    return {{"task.yaml", named(command_task_text, name)},
            {"seed.txt", command_seed_text},
            {"score.py", command_score_text},
            {"config.yaml", named(command_config_text, name)}};
  }
  throw error(error_code::usage, fmt::format("there is no template '{}'", detail::shown(chosen)), {},
              detail::hint_for(chosen, init_templates(), "templates"));
}

}  // namespace kevo::cli
