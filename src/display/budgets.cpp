#include "src/display/budgets.hpp"

#include <kevo/stop/text.hpp>

namespace kevo {

std::vector<budget_share> shares_of(const std::vector<stop_part>& parts) {
  std::vector<budget_share> shares;
  for (const auto& part : parts) {
    // A rule that tells only which share is used has neither a name nor a limit to show.
    shares.push_back(
        {part.name.empty() ? "stop rule" : part.name + " " + stop::number(part.limit), part.share()});
  }
  return shares;
}

}  // namespace kevo
