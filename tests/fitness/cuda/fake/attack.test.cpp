// timed
// timeout: 300
// The exploits of `kevo attack` for CUDA tasks, declared and hosted, on the test double of the driver: those
// that the double can play.

#include "fitness/attack/attack.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/gpu_program.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;

namespace {

constexpr const char* hosted_scale =
    "#define FAKE_NS 40000\n#include <cuda_runtime.h>\n#include <cstdint>\n"
    "__global__ void scale(const float* x, float* y, long long n) {\n"
    "  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = 2 * x[i];\n}\n"
    "extern \"C\" int run(const float* x, float* y, int64_t N, cudaStream_t stream) {\n"
    "  scale<<<(N + 63) / 64, 64, 0, stream>>>(x, y, N);\n  return 0;\n}\n";

std::map<std::string, attack_finding> attacked(const std::vector<std::string>& names,
                                               const std::vector<program>& honest) {
  std::vector<exploit> wanted;
  for (auto& one : shipped_exploits()) {
    if (std::find(names.begin(), names.end(), one.name) != names.end()) wanted.push_back(std::move(one));
  }
  REQUIRE(wanted.size() == names.size());
  attack_settings settings;
  settings.fitness = [](std::shared_ptr<const task> t) {
    return any_fitness(std::make_shared<cuda_fitness>(std::move(t), toy::quick_settings()));
  };
  std::map<std::string, attack_finding> found;
  for (auto& one : attack_task(*toy::task_of("scale.yaml"), honest, wanted, settings).findings)
    found[one.name] = std::move(one);
  return found;
}

}  // namespace

TEST_CASE("declared exploits stand around the launch lines of the seed, and are caught") {
  const fake_gpu gpu;
  const auto found = attacked({"cpp/zeros", "declared/honest", "declared/zeros", "declared/not_a_number",
                               "declared/first_part_missing", "declared/empty_step_first"},
                              toy::task_of("scale.yaml")->seeds);
  CHECK(found.count("cpp/zeros") == 0);  // not written for such a task
  CHECK(found.at("declared/honest").word == attack_word::control);
  CHECK(found.at("declared/honest").result->valid());
  for (const char* name : {"declared/zeros", "declared/not_a_number", "declared/first_part_missing"}) {
    const auto& one = found.at(name);
    CHECK_MESSAGE(one.word == attack_word::caught, name << ": " << to_string(one.word) << ": " << one.why);
    CHECK(one.expected);
  }
  CHECK(found.at("declared/empty_step_first").word != attack_word::got_through);
}

TEST_CASE("hosted exploits call the honest program's run, and are caught or gain nothing") {
  const fake_gpu gpu;
  const auto found =
      attacked({"hosted/honest", "hosted/zeros", "hosted/cache_by_shape", "hosted/correct_at_first"},
               {program_of("cuda", hosted_scale)});
  const auto& control = found.at("hosted/honest");
  CHECK(control.word == attack_word::control);
  CHECK_MESSAGE(control.result->valid(), control.why);
  for (const char* name : {"hosted/zeros", "hosted/cache_by_shape", "hosted/correct_at_first"}) {
    const auto& one = found.at(name);
    CHECK_MESSAGE(one.word == attack_word::caught, name << ": " << to_string(one.word) << ": " << one.why);
    CHECK_MESSAGE(one.result->outcome == outcome::incorrect, name << ": " << one.why);
  }
}

TEST_CASE("variables that are too large to be restored are refused, small ones and workspaces are not") {
  const fake_gpu gpu;
  auto settings = toy::quick_settings();
  cuda_fitness fitness(toy::task_of("rows.yaml"), settings);
  const auto judge = [](cuda_fitness& by, const std::string& text) {
    return toy::evaluate(by, "#define FAKE_NS 20000\n" + text, evaluation_stage::checked);
  };
  const std::filesystem::path corpus = KEVO_SOURCE_DIR "/tests/gpu";
  const std::map<std::string, std::string> told = {
      {"zeros_in_global", "(parts: 33554432 bytes)"},
      {"zeros_in_two_globals", "(even: 40000 bytes, odd: 40000 bytes)"},
      {"zeros_in_padding", "take 65537 bytes in all"},
      {"zeros_in_managed", "the managed variable parts could carry results from one call to the next"}};
  for (const auto& [name, words] : told) {
    const auto program = gpu_program::read(corpus, corpus / "attacks" / (name + ".cu"));
    const auto one = judge(fitness, program.text);
    CHECK_MESSAGE(program.accepts(std::string(to_string(one.outcome))), name, ": ", one.feedback);
    CHECK_MESSAGE(one.feedback.find(words) != std::string::npos, name, ": ", one.feedback);
  }
  for (const char* name : {"zeros_in_workspace", "zeros_in_small_global", "counter_that_does_not_reset"}) {
    const auto program = gpu_program::read(corpus, corpus / "honest" / (std::string(name) + ".cu"));
    const auto one = judge(fitness, program.text);
    CHECK_MESSAGE(one.valid(), name, ": ", one.feedback);
  }
  // Who accepts managed variables does not accept a clearing that is not timed.
  settings.allow_globals = true;
  cuda_fitness lenient(toy::task_of("rows.yaml"), settings);
  const auto managed = judge(lenient, shell::read_file(corpus / "attacks/zeros_in_managed.cu"));
  CHECK(managed.outcome == outcome::rejected);
  CHECK_MESSAGE(managed.feedback.find("(parts: 33554432 bytes)") != std::string::npos, managed.feedback);
}

TEST_CASE("a baseline has no larger variables than candidates") {
  const fake_gpu gpu;
  auto t = *toy::task_of("rows.yaml");
  t.baselines = {
      {"cleared",
       program_of("cuda", shell::read_file(KEVO_SOURCE_DIR "/tests/gpu/attacks/zeros_in_global.cu")),
       {},
       false}};
  cuda_fitness fitness(std::make_shared<const task>(t), toy::quick_settings());
  const auto honest = toy::task_of("rows.yaml")->seeds.front().files.front().text;
  CHECK_THROWS_WITH_AS(
      toy::evaluate(fitness, honest),
      doctest::Contains("the baseline 'cleared' does not build: the variables of the program"), error);
}

TEST_CASE("where the honest program has launch lines alone, hosted exploits that need one say so") {
  const fake_gpu gpu;
  const auto found = attacked({"hosted/zeros", "hosted/cache_by_shape"}, toy::task_of("scale.yaml")->seeds);
  CHECK_MESSAGE(found.at("hosted/zeros").word == attack_word::caught, found.at("hosted/zeros").why);
  CHECK(found.at("hosted/cache_by_shape").word == attack_word::not_applicable);
  CHECK(found.at("hosted/cache_by_shape").why.find("--honest") != std::string::npos);
}
