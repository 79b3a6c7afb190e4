// labels: slow
// timeout: 600
// one processor
// Wrong programs around the reference's own text, as devices need them, on the CPU: the same controls as
// those that are made from expected outputs.
#include "fitness/torch/check_by_programs.hpp"

#include <algorithm>
#include <string>

#include "tests/torch/corpus.hpp"

namespace {

const kevo::control_result& control_named(const kevo::task_report& report, const std::string& name) {
  const auto found = std::find_if(report.controls.begin(), report.controls.end(),
                                  [&](const auto& one) { return one.name == name; });
  REQUIRE_MESSAGE(found != report.controls.end(), name, " was not tried");
  return *found;
}

}  // namespace

TEST_CASE("wrong programs around the reference fail, and the reference passes") {
  if (!torch_corpus::fitness_for("rows")) return;
  auto t = kevo::load_task(KEVO_SOURCE_DIR "/tests/torch/tasks/rows.yaml");
  const auto report =
      kevo::torch::check_by_programs(std::make_shared<const kevo::task>(t), torch_corpus::quick_settings());
  for (const auto& one : report.controls) CHECK_MESSAGE((one.ok && !one.skipped), one.name, ": ", one.detail);
  CHECK(report.ok());
  CHECK(report.advice.empty());
  CHECK(control_named(report, "stale output").detail.find("fails on workload") == 0);
}

TEST_CASE("a tolerance that is too wide accepts wrong programs, and the report says which") {
  if (!torch_corpus::fitness_for("layer")) return;
  auto t = kevo::load_task(KEVO_SOURCE_DIR "/tests/torch/tasks/layer.yaml");
  t.tolerances[""].max_atol = t.tolerances[""].max_rtol = 0.01;
  const auto report =
      kevo::torch::check_by_programs(std::make_shared<const kevo::task>(t), torch_corpus::quick_settings());
  CHECK(!report.ok());
  CHECK(!control_named(report, "next lower precision").ok);
  CHECK(control_named(report, "zeros").ok);
  CHECK(control_named(report, "reference in the types of the task").ok);
  CHECK(report.advice.find("too wide") != std::string::npos);
}
