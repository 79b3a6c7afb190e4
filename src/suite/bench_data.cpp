// The results of a suite for programs: CSV and JSON.

#include <cmath>
#include <sstream>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/text/csv_row.hpp"
#include "src/base/text/two_times.hpp"
#include "src/base/text/utf8.hpp"
#include "src/journal/database_file.hpp"
#include "src/suite/bench_report.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

json::value number_or_null(double x) {
  return std::isfinite(x) ? json::value(x) : json::value(nullptr);
}
json::value known_or_null(double x) {
  return x > 0 ? number_or_null(x) : json::value(nullptr);
}
json::value range_or_null(const std::optional<interval>& range) {
  if (!range) return nullptr;
  return json::array{number_or_null(range->low), number_or_null(range->high)};
}
json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(as_utf8(text));
}

json::object share_object(const task_share& s) {
  return {{"tasks", s.tasks},
          {"counted", s.counted},
          {"decided", s.decided},
          {"undecided", s.undecided},
          {"share", s.value()},
          {"bounds", {s.low(), s.high()}},
          {"interval", {s.range.low, s.range.high}}};
}

json::value mean_object(const mean_figure& f) {
  if (f.values == 0) return nullptr;
  return json::object{
      {"value", number_or_null(f.value)}, {"interval", range_or_null(f.range)}, {"values", f.values}};
}

json::object group_object(const group_scores& g) {
  json::array fast;
  for (const auto& f : g.fast) {
    json::object one = share_object(f.share);
    one["p"] = f.p;
    one["of_one"] = f.of_one;
    fast.push_back(std::move(one));
  }
  return {{"kind", g.kind},
          {"name", g.kind == "all" ? json::value(nullptr) : json::value(as_utf8(g.name))},
          {"tasks", g.tasks},
          {"call", share_object(g.call)},
          {"exe", share_object(g.exe)},
          {"exe_given_size", share_object(g.given_size)},
          {"fast", std::move(fast)},
          {"geometric_mean", mean_object(g.geometric_mean)},
          {"geometric_mean_bias", geometric_mean_bias()},
          {"median", mean_object(g.median)},
          {"amsr", mean_object(g.amsr)},
          {"mean", mean_object(g.mean)},
          {"sol_fraction", known_or_null(g.sol_fraction)},
          {"sol_score", g.sol_score ? json::value(*g.sol_score) : json::value(nullptr)}};
}

json::object solution_object(const bench_solution& s) {
  json::object o{{"solution", as_utf8(s.name)},
                 {"file", text_or_null(s.file)},
                 {"program", s.source ? json::value(to_string(id_of(*s.source))) : json::value(nullptr)},
                 {"state", to_string(s.state)},
                 {"message", text_or_null(s.message)},
                 {"reused", s.reused},
                 {"finished_at", text_or_null(s.finished_at)},
                 {"run", text_or_null(s.evolved_in)}};
  o["reason"] = text_or_null(solution_reason(s, s.result ? &*s.result : nullptr));
  o["correct_at_given_size"] = s.result && correct_at_given_size(*s.result);
  o["outcome"] = s.result ? json::value(to_string(s.result->outcome)) : json::value(nullptr);
  o["speedup"] = s.result ? known_or_null(s.result->speedup) : json::value(nullptr);
  return o;
}

json::value rate_object(const std::optional<work_rate>& rate) {
  if (!rate) return nullptr;
  return json::object{{"value", number_or_null(rate->value)}, {"interval", range_or_null(rate->range)}};
}

json::value largest_object(const std::optional<largest_rate>& largest) {
  if (!largest) return nullptr;
  json::object o = rate_object(largest->rate).as_object();
  o["workload"] = as_utf8(largest->uuid);
  return o;
}

json::object perf_object(const std::vector<workload_perf>& all) {
  json::array workloads;
  for (const auto& one : all) {
    workloads.push_back(json::object{{"uuid", as_utf8(one.uuid)},
                                     {"time_ns", known_or_null(one.time_ns)},
                                     {"time_interval", range_or_null(one.times)},
                                     {"baseline_ns", known_or_null(one.baseline_ns)},
                                     {"gb_per_s", rate_object(one.gb_per_s)},
                                     {"bytes_from", to_string(one.counted)},
                                     {"tflop_per_s", rate_object(one.tflop_per_s)}});
  }
  return {{"gb_per_s", largest_object(largest(all, &workload_perf::gb_per_s))},
          {"tflop_per_s", largest_object(largest(all, &workload_perf::tflop_per_s))},
          {"workloads", std::move(workloads)}};
}

// What KernelBench's own comparison says; empty where it was not asked.
std::string suite_rule_of(const evaluation& e) {
  const auto found = e.context.find("kernelbench_rule");
  return found == e.context.end() ? std::string() : found->second;
}

json::object task_object(const bench_task& one, const task_score& score) {
  json::array solutions;
  for (const auto& s : one.solutions) solutions.push_back(solution_object(s));
  const evaluation* e = one.judged();
  const bool valid = e != nullptr && e->valid();
  json::object o{
      {"name", as_utf8(one.entry.name)},
      {"task", text_or_null(one.task_name)},
      {"task_id", text_or_null(one.task_id)},
      {"file", as_utf8(one.entry.file)},
      {"level", text_or_null(one.level)},
      {"category", text_or_null(one.category)},
      {"problem", one.entry.problem ? json::value(*one.entry.problem) : json::value(nullptr)},
      {"outcome", e != nullptr ? json::value(to_string(e->outcome)) : json::value(nullptr)},
      {"reason", text_or_null(task_reason(one))},
      {"left_out", text_or_null(one.fixed_result())},
      {"kernelbench_rule", text_or_null(e != nullptr ? suite_rule_of(*e) : std::string())},
      {"call", score.best.called},
      {"exe", score.best.correct},
      {"correct_at_given_size", score.best.given_size},
      {"speedup", valid ? known_or_null(e->speedup) : json::value(nullptr)},
      {"speedup_interval",
       valid && e->speedup_interval.high > 0 ? range_or_null(e->speedup_interval) : json::value(nullptr)},
      {"score", valid ? number_or_null(e->score) : json::value(nullptr)},
      {"sol_score", score.best.sol_score ? json::value(*score.best.sol_score) : json::value(nullptr)},
      {"best", one.best ? json::value(as_utf8(one.solutions[*one.best].name)) : json::value(nullptr)},
      {"measured_again", one.again.has_value()},
      {"solutions", std::move(solutions)}};
  if (valid && has_two_times(*e)) {
    o["device_speedup"] = known_or_null(e->device_speedup);
    o["device_speedup_interval"] = range_or_null(e->device_speedup_interval);
    o["host_speedup"] = known_or_null(e->host_speedup);
    o["host_speedup_interval"] = range_or_null(e->host_speedup_interval);
  }
  o["perf"] = e == nullptr ? json::value(nullptr) : json::value(perf_object(perf_of(*e, one.work)));
  o["evaluation"] = e == nullptr
                        ? json::value(nullptr)
                        : parse_json_exactly(as_utf8(to_json(
                              *e, {.task = one.task_name, .raw_samples = false, .hidden_details = false})));
  return o;
}

void put_share(std::ostream& out, const group_scores& g, const char* figure, std::optional<double> p,
               const task_share& s) {
  csv_row row;
  row.text(g.kind).text(g.name).text(figure);
  p ? row.number(*p) : row.nothing();
  row.number(s.value())
      .number(s.low())
      .number(s.high())
      .number(s.range.low)
      .number(s.range.high)
      .count(s.tasks);
  row.end(out);
}

void put_mean(std::ostream& out, const group_scores& g, const char* figure, const mean_figure& f) {
  csv_row row;
  row.text(g.kind).text(g.name).text(figure).nothing();
  f.values > 0 ? row.number(f.value) : row.nothing();
  row.nothing().nothing();
  if (f.range) {
    row.number(f.range->low).number(f.range->high);
  } else {
    row.nothing().nothing();
  }
  row.count(f.values);
  row.end(out);
}

void put_largest(csv_row& row, const evaluation* e, const bench_task& one) {
  const auto perf = e == nullptr ? std::vector<workload_perf>() : perf_of(*e, one.work);
  for (const auto rate : {&workload_perf::gb_per_s, &workload_perf::tflop_per_s}) {
    const auto most = largest(perf, rate);
    put_rate(row, most ? std::optional(most->rate) : std::nullopt);
  }
}

}  // namespace

std::string bench_csv(const bench_report& report) {
  std::ostringstream out;
  csv_row row;
  for (const char* name : {"task",
                           "level",
                           "category",
                           "problem",
                           "solution",
                           "best",
                           "round",
                           "state",
                           "outcome",
                           "stage",
                           "speedup",
                           "speedup_low",
                           "speedup_high",
                           "score",
                           "baseline",
                           "sol_fraction",
                           "sol_score",
                           "device",
                           "protocol",
                           "finished_at",
                           "program",
                           "file",
                           "message",
                           "kernelbench_rule",
                           "gb_per_s",
                           "gb_per_s_low",
                           "gb_per_s_high",
                           "tflop_per_s",
                           "tflop_per_s_low",
                           "tflop_per_s_high",
                           "device_speedup",
                           "device_speedup_low",
                           "device_speedup_high",
                           "host_speedup",
                           "host_speedup_low",
                           "host_speedup_high",
                           "reason",
                           "correct_at_given_size"})
    row.text(name);
  row.end(out);
  const auto put = [&](const bench_task& one, const bench_solution* s, const evaluation* e, bool best,
                       int round) {
    row.text(one.entry.name).text(one.level).text(one.category);
    one.entry.problem ? row.count(static_cast<std::size_t>(*one.entry.problem)) : row.nothing();
    row.text(s == nullptr ? "" : s->name).text(best ? "yes" : "no").count(static_cast<std::size_t>(round));
    row.text(s == nullptr ? "no solution" : e != nullptr ? "evaluated" : to_string(s->state));
    if (e == nullptr) {
      for (int i = 0; i < 11; ++i) row.nothing();
    } else {
      const auto sol = e->valid() ? sol_score_of(*e) : std::nullopt;
      row.text(to_string(e->outcome)).text(to_string(e->stage)).measured(e->speedup);
      row.measured(e->speedup_interval.low)
          .measured(e->speedup_interval.high)
          .number(e->score)
          .text(e->baseline);
      row.measured(e->sol_fraction);
      sol ? row.number(*sol) : row.nothing();
      row.text(e->device).text(e->protocol);
    }
    if (s == nullptr) {
      row.nothing().nothing().nothing().nothing();
    } else {
      row.text(s->finished_at)
          .text(s->source ? to_string(id_of(*s->source)) : "")
          .text(s->file)
          .text(s->message);
    }
    row.text(e == nullptr ? std::string() : suite_rule_of(*e));
    put_largest(row, e, one);
    const evaluation none;
    const evaluation& times = e == nullptr ? none : *e;
    row.measured(times.device_speedup)
        .measured(times.device_speedup_interval.low)
        .measured(times.device_speedup_interval.high)
        .measured(times.host_speedup)
        .measured(times.host_speedup_interval.low)
        .measured(times.host_speedup_interval.high)
        .text(s == nullptr ? std::string() : solution_reason(*s, e))
        .text(e != nullptr && correct_at_given_size(*e) ? "yes" : "no");
    row.end(out);
  };
  for (const auto& one : report.outcome.tasks) {
    if (one.solutions.empty()) put(one, nullptr, nullptr, false, 0);
    for (std::size_t i = 0; i < one.solutions.size(); ++i) {
      const bool best = one.best == i;
      const auto& s = one.solutions[i];
      put(one, &s, s.result ? &*s.result : nullptr, best && !one.again, 0);
      if (best && one.again) put(one, &s, &*one.again, true, 1);
    }
  }
  return out.str();
}

std::string groups_csv(const bench_report& report) {
  std::ostringstream out;
  csv_row row;
  for (const char* name : {"kind", "name", "figure", "p", "value", "decided_low", "decided_high",
                           "interval_low", "interval_high", "values"})
    row.text(name);
  row.end(out);
  for (const auto& g : report.groups) {
    put_share(out, g, "call", {}, g.call);
    put_share(out, g, "exe", {}, g.exe);
    put_share(out, g, "exe_given_size", {}, g.given_size);
    for (const auto& f : g.fast) put_share(out, g, "fast_p", f.p, f.share);
    put_mean(out, g, "geometric_mean", g.geometric_mean);
    put_mean(out, g, "median", g.median);
    put_mean(out, g, "amsr", g.amsr);
    put_mean(out, g, "mean", g.mean);
    if (g.sol_score) put_mean(out, g, "sol_score", {*g.sol_score, std::nullopt, g.tasks});
  }
  return out.str();
}

std::string bench_json(const bench_report& report) {
  json::array tasks;
  for (std::size_t i = 0; i < report.outcome.tasks.size(); ++i)
    tasks.push_back(task_object(report.outcome.tasks[i], report.scores[i]));
  json::array groups;
  for (const auto& g : report.groups) groups.push_back(group_object(g));
  json::array said;
  for (const auto& remark : remarks(report)) said.push_back(json::value(remark));
  return json::serialize(json::object{{"suite", as_utf8(report.plan.name)},
                                      {"file", as_utf8(report.plan.file)},
                                      {"output", as_utf8(report.plan.output)},
                                      {"kevo_version", detail::program_version()},
                                      {"stage", to_string(report.plan.stage)},
                                      {"confidence", report.plan.scores.confidence},
                                      {"evaluations", report.outcome.evaluations},
                                      {"reused", report.outcome.reused},
                                      {"pending", report.outcome.pending},
                                      {"environment_failures", report.outcome.environment_failures},
                                      {"interrupted", report.outcome.interrupted},
                                      {"remarks", std::move(said)},
                                      {"groups", std::move(groups)},
                                      {"tasks", std::move(tasks)}});
}

}  // namespace kevo
