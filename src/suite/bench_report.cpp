#include "src/suite/bench_report.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/renamed_file.hpp"
#include "src/report/evaluation_text.hpp"

namespace kevo {
std::string_view geometric_mean_bias() {
  return "over correct solutions only: tasks without one are left out, which makes it too high (survivorship "
         "bias); read it together with fast_p";
}

std::string_view amsr_meaning() {
  return "arithmetic mean of the speedups over all tasks, where a solution that is slower than the baseline "
         "or not "
         "correct counts 0; one large speedup can dominate it";
}

std::string_view perf_meaning() {
  return "Perf: the task's work divided by the time of a call; the largest value over the timed workloads, "
         "and "
         "on which one (\"at\")";
}

std::string_view tensors_meaning() {
  return "the task has no cost.bytes: each input and output counts once, parameters of a module do not";
}

bench_report report_of(const suite_plan& plan, const bench_outcome& outcome) {
  auto scores = task_scores(outcome);
  auto groups = score_groups(scores, plan.scores);
  return {plan, outcome, std::move(scores), std::move(groups)};
}

std::string_view task_word(const bench_task& one) {
  if (const auto* e = one.judged()) return to_string(e->outcome);
  if (one.solutions.empty()) return "no solution";
  switch (one.solutions.front().state) {
    case bench_state::pending:
    case bench_state::evaluated:
      return "not evaluated";
    case bench_state::unreadable:
      return "unreadable";
    case bench_state::none_found:
      return "none found";
    case bench_state::task_failed:
      return "task failed";
    case bench_state::environment:
      return "machine failed";
  }
  return "not evaluated";
}

std::string task_reason(const bench_task& one) {
  if (const auto* e = one.judged()) return solution_reason(one.solutions[*one.best], e);
  return one.solutions.empty() ? std::string() : one.solutions.front().message;
}

std::string solution_reason(const bench_solution& solution, const evaluation* e) {
  if (e == nullptr) return solution.message;
  if (e->valid()) return {};
  const std::string inside = solution.source ? solution.source->files.front().path : std::string();
  return with_renamed_file(failure_text(*e), inside, solution.file);
}

std::vector<std::string> remarks(const bench_report& report) {
  const bench_outcome& outcome = report.outcome;
  std::vector<std::string> all;
  std::size_t without = 0;
  std::size_t task_failures = 0;
  std::size_t most = 0;
  std::set<std::string> devices;
  std::set<std::string> protocols;
  for (const auto& one : outcome.tasks) {
    without += one.solutions.empty() ? 1 : 0;
    most = std::max(most, one.solutions.size());
    bool failed = false;
    for (const auto& s : one.solutions) {
      failed = failed || s.state == bench_state::task_failed;
      if (!s.result) continue;
      devices.insert(s.result->device);
      protocols.insert(s.result->protocol);
    }
    task_failures += failed ? 1 : 0;
  }
  if (outcome.pending > 0)
    all.push_back(format::counted(outcome.pending, "solution") +
                  " not evaluated yet, counted as not correct; run the same command again to continue");
  if (outcome.environment_failures > 0)
    all.push_back(
        format::counted(outcome.environment_failures, "evaluation") +
        " in which the machine failed, counted as not correct; run the same command again to repeat them");
  if (task_failures > 0)
    all.push_back(format::counted(task_failures, "task") +
                  " that cannot be loaded or that the backend refuses, counted as not correct");
  if (without > 0)
    all.push_back(format::counted(without, "task") + " without a solution, counted as not correct");
  for (const auto& one : outcome.tasks) {
    if (const auto why = one.fixed_result(); !why.empty())
      all.push_back(fmt::format("{}: left out of fast_p and of all other figures: {}", one.entry.name, why));
  }
  if (most > 1)
    all.emplace_back(
        "a task with several solutions counts by the fastest valid one, which was measured once more for its "
        "figure; \"of one\" is the mean over its solutions");
  if (devices.size() > 1)
    all.push_back(
        fmt::format("the results come from {} devices; speedups on different devices cannot be compared",
                    devices.size()));
  if (protocols.size() > 1)
    all.push_back(fmt::format(
        "the results come from {} versions of the measuring protocol; --again evaluates all again",
        protocols.size()));
  return all;
}

void replace_file(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  {
    std::ofstream out(fresh, std::ios::binary);
    out << text;
    out.flush();
    if (!out) {
      throw error(error_code::environment, "cannot write this file", {.file = fresh, .key = {}},
                  "free some disk space and run the same command again; finished evaluations are kept");
    }
  }
  std::error_code wrong;
  std::filesystem::rename(fresh, path, wrong);
  if (wrong)
    throw error(error_code::environment, "cannot write this file: " + wrong.message(),
                {.file = path, .key = {}},
                "check the permissions of the folder and run the same command again");
}

std::vector<std::string> write_bench(const bench_report& report) {
  std::vector<std::string> files;
  const auto put = [&](const char* name, const std::string& text) {
    files.push_back((std::filesystem::path(report.plan.output) / name).string());
    replace_file(files.back(), text);
  };
  put("bench.csv", bench_csv(report));
  put("groups.csv", groups_csv(report));
  put("perf.csv", perf_csv(report));
  put("bench.json", bench_json(report) + '\n');
  put("bench.html", bench_page(report));
  return files;
}

}  // namespace kevo
