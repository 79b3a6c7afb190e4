#include "src/base/text/verdict_text.hpp"

#include <fmt/format.h>

#include "src/base/text/format.hpp"

namespace kevo::format {

std::string why_undecided(const champion_verdict& verdict, double speedup, const kevo::interval& range,
                          std::string_view disturbed) {
  std::string text;
  switch (verdict.reason) {
    case verdict_reason::none:
      return text;
    case verdict_reason::contains_one:
      text = "the interval contains 1: neither faster nor slower is shown";
      break;
    case verdict_reason::wide:
      text = std::isfinite(relative_width(speedup, range))
                 ? fmt::format("the interval's width is {} of the speedup; the limit is {}",
                               percent(relative_width(speedup, range)), percent(verdict.widest))
                 : std::string("too few readings for an interval");
      break;
    case verdict_reason::failed:
      text = "a further confirmation of it failed";
      break;
  }
  if (!disturbed.empty()) text += "; " + one_line(disturbed);
  return text;
}

std::string better_undecided(std::uint64_t candidate, double value, const kevo::interval& range,
                             bool unicode) {
  return fmt::format(
      "a better program is undecided: #{} reached {} [{}] in its latest confirmation, and that interval lies "
      "above the champion's",
      candidate, speedup(value, unicode), interval(range.low, range.high, unicode));
}

std::string disturbance_in(const std::map<std::string, std::string>& context) {
  const auto found = context.find("disturbed");
  return found == context.end() ? std::string() : found->second;
}

bool has_score(outcome found, evaluation_stage stage, double score) {
  const bool timed = stage != evaluation_stage::built && stage != evaluation_stage::checked;
  return found == outcome::valid && (timed || score != 0);
}

std::string nothing_faster(std::string_view baseline) {
  return baseline.empty() ? "no program was faster than the baseline"
                          : fmt::format("no program was faster than the baseline '{}'", one_line(baseline));
}

}  // namespace kevo::format
