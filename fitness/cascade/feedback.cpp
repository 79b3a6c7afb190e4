#include "fitness/cascade/feedback.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include <kevo/evaluate/statistics.hpp>

namespace kevo {

std::string time_text(double ns) {
  constexpr std::array<const char*, 4> units = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (ns >= 999.5 && unit + 1 < units.size()) {
    ns /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", ns, units[unit]);
}

namespace {

// ", 171 us to 208 us at 8 places of its code": from the 10 % to the 90 % quantile of the times of the pairs,
// which the noise of the machine is in, too. Empty for fewer than 3 pairs.
std::string placement_text(const workload_result& w) {
  std::vector<double> times;
  for (const auto& pair : w.samples) times.push_back(pair.candidate_ns);
  if (times.size() < 3) return {};
  return fmt::format(", {} to {} at {} places of its code", time_text(quantile(times, 0.1)),
                     time_text(quantile(times, 0.9)), w.placements);
}

}  // namespace

std::string feedback_of_valid(const evaluation& e) {
  if (!(e.speedup > 0)) return "valid; not timed";
  std::string text = fmt::format("valid: {:.3g} times as fast as {} [{:.3g}, {:.3g}]", e.speedup, e.baseline,
                                 e.speedup_interval.low, e.speedup_interval.high);
  for (const auto& w : e.workloads) {
    if (w.hidden || !(w.time_ns > 0)) continue;
    text += fmt::format("\n{}: {}, {:.3g} times", w.uuid, time_text(w.time_ns), w.speedup);
    if (w.sol_fraction > 0) text += fmt::format(", {:.0f} % of speed of light", 100 * w.sol_fraction);
    if (w.sustained_ns > 0) text += ", " + time_text(w.sustained_ns) + " sustained";
    if (w.placements > 1) text += placement_text(w);
  }
  if (e.device_speedup > 0 && e.host_speedup > 0)
    text += fmt::format(
        "\nby device time {:.3g} times [{:.3g}, {:.3g}], by host time (from the call to its synchronized "
        "result) {:.3g} times [{:.3g}, {:.3g}]",
        e.device_speedup, e.device_speedup_interval.low, e.device_speedup_interval.high, e.host_speedup,
        e.host_speedup_interval.low, e.host_speedup_interval.high);
  return text;
}

std::string hidden_failure_text(outcome what) {
  std::string text = "a hidden workload failed";
  switch (what) {
    case outcome::incorrect:
      return text + ": its result is wrong";
    case outcome::crashed:
      return text + ": the program crashed";
    case outcome::timed_out:
      return text + ": a call timed out";
    case outcome::launch_failed:
      return text + ": it could not be launched";
    case outcome::rejected:
      return text + ": the program did what no program may do";
    default:
      return text;
  }
}

}  // namespace kevo
