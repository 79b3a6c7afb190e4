// What the evaluations of an ablation say: times, and ratios to the full program.

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <kevo/evaluate/pooled.hpp>

#include "src/base/text/format.hpp"
#include "src/lab/ablation.hpp"
#include "src/report/evaluation_text.hpp"

namespace kevo {
namespace {

/// 1 / x, with the ends of the interval exchanged.
estimate inverse(const estimate& e) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (!(e.value > 0)) return {};
  return {1 / e.value,
          {e.range.high > 0 ? 1 / e.range.high : 0, e.range.low > 0 ? 1 / e.range.low : infinity}};
}

/// The figures of a valid result.
void add_figures(ablation_row& row) {
  const evaluation& e = *row.result;
  row.ratio = inverse({e.speedup, e.speedup_interval});
  const double alpha = detail::interval_alpha(e);
  std::vector<weighted_estimate> times;
  for (const auto& w : e.workloads) {
    if (w.hidden || !(w.time_ns > 0)) continue;
    row.workloads.push_back({w.uuid, {w.time_ns, w.time_interval}, inverse(speedup_of(w.samples, alpha))});
    times.push_back({row.workloads.back().time_ns, w.weight});
  }
  row.time_ns = geometric_mean(times);
}

}  // namespace

ablation_row ablation_row_of(const ablation_variant& variant,
                             const std::vector<std::shared_ptr<const evaluation>>& all) {
  ablation_row row{.variant = variant};
  const auto failed = std::find_if(all.begin(), all.end(), [](const auto& e) { return !e->valid(); });
  if (failed != all.end()) {
    row.evaluations = 1;
    row.result = **failed;
    row.failure = fmt::format("{}: {}", to_string(row.result->outcome), failure_text(*row.result));
    if (const auto before = failed - all.begin(); before > 0)
      row.failure += fmt::format(" (in evaluation {}; the earlier ones were valid)", before + 1);
    return row;
  }
  row.evaluations = all.size();
  row.result = pooled(all, static_cast<int>(all.size()));
  add_figures(row);
  return row;
}

std::string ablation_caution(const std::vector<ablation_row>& rows) {
  if (rows.empty()) return {};
  const estimate& self = rows.front().ratio;
  if (!(self.value > 0) || (self.range.low <= 1 && self.range.high >= 1)) return {};
  return fmt::format(
      "The full program was also measured as a variant of itself and took {} times as long [{}, {}], so that "
      "a difference of this size between other variants proves nothing.",
      format::number(self.value), format::number(self.range.low), format::number(self.range.high));
}

}  // namespace kevo
