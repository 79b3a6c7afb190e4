#include "src/report/evaluation_text.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/text/format.hpp"
#include "src/base/text/further_baselines.hpp"
#include "src/base/text/two_times.hpp"
#include "src/base/text/useful_line.hpp"
#include "src/base/text/verdict_text.hpp"

namespace kevo {
namespace {

std::string sizes(const workload_result& w) {
  std::string text;
  for (const auto& [name, value] : w.axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string workload_rows(const evaluation& e) {
  std::size_t width = 8;
  for (const auto& w : e.workloads)
    width = std::max(width, w.uuid.size() + 2 + (w.hidden ? 0 : sizes(w).size()));
  std::string text = fmt::format("  {:{}} {:>10} {:>12} {:>12} {:>9} {:>5}\n", "workload", width, "outcome",
                                 "time", "baseline", "speedup", "SOL");
  for (const auto& w : e.workloads) {
    const std::string name = w.hidden ? w.uuid + "  hidden" : w.uuid + "  " + sizes(w);
    const bool timed = w.time_ns > 0 && !w.hidden;
    text += fmt::format(
        "  {:{}} {:>10} {:>12} {:>12} {:>9} {:>5}\n", name, width,
        w.outcome ? to_string(*w.outcome) : "not run", timed ? format::time(w.time_ns, false) : "",
        timed ? format::time(w.baseline_ns, false) : "", timed ? fmt::format("{:.2f}x", w.speedup) : "",
        timed && w.sol_fraction > 0 ? fmt::format("{:.0f}%", 100 * w.sol_fraction) : "");
  }
  return text;
}

// Where two times of a call were measured.
std::string two_times_rows(const evaluation& e) {
  const auto speedups = two_speedups(e, false);
  if (speedups.empty()) return {};
  std::string text;
  for (const auto& [name, speedup] : speedups) text += fmt::format("  by {}: {}\n", name, speedup);
  for (const auto& w : e.workloads) {
    if (w.hidden || !has_two_times(w)) continue;
    const auto cells = two_times_cells(w, false);
    text += fmt::format("    {}: device {} ({}), baseline {}, {}; host {} ({}), baseline {}, {}\n",
                        format::one_line(w.uuid), cells[0], cells[1], cells[2], cells[3], cells[4], cells[5],
                        cells[6], cells[7]);
  }
  return text;
}

}  // namespace

namespace {

/// Why a confirmed speedup is undecided by the default rules; empty if it is decided.
std::string doubt(const evaluation& e) {
  if (!e.valid() || e.stage != evaluation_stage::confirmed) return {};
  return format::why_undecided(verdict_on(e, {}), e.speedup, e.speedup_interval,
                               format::disturbance_in(e.context));
}

}  // namespace

std::string finding(double speedup, const interval& range, double score, const std::string& baseline,
                    int digits) {
  if (!(speedup > 0)) return "score " + format::score(score);
  std::string text = fmt::format("{:.{}f}x", speedup, digits);
  if (range.high > range.low)
    text += fmt::format(" [{:.{}f}, {:.{}f}]", range.low, digits, range.high, digits);
  text += " over " + (baseline.empty() ? std::string("the baseline") : format::one_line(baseline));
  return score == speedup || score == 0 ? text : text + ", score " + format::score(score);
}

namespace {

// The largest parts first; what is below a hundredth of the whole goes to the rest.
std::string parts_of(const evaluation_cost& cost) {
  std::vector<std::pair<double, std::string>> parts;
  double rest = cost.wall_s;
  for (const auto& [name, seconds] : cost.parts_s) {
    if (seconds < 0.01 * cost.wall_s) continue;
    parts.emplace_back(seconds, name);
    rest -= seconds;
  }
  if (parts.empty()) return "";
  std::sort(parts.begin(), parts.end(), std::greater<>());
  if (rest >= 0.01 * cost.wall_s) parts.emplace_back(rest, "rest");
  std::string text;
  for (const auto& [seconds, name] : parts)
    text += fmt::format("{}{} {:.2f} s", text.empty() ? "" : ", ", name, seconds);
  return text;
}

}  // namespace

namespace {

/// Of several devices: " (device 1)"; empty where there was one.
std::string which_device(const evaluation& e) {
  if (const auto both = e.context.find("confirmed_on"); both != e.context.end())
    return fmt::format(" (devices {})", format::one_line(both->second));
  const auto one = e.context.find("device_number");
  return one == e.context.end() ? "" : fmt::format(" (device {})", format::one_line(one->second));
}

// With its flags, where the fitness function tells them.
std::string compiler_of(const evaluation& e) {
  const auto compiler = e.context.find("compiler");
  if (compiler == e.context.end()) return {};
  const auto flags = e.context.find("flags");
  const bool told = flags != e.context.end() && !flags->second.empty();
  return format::one_line(compiler->second + (told ? ' ' + flags->second : ""));
}

}  // namespace

std::string failure_text(const evaluation& e) {
  const std::string reasons = fmt::format("{}", fmt::join(e.reasons, "; "));
  const std::string said = useful_line(e.feedback);
  const bool repeats = std::all_of(e.reasons.begin(), e.reasons.end(), [&](const std::string& reason) {
    return said.find(reason) != std::string::npos;
  });
  if (said.empty() && reasons.empty()) return "the fitness function gave no reason";
  if (said.empty() || reasons.find(said) != std::string::npos) return reasons;
  return repeats ? said : reasons + ": " + said;
}

std::string build_text(const evaluation& e) {
  const auto chosen = e.context.find("build");
  if (chosen == e.context.end()) return {};
  const auto by = e.context.find("built_by");
  return format::one_line(chosen->second) +
         (by == e.context.end() ? "" : " (" + format::one_line(by->second) + ")");
}

std::string describe(const evaluation& e, const std::string& task_name) {
  std::string text = fmt::format("{}: {}", task_name, to_string(e.outcome));
  if (e.valid()) {
    const std::string found = finding(e.speedup, e.speedup_interval, e.score, e.baseline, 3);
    if (!found.empty()) text += ", " + found;
  }
  text += '\n';
  if (const auto same = e.context.find("identical_to"); same != e.context.end())
    text +=
        fmt::format("  its object is the same as that of the baseline {}\n", format::one_line(same->second));
  if (const std::string built = build_text(e); !built.empty())
    text += fmt::format("  build options of the program: {}\n", built);
  if (const std::string why = doubt(e); !why.empty()) text += fmt::format("  undecided: {}\n", why);
  for (const auto& [name, speedup] : further_speedups(e, false))
    text += fmt::format("  {} over {}\n", speedup, format::one_line(name));
  if (const auto left = e.context.find("baselines_left_out"); left != e.context.end())
    text += fmt::format("  skipped baselines: {}\n", format::one_line(left->second));
  if (const auto fine = e.context.find("hosted_resolution_ns"); fine != e.context.end())
    text += fmt::format("  hosted launch, timed from outside the process: resolution {} ns per call\n",
                        format::one_line(fine->second));
  if (!e.workloads.empty()) text += workload_rows(e);
  text += two_times_rows(e);
  for (const auto& reason : e.reasons) text += fmt::format("  because: {}\n", format::one_line(reason));
  if (!e.measures.empty()) {
    text += "  measures:";
    for (const auto& [name, value] : e.measures) text += fmt::format(" {}={:g}", name, value);
    text += '\n';
  }
  if (!e.feedback.empty()) text += e.feedback + (e.feedback.back() == '\n' ? "" : "\n");
  const std::string waited =
      e.cost.waited_s >= 0.005
          ? fmt::format(" and {:.2f} s waiting for other processes that measured", e.cost.waited_s)
          : "";
  text += fmt::format("  took {:.2f} s, of which {:.2f} s measuring{}, on {}{}\n", e.cost.wall_s,
                      e.cost.device_s, waited, e.device.empty() ? "this machine" : e.device, which_device(e));
  if (const std::string how = compiler_of(e); !how.empty()) text += fmt::format("  compiled with {}\n", how);
  if (const std::string parts = parts_of(e.cost); !parts.empty()) text += "  time: " + parts + '\n';
  return text;
}

}  // namespace kevo
