// What a program may choose of its own compilation, and what nobody may.

#include "fitness/build/build_choices.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

using kevo::build_family;

// Names of its own, because the tests of a folder are compiled together.
namespace build_choices_test {
namespace {

const kevo::fast_math_permission permitted{true, {}};

kevo::build_choices chosen(const std::string& line, build_family family = build_family::cuda,
                           const kevo::fast_math_permission& fast = permitted) {
  return kevo::build_choices_of(kevo::single_file_program("cuda", "k.cu", line), family, fast);
}

std::string refusal(const std::string& line, build_family family = build_family::cuda,
                    const kevo::fast_math_permission& fast = permitted) {
  try {
    return "taken: " + chosen(line, family, fast).text();
  } catch (const kevo::error& failure) {
    CHECK(failure.code() == kevo::error_code::input);
    return failure.what();
  }
}

kevo::task task_with(const std::string& tolerance) {
  const kevo::source_reader read = [](const std::string&, const std::string&, const kevo::error_place&) {
    return kevo::single_file_program("cpp", "r.cpp", "");
  };
  return kevo::decode_task(
      kevo::parse_yaml("name: t\naxes: {N: {type: var}}\n"
                       "inputs: {x: {shape: [N], dtype: float32}}\n"
                       "outputs: {y: {shape: [N], dtype: float32}, i: {shape: [N], dtype: int32}}\n"
                       "reference: {language: cpp, file: r.cpp}\n"
                       "workloads: [{uuid: a, axes: {N: 4}}]\n" +
                           tolerance,
                       "t.yaml"),
      read);
}

}  // namespace

TEST_CASE("choices become words of the compilers") {
  using words = std::vector<std::string>;
  const auto all = chosen(
      "// kevo: build {compiler: nvcc, registers: R, optimize: 2 {2, 3}}\n#define R 0x80 // kevo: {0, 0x80}\n"
      "// kevo: build {fast_math: on, division: exact, denormals: flushed}\n");
  CHECK(all.text() ==
        "compiler nvcc, denormals flushed, division exact, fast_math on, optimize 2, registers 128");
  CHECK(kevo::cuda_words(all) == words{"--use_fast_math", "--ftz=true", "--prec-div=true",
                                       "--maxrregcount=128", "--ptxas-options=-O2"});
  CHECK(kevo::cuda_words(chosen("// kevo: build {registers: 0, compiler: nvrtc}")).empty());
  CHECK(kevo::cpp_words(
            chosen("// kevo: build {optimize: 1, unroll: on, vector_bits: 512}", build_family::cpp)) ==
        words{"-O1", "-funroll-loops", "-mprefer-vector-width=512"});
  // -ffast-math as one word would also link code that changes how the process computes.
  for (const auto& word : kevo::cpp_words(chosen("// kevo: build {fast_math: on}", build_family::cpp)))
    CHECK(word != "-ffast-math");
  const auto triton = chosen("# kevo: build {fuse_multiply_add: off, optimize: 3}", build_family::triton);
  CHECK(kevo::triton_words(triton).at("enable_fp_fusion") == "false");
  CHECK(kevo::triton_words(triton).at("ptx_options") == "\"-O3\"");
  CHECK(chosen("// build nothing\n// kevo: require 1\n").empty());
  // A program without build lines is not asked here whether its other annotations are right.
  CHECK(chosen("// kevo: nonsense\nint build;\n").empty());
}

TEST_CASE("what is not in the list is refused, with its place and what there is") {
  for (const char* line :
       {"// kevo: build {registers: \"128 -include /etc/passwd\"}", "// kevo: build {registers: 128.5}",
        "// kevo: build {registers: 256}", "// kevo: build {registers: -1}",
        "// kevo: build {registers: true}", "// kevo: build {registers: 99999999999999999999}",
        "// kevo: build {optimize: 0}", "// kevo: build {optimize: fast}", "// kevo: build {compiler: gcc}",
        "// kevo: build {compiler: \"/tmp/nvcc\"}", "// kevo: build {compiler: nvcc::x}",
        "// kevo: build {fast_math: \"on --pre-include=/etc/passwd\"}"}) {
    CAPTURE(line);
    const auto said = refusal(line);
    CHECK(said.find("k.cu:1:") == 0);
    CHECK(said.find("cannot be") != std::string::npos);
    CHECK(said.find("its values are") != std::string::npos);
  }
  for (const char* name :
       {"include", "flags", "define", "link", "output", "keep", "ccbin", "std", "I", "D"}) {
    const auto said = refusal("// kevo: build {" + std::string(name) + ": 1}");
    CHECK_MESSAGE(said.find("have no build option") != std::string::npos, said);
  }
  // Every value that a search could choose must be allowed, and not only the one of today.
  CHECK(refusal("// kevo: build {registers: 128 {128, 4096}}").find("cannot be 4096") != std::string::npos);
  CHECK(
      refusal("#define R 64 // kevo: {64, \"64 -I/etc\"}\n// kevo: build {registers: R}").find("cannot be") !=
      std::string::npos);
  CHECK(refusal("// kevo: build {compiler: nvrtc}", build_family::hosted_cuda).find("CUDA with host code") !=
        std::string::npos);
  CHECK(refusal("// kevo: build {registers: 64}", build_family::cpp).find("did you mean") ==
        std::string::npos);
  CHECK(refusal("# kevo: build {optimize: 3}", build_family::torch).find("PyTorch") != std::string::npos);
  CHECK(refusal("// kevo: build {registers: 64").find("'}' is missing") != std::string::npos);
}

TEST_CASE("fast math is the task's to allow") {
  const auto strict = task_with("");
  const auto loose = task_with("tolerance: {y: {max_rtol: 0.01, fast_math: true}}\n");
  const auto kept = kevo::fast_math_of(strict);
  CHECK_FALSE(kept.allowed);
  CHECK(kevo::fast_math_of(loose).allowed);  // integers have no say
  CHECK(kevo::id_of(strict) != kevo::id_of(task_with("tolerance: {y: {fast_math: true}}\n")));
  for (const char* option :
       {"fast_math: on", "denormals: flushed", "division: approximate", "square_root: approximate"}) {
    const auto line = "// kevo: build {" + std::string(option) + "}";
    const auto said = refusal(line, build_family::cuda, kept);
    CHECK(said.find("the task 't' does not say 'fast_math: true' in the tolerance of 'y'") !=
          std::string::npos);
    CHECK(refusal(line, build_family::cuda, {}).find("refused") != std::string::npos);
    CHECK(refusal(line, build_family::cuda, kevo::fast_math_of(loose)).starts_with("taken: "));
  }
  // A domain may hold it: what counts is what is chosen.
  CHECK(chosen("// kevo: build {fast_math: off {off, on}}", build_family::cuda, kept).text() ==
        "fast_math off");
  CHECK(refusal("// kevo: build {fast_math: on}", build_family::cpp, kept).find("refused") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS(task_with("tolerance: {y: {rule: exact, fast_math: true}}\n"),
                       doctest::Contains("accepts no rounding error"), kevo::error);
}

}  // namespace build_choices_test
