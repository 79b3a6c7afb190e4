#include "src/base/text/further_baselines.hpp"

#include "src/base/text/format.hpp"

namespace kevo {

std::vector<std::pair<std::string, std::string>> further_speedups(const evaluation& e, bool unicode) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, speedup] : e.other_speedups) {
    const auto found = e.other_speedup_intervals.find(name);
    const interval range = found == e.other_speedup_intervals.end() ? interval() : found->second;
    std::string text = format::speedup(speedup, range.low, range.high, unicode);
    if (!(range.high > range.low)) text += " (no interval)";
    texts.emplace_back(name, std::move(text));
  }
  return texts;
}

}  // namespace kevo
