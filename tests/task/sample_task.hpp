#pragma once
// A task in kevo's own format, variants of it, and a folder for its files.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <kevo/error.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace sample_task {

inline const std::string good =
    "name: matmul\n"                                                                       // 1
    "op_type: gemm\n"                                                                      // 2
    "axes:    {M: {type: var}, N: {type: var}, K: {type: const, value: 64}}\n"             // 3
    "inputs:  {A: {shape: [M, K], dtype: float32}, B: {shape: [K, N], dtype: float32}}\n"  // 4
    "outputs: {C: {shape: [M, N], dtype: float32}}\n"                                      // 5
    "reference: {language: cpp, file: reference.cpp}\n"                                    // 6
    "generate: {A: normal, B: \"uniform(0, 1.5)\"}\n"                                      // 7
    "constraints: [\"M >= N\"]\n"                                                          // 8
    "workloads:\n"                                                                         // 9
    "  - {uuid: square, axes: {M: 512, N: 512}, cache: cold, weight: 2}\n"                 // 10
    "  - {uuid: odd, axes: {M: 383, N: 129}, hidden: true}\n"                              // 11
    "tolerance: {rule: accumulation, scale: C_abs, length: K}\n"                           // 12
    "cost: {flops: \"2*M*N*K\", bytes: \"4*(M*K + K*N + M*N)\"}\n"                         // 13
    "seeds: [seed.cpp]\n"                                                                  // 14
    "baselines: [{name: seed, file: seed.cpp}, {name: blas, file: b.cpp, link: [openblas], optional: "
    "true}]\n";  // 15

inline kevo::program fake_source(const std::string& path, const std::string& language,
                                 const kevo::error_place& named) {
  if (path == "missing.cpp") throw kevo::error(kevo::error_code::input, "the file does not exist", named);
  return kevo::program_of(language.empty() ? "cpp" : language, "// " + path);
}

inline kevo::task decode(const std::string& text) {
  return kevo::decode_task(kevo::parse_yaml(text, "task.yaml"), fake_source);
}

// The good task with one line replaced; line 0 appends.
inline std::string with_line(int number, const std::string& line) {
  if (number == 0) return good + line + "\n";
  std::string result;
  int at = 1;
  for (std::size_t start = 0; start < good.size(); ++at) {
    const std::size_t end = good.find('\n', start);
    result += (at == number ? line : good.substr(start, end - start)) + "\n";
    start = end + 1;
  }
  return result;
}

struct folder {
  folder() : path(std::filesystem::temp_directory_path() / ("kevo-task-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  std::filesystem::path path;
};

}  // namespace sample_task
