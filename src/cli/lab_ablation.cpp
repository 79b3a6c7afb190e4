#include "src/cli/lab_ablation.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/cli/announced_waits.hpp"
#include "src/cli/standard_error.hpp"
#include "src/display/terminal.hpp"
#include "src/run/interrupts.hpp"

namespace kevo::cli {
namespace {

using table_rows = std::vector<std::vector<std::string>>;

std::string measure_cell(const ablation_row& r, const std::string& name) {
  const auto found = r.result->measures.find(name);
  if (found == r.result->measures.end()) return "-";
  return name.ends_with("_bytes") ? format::bytes(found->second) : format::number(found->second);
}

std::string range_cell(const estimate& e, std::string (*text)(double)) {
  if (!(e.value > 0)) return "-";
  return fmt::format("{} [{}, {}]", text(e.value), text(e.range.low), text(e.range.high));
}
std::string time_text(double ns) {
  return format::time(ns, locale_is_utf8());
}

/// The names of `wanted` that a variant has.
std::vector<std::string> known_measures(const ablation_plan& plan, const ablation_outcome& ended) {
  std::vector<std::string> known;
  for (const auto& name : plan.measures) {
    if (std::any_of(ended.rows.begin(), ended.rows.end(),
                    [&](const ablation_row& r) { return r.result->measures.contains(name); }))
      known.push_back(name);
  }
  return known;
}

/// Columns as wide as their widest cell; the first is flush left, the others right. A row of two cells, of a
/// variant that failed, ends in a text of any length.
std::string aligned(const table_rows& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == 0 || row.size() == widths.size()) widths[i] = std::max(widths[i], format::width_of(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.size() < widths.size() && i > 0) {
        text += "  " + row[i];
        continue;
      }
      const std::string blanks(widths[i] - format::width_of(row[i]), ' ');
      text += i == 0 ? row[i] + blanks : "  " + blanks + row[i];
    }
    text += '\n';
  }
  return text;
}

std::string variants_table(const ablation_plan& plan, const ablation_outcome& ended) {
  const auto measures = known_measures(plan, ended);
  table_rows rows = {{"variant", "time", "ratio to full"}};
  rows.front().insert(rows.front().end(), measures.begin(), measures.end());
  for (const auto& r : ended.rows) {
    if (!r.failure.empty()) {
      rows.push_back({r.variant.name, format::one_line(r.failure, !locale_is_utf8())});
      continue;
    }
    rows.push_back({r.variant.name, range_cell(r.time_ns, time_text), range_cell(r.ratio, format::number)});
    for (const auto& name : measures) rows.back().push_back(measure_cell(r, name));
  }
  return aligned(rows);
}

/// Empty if there is one workload, whose figures are those of the first table.
std::string workloads_table(const ablation_outcome& ended) {
  table_rows rows = {{"variant", "workload", "time", "ratio to full"}};
  bool several = false;
  for (const auto& r : ended.rows) {
    several = several || r.workloads.size() > 1;
    for (const auto& w : r.workloads)
      rows.push_back(
          {r.variant.name, w.uuid, range_cell(w.time_ns, time_text), range_cell(w.ratio, format::number)});
  }
  return several ? '\n' + aligned(rows) : std::string();
}

void print_ablation(const ablation_plan& plan, const ablation_outcome& ended) {
  if (ended.interrupted) {
    fmt::print("stopped: {} of {} evaluations are finished; run the same command again to continue\n",
               ended.evaluations + ended.reused, ended.evaluations + ended.reused + ended.pending);
    return;
  }
  std::string text = variants_table(plan, ended) + workloads_table(ended);
  text += "\nratio: time of the variant / time of the full program, in brackets 95 % intervals";
  text += plan.repeats == 1 ? "\n" : fmt::format("; {} evaluations of each variant, pooled\n", plan.repeats);
  if (const auto caution = ablation_caution(ended.rows); !caution.empty()) text += caution + '\n';
  text += fmt::format("{} {}, {} from earlier starts; results in {}\n", ended.evaluations,
                      format::noun(ended.evaluations, "evaluation"), ended.reused, ended.folder);
  for (const auto& file : ended.files) text += file + '\n';
  fmt::print("{}", format::printable(text));
}

std::string progress_line(const ablation_variant& variant, const evaluation& e) {
  std::string text = format::one_line(variant.name) + ": " + std::string(to_string(e.outcome));
  if (e.valid() && e.speedup > 0)
    text += fmt::format(", {} times as long as the full program", format::number(1 / e.speedup));
  else if (e.valid())
    text += " (checked)";
  return text;
}

}  // namespace

void run_and_print_ablation(const ablation_plan& plan, invocation& shared) {
  interrupts user;
  announced_waits waits;
  ablation_request request{.graceful_stop = user.graceful_stop(),
                           .immediate_stop = user.immediate_stop(),
                           .told = {},
                           .poll = [&user] { user.poll(); },
                           .waiting = waits.listener()};
  if (!shared.json) {
    request.told = [](const ablation_variant& variant, const evaluation& e, std::size_t done,
                      std::size_t all) {
      say(fmt::format("{}/{} {}", done, all, progress_line(variant, e)));
    };
  }
  const ablation_outcome ended = run_ablation(plan, request);
  shared.json ? fmt::print("{}\n", ablation_json(plan, ended)) : print_ablation(plan, ended);
  if (ended.interrupted) shared.exit_code = 130;
}

}  // namespace kevo::cli
