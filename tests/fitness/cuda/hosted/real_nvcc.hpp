#pragma once
// The hosted compiler with the real nvcc of this machine, where there is one.

#include <filesystem>
#include <string>

#include <kevo/program.hpp>

#include "fitness/cuda/hosted/hosted_compiler.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/skip.hpp"

namespace real_nvcc {

inline const std::filesystem::path source_folder = KEVO_SOURCE_DIR;

inline kevo::cuda::hosted_compiler& compiler() {
  static kevo::cuda::hosted_compiler shared = [] {
    kevo::cuda::hosted_compiler_settings settings;
    settings.sandbox = kevo::sandbox_mode::best;
    return kevo::cuda::hosted_compiler(settings);
  }();
  return shared;
}

inline bool there_is_nvcc() {
  if (compiler().missing().empty()) return true;
  kevo_test::skip(compiler().missing());
  return false;
}

inline kevo::cuda::hosted_object candidate(const std::string& text) {
  static const auto t = kevo::load_task((source_folder / "tests/gpu/row_sum.yaml").string());
  return compiler().build(t, kevo::program_of("cuda", text), "sm_90a", {});
}

}  // namespace real_nvcc
