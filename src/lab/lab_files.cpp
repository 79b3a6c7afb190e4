// The results of a lab as files.

#include <fmt/format.h>

#include "src/lab/lab.hpp"
#include "src/lab/line_file.hpp"

namespace kevo {
namespace {

/// One field of a CSV file (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string table_csv(const lab_results& results) {
  std::string text =
      "policy,budget,seeds,mean_share,mean_low,mean_high,median_share,median_low,median_high,lower_quartile,"
      "upper_quartile,geometric_mean_speedup,optimal,mean_ratio,ratio_low,ratio_high\r\n";
  for (const auto& r : results.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", field(r.policy), r.budget,
                        r.seeds, r.mean.value, r.mean.range.low, r.mean.range.high, r.median.value,
                        r.median.range.low, r.median.range.high, r.lower_quartile, r.upper_quartile,
                        r.speedup, r.optimal, r.ratio.value, r.ratio.range.low, r.ratio.range.high);
  }
  return text;
}

std::string differences_csv(const lab_results& results) {
  std::string text = "policy,against,budget,seeds,mean_difference,low,high,wins,ties,losses,p,p_holm\r\n";
  for (const auto& d : results.differences) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\r\n", field(d.pair.policy),
                        field(d.pair.against), d.budget, d.seeds, d.mean.value, d.mean.range.low,
                        d.mean.range.high, d.wins, d.ties, d.losses, d.p, d.p_holm);
  }
  return text;
}

std::string curves_csv(const lab_results& results) {
  std::string text = "policy,axis,at,mean_share,mean_low,mean_high,median_share\r\n";
  for (const auto& curve : results.curves) {
    for (const auto& p : curve.points) {
      text += fmt::format("{},{},{},{},{},{},{}\r\n", field(curve.policy), to_string(curve.axis), p.at,
                          p.mean.value, p.mean.range.low, p.mean.range.high, p.median);
    }
  }
  return text;
}

std::string cells_csv(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells) {
  std::string text =
      "policy,seed,value,optimum,share,evaluations,proposals,cost_s,confirmations,duplicates,filtered,tokens,"
      "no_proposals,stopped_by\r\n";
  for (const auto& of_policy : cells) {
    for (const auto& cell : of_policy) {
      const double value = value_at(cell, plan.unit, plan.budgets.back());
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", field(cell.policy), cell.seed,
                          value, cell.optimum, share_of_optimum(value, cell.optimum), cell.spent[0],
                          cell.spent[1], cell.spent[2], cell.confirmations, cell.duplicates, cell.filtered,
                          cell.tokens, cell.no_proposals, field(cell.stopped_by));
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> write_lab(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells,
                                   const lab_results& results) {
  return {write_result(plan.output, "table.csv", table_csv(results)),
          write_result(plan.output, "differences.csv", differences_csv(results)),
          write_result(plan.output, "curves.csv", curves_csv(results)),
          write_result(plan.output, "cells.csv", cells_csv(plan, cells)),
          write_result(plan.output, "config.yaml", plan.resolved_config),
          write_result(plan.output, "lab.html", lab_page(plan, results))};
}

}  // namespace kevo
