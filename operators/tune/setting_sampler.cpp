#include <algorithm>
#include <numeric>
#include <utility>

#include "operators/tune/setting_space.hpp"

namespace kevo {
namespace {

/// The representative of a group of tunables, in a forest of parents (union-find).
std::size_t group_of(std::vector<std::size_t>& parents, std::size_t one) {
  while (parents[one] != one) one = parents[one] = parents[parents[one]];
  return one;
}

}  // namespace

setting_sampler::setting_sampler(const setting_space& space, std::size_t limit, std::size_t work)
    : space_(space) {
  const std::size_t count = space_.tunables().size();
  if (space_.listed_) {  // one group, whose settings are known
    group all{.settings = *space_.listed_, .enumerated = true};
    for (std::size_t i = 0; i < count; ++i) all.tunables.push_back(i);
    groups_.push_back(std::move(all));
    return;
  }
  std::vector<std::size_t> parents(count);
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  for (const auto& one : space_.conditions_) {
    if (one.tunables.empty() && !space_.holds(one, {})) empty_ = true;
    for (const std::size_t i : one.tunables)
      parents[group_of(parents, i)] = group_of(parents, one.tunables.front());
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (group_of(parents, i) != i) continue;
    group made;
    for (std::size_t k = 0; k < count; ++k) {
      if (group_of(parents, k) == i) made.tunables.push_back(k);
    }
    if (auto all = space_.enumerate(made.tunables, limit, work)) {
      made.settings = *std::move(all);
      made.enumerated = true;
    }
    groups_.push_back(std::move(made));
  }
}

bool setting_sampler::draw_large(const group& one, tunable_setting& setting, rng& random,
                                 std::size_t tries) const {
  while (tries-- > 0) {
    bool good = true;
    for (std::size_t i = 0; good && i < one.tunables.size(); ++i) {
      const std::size_t at = one.tunables[i];
      setting[at] = static_cast<std::uint32_t>(random.below(space_.tunables()[at].domain.size()));
      for (const auto& test : space_.conditions_) {
        if (!test.tunables.empty() && test.last == at) good = good && space_.holds(test, setting);
      }
    }
    if (good) return true;
  }
  return false;
}

std::optional<tunable_setting> setting_sampler::draw(rng& random, std::size_t tries) const {
  if (empty_) return std::nullopt;
  tunable_setting setting(space_.tunables().size(), 0);
  for (const group& one : groups_) {
    if (!one.enumerated) {
      if (!draw_large(one, setting, random, tries)) return std::nullopt;
      continue;
    }
    if (one.settings.empty()) return std::nullopt;
    const tunable_setting& chosen = one.settings[random.below(one.settings.size())];
    for (const std::size_t i : one.tunables) setting[i] = chosen[i];
  }
  return setting;
}

std::optional<std::uint64_t> setting_sampler::count() const {
  std::uint64_t product = empty_ ? 0 : 1;
  for (const group& one : groups_) {
    if (!one.enumerated) return std::nullopt;
    if (__builtin_mul_overflow(product, std::uint64_t{one.settings.size()}, &product)) return std::nullopt;
  }
  return product;
}

}  // namespace kevo
