// The results of a suite in the formats of KernelBench and FlashInfer-Bench.

#include "src/suite/bench_exports.hpp"

#include <cmath>
#include <filesystem>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/suite/suite_files.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;
namespace json = boost::json;

namespace {

constexpr const char* task_text =
    "name: scale\nop_type: scale\naxes: {N: {type: var}}\n"
    "inputs: {A: {shape: [N], dtype: float32}}\noutputs: {B: {shape: [N], dtype: float32}}\n"
    "reference: {language: cpp, file: reference.cpp}\n"
    "workloads: [{uuid: one, axes: {N: 64}}, {uuid: secret, axes: {N: 3}, hidden: true}]\nseeds: "
    "[seed.cpp]\n";

evaluation valid_evaluation() {
  evaluation e;
  e.outcome = outcome::valid;
  e.stage = evaluation_stage::confirmed;
  e.speedup = e.score = 4;
  e.speedup_interval = {3.5, 4.5};
  e.baseline = "seed";
  e.device = "device";
  e.backend = "cpu";
  e.protocol = "cpu 4";
  workload_result one{.uuid = "one", .axes = {{"N", 64}}, .outcome = outcome::valid, .time_ns = 2e6};
  one.baseline_ns = 8e6;
  one.speedup = 4;
  one.samples = {{1e6, 8e6}, {3e6, 8e6}};
  e.workloads = {one, {.uuid = "secret", .hidden = true, .outcome = outcome::valid}};
  return e;
}

/// A suite of one task with the number 7, level 2, with three solutions, and a task without a number.
struct finished_suite {
  shell::scratch folder;
  suite_plan plan;
  bench_outcome outcome_;

  finished_suite() {
    shell::write_file(folder / "task.yaml", task_text);
    for (const char* name : {"reference.cpp", "seed.cpp"}) shell::write_file(folder / name, "int x;\n");
    plan.name = "mine";
    plan.output = (folder / "out").string();
    std::filesystem::create_directories(plan.output);
    bench_task one{.entry = {.name = "7_scale", .file = (folder / "task.yaml").string()}, .level = "2"};
    const auto source = std::make_shared<const program>(single_file_program("cpp", "kernel.cpp", "int y;\n"));
    const auto fortran =
        std::make_shared<const program>(single_file_program("fortran", "kernel.f90", "end\n"));
    evaluation wrong;
    wrong.outcome = outcome::incorrect;
    wrong.reasons = {"element 3 differs"};
    evaluation broken;
    broken.outcome = outcome::build_failed;
    one.solutions = {
        {.name = "a", .state = bench_state::evaluated, .source = source, .result = valid_evaluation()},
        {.name = "b", .state = bench_state::evaluated, .source = source, .result = wrong},
        {.name = "c", .state = bench_state::evaluated, .source = fortran, .result = broken},
        {.name = "d", .state = bench_state::unreadable, .message = "cannot read"}};
    one.solutions[0].finished_at = "2026-01-02T03:04:05Z";
    one.best = 0;
    outcome_.tasks = {one, {.entry = {.name = "unnumbered", .file = (folder / "none.yaml").string()}}};
  }
};

}  // namespace

TEST_CASE("kernelbench: samples of each problem, and the times of the baseline from the same measurement") {
  const finished_suite suite;
  const auto report = report_of(suite.plan, suite.outcome_);
  std::vector<std::string> left_out;
  const auto files = export_bench(report, bench_format::kernelbench, left_out);
  REQUIRE(files.size() == 2);
  REQUIRE(left_out.size() == 1);
  CHECK(left_out.front().find("unnumbered") != std::string::npos);
  const auto results =
      json::parse(shell::read_file(suite.folder / "out/kernelbench/level2/eval_results.json"));
  const auto& samples = results.at("7").as_array();
  REQUIRE(samples.size() == 4);
  CHECK(samples[0].at("sample_id").as_int64() == 0);
  CHECK(samples[0].at("compiled").as_bool());
  CHECK(samples[0].at("correctness").as_bool());
  CHECK(samples[0].at("runtime").as_double() == doctest::Approx(2));
  CHECK(samples[0].at("runtime_stats").at("mean").as_double() == doctest::Approx(2));
  CHECK(samples[0].at("runtime_stats").at("std").as_double() == doctest::Approx(1));
  CHECK(samples[0].at("runtime_stats").at("min").as_double() == doctest::Approx(1));
  CHECK(samples[0].at("runtime_stats").at("num_trials").to_number<int>() == 2);
  CHECK(samples[1].at("compiled").as_bool());
  CHECK_FALSE(samples[1].at("correctness").as_bool());
  CHECK(samples[1].at("runtime").as_double() == -1);
  CHECK(std::string(samples[1].at("metadata").at("error").as_string()).find("element 3") !=
        std::string::npos);
  CHECK_FALSE(samples[2].at("compiled").as_bool());
  CHECK_FALSE(samples[3].at("compiled").as_bool());
  const auto times =
      json::parse(shell::read_file(suite.folder / "out/kernelbench/level2/baseline_time_kevo.json"));
  CHECK(times.at("level2").at("7_scale.py").at("mean").as_double() == doctest::Approx(8));
}

TEST_CASE("kernelbench: a problem without a right solution has an entry of its baseline") {
  finished_suite suite;
  bench_task failed = suite.outcome_.tasks[0];
  failed.entry.name = "8_relu";
  failed.problem_name = "8_ReLU.py";
  failed.solutions = {failed.solutions[1]};
  suite.outcome_.tasks.push_back(failed);
  std::vector<std::string> left_out;
  export_bench(report_of(suite.plan, suite.outcome_), bench_format::kernelbench, left_out);
  const auto times =
      json::parse(shell::read_file(suite.folder / "out/kernelbench/level2/baseline_time_kevo.json"));
  // KernelBench's analysis would otherwise count the right solutions alone.
  CHECK(times.at("level2").at("8_ReLU.py").at("mean").as_double() == -1);
}

TEST_CASE("the results as CSV and JSON say of each solution why it failed") {
  const finished_suite suite;
  const auto report = report_of(suite.plan, suite.outcome_);
  const auto solutions = json::parse(bench_json(report)).at("tasks").at(0).at("solutions").as_array();
  CHECK(solutions.at(0).at("reason").is_null());
  CHECK(std::string(solutions.at(1).at("reason").as_string()).find("element 3 differs") != std::string::npos);
  CHECK(solutions.at(3).at("reason").as_string() == "cannot read");
  const auto csv = bench_csv(report);
  CHECK(csv.substr(0, csv.find_first_of("\r\n")).find(",reason,") != std::string::npos);
  CHECK(csv.find("element 3 differs") != std::string::npos);
}

TEST_CASE("the results say what is correct at the given size alone, and it stands for its task") {
  finished_suite suite;
  auto& task = suite.outcome_.tasks[0];
  evaluation e = *task.solutions[1].result;
  e.workloads = {{.uuid = "one", .outcome = outcome::valid},
                 {.uuid = "secret", .hidden = true, .outcome = outcome::incorrect}};
  const auto plain = bench_table(report_of(suite.plan, suite.outcome_), false);
  CHECK(plain.find("given size") == std::string::npos);
  task.solutions = {task.solutions[1], task.solutions[1]};
  task.solutions[1].result = e;
  task.best = best_of(task.solutions);
  CHECK(task.best == 1);
  const auto report = report_of(suite.plan, suite.outcome_);
  CHECK(report.groups.front().exe.counted == 0);
  CHECK(report.groups.front().given_size.counted == 1);
  const auto said = json::parse(bench_json(report)).at("tasks").at(0);
  CHECK(said.at("correct_at_given_size").as_bool());
  CHECK_FALSE(said.at("exe").as_bool());
  CHECK_FALSE(said.at("solutions").at(0).at("correct_at_given_size").as_bool());
  CHECK(said.at("solutions").at(1).at("correct_at_given_size").as_bool());
  const auto csv = bench_csv(report);
  CHECK(csv.substr(0, csv.find_first_of("\r\n")).ends_with(",correct_at_given_size"));
  CHECK(csv.find(",yes\r\n") < csv.find("unnumbered"));
  CHECK(groups_csv(report).find("all,,exe_given_size,,0.5") != std::string::npos);
  const auto table = bench_table(report, false);
  CHECK(table.find("correct at the given size") != std::string::npos);
  CHECK(table.find("Exe, given size") != std::string::npos);
}

TEST_CASE("flashinfer: definitions, solutions and traces of all tasks; what has no word is named") {
  const finished_suite suite;
  const auto report = report_of(suite.plan, suite.outcome_);
  std::vector<std::string> left_out;
  const auto files = export_bench(report, bench_format::flashinfer, left_out);
  CHECK(left_out.size() == 2);  // Fortran; the task that is not there
  const std::filesystem::path root = files.front();
  CHECK(std::filesystem::exists(root / "definitions/scale/scale.json"));
  CHECK(std::filesystem::exists(root / "solutions/kevo/scale/scale/mine_7_scale_a.json"));
  std::istringstream traces(shell::read_file(root / "traces/scale/scale.jsonl"));
  std::vector<json::value> all;
  for (std::string line; std::getline(traces, line);) all.push_back(json::parse(line));
  REQUIRE(all.size() == 2);
  const auto& passed = all[0].at("evaluation");
  CHECK(passed.at("status").as_string() == "PASSED");
  CHECK(passed.at("timestamp").as_string() == "2026-01-02T03:04:05Z");
  CHECK(passed.at("environment").at("hardware").as_string() == "device");
  CHECK(passed.at("performance").at("latency_ms").to_number<double>() == doctest::Approx(2));
  CHECK(passed.at("performance").at("reference_latency_ms").to_number<double>() == doctest::Approx(8));
  CHECK(passed.at("performance").at("speedup_factor").to_number<double>() == doctest::Approx(4));
  CHECK(all[1].at("evaluation").at("status").as_string() == "INCORRECT_NUMERICAL");
  CHECK(all[0].at("workload").at("uuid").as_string() == "one");
}

TEST_CASE("the place in a published suite comes from the name, and the published name from a tag") {
  CHECK(place_in_name("level1_19_relu").level == "1");
  CHECK(place_in_name("level1_19_relu").number == 19);
  CHECK(place_in_name("19_relu").number == 19);
  CHECK(place_in_name("19_relu").level.empty());
  for (const char* name : {"relu", "levels_19_relu", "level_19", "19", "1234567890123_x", "level"})
    CHECK_MESSAGE(!place_in_name(name).number, name);
  finished_suite suite;
  suite.outcome_.tasks[0].problem_name = "19_ReLU.py";
  std::vector<std::string> left_out;
  export_bench(report_of(suite.plan, suite.outcome_), bench_format::kernelbench, left_out);
  const std::string folder = "out/kernelbench/level2/";
  CHECK(json::parse(shell::read_file(suite.folder / (folder + "eval_results.json")))
            .as_object()
            .contains("19"));
  CHECK(json::parse(shell::read_file(suite.folder / (folder + "baseline_time_kevo.json")))
            .at("level2")
            .as_object()
            .contains("19_ReLU.py"));
}

TEST_CASE("formats have names") {
  CHECK(bench_formats_of({"flashinfer", "kernelbench"}).size() == 2);
  CHECK_THROWS_AS(bench_formats_of({"pdf"}), error);
}
