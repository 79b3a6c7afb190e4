// kevo rejudge: the elites of old runs, evaluated again under today's rules, and which of them fell.

#include "src/rejudge/rejudge.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/cli/announced_waits.hpp"
#include "src/cli/command.hpp"
#include "src/display/terminal.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;

struct rejudge_options {
  std::vector<std::string> runs;
  std::string task;
  std::size_t top = 0;
  bool all = false;
  bool again = false;
  bool trust = false;
  std::vector<std::string> overrides;
};

/// Evaluations of before there were versions say nothing.
std::string protocol_of(const evaluation& e) {
  return e.protocol.empty() ? "unknown" : e.protocol;
}

/// Text of a journal, which anybody may have written, in one line that a terminal does not obey.
std::string shown(const std::string& text) {
  return format::one_line(text, !locale_is_utf8());
}

json::value number(double x) {
  return x > 0 ? json::value(x) : json::value(nullptr);
}

json::value object_of(const std::shared_ptr<const evaluation>& e) {
  if (!e) return nullptr;
  return json::object{{"outcome", to_string(e->outcome)},
                      {"stage", to_string(e->stage)},
                      {"speedup", number(e->speedup)},
                      {"speedup_interval", e->speedup_interval.low > 0 ? json::value{e->speedup_interval.low,
                                                                                     e->speedup_interval.high}
                                                                       : json::value(nullptr)},
                      {"score", number(e->score)},
                      {"baseline", e->baseline},
                      {"protocol", protocol_of(*e)},
                      {"device", e->device}};
}

json::object object_of(const rejudge_report& report) {
  json::array elites;
  for (const auto& one : report.elites) {
    elites.push_back(json::object{{"candidate", one.id},
                                  {"program", one.program},
                                  {"champion", one.champion},
                                  {"verdict", to_string(one.verdict.word)},
                                  {"reason", one.verdict.reason},
                                  {"known", one.known},
                                  {"old", object_of(one.old)},
                                  {"new", object_of(one.now)}});
  }
  json::object made{
      {"run", report.run},
      {"task", report.task},
      {"task_changed", report.task_changed},
      {"protocol", report.protocol.empty() ? json::value(nullptr) : json::value(report.protocol)},
      {"file", report.file.empty() ? json::value(nullptr) : json::value(report.file)}};
  for (const auto word : {rejudge_word::holds, rejudge_word::slower, rejudge_word::faster, rejudge_word::fell,
                          rejudge_word::undecided})
    made[to_string(word)] = report.count(word);
  made["elites"] = std::move(elites);
  return made;
}

std::string figure(const std::shared_ptr<const evaluation>& e) {
  if (!e) return "-";
  if (!e->valid()) return std::string(to_string(e->outcome));
  if (e->speedup > 0)
    return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", e->speedup, e->speedup_interval.low,
                       e->speedup_interval.high);
  return fmt::format("score {:.6g}", e->score);
}

void print_elite(const rejudged_elite& one) {
  fmt::print("{:10} #{:<6} {:22} -> {:22} {} -> {}{}{}{}\n", to_string(one.verdict.word), one.id,
             figure(one.old), figure(one.now), one.old ? shown(protocol_of(*one.old)) : "unknown",
             one.now ? protocol_of(*one.now) : "unknown", one.champion ? "  champion" : "",
             one.known ? "  judged before" : "",
             one.verdict.reason.empty() ? "" : "  " + shown(one.verdict.reason));
  std::fflush(stdout);
}

void print_summary(const rejudge_report& report) {
  if (report.elites.empty()) {
    fmt::print("{}: this run has no valid candidate\n", report.run);
    return;
  }
  fmt::print("{}: {} hold, {} slower, {} faster, {} fell (no longer valid), {} undecided{}\n", report.run,
             report.count(rejudge_word::holds), report.count(rejudge_word::slower),
             report.count(rejudge_word::faster), report.count(rejudge_word::fell),
             report.count(rejudge_word::undecided),
             report.task_changed ? "; the task has changed since the run" : "");
}

void rejudge(const rejudge_options& given, const invocation& shared) {
  json::array runs;
  std::size_t judged = 0;
  std::size_t fell = 0;
  announced_waits waits;
  for (const auto& run : given.runs) {
    rejudge_request request{.run = run,
                            .task = given.task,
                            .top = given.top,
                            .all = given.all,
                            .again = given.again,
                            .trust = given.trust,
                            .overrides = given.overrides};
    request.waiting = waits.listener();
    if (!shared.json) request.told = print_elite;
    const rejudge_report report = rejudge_run(request);
    judged += report.elites.size();
    fell += report.count(rejudge_word::fell);
    shared.json ? runs.push_back(object_of(report)) : print_summary(report);
  }
  if (shared.json) {
    fmt::print("{}\n",
               json::serialize(json::object{{"judged", judged}, {"fell", fell}, {"runs", std::move(runs)}}));
  }
}

}  // namespace

void add_rejudge(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("rejudge",
                                      "Evaluate the best candidates of earlier runs again under the current "
                                      "rules and report which results still hold");
  auto given = std::make_shared<rejudge_options>();
  verb->add_option("run", given->runs, "Run folders")->required();
  verb->add_option("--task", given->task, "Path of the task file, if it has moved");
  auto* top = verb->add_option("--top", given->top,
                               "Evaluate only the champion and this many best candidates (default: the "
                               "champion, the archive and the best 5)");
  verb->add_flag("--all", given->all, "Evaluate every valid candidate")->excludes(top);
  verb->add_flag("--again", given->again,
                 "Also evaluate candidates that were already judged under the same rules");
  verb->add_flag("--trust", given->trust,
                 "Trust the config of the run: use its sandbox mode and execute what it names (plug-ins, the "
                 "program of the command backend)");
  verb->add_option("--set", given->overrides,
                   "Override a fitness setting of the run: --set fitness.compiler=clang++")
      ->allow_extra_args(false);
  add_json_flag(*verb, shared);
  verb->callback([given, &shared] { rejudge(*given, shared); });
}

}  // namespace kevo::cli
