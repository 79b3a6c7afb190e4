// TritonBench's Perf of a suite: the table for programs and the part of the page.

#include <sstream>

#include <fmt/format.h>

#include "src/base/text/csv_row.hpp"
#include "src/base/text/format.hpp"
#include "src/report/html_text.hpp"
#include "src/suite/bench_report.hpp"

namespace kevo {
namespace {

void put_workloads(std::ostream& out, const bench_task& one, const bench_solution& s, const evaluation& e,
                   bool best, std::size_t round) {
  csv_row row;
  for (const auto& w : perf_of(e, one.work)) {
    row.text(one.entry.name).text(s.name).text(best ? "yes" : "no").count(round).text(w.uuid);
    row.number(w.time_ns / 1e3);
    row.measured(w.times ? w.times->low / 1e3 : 0).measured(w.times ? w.times->high / 1e3 : 0);
    row.measured(w.baseline_ns / 1e3);
    put_rate(row, w.gb_per_s);
    row.text(to_string(w.counted));
    put_rate(row, w.tflop_per_s);
    row.end(out);
  }
}

std::string ends_text(const std::optional<interval>& range, double unit) {
  if (!range) return "";
  return fmt::format(" <small>[{}, {}]</small>", format::number(range->low / unit),
                     format::number(range->high / unit));
}

/// `most`: whether this is the rate of the task.
std::string rate_cell(const std::optional<work_rate>& rate, bool most, const char* mark) {
  if (!rate) return "<td class=\"n zero\">–";
  const std::string value = format::number(rate->value) + mark;
  return fmt::format("<td class=\"n\">{}{}", most ? "<b>" + value + "</b>" : value,
                     ends_text(rate->range, 1));
}

std::string task_rows(const bench_task& one, bool& tensors) {
  const auto* e = one.judged();
  if (e == nullptr) return {};
  const auto perf = perf_of(*e, one.work);
  const auto bytes = largest(perf, &workload_perf::gb_per_s);
  const auto flops = largest(perf, &workload_perf::tflop_per_s);
  if (!bytes && !flops) return {};
  std::string rows;
  for (const auto& w : perf) {
    const bool starred = w.counted == bytes_source::tensors;
    tensors = tensors || starred;
    rows +=
        fmt::format("<tr><td>{}<td>{}<td class=\"n\">{}{}{}{}</tr>",
                    rows.empty() ? html::escape_short(one.entry.name, 60) : std::string(),
                    html::escape_short(w.uuid, 60), format::number(w.time_ns / 1e3), ends_text(w.times, 1e3),
                    rate_cell(w.gb_per_s, bytes && bytes->uuid == w.uuid, starred ? "*" : ""),
                    rate_cell(w.tflop_per_s, flops && flops->uuid == w.uuid, ""));
  }
  return rows;
}

}  // namespace

void put_rate(csv_row& row, const std::optional<work_rate>& rate) {
  rate ? row.number(rate->value) : row.nothing();
  if (rate && rate->range) {
    row.number(rate->range->low).number(rate->range->high);
  } else {
    row.nothing().nothing();
  }
}

std::string perf_csv(const bench_report& report) {
  std::ostringstream out;
  csv_row row;
  for (const char* name : {"task", "solution", "best", "round", "workload", "time_us", "time_us_low",
                           "time_us_high", "baseline_us", "gb_per_s", "gb_per_s_low", "gb_per_s_high",
                           "bytes_from", "tflop_per_s", "tflop_per_s_low", "tflop_per_s_high"})
    row.text(name);
  row.end(out);
  for (const auto& one : report.outcome.tasks) {
    for (std::size_t i = 0; i < one.solutions.size(); ++i) {
      const bench_solution& s = one.solutions[i];
      const bool best = one.best == i;
      if (s.result) put_workloads(out, one, s, *s.result, best && !one.again, 0);
      if (best && one.again) put_workloads(out, one, s, *one.again, true, 1);
    }
  }
  return out.str();
}

std::string perf_section(const bench_report& report) {
  std::string rows;
  bool tensors = false;
  for (const auto& one : report.outcome.tasks) rows += task_rows(one, tensors);
  if (rows.empty()) return {};
  return fmt::format(
      "<section><h2>Perf</h2><div class=\"scroll\"><table><tr><th>task<th>workload<th class=\"n\">time, "
      "µs<th "
      "class=\"n\">GB/s<th class=\"n\">TFLOP/s</tr>{}</table></div><p class=\"note\">The task's work divided "
      "by the time of a call, of correct solutions. Bold: the largest value of a task, which is its Perf. "
      "Small "
      "brackets: from the interval of the time.{}</p></section>",
      rows, tensors ? fmt::format(" * {}.", tensors_meaning()) : std::string());
}

}  // namespace kevo
