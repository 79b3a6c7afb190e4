#include "src/display/standings.hpp"

#include <cmath>
#include <iterator>
#include <limits>

namespace kevo {

void standings::tell(candidate_id who, const evaluation& result, bool fresh) {
  if (evaluations_.size() <= who) evaluations_.resize(who + std::size_t{1});
  if (evaluations_[who] < std::numeric_limits<std::uint16_t>::max()) ++evaluations_[who];
  const auto it = known_.find(who);
  const bool known = it != known_.end();
  if (known) order_.erase({-it->second.score, who});
  if (!result.valid() || !std::isfinite(result.score)) {
    if (known) known_.erase(it);
    return;
  }
  candidate_standing& now = known ? it->second : known_[who];
  now.score = known && fresh ? now.score + (result.score - now.score) / static_cast<double>(evaluations_[who])
                             : result.score;
  now.speedup = result.speedup;
  now.speedup_interval = result.speedup_interval;
  now.measured_again = result.stage == evaluation_stage::confirmed;
  order_.insert({-now.score, who});
  if (order_.size() <= kept) return;
  auto last = std::prev(order_.end());
  if (last->second == who) --last;  // what was just told is always known
  known_.erase(last->second);
  order_.erase(last);
}

}  // namespace kevo
