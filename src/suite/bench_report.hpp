#pragma once
// The results of a suite for people and for programs: a table, CSV, JSON and one HTML page.

#include <string>
#include <string_view>
#include <vector>

#include "src/base/text/csv_row.hpp"
#include "src/suite/bench.hpp"

namespace kevo {

struct bench_report {
  const suite_plan& plan;
  const bench_outcome& outcome;
  std::vector<task_score> scores;  ///< of the tasks, in their order
  std::vector<group_scores> groups;
};
/// `plan` and `outcome` must outlive it.
bench_report report_of(const suite_plan& plan, const bench_outcome& outcome);

/// What every reader of a geometric mean has to know, as a sentence.
std::string_view geometric_mean_bias();
std::string_view amsr_meaning();
/// What the rates of a task (TritonBench's Perf) are.
std::string_view perf_meaning();
/// What a rate means whose bytes are those of the tensors.
std::string_view tensors_meaning();
/// Sentences about what the figures do not hold for: tasks that were not evaluated, several devices or
/// protocols, the choice among several solutions.
std::vector<std::string> remarks(const bench_report& report);

/// The word for a task in tables: its outcome, or why there is none.
std::string_view task_word(const bench_task& one);
/// Why a task has no correct solution, on one line; empty if it has one. Untrusted text.
std::string task_reason(const bench_task& one);
/// Why a solution is not correct: by an evaluation of it, if there is one. Empty if it is. Untrusted text.
std::string solution_reason(const bench_solution& solution, const evaluation* e);

std::string bench_table(const bench_report& report, bool unicode);
std::string bench_csv(const bench_report& report);     ///< one row for each solution
std::string groups_csv(const bench_report& report);    ///< one row for each figure of each group
std::string perf_csv(const bench_report& report);      ///< one row for each timed workload of each solution
std::string perf_section(const bench_report& report);  ///< of the page; empty if no rate of any task is known
/// Three cells: the rate and the ends of its interval.
void put_rate(csv_row& row, const std::optional<work_rate>& rate);
std::string bench_json(const bench_report& report);  ///< one object on one line
std::string bench_page(const bench_report& report);

/// Writes bench.csv, groups.csv, perf.csv, bench.json and bench.html into the folder of the results; their
/// paths. A reader sees the old file or the new one. @throws kevo::error (environment)
std::vector<std::string> write_bench(const bench_report& report);

/// Writes a file whole or not at all. @throws kevo::error (environment)
void replace_file(const std::string& path, std::string_view text);

}  // namespace kevo
