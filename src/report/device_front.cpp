#include "src/report/device_front.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/archive/pareto.hpp>
#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "src/base/text/format.hpp"
#include "src/base/text/utf8.hpp"
#include "src/journal/rejudged.hpp"
#include "src/report/run_report.hpp"

namespace kevo {
namespace {

device_figure figure_of(const evaluation& e) {
  return {e.outcome, e.speedup > 0 ? e.speedup : e.score, e.speedup, e.speedup_interval, e.protocol};
}

// The front over those that are valid everywhere; fills `front` and `mean`.
void find_front(device_comparison& all) {
  std::vector<objective> others;
  for (std::size_t i = 1; i < all.devices.size(); ++i) others.push_back({all.devices[i], true});
  pareto front(std::move(others), std::max<std::size_t>(all.rows.size(), 1));
  for (auto& row : all.rows) {
    std::vector<double> scores;
    std::vector<weighted_estimate> speedups;
    for (const auto& device : all.devices) {
      const auto found = row.on.find(device);
      if (found == row.on.end()) continue;
      const auto& one = found->second;
      if (one.outcome != outcome::valid || !(one.score > 0)) continue;
      scores.push_back(one.score);
      if (one.speedup > 0) speedups.push_back({{one.speedup, one.speedup_interval}, 1});
    }
    if (scores.size() != all.devices.size()) continue;
    double logs = 0;
    for (const double score : scores) logs += std::log(score);
    row.mean = std::exp(logs / static_cast<double>(scores.size()));
    if (speedups.size() == scores.size()) row.mean_interval = geometric_mean(speedups).range;
    front.add({.id = row.id, .score = scores.front(), .measures = std::span(scores).subspan(1)});
  }
  for (auto& row : all.rows) row.front = front.contains(row.id);
}

std::string mean_of(const device_row& row) {
  if (!(row.mean > 0)) return "-";
  if (!row.mean_interval) return fmt::format("{:.3f}", row.mean);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", row.mean, row.mean_interval->low, row.mean_interval->high);
}

std::string cell(const device_row& row, const std::string& device) {
  const auto found = row.on.find(device);
  if (found == row.on.end()) return "-";
  const auto& one = found->second;
  if (one.outcome != outcome::valid) return std::string(to_string(one.outcome));
  if (!(one.speedup > 0)) return fmt::format("score {:.6g}", one.score);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", one.speedup, one.speedup_interval.low,
                     one.speedup_interval.high);
}

}  // namespace

device_comparison compare_devices(const journal& run) {
  device_comparison all;
  std::map<candidate_id, device_row> rows;
  try {
    if (const auto file = rejudged_file::open_read_only(run.directory())) {
      for (const auto& judged : file->rows()) {  // oldest first
        auto& row = rows[judged.candidate];
        row.id = judged.candidate;
        if (row.on.empty()) {
          const auto recorded = shown_candidate_of(run, judged.candidate);
          if (recorded.evaluation) {
            row.on[recorded.evaluation->device] = figure_of(*recorded.evaluation);
            if (all.devices.empty()) all.devices.push_back(recorded.evaluation->device);
          }
        }
        row.on[judged.result.device] = figure_of(judged.result);
      }
    }
  } catch (const error& wrong) {
    all.problem = wrong.what();
  }
  for (auto& [id, row] : rows) {
    if (row.on.size() < 2) continue;
    for (const auto& [device, figure] : row.on) {
      if (std::find(all.devices.begin(), all.devices.end(), device) == all.devices.end())
        all.devices.push_back(device);
    }
    all.rows.push_back(std::move(row));
  }
  find_front(all);
  std::stable_sort(all.rows.begin(), all.rows.end(),
                   [](const device_row& a, const device_row& b) { return a.mean > b.mean; });
  return all;
}

std::string devices_text(const device_comparison& all, bool unicode) {
  if (!all.problem.empty()) return format::one_line(all.problem, !unicode) + '\n';
  if (all.rows.empty())
    return "no candidate of this run was evaluated on more than one device; evaluate its best ones on "
           "another with\n  kevo rejudge RUN --set fitness.device=1\n";
  std::vector<std::vector<std::string>> table = {{"candidate", "front", "mean"}};
  for (const auto& device : all.devices) table[0].push_back(format::one_line(device, !unicode));
  for (const auto& row : all.rows) {
    table.push_back({fmt::format("#{}", row.id), row.front ? "yes" : "", mean_of(row)});
    for (const auto& device : all.devices) table.back().push_back(cell(row, device));
  }
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : table) width = std::max(width, format::width_of(other[i]));
      line += "  " + row[i] + std::string(width - format::width_of(row[i]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text + "front: no other candidate is at least as fast on every device\n";
}

std::string devices_json(const device_comparison& all) {
  namespace json = boost::json;
  json::array devices;
  for (const auto& device : all.devices) devices.emplace_back(as_utf8(device));
  json::array rows;
  for (const auto& row : all.rows) {
    json::object on;
    for (const auto& [device, one] : row.on) {
      const bool compared = one.speedup > 0;
      on[as_utf8(device)] = json::object{
          {"outcome", to_string(one.outcome)},
          {"score", one.score},
          {"speedup", compared ? json::value(one.speedup) : json::value(nullptr)},
          {"speedup_interval", compared ? json::value{one.speedup_interval.low, one.speedup_interval.high}
                                        : json::value(nullptr)},
          {"protocol", as_utf8(one.protocol)}};
    }
    rows.push_back(json::object{
        {"candidate", row.id},
        {"front", row.front},
        {"mean", row.mean > 0 ? json::value(row.mean) : json::value(nullptr)},
        {"mean_interval", row.mean_interval ? json::value{row.mean_interval->low, row.mean_interval->high}
                                            : json::value(nullptr)},
        {"on", std::move(on)}});
  }
  return json::serialize(json::object{
      {"devices", std::move(devices)},
      {"candidates", std::move(rows)},
      {"problem", all.problem.empty() ? json::value(nullptr) : json::value(as_utf8(all.problem))}});
}

}  // namespace kevo
