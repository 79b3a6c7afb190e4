// Build lines with the real NVRTC and, where there is one, the real nvcc. No GPU is needed.
// timeout: 300

#include <set>
#include <string>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/compile/nvcc.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "tests/fitness/cuda/compile/nvrtc_place.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo::cuda;

// Names of its own, because the tests of a folder are compiled together.
namespace build_options {
namespace {

// 64 values that are all needed at the end, a division, and a sum of products.
const std::string kernel =
    "extern \"C\" __global__ void f(float* a, int n) {\n"
    "  float v[64];\n"
    "  for (int i = 0; i < 64; ++i) v[i] = a[i * n];\n"
    "  for (int i = 0; i < 64; ++i) a[i] = v[63 - i] * v[(i * 7) % 64] / v[i] + v[(i * 5) % 64];\n}\n";

bool there_is_nvrtc() {
  if (nvrtc_place() != "none") return true;
  kevo_test::skip("there is no NVRTC on this machine (scripts/setup.sh --tests fetches one)");
  return false;
}

cuda_compiler compiler_here(const std::string& nvcc = {}) {
  cuda_compiler_settings settings;
  settings.cuda = nvrtc_place();
  settings.nvcc = nvcc;
  settings.sandbox = kevo::sandbox_mode::best;
  return cuda_compiler(settings);
}

cuda_build_result build(const std::string& lines, bool fast = false, const std::string& text = kernel) {
  static cuda_compiler shared = compiler_here();
  cuda_build_request request;
  request.source = kevo::single_file_program("cuda", "k.cu", lines + text);
  request.kernels = {"f"};
  if (fast) request.fast_math = {true, {}};
  return shared.build(request);
}

std::uint32_t registers(const cuda_build_result& made) {
  CAPTURE(made.diagnostics);
  REQUIRE(made.ok);
  return made.module.kernels.front().registers;
}

}  // namespace

TEST_CASE("what a build line asks for is what NVRTC does") {
  if (!there_is_nvrtc()) return;
  const auto plain = build("");
  const auto capped = build("// kevo: build {registers: 32}\n");
  CHECK(plain.chosen.empty());
  CHECK(registers(plain) > 32);
  CHECK(registers(capped) <= 32);
  CHECK(capped.chosen.text() == "registers 32");
  CHECK(capped.compiler.starts_with("NVRTC"));
  const std::string tuned = "#define CAP 40  // kevo: {0, 40, 64}\n// kevo: build {registers: CAP}\n";
  CHECK(registers(build(tuned)) <= 40);
  CHECK(registers(build(kevo::set_tunables(tuned, {{"CAP", "0"}}))) == registers(plain));
  // The same text again is known, and a text that differs in its build line alone is not.
  CHECK(build("// kevo: build {registers: 32}\n").cached);
  CHECK_FALSE(build("// kevo: build {registers: 33}\n").cached);
  const auto image = [](const cuda_build_result& made) {
    CAPTURE(made.diagnostics);
    REQUIRE(made.ok);
    return made.module.images.front();
  };
  CHECK(image(build("// kevo: build {optimize: 1}\n")) != image(plain));
  CHECK(image(build("// kevo: build {fuse_multiply_add: off}\n")) != image(plain));
  CHECK(image(build("// kevo: build {fast_math: on}\n", true)) != image(plain));
  CHECK(image(build("// kevo: build {division: approximate}\n", true)) != image(plain));
}

TEST_CASE("options that a program may not have make its build fail, and nothing is compiled") {
  if (!there_is_nvrtc()) return;
  const auto fast = build("// kevo: build {fast_math: on}\n");
  CHECK_FALSE(fast.ok);
  CHECK(fast.compiler.empty());
  CHECK(fast.reasons.at(0).find("k.cu:1:28: the build option 'fast_math: on' is refused") == 0);
  for (const char* name : {"smuggled_option", "other_compiler", "fast_math_of_its_own"}) {
    const auto text = shell::read_file(KEVO_SOURCE_DIR "/tests/gpu/attacks/" + std::string(name) + ".cu");
    const auto made = build("", false, text);
    CHECK_FALSE(made.ok);
    CHECK(made.compiler.empty());
    CHECK_MESSAGE(made.reasons.at(0).find("k.cu:3:") == 0, made.reasons.at(0));
  }
  auto without = compiler_here("none");
  cuda_build_request request;
  request.source = kevo::single_file_program("cuda", "k.cu", "// kevo: build {compiler: nvcc}\n" + kernel);
  request.kernels = {"f"};
  const auto missing = without.build(request);
  CHECK_FALSE(missing.ok);
  CHECK(missing.reasons.at(0).find("chooses the compiler nvcc, which was not found") != std::string::npos);
}

TEST_CASE("a program may choose nvcc, which sees no more than NVRTC does") {
  if (!there_is_nvrtc()) return;
  if (find_hosted_nvcc().empty()) {
    kevo_test::skip("there is no nvcc on this machine");
    return;
  }
  const std::string by_nvcc = "// kevo: build {compiler: nvcc, registers: 32}\n";
  const auto made = build(by_nvcc);
  CHECK(registers(made) <= 32);
  CHECK(made.compiler.starts_with("nvcc 1"));
  CHECK(made.chosen.text() == "compiler nvcc, registers 32");
  CHECK(made.module.kernels.front().parameters.size() == 2);
  auto compiler = compiler_here();
  const auto source = kevo::single_file_program("cuda", "k.cu", by_nvcc + kernel);
  CHECK(compiler.identity_for(source).find("nvcc") != std::string::npos);
  CHECK(compiler.identity_for(kevo::single_file_program("cuda", "k.cu", kernel)).empty());
  for (const char* header : {"/etc/passwd", "cublas_v2.h", "cub/device/device_reduce.cuh", "thrust/sort.h"}) {
    if (!kevo::contains(kevo::sandbox_mode::best)) break;
    CAPTURE(header);
    const auto asks = build(by_nvcc, false, "#include \"" + std::string(header) + "\"\n" + kernel);
    CHECK_FALSE(asks.ok);
    CHECK(asks.diagnostics.find("root:") == std::string::npos);
  }
  const auto wrong = build(by_nvcc, false, "extern \"C\" __global__ void f(float* a) { a[0] = b; }\n");
  CHECK_FALSE(wrong.ok);
  CHECK(wrong.reasons.at(0).find("error: identifier \"b\" is undefined") != std::string::npos);
}

}  // namespace build_options
