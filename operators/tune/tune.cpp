#include "operators/tune/tune.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <kevo/annotation.hpp>

#include "operators/tune/learnt.hpp"
#include "operators/tune/setting_space.hpp"

namespace kevo {
namespace {

// The setting of `mate` in the terms of `space`, where they share names and values; nothing if that changes
// nothing.
std::optional<tunable_setting> translated(const annotations& mate, const setting_space& space,
                                          const tunable_setting& own) {
  tunable_setting result = own;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const tunable& mine = space.tunables()[i];
    const tunable* theirs = mate.find_tunable(mine.name);
    if (theirs == nullptr) continue;
    const auto at = std::find(mine.domain.begin(), mine.domain.end(), theirs->value);
    if (at != mine.domain.end()) result[i] = static_cast<std::uint32_t>(at - mine.domain.begin());
  }
  if (result == own) return std::nullopt;
  return result;
}

std::vector<tunable_setting> mates_of(const variation_request& request, const setting_space& space,
                                      const tunable_setting& own) {
  std::vector<tunable_setting> result;
  const auto add = [&](const candidate_snapshot& other) {
    try {
      if (auto setting = translated(parse_annotations(*other.program), space, own))
        result.push_back(*std::move(setting));
    } catch (const error&) {  // a candidate whose annotations are wrong is no mate
    }
  };
  for (std::size_t i = 1; i < request.parents.size(); ++i) add(*request.parents[i]);
  for (const auto& other : request.inspirations) add(*other);
  return result;
}

tunable_setting anywhere(const setting_space& space, rng& random) {
  tunable_setting setting;
  for (const tunable& one : space.tunables())
    setting.push_back(static_cast<std::uint32_t>(random.below(one.domain.size())));
  return setting;
}

}  // namespace

tune::walk& tune::walk_of(const content_id& skeleton, const setting_space& space) {
  if (const auto known = walks_.find(skeleton); known != walks_.end()) return known->second;
  if (walks_.size() >= 16) walks_.clear();  // many sources: what was remembered can be found again
  walk& fresh = walks_[skeleton];
  if (auto all = space.enumerate(enumerate)) {
    fresh.small = true;
    fresh.seen.resize(all->size());
    fresh.settings = *std::move(all);
  } else {
    fresh.sampler = std::make_shared<const setting_sampler>(space, enumerate);
  }
  if (model != tune_model::none) fresh.prior = prior_for(space);
  return fresh;
}

tunable_setting tune::mutated(const setting_space& space, tunable_setting setting, double more,
                              rng& random) const {
  std::vector<std::size_t> free;  // tunables with a choice, in random order: each step takes another one
  for (std::size_t i = 0; i < setting.size(); ++i) {
    if (space.tunables()[i].domain.size() > 1) free.push_back(i);
  }
  random.shuffle(std::span<std::size_t>(free));
  for (std::size_t step = 0; step < free.size() && (step == 0 || random.chance(more)); ++step) {
    std::uint32_t& value = setting[free[step]];
    const auto count = static_cast<std::uint32_t>(space.tunables()[free[step]].domain.size());
    if (random.chance(neighbour)) {
      const bool up = value == 0 || (value + 1 < count && random.chance(0.5));
      value = up ? value + 1 : value - 1;
    } else {
      value = (value + 1 + static_cast<std::uint32_t>(random.below(count - 1))) % count;
    }
  }
  return setting;
}

template <class Offer>
variation_result tune::walked(walk& all, const tunable_setting& own, const variation_request& request,
                              Offer offer, rng& random) {
  const std::size_t count = all.settings.size();
  const std::size_t start = count == 0 ? 0 : random.below(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (request.stop.stop_requested()) return no_proposal{"stopped"};
    const std::size_t at = (start + i) % count;
    if (all.seen[at] || all.settings[at] == own) continue;
    if (auto found = offer(all.settings[at])) return *std::move(found);
    all.seen[at] = true;
  }
  if (count == 0) return no_proposal{"exhausted: no setting fulfils every 'require'", true};
  return no_proposal{"exhausted: all " + std::to_string(count) + " settings are known", true};
}

template <class Offer>
std::optional<proposal> tune::stepped(const setting_space& space, const tunable_setting& own,
                                      const variation_request& request, Offer offer, rng& random) const {
  const auto mates = mates_of(request, space, own);
  const auto changes = [&](const tunable_setting& setting) { return setting != own; };
  for (std::size_t attempt = 0; attempt < tries && !request.stop.stop_requested(); ++attempt) {
    tunable_setting setting = own;
    if (!mates.empty() && random.chance(crossover)) {
      const auto& mate = mates[random.below(mates.size())];
      for (std::size_t i = 0; i < setting.size(); ++i) {
        if (random.chance(0.5)) setting[i] = mate[i];
      }
    }
    // The more tries were in vain, the further away the next one goes.
    const double more =
        another_step + (1 - another_step) * static_cast<double>(attempt) / static_cast<double>(2 * tries);
    if (setting == own || random.chance(0.3)) setting = mutated(space, std::move(setting), more, random);
    const auto good = space.nearest_valid(setting, random, changes);
    if (!good) break;  // few valid settings, far away: leave it to the walk
    if (auto found = offer(*good)) return found;
  }
  return std::nullopt;
}

variation_result tune::vary(const variation_request& request, rng& random) {
  const program& source = *request.parents.front()->program;
  std::optional<setting_space> parsed;
  try {
    parsed.emplace(parse_annotations(source), only);
  } catch (const error& wrong) {
    return no_proposal{std::string("the parent's annotations are wrong: ") + wrong.what()};
  }
  const setting_space& space = *parsed;
  if (space.tunables().empty()) return no_proposal{"the parent has no tunables"};
  const tunable_setting own = space.current();
  const content_id skeleton = skeleton_of(source, space);

  const auto offer = [&](const tunable_setting& setting) -> std::optional<proposal> {
    program child = space.apply(source, setting);
    if (request.seen(id_of(child))) return std::nullopt;
    return proposal{std::move(child), space.difference(own, setting)};
  };

  const auto changes = [&](const tunable_setting& setting) { return setting != own; };
  const bool drawn = request.known > 0 && request.known < draws;
  if (model != tune_model::none && request.known > 0) {
    const learnt known = learn(request, skeleton);
    walk& all = walk_of(skeleton, space);
    constexpr std::size_t enough = 3;  // valid results from which the model is asked
    if (drawn) {
      // What was good elsewhere and what is far from all take turns.
      const auto first = all.prior && request.known % 2 == 1 ? remembered_setting(all, space, known, random)
                                                             : far_setting(all, space, known, random);
      if (first) {
        if (auto found = offer(*first)) return *std::move(found);
      }
    } else if (known.valid >= enough && !random.chance(moves)) {
      for (const auto& setting : expected_best(all, space, known, random)) {
        if (auto found = offer(setting)) return *std::move(found);
      }
    }
  } else if (drawn) {
    walk& all = walk_of(skeleton, space);
    if (all.small) return walked(all, own, request, offer, random);
    for (std::size_t attempt = 0; attempt < tries && !request.stop.stop_requested(); ++attempt) {
      auto good = all.sampler->draw(random);
      if (!good) good = space.nearest_valid(anywhere(space, random), random, changes);
      if (!good) break;
      if (*good == own) continue;
      if (auto found = offer(*good)) return *std::move(found);
    }
  }
  if (auto found = stepped(space, own, request, offer, random)) return *std::move(found);

  walk& all = walk_of(skeleton, space);
  if (all.small) return walked(all, own, request, offer, random);
  return no_proposal{"found no unseen setting in " + std::to_string(tries) + " tries"};
}

}  // namespace kevo
