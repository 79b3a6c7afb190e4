#include "fitness/cuda/tools/reports.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "fitness/cuda/device/worker_link.hpp"

namespace kevo::cuda {
namespace {

constexpr std::string_view decoration = "=========";
constexpr std::size_t most_lines = 8;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The number before a word: "(1 error, 2 warnings)", "error" -> 1. Thousands may be set apart.
int count_before(const std::string& line, const std::string& word) {
  const auto at = line.find(' ' + word);
  std::string digits;
  for (auto i = at; at != std::string::npos && i > 0; --i) {
    const char c = line[i - 1];
    if (c >= '0' && c <= '9') {
      digits.insert(digits.begin(), c);
    } else if (c != ',') {
      break;
    }
  }
  return std::atoi(digits.substr(0, 9).c_str());
}

// One line of comma-separated values; quotes are doubled within quotes.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// "1,234.5" as ncu writes it; negative if it is no number.
double number_of(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? -1 : value;
}

// What the tool says of itself and of the program's end, which is no finding.
bool of_the_tool(const std::string& text) {
  constexpr const char* beginnings[] = {"COMPUTE-SANITIZER",
                                        "Target application",
                                        "The application may have hit an error",
                                        "Tracking kernels launched by child processes",
                                        "Internal Sanitizer",
                                        "Error: Target application",
                                        "Error: process didn't terminate successfully",
                                        "Error: couldn't find exit code",
                                        "Error: Could not connect",
                                        "Error: No attachable process found"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](const char* beginning) { return text.starts_with(beginning); });
}

struct wanted_metric {
  const char* name;
  double profile_figures::*figure;
};
constexpr const char* duration = "gpu__time_duration.sum";
constexpr wanted_metric wanted[] = {
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", &profile_figures::dram_throughput},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", &profile_figures::sm_throughput},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", &profile_figures::achieved_occupancy},
    {"lts__t_sector_hit_rate.pct", &profile_figures::l2_hit_rate},
};

}  // namespace

sanitizer_findings read_sanitizer_report(std::string_view log) {
  sanitizer_findings found;
  std::vector<std::string> kept;
  bool first_ended = false;
  for (auto line : lines_of(log)) {
    if (!line.starts_with(decoration)) continue;
    line.erase(0, decoration.size());
    const auto begin = line.find_first_not_of(' ');
    const std::string text = begin == std::string::npos ? "" : line.substr(begin);
    if (text.starts_with("ERROR SUMMARY: ") || text.starts_with("RACECHECK SUMMARY: ")) {
      found.finished = true;
      found.errors = std::max(found.errors, count_before(text, "error"));
      found.warnings = std::max(found.warnings, count_before(text, "warning"));
      continue;
    }
    // Another report follows, or this one's stack on the host, which is kevo's own.
    if (text.empty() || text.starts_with("Saved host backtrace") || text.starts_with("Host Frame")) {
      first_ended = first_ended || !kept.empty();
    } else if (!first_ended && kept.size() < most_lines && !of_the_tool(text)) {
      kept.push_back(printable(text));
    }
  }
  if (kept.empty() && found.errors > 0) {  // of its own: no error goes without a report
    found.finished = false;
    found.errors = 0;
  }
  for (const auto& line : kept) found.first += (found.first.empty() ? "" : "\n") + line;
  return found;
}

std::string ncu_metrics() {
  std::string text = duration;
  for (const auto& one : wanted) text += std::string(",") + one.name;
  return text;
}

profile_figures read_ncu_csv(std::string_view log) {
  profile_figures figures;
  std::map<std::string, std::map<std::string, double>> kernels;  // by the tool's number, by metric
  std::size_t id = 0;
  std::size_t name = 0;
  std::size_t value = 0;
  for (const auto& line : lines_of(log)) {
    if (line.starts_with("==ERROR==") && figures.missing.empty())
      figures.missing = "ncu: " + printable(line.substr(10 < line.size() ? 10 : line.size()));
    if (!line.starts_with('"')) continue;
    const auto fields = fields_of(line);
    const auto column = [&](const char* title) {
      return static_cast<std::size_t>(std::find(fields.begin(), fields.end(), title) - fields.begin());
    };
    if (value == 0) {  // the line of titles
      id = column("ID");
      name = column("Metric Name");
      value = column("Metric Value");
      if (std::max({id, name, value}) >= fields.size()) value = 0;
    } else if (std::max({id, name, value}) < fields.size()) {
      kernels[fields[id]][fields[name]] = number_of(fields[value]);
    }
  }
  for (const auto& one : wanted) {
    double sum = 0;
    double sum_ns = 0;
    for (const auto& [kernel, metrics] : kernels) {
      const auto took = metrics.find(duration);
      const auto found = metrics.find(one.name);
      if (took == metrics.end() || found == metrics.end() || !(took->second > 0) || found->second < 0)
        continue;
      sum += 0.01 * found->second * took->second;
      sum_ns += took->second;
    }
    if (!(sum_ns > 0)) continue;
    figures.there = true;
    figures.*one.figure = sum / sum_ns;
  }
  if (!figures.there && figures.missing.empty()) figures.missing = "ncu gave no figures";
  return figures;
}

std::map<std::string, double> measures_of(const profile_figures& figures) {
  if (!figures.there) return {};
  return {{"dram_throughput", figures.dram_throughput},
          {"sm_throughput", figures.sm_throughput},
          {"achieved_occupancy", figures.achieved_occupancy},
          {"l2_hit_rate", figures.l2_hit_rate}};
}

std::string describe(const profile_figures& figures) {
  if (!figures.there) return {};
  return fmt::format(
      "DRAM at {:.0f} % and multiprocessors at {:.0f} % of their peak, {:.0f} % of the warps that fit are "
      "active, {:.0f} % of L2 sectors hit",
      100 * figures.dram_throughput, 100 * figures.sm_throughput, 100 * figures.achieved_occupancy,
      100 * figures.l2_hit_rate);
}

}  // namespace kevo::cuda
