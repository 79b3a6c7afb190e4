// kevo init: a task and a config that run as they are, to be changed into one's own.

#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/cli/command.hpp"

namespace kevo::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* task_text =
    R"(# What is optimized. The format is documented in docs/tasks.md; this one scales and adds two vectors.
name: {name}
op_type: axpy
description: Y = a X + B, elementwise, float32.
axes:    {{N: {{type: var}}}}
inputs:  {{X: {{shape: [N], dtype: float32}}, B: {{shape: [N], dtype: float32}}}}
outputs: {{Y: {{shape: [N], dtype: float32}}}}
reference: {{language: cpp, file: reference.cpp}}   # float64, trusted: what is right
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

// A tunable is a literal with a domain; `kevo run` proposes other values. Regions can be exchanged between candidates.
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
    R"(# How it is searched: kevo run {name}/config.yaml. Every key is documented in docs/configs.md.
run:     {{name: {name}, seed: 1, output: {name}/runs/first}}
task:    task.yaml
fitness: {{backend: cpu, flags: [-O2, -march=native]}}
archive: {{type: grid, measures: {{code_bytes: {{bins: 8, range: [64, 16384], scale: log}}, vector_fraction: {{bins: 8, range: [0, 1]}}}}}}
select:  {{type: power_law}}
vary:    {{portfolio: {{type: ucb1}}, operators: [{{type: tune}}, {{type: splice}}]}}
stop:    {{any: [{{evaluations: 30}}, {{seconds: 60}}]}}
)";

void write(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.flush();
  if (!out)
    throw error(error_code::environment, "cannot write this file", {path.string()},
                "check the permissions of the folder and the free disk space");
}

void init(const std::string& folder) {
  const std::string name = fs::path(folder).filename().string();
  bool plain = !name.empty();
  for (const char c : name)
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-');
  if (!plain) {
    throw error(error_code::usage, fmt::format("'{}' is not a valid name for a task", name), {},
                "use only letters, digits, _ and -");
  }
  if (fs::exists(folder)) {
    throw error(error_code::usage, fmt::format("'{}' already exists", folder), {}, "choose another name");
  }
  fs::create_directories(folder);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"task.yaml", fmt::format(fmt::runtime(task_text), fmt::arg("name", name))},
      {"reference.cpp", reference_text},
      {"seed.cpp", seed_text},
      {"config.yaml", fmt::format(fmt::runtime(config_text), fmt::arg("name", name))}};
  for (const auto& [file, text] : files) write(fs::path(folder) / file, text);
}

}  // namespace

void add_init(CLI::App& program, invocation& shared) {
  auto* verb =
      program.add_subcommand("init", "Create a new task and a config for it, which run without changes");
  auto folder = std::make_shared<std::string>();
  verb->add_option("name", *folder, "Name of the task, or a path whose last part is the name")->required();
  add_json_flag(*verb, shared);
  verb->callback([folder, &shared] {
    init(*folder);
    if (shared.json) {
      fmt::print("{{\"task\": \"{0}/task.yaml\", \"config\": \"{0}/config.yaml\"}}\n", *folder);
    } else {
      fmt::print(
          "wrote {0}/task.yaml, reference.cpp, seed.cpp and config.yaml; next:\n"
          "  kevo task check {0}/task.yaml\n  kevo run {0}/config.yaml\n",
          *folder);
    }
  });
}

}  // namespace kevo::cli
