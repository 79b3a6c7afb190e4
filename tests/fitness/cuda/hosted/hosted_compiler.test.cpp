// labels: slow
// timeout: 300
// The compile stage of hosted launch with a real nvcc, where there is one; no GPU is needed.

#include "fitness/cuda/hosted/hosted_compiler.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/program.hpp>

#include "fitness/cuda/hosted/entry.hpp"
#include "src/task/task_loader.hpp"
#include "tests/fitness/cuda/hosted/real_nvcc.hpp"
#include "tests/support/shell.hpp"

using namespace kevo::cuda;
using namespace real_nvcc;
namespace fs = std::filesystem;

namespace {

std::string rows(const std::string& before, const std::string& parameters = "const float* x, float* y") {
  return before +
         "\n#include <cstdint>\n#include <cuda_runtime.h>\n__global__ void f(float* y) { y[0] = 1; }\n" +
         "extern \"C\" int run(" + parameters + ", int64_t M, int64_t N, cudaStream_t stream) {\n" +
         "  f<<<1, 1, 0, stream>>>((float*)y);\n  return 0;\n}\n";
}

}  // namespace

TEST_CASE("a hosted program becomes an object that needs the C and C++ libraries alone") {
  if (!there_is_nvcc()) return;
  const auto made = candidate(rows(""));
  REQUIRE_MESSAGE(made.ok, made.diagnostics);
  CHECK(
      made.object.starts_with("\x7f"
                              "ELF"));
  CHECK(made.object.find(hosted_symbol) != std::string::npos);
  CHECK_FALSE(made.needed.empty());
  for (const auto& name : made.needed) CHECK(name.find("cud") == std::string::npos);
  CHECK(made.folders.empty());
}

TEST_CASE("parameters of the wrong size, or too few, do not build") {
  if (!there_is_nvcc()) return;
  CHECK(candidate(rows("", "const int* x, unsigned* y"))
            .ok);  // of the right size: the oracle judges what it gives
  CHECK_FALSE(candidate(rows("", "const double* x, float* y")).ok);
  CHECK_FALSE(candidate(rows("", "float* x, float* y")).ok);
  CHECK_FALSE(candidate(rows("", "const float* x")).ok);
  const auto wrong = candidate(rows("#error nothing to see"));
  CHECK(wrong.reasons.at(0).find("nothing to see") != std::string::npos);
}

TEST_CASE("finished kernels are not there for candidates: no header, no library, no file to embed") {
  if (!there_is_nvcc()) return;
  const auto folders = {"/usr/local/cuda/lib64/libcublas.so", "/usr/lib/x86_64-linux-gnu/libcublas.so"};
  CHECK_FALSE(candidate(rows("#include <cublas_v2.h>")).ok);
  CHECK_FALSE(candidate(rows("#include <cudnn.h>")).ok);
  CHECK_FALSE(candidate(rows("#include <cub/device/device_reduce.cuh>")).ok);
  CHECK_FALSE(candidate(rows("#include <thrust/reduce.h>")).ok);
  CHECK_FALSE(candidate(rows("extern \"C\" int cublasGetVersion_v2(void*, int*);\n"
                             "int version() { return cublasGetVersion_v2(nullptr, nullptr); }"))
                  .ok);
  for (const auto* library : folders) {
    if (!fs::exists(library)) continue;
    const auto embedded =
        candidate(rows("asm(\".data\\n.incbin \\\"" + std::string(library) + "\\\"\\n.text\");"));
    // An empty file is all that is seen of it.
    CHECK((!embedded.ok || embedded.object.size() < (4U << 20U)));
  }
  CHECK_FALSE(candidate(rows("asm(\".incbin \\\"/etc/passwd\\\"\");")).ok);
}

TEST_CASE(
    "CUB's primitives of a block and a warp are there, its device-wide algorithms and thrust's are not") {
  if (!there_is_nvcc()) return;
  const std::string kernel =
      "__global__ void sum(const float* x, float* y) {\n"
      "  using block = cub::BlockReduce<float, 128>;\n"
      "  using warp = cub::WarpReduce<float>;\n"
      "  __shared__ typename block::TempStorage whole;\n"
      "  __shared__ typename warp::TempStorage parts[4];\n"
      "  const float part = warp(parts[threadIdx.x / 32]).Sum(x[threadIdx.x]);\n"
      "  const float total = block(whole).Sum(part);\n"
      "  if (threadIdx.x == 0) y[0] = total;\n}\n";
  // A header alone is what tests/gpu/hosted/honest/block_reduce_of_cub.cu includes.
  const auto whole = candidate(rows(
      "#include <cub/block/block_reduce.cuh>\n#include <cub/warp/warp_reduce.cuh>\n#include <cub/cub.cuh>\n" +
      kernel));
  CHECK_MESSAGE(whole.ok, whole.diagnostics);
  for (const char* header :
       {"cub/device/device_scan.cuh", "thrust/sort.h", "thrust/reduce.h", "thrust/scan.h",
        "thrust/system/cuda/detail/sort.h", "thrust/system/cuda/detail/reduce.h"}) {
    CAPTURE(header);
    CHECK_FALSE(candidate(rows("#include <" + std::string(header) + ">")).ok);
  }
}

TEST_CASE("where there is no nvcc, the answer is a value") {
  hosted_compiler_settings settings;
  settings.nvcc = "none";
  hosted_compiler none(settings);
  CHECK(none.missing().find("nvcc was not found") != std::string::npos);
  const auto t = kevo::load_task((source_folder / "tests/gpu/row_sum.yaml").string());
  const auto made = none.build(t, kevo::program_of("cuda", rows("")), "sm_90a", {});
  CHECK_FALSE(made.ok);
  CHECK(made.reasons.at(0) == none.missing());
}

TEST_CASE("a trusted program may be linked with PyTorch's libraries, and hears what is missing") {
  if (!there_is_nvcc()) return;
  const shell::scratch packages;
  fs::permissions(packages.string(), fs::perms(0755));
  // A package that Python finds, and that was built for it.
  const auto file = [&](const char* path) { return packages / path; };
  shell::write_file(file("torch/__init__.py"), "");
  shell::write_file(file("torch/_C.abi3.so"), "");
  shell::write_file(file("torch-9.8.7.dist-info/METADATA"),
                    "Metadata-Version: 2.1\nName: torch\nVersion: 9.8.7\n");
  fs::create_directories(file("torch/lib"));
  fs::create_directories(file("nvidia/toy/lib"));
  const auto t = kevo::load_task((source_folder / "tests/gpu/row_sum.yaml").string());
  const auto source =
      kevo::program_of("cuda",
                       "#include <cuda_runtime.h>\n#include <cstdint>\nextern \"C\" int toy_of_torch();\n"
                       "extern \"C\" int run(const float*, float*, int64_t, int64_t, cudaStream_t) { return "
                       "toy_of_torch(); }\n");
  const auto build = [&](const std::string& python, bool trusted) {
    hosted_compiler_settings settings;
    settings.sandbox = kevo::sandbox_mode::best;
    settings.python = python;
    return hosted_compiler(settings).build(t, source, "sm_90a", {}, trusted, {"torch_cuda"});
  };
  const auto of_cpu = build(packages.string(), true);
  CHECK_FALSE(of_cpu.ok);
  CHECK(of_cpu.reasons.at(0).find("PyTorch 9.8.7 in " + packages.string() + " has no libtorch_cuda.so") == 0);

  const auto library = file("torch/lib/libtorch_cuda.so").string();
  shell::write_file(file("toy.cpp"), "extern \"C\" int toy_of_torch() { return 3; }\n");
  const auto linked = shell::run({"/usr/bin/g++", "-shared", "-fPIC", "-Wl,-soname,libtorch_cuda.so", "-o",
                                  library, file("toy.cpp").string()});
  REQUIRE_MESSAGE(linked.code == 0, linked.err);
  const auto made = build(packages.string(), true);
  REQUIRE_MESSAGE(made.ok, made.diagnostics);
  CHECK(std::count(made.needed.begin(), made.needed.end(), "libtorch_cuda.so") == 1);
  // Before those of the system, so that its own packages come first.
  REQUIRE(made.folders.size() >= 2);
  CHECK(made.folders.at(0) == fs::canonical(file("torch/lib")).string());
  CHECK(made.folders.at(1) == fs::canonical(file("nvidia/toy/lib")).string());

  const auto candidate_too = build(packages.string(), false);
  CHECK_FALSE(candidate_too.ok);
  CHECK(candidate_too.folders.empty());

  // Where Python's own packages have a PyTorch, that one does not have this function.
  const auto none = build((packages / "nvidia").string(), true);
  CHECK_FALSE(none.ok);
  const bool of_system = none.diagnostics.find("toy_of_torch") != std::string::npos;
  CHECK((of_system || none.reasons.at(0).find("PyTorch") != std::string::npos));
}
