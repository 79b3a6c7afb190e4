// kevo bench: all tasks of a suite, and its report.

#include "src/suite/bench.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/cli/announced_waits.hpp"
#include "src/cli/command.hpp"
#include "src/cli/standard_error.hpp"
#include "src/display/terminal.hpp"
#include "src/run/interrupts.hpp"
#include "src/suite/bench_exports.hpp"
#include "src/suite/bench_report.hpp"

namespace kevo::cli {
namespace {

struct bench_words {
  std::string suite;
  std::vector<std::string> overrides;
  std::vector<std::string> exports;
  bool report = false;
  bool again = false;
  bool print_config = false;
};

std::string line_of(const bench_task& one, const bench_solution& s) {
  std::string text = fmt::format("{} {}: ", format::one_line(one.entry.name), format::one_line(s.name));
  if (!s.result) return text + std::string(to_string(s.state)) + ": " + format::one_line(s.message);
  text += to_string(s.result->outcome);
  if (s.result->valid()) text += ", " + format::figure(s.result->speedup, s.result->score, false);
  return s.reused ? text + " (known)" : text;
}

/// A line on standard error for each solution that is done.
auto progress_of(const suite_plan& plan) {
  std::size_t all = 0;
  for (const auto& one : plan.tasks) all += plan.evolve ? 1 : one.solutions.size();
  return [all, done = std::size_t{0}](const bench_task& one, const bench_solution& s) mutable {
    say(fmt::format("{}/{} {}", ++done, all, line_of(one, s)));
  };
}

void print_result(const bench_report& report, const std::vector<std::string>& files,
                  const invocation& shared) {
  if (shared.json) {
    auto object = boost::json::parse(bench_json(report)).as_object();
    boost::json::array names;
    for (const auto& file : files) names.push_back(boost::json::value(file));
    object["files"] = std::move(names);
    fmt::print("{}\n", boost::json::serialize(object));
    return;
  }
  std::string text = bench_table(report, locale_is_utf8());
  text += fmt::format("\n{} {}, {} from earlier starts; results in {}\n", report.outcome.evaluations,
                      format::noun(report.outcome.evaluations, "evaluation"), report.outcome.reused,
                      report.plan.output);
  for (const auto& file : files) text += file + '\n';
  fmt::print("{}", format::printable(text));
}

void bench(const bench_words& words, invocation& shared) {
  const suite_plan plan = load_suite(words.suite, words.overrides);
  const auto formats = bench_formats_of(words.exports);
  if (words.print_config) {
    fmt::print("{}\n", plan.resolved);
    return;
  }
  interrupts user;
  announced_waits waits;
  bench_request request{.evaluate = !words.report,
                        .again = words.again,
                        .graceful_stop = user.graceful_stop(),
                        .immediate_stop = user.immediate_stop(),
                        .told = {},
                        .message = {},
                        .poll = [&user] { user.poll(); },
                        .waiting = waits.listener()};
  if (!shared.json && request.evaluate) {
    request.told = progress_of(plan);
    request.message = say;
  }
  const bench_outcome outcome = run_bench(plan, request);
  const bench_report report = report_of(plan, outcome);
  std::vector<std::string> files = write_bench(report);
  std::vector<std::string> left_out;
  for (const auto format : formats) {
    for (auto& file : export_bench(report, format, left_out)) files.push_back(std::move(file));
  }
  for (const auto& one : left_out) warn("not exported: " + one);
  print_result(report, files, shared);
  if (outcome.environment_failures > 0) shared.exit_code = 1;
  if (outcome.interrupted) shared.exit_code = 130;
}

}  // namespace

void add_bench(CLI::App& program, invocation& shared) {
  auto* verb =
      program.add_subcommand("bench", "Evaluate the solutions of a suite of tasks, or evolve each task");
  auto words = std::make_shared<bench_words>();
  verb->add_option("suite", words->suite, "Suite file (YAML)")->required();
  verb->add_option("--set", words->overrides, "Override a key of the suite: --set suite.parallel=1")
      ->allow_extra_args(false);
  verb->add_flag(
      "--report", words->report,
      "Evaluate nothing; write the report of the present results, also while another process evaluates");
  verb->add_flag("--again", words->again, "Also repeat evaluations that were made before");
  verb->add_option(
          "--export", words->exports,
          "Also write the results for other programs: kernelbench (results JSON) or flashinfer (a data set "
          "with traces); may be given several times")
      ->allow_extra_args(false);
  verb->add_flag("--print-config", words->print_config,
                 "Print the complete suite, including all defaults, and exit");
  add_json_flag(*verb, shared);
  verb->callback([words, &shared] { bench(*words, shared); });
}

}  // namespace kevo::cli
