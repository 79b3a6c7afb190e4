// timed
// timeout: 300
// The exploits of `kevo attack` for CUDA tasks, declared and hosted, on the test double of the driver: those
// that the double can play.

#include "fitness/attack/attack.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

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

TEST_CASE("where the honest program has launch lines alone, hosted exploits that need one say so") {
  const fake_gpu gpu;
  const auto found = attacked({"hosted/zeros", "hosted/cache_by_shape"}, toy::task_of("scale.yaml")->seeds);
  CHECK_MESSAGE(found.at("hosted/zeros").word == attack_word::caught, found.at("hosted/zeros").why);
  CHECK(found.at("hosted/cache_by_shape").word == attack_word::not_applicable);
  CHECK(found.at("hosted/cache_by_shape").why.find("--honest") != std::string::npos);
}
