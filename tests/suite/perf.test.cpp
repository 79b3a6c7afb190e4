// The rates of a suite's solutions, against divisions by hand, and what the reports say of them.

#include "src/suite/perf.hpp"

#include <sstream>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/load_task.hpp>

#include "src/suite/bench_report.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;

namespace {

constexpr const char* scale_text =
    "name: scale\naxes: {N: {type: var}, K: {type: const, value: 8}}\n"
    "inputs: {A: {shape: [N, K], dtype: float32}, F: {shape: null, dtype: float32}}\n"
    "outputs: {B: {shape: [N, K], dtype: bfloat16}}\n"
    "reference: {language: cpp, file: reference.cpp}\n"
    "workloads:\n"
    "  - {uuid: small, axes: {N: 1000}, inputs: {F: {type: scalar, value: 2}}}\n"
    "  - {uuid: secret, axes: {N: 3}, inputs: {F: {type: scalar, value: 2}}, hidden: true}\n"
    "  - {uuid: large, axes: {N: 125000}, inputs: {F: {type: scalar, value: 2}}}\n";

task scale_task(const std::string& cost) {
  const shell::scratch folder;
  shell::write_file(folder / "reference.cpp", "int x;\n");
  shell::write_file(folder / "task.yaml", scale_text + cost);
  return load_task((folder / "task.yaml").string());
}

workload_result on_workload(const char* uuid, double time_ns, interval range = {}) {
  workload_result w{.uuid = uuid, .outcome = outcome::valid, .time_ns = time_ns};
  w.time_interval = range;
  w.baseline_ns = 2 * time_ns;
  return w;
}

evaluation timed_evaluation(std::vector<workload_result> workloads) {
  evaluation e;
  e.outcome = outcome::valid;
  e.speedup = 2;
  e.workloads = std::move(workloads);
  return e;
}

/// A suite with one task and one solution.
struct judged_suite {
  suite_plan plan;
  bench_outcome outcome_;
  judged_suite(const task& t, const evaluation& e) {
    bench_task one{.entry = {.name = "scale <b>", .file = "task.yaml"}, .level = "1"};
    one.work = work_of(t);
    bench_solution s{.name = "mine", .file = "mine.cpp", .state = bench_state::evaluated};
    s.result = e;
    one.solutions = {s};
    one.best = 0;
    outcome_.tasks = {one};
  }
  bench_report report() const { return report_of(plan, outcome_); }
};

std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    auto& row = rows.emplace_back(1);
    for (const char c : line) {
      if (c == ',') {
        row.emplace_back();
      } else if (c != '"') {
        row.back() += c;
      }
    }
  }
  return rows;
}

std::string value_at(const std::vector<std::vector<std::string>>& rows, std::size_t row,
                     const std::string& name) {
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    if (rows.front()[i] == name) return rows.at(row).at(i);
  }
  throw std::logic_error("no column " + name);
}

}  // namespace

TEST_CASE("the work of a call is the task's cost, and without it the bytes of its tensors") {
  const auto work = work_of(scale_task("cost: {flops: \"3*N*K\", bytes: \"10*N\"}\n"));
  REQUIRE(work.size() == 2);  // no hidden one
  CHECK(work[0].uuid == "small");
  CHECK(work[0].bytes == 10 * 1000);
  CHECK(work[0].flops == 3 * 1000 * 8);
  CHECK(work[0].counted == bytes_source::cost);
  CHECK(work[1].uuid == "large");
  CHECK(work[1].bytes == 10 * 125000);

  const auto without = work_of(scale_task(""));
  CHECK(without[0].bytes == 1000 * 8 * (4 + 2));  // the scalar is no memory
  CHECK(without[0].counted == bytes_source::tensors);
  CHECK(without[0].flops == 0);

  task unknown = scale_task("");
  unknown.outputs[0].dtype = "float4_e2m1";
  CHECK(work_of(unknown)[0].bytes == 0);
  CHECK(work_of(unknown)[0].counted == bytes_source::unknown);
  unknown = scale_task("");
  unknown.outputs[0].shape = {"N/(K-8)"};
  CHECK(work_of(unknown)[0].bytes == 0);
}

TEST_CASE("a rate is the work over the time, and its interval is that of the time") {
  const auto work = work_of(scale_task("cost: {flops: \"16*N*K\", bytes: \"8*N\"}\n"));
  const auto all = perf_of(
      timed_evaluation({on_workload("small", 2000, {1600, 2500}), on_workload("large", 500000)}), work);
  REQUIRE(all.size() == 2);
  REQUIRE(all[0].gb_per_s);
  CHECK(all[0].gb_per_s->value == doctest::Approx(8000.0 / 2000));  // bytes / ns = GB/s
  REQUIRE(all[0].gb_per_s->range);
  CHECK(all[0].gb_per_s->range->low == doctest::Approx(8000.0 / 2500));
  CHECK(all[0].gb_per_s->range->high == doctest::Approx(8000.0 / 1600));
  CHECK(all[0].tflop_per_s->value == doctest::Approx(128000.0 / 2000 / 1000));
  CHECK(all[0].tflop_per_s->range->high == doctest::Approx(128000.0 / 1600 / 1000));
  CHECK(all[1].gb_per_s->value == doctest::Approx(2.0));
  CHECK(!all[1].gb_per_s->range);
  CHECK(!all[1].times);

  // The largest of a task; as one interval is missing, that of the largest is, too.
  const auto most = largest(all, &workload_perf::gb_per_s);
  REQUIRE(most);
  CHECK(most->uuid == "small");
  CHECK(most->rate.value == doctest::Approx(4));
  CHECK(!most->rate.range);
}

TEST_CASE("the interval of the largest rate holds the one that might be larger") {
  const auto work = work_of(scale_task("cost: {bytes: \"8*N\"}\n"));
  // 4 [3.2, 5] and 5 [4, 6.25] GB/s, and the other way round.
  const auto all = perf_of(timed_evaluation({on_workload("small", 1600, {1280, 2000}),
                                             on_workload("large", 250000, {200000, 312500})}),
                           work);
  const auto most = largest(all, &workload_perf::gb_per_s);
  REQUIRE(most);
  CHECK(most->uuid == "small");
  CHECK(most->rate.range->low == doctest::Approx(4));
  CHECK(most->rate.range->high == doctest::Approx(6.25));
  // A less certain, slower workload might be the largest: the upper end is its upper end.
  const auto wide = perf_of(timed_evaluation({on_workload("small", 1600, {1580, 1620}),
                                              on_workload("large", 250000, {100000, 312500})}),
                            work);
  CHECK(largest(wide, &workload_perf::gb_per_s)->rate.range->high == doctest::Approx(10));
  CHECK(!largest(wide, &workload_perf::tflop_per_s));
}

TEST_CASE("programs that are not correct, hidden and untimed workloads have no rates") {
  const auto work = work_of(scale_task("cost: {bytes: \"8*N\"}\n"));
  auto e = timed_evaluation({on_workload("small", 1600), on_workload("secret", 1), on_workload("large", 0)});
  e.workloads[1].hidden = true;
  CHECK(perf_of(e, work).size() == 1);
  e.outcome = outcome::incorrect;
  CHECK(perf_of(e, work).empty());
}

TEST_CASE("table, CSV, JSON and page say the rates with their intervals") {
  const judged_suite suite(scale_task("cost: {flops: \"16*N*K\", bytes: \"8*N\"}\n"),
                           timed_evaluation({on_workload("small", 2000, {1600, 2500}),
                                             on_workload("large", 500000, {400000, 800000})}));
  const auto report = suite.report();
  const std::string table = bench_table(report, false);
  for (const char* said : {"Perf", "GB/s", "TFLOP/s", "4.000  [3.200, 5.000]  small", "0.0640"})
    CHECK_MESSAGE(table.find(said) != std::string::npos, said << "\n" << table);
  CHECK(table.find('*') == std::string::npos);

  const auto rows = cells_of(bench_csv(report));
  CHECK(value_at(rows, 1, "gb_per_s") == "4");
  CHECK(value_at(rows, 1, "gb_per_s_low") == "3.2");
  CHECK(value_at(rows, 1, "gb_per_s_high") == "5");
  CHECK(std::stod(value_at(rows, 1, "tflop_per_s")) == doctest::Approx(0.064));
  const auto each = cells_of(perf_csv(report));
  REQUIRE(each.size() == 3);
  CHECK(value_at(each, 2, "workload") == "large");
  CHECK(value_at(each, 2, "time_us") == "500");
  CHECK(value_at(each, 2, "time_us_low") == "400");
  CHECK(value_at(each, 2, "baseline_us") == "1000");
  CHECK(value_at(each, 2, "gb_per_s") == "2");
  CHECK(value_at(each, 2, "gb_per_s_low") == "1.25");
  CHECK(value_at(each, 2, "bytes_from") == "cost");

  const auto json = boost::json::parse(bench_json(report));
  const auto& perf = json.at("tasks").at(0).at("perf");
  CHECK(perf.at("gb_per_s").at("value").to_number<double>() == doctest::Approx(4));
  CHECK(perf.at("gb_per_s").at("interval").at(0).to_number<double>() == doctest::Approx(3.2));
  CHECK(perf.at("gb_per_s").at("workload").as_string() == "small");
  CHECK(perf.at("workloads").as_array().size() == 2);

  const std::string page = bench_page(report);
  for (const char* said : {"<h2>Perf</h2>", "<b>4.000</b> <small>[3.200, 5.000]</small>", "scale &lt;b&gt;"})
    CHECK_MESSAGE(page.find(said) != std::string::npos, said);
}

TEST_CASE("a report says whose bytes are those of the tensors, and nothing where no rate is known") {
  const auto e = timed_evaluation({on_workload("small", 2000, {1600, 2500})});
  const judged_suite by_tensors(scale_task(""), e);
  const auto table = bench_table(by_tensors.report(), false);
  CHECK(table.find("24.00*") != std::string::npos);
  CHECK(table.find("* the task has no cost.bytes") != std::string::npos);
  CHECK(bench_page(by_tensors.report()).find("the task has no cost.bytes") != std::string::npos);
  CHECK(value_at(cells_of(perf_csv(by_tensors.report())), 1, "bytes_from") == "tensors");
  CHECK(value_at(cells_of(bench_csv(by_tensors.report())), 1, "tflop_per_s").empty());

  auto failed = e;
  failed.outcome = outcome::crashed;
  const judged_suite none(scale_task(""), failed);
  CHECK(bench_table(none.report(), false).find("GB/s") == std::string::npos);
  CHECK(bench_page(none.report()).find("<h2>Perf") == std::string::npos);
  CHECK(cells_of(perf_csv(none.report())).size() == 1);
}

TEST_CASE("both times of a call are in the table, the CSV and the JSON where they were measured") {
  auto e = timed_evaluation({on_workload("small", 2000, {1600, 2500})});
  const judged_suite one_time(scale_task(""), e);
  CHECK(bench_table(one_time.report(), false).find("host time") == std::string::npos);
  CHECK(value_at(cells_of(bench_csv(one_time.report())), 1, "host_speedup").empty());
  CHECK(bench_json(one_time.report()).find("host_speedup") == std::string::npos);

  e.speedup = e.device_speedup = 1.34;
  e.device_speedup_interval = {1.3, 1.38};
  e.host_speedup = 3.75;
  e.host_speedup_interval = {3.5, 4};
  const judged_suite both(scale_task(""), e);
  const std::string table = bench_table(both.report(), false);
  for (const char* said :
       {"by device time", "by host time", "1.340x [1.300 - 1.380]", "3.750x [3.500 - 4.000]"})
    CHECK_MESSAGE(table.find(said) != std::string::npos, said << "\n" << table);
  const auto rows = cells_of(bench_csv(both.report()));
  CHECK(value_at(rows, 1, "device_speedup") == "1.34");
  CHECK(value_at(rows, 1, "host_speedup") == "3.75");
  CHECK(value_at(rows, 1, "host_speedup_low") == "3.5");
  CHECK(value_at(rows, 1, "host_speedup_high") == "4");
  const auto json = boost::json::parse(bench_json(both.report()));
  const auto& task = json.at("tasks").at(0);
  CHECK(task.at("host_speedup").to_number<double>() == 3.75);
  CHECK(task.at("host_speedup_interval").at(1).to_number<double>() == 4);
}
