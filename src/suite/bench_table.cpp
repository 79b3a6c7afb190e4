// The results of a suite for a terminal.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/base/text/two_times.hpp"
#include "src/base/text/utf8.hpp"
#include "src/base/text/verdict_text.hpp"
#include "src/suite/bench_report.hpp"

namespace kevo {
namespace {

/// Cells under each other. The first `left` columns are aligned on the left, the others on the right.
class text_table {
 public:
  explicit text_table(std::size_t left) : left_(left) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& cells : rows_) {
      widths.resize(std::max(widths.size(), cells.size()));
      for (std::size_t i = 0; i < cells.size(); ++i)
        widths[i] = std::max(widths[i], format::width_of(cells[i]));
    }
    std::string text;
    for (const auto& cells : rows_) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string blanks(widths[i] - format::width_of(cells[i]), ' ');
        line += (i == 0 ? "" : "  ") + (i < left_ ? cells[i] + blanks : blanks + cells[i]);
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
  }

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

constexpr std::size_t widest_name = 40;

std::string short_name(const std::string& text, bool unicode) {
  std::string line = format::one_line(text, !unicode);
  if (format::width_of(line) <= widest_name) return line;
  std::size_t end = 0;
  for (std::size_t at = 0; at < line.size();) {
    next_code_point(line, at);
    if (format::width_of(line.substr(0, at)) > widest_name - 3) break;
    end = at;
  }
  return line.substr(0, end) + "...";
}

std::string share_text(const task_share& s) {
  return fmt::format("{:.2f}", s.value());
}

std::string figure_text(const mean_figure& f, bool unicode) {
  if (f.values == 0) return "-";
  return format::number(f.value) + (unicode ? "×" : "x");
}

std::string range_text(const std::optional<interval>& range) {
  if (!range) return "-";
  return fmt::format("[{}, {}]", format::number(range->low), format::number(range->high));
}

std::string tasks_text(const bench_report& report, bool unicode) {
  text_table table(5);
  std::vector<std::string> head = {"task",    "level",   "category", "solution",
                                   "outcome", "speedup", "interval", "of SOL"};
  const bool both =
      std::any_of(report.outcome.tasks.begin(), report.outcome.tasks.end(),
                  [](const auto& one) { return one.judged() != nullptr && has_two_times(*one.judged()); });
  if (both) head.insert(head.end(), {"by device time", "by host time"});
  const auto& all = report.groups.front();
  const bool given_size = all.given_size.counted != all.exe.counted;
  if (given_size) head.emplace_back("correct at the given size");
  table.row(head);
  for (const auto& one : report.outcome.tasks) {
    const evaluation* e = one.judged();
    const bool compared = e != nullptr && e->valid() && e->speedup > 0;
    const bool spread = compared && e->speedup_interval.high > e->speedup_interval.low;
    std::vector<std::string> cells = {
        short_name(one.entry.name, unicode),
        short_name(one.level, unicode),
        short_name(one.category, unicode),
        one.best ? short_name(one.solutions[*one.best].name, unicode) : "-",
        std::string(task_word(one)),
        compared ? format::speedup(e->speedup, unicode)
        : e != nullptr && format::has_score(e->outcome, e->stage, e->score)
            ? "score " + format::score(e->score)
            : "-",
        spread ? range_text(e->speedup_interval) : "-",
        compared && e->sol_fraction > 0 ? format::percent(e->sol_fraction) : "-"};
    if (both) {
      const auto speedups =
          compared ? two_speedups(*e, unicode) : std::vector<std::pair<std::string, std::string>>();
      for (std::size_t i = 0; i < 2; ++i) cells.push_back(speedups.empty() ? "-" : speedups[i].second);
    }
    if (given_size) cells.emplace_back(e != nullptr && correct_at_given_size(*e) ? "yes" : "no");
    table.row(std::move(cells));
  }
  return table.text();
}

// Empty if no rate of any task is known.
std::string perf_text(const bench_report& report, bool unicode) {
  text_table table(1);
  table.row({"Perf", "GB/s", "interval", "at", "TFLOP/s", "interval", "at"});
  bool any = false;
  bool tensors = false;
  for (const auto& one : report.outcome.tasks) {
    const auto* e = one.judged();
    if (e == nullptr) continue;
    const auto perf = perf_of(*e, one.work);
    const auto bytes = largest(perf, &workload_perf::gb_per_s);
    const auto flops = largest(perf, &workload_perf::tflop_per_s);
    if (!bytes && !flops) continue;
    any = true;
    std::vector<std::string> cells = {short_name(one.entry.name, unicode)};
    for (const auto* rate : {&bytes, &flops}) {
      const bool starred = *rate && (*rate)->counted == bytes_source::tensors && rate == &bytes;
      tensors = tensors || starred;
      cells.push_back(*rate ? format::number((*rate)->rate.value) + (starred ? "*" : "") : "-");
      cells.push_back(*rate ? range_text((*rate)->rate.range) : "-");
      cells.push_back(*rate ? short_name((*rate)->uuid, unicode) : "-");
    }
    table.row(std::move(cells));
  }
  if (!any) return {};
  return table.text() + fmt::format("{}\n", perf_meaning()) +
         (tensors ? fmt::format("* {}\n", tensors_meaning()) : std::string()) + '\n';
}

std::string reasons_text(const bench_report& report, bool unicode) {
  std::string text;
  for (const auto& one : report.outcome.tasks) {
    const std::string reason = task_reason(one);
    if (!reason.empty())
      text += fmt::format("{}: {}: {}\n", format::one_line(one.entry.name, !unicode), task_word(one),
                          format::one_line(reason, !unicode));
    if (!one.again_message.empty())
      text += fmt::format("{}: measured once: {}\n", format::one_line(one.entry.name, !unicode),
                          format::one_line(one.again_message, !unicode));
  }
  return text.empty() ? text : text + '\n';
}

std::string thresholds_text(const bench_report& report) {
  const group_scores& all = report.groups.front();
  const bool several = std::any_of(report.outcome.tasks.begin(), report.outcome.tasks.end(),
                                   [](const bench_task& one) { return one.solutions.size() > 1; });
  text_table table(1);
  std::vector<std::string> head = {
      "",        "tasks",     "share",
      "decided", "undecided", fmt::format("{:g} % interval", 100 * report.plan.scores.confidence)};
  if (several) head.emplace_back("of one");
  table.row(head);
  const auto put = [&](const std::string& name, const task_share& s, std::optional<double> of_one) {
    std::vector<std::string> cells = {name,
                                      fmt::format("{} of {}", s.counted, s.tasks),
                                      share_text(s),
                                      fmt::format("[{:.2f}, {:.2f}]", s.low(), s.high()),
                                      std::to_string(s.undecided),
                                      fmt::format("[{:.2f}, {:.2f}]", s.range.low, s.range.high)};
    if (several) cells.push_back(of_one ? fmt::format("{:.2f}", *of_one) : "");
    table.row(cells);
  };
  put("Call", all.call, {});
  put("Exe", all.exe, {});
  if (all.given_size.counted != all.exe.counted) put("Exe, given size", all.given_size, {});
  for (const auto& f : all.fast) put(fmt::format("fast_{:g}", f.p), f.share, f.of_one);
  return table.text();
}

std::string groups_text(const bench_report& report, bool unicode) {
  text_table table(2);
  std::vector<std::string> head = {"", "", "tasks", "Call", "Exe"};
  const auto& thresholds = report.groups.front().fast;
  for (const auto& f : thresholds) head.push_back(fmt::format("fast_{:g}", f.p));
  for (const char* name : {"geo. mean", "median", "AMSR"}) head.emplace_back(name);
  table.row(head);
  for (const auto& group : report.groups) {
    std::vector<std::string> cells = {group.kind,
                                      group.kind == "all"  ? ""
                                      : group.name.empty() ? "(none)"
                                                           : short_name(group.name, unicode),
                                      std::to_string(group.tasks), share_text(group.call),
                                      share_text(group.exe)};
    for (const auto& f : group.fast) cells.push_back(share_text(f.share));
    cells.push_back(figure_text(group.geometric_mean, unicode));
    cells.push_back(figure_text(group.median, unicode));
    cells.push_back(figure_text(group.amsr, unicode));
    table.row(cells);
  }
  return table.text();
}

std::string speed_text(const bench_report& report, bool unicode) {
  const group_scores& all = report.groups.front();
  std::string text = fmt::format(
      "geometric mean {} {} of {} of {} tasks, {}\nmedian {} {} of the same tasks\nAMSR {} {}: {}\n",
      figure_text(all.geometric_mean, unicode), range_text(all.geometric_mean.range),
      all.geometric_mean.values, all.tasks, geometric_mean_bias(), figure_text(all.median, unicode),
      range_text(all.median.range), figure_text(all.amsr, unicode), range_text(all.amsr.range),
      amsr_meaning());
  if (all.sol_score)
    text += fmt::format("SOL score {:.3f}: 0.5 is the baseline, 1 the speed of light; not correct counts 0\n",
                        *all.sol_score);
  return text;
}

}  // namespace

std::string bench_table(const bench_report& report, bool unicode) {
  std::string text = tasks_text(report, unicode) + '\n' + reasons_text(report, unicode) +
                     thresholds_text(report) + '\n' + perf_text(report, unicode) +
                     groups_text(report, unicode) + '\n' + speed_text(report, unicode);
  for (const auto& remark : remarks(report)) text += remark + '\n';
  return text;
}

}  // namespace kevo
