#include "src/lab/strategies/trial.hpp"

#include <utility>

namespace kevo::strategies {

std::vector<recorded_setting> trial::neighbours(const recorded_setting& of, rng& random) const {
  std::vector<recorded_setting> all;
  for (std::size_t p = 0; p < of.size(); ++p) {
    recorded_setting other = of;
    for (std::uint32_t v = 0; v < space_.parameters()[p].values.size(); ++v) {
      other[p] = v;
      if (v != of[p] && space_.find(other)) all.push_back(other);
    }
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

recorded_setting trial::neighbour(const recorded_setting& of, rng& random) const {
  for (int tries = 0; tries < 64; ++tries) {
    recorded_setting other = of;
    const std::size_t p = random.below(other.size());
    other[p] = static_cast<std::uint32_t>(random.below(space_.parameters()[p].values.size()));
    if (other[p] != of[p] && space_.find(other)) return other;
  }
  const auto all = neighbours(of, random);
  return all.empty() ? any(random) : all.front();
}

}  // namespace kevo::strategies
