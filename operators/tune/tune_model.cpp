// How `tune` proposes settings by a model.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <kevo/annotation.hpp>
#include <kevo/operators/tune.hpp>
#include <kevo/score.hpp>

#include "operators/tune/learnt.hpp"
#include "operators/tune/setting_model.hpp"
#include "operators/tune/setting_space.hpp"

namespace kevo {
namespace {

constexpr std::size_t most_pending = 64;

/// A valid setting with equal probabilities; nothing if none was found.
std::optional<tunable_setting> any_setting(const std::vector<tunable_setting>& settings, bool small,
                                           const setting_sampler* sampler, rng& random) {
  if (!small) return sampler->draw(random);
  if (settings.empty()) return std::nullopt;
  return settings[random.below(settings.size())];
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

tune::learnt tune::learn(const variation_request& request, const content_id& skeleton) {
  for (std::size_t id = placed_.size(); id < request.known; ++id) {
    placed& one = placed_.emplace_back();
    const auto source = request.program_of(static_cast<candidate_id>(id));
    if (!source) continue;
    try {
      const setting_space space(parse_annotations(*source));
      one = {skeleton_of(*source, space), space.current()};
    } catch (const error&) {  // a candidate whose annotations are wrong has no setting
    }
  }
  learnt made;
  const auto mine = [&](std::size_t id) { return placed_[id].skeleton == skeleton; };
  std::vector<bool> told(request.known, false);
  std::vector<double> scores;
  for (const told_result* one = request.results.get(); one != nullptr; one = one->before.get()) {
    const std::size_t id = one->candidate;
    if (id >= request.known || !mine(id)) continue;
    told[id] = true;
    const bool failed = one->outcome != outcome::valid;
    if (!failed) scores.push_back(one->score);
    made.results.push_back({placed_[id].setting, 0, failed, one->log_error, one->cost_s});
  }
  made.valid = scores.size();
  to_model_values(scores);
  auto value = scores.begin();
  for (auto& one : made.results) {
    if (!one.failed) one.value = *value++;
  }
  std::reverse(made.results.begin(), made.results.end());
  for (std::size_t id = request.known; id-- > 0;) {
    if (!mine(id)) continue;
    made.known.insert(placed_[id].setting);
    if (!told[id] && made.pending.size() < most_pending) made.pending.push_back(placed_[id].setting);
  }
  return made;
}

std::optional<tune::indexes> tune::far_setting(const walk& all, const setting_space& space,
                                               const learnt& known, rng& random) const {
  constexpr std::size_t candidates = 20;
  const setting_features features(space);
  std::vector<std::vector<double>> rows;
  for (const auto& one : known.known) rows.push_back(features.row(one));
  std::optional<indexes> best;
  double farthest = -1;
  std::size_t looked_at = 0;
  for (std::size_t attempt = 0; attempt < 8 * candidates && looked_at < candidates; ++attempt) {
    auto one = any_setting(all.settings, all.small, all.sampler.get(), random);
    if (!one || known.known.count(*one) != 0) continue;
    ++looked_at;
    const std::vector<double> row = features.row(*one);
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& other : rows) nearest = std::min(nearest, squared_distance(row, other));
    if (nearest <= farthest) continue;
    farthest = nearest;
    best = std::move(one);
  }
  return best;
}

std::shared_ptr<const std::vector<tried_setting>> tune::prior_for(const setting_space& space) const {
  constexpr std::size_t enough = 5;  // valid results
  if (!experience) return nullptr;
  std::vector<tried_setting> found;
  std::size_t valid = 0;
  for (const auto& one : *experience) {
    tunable_setting setting;
    for (const auto& mine : space.tunables()) {
      const auto value = one.values.find(mine.name);
      const auto at = value == one.values.end()
                          ? mine.domain.end()
                          : std::find(mine.domain.begin(), mine.domain.end(), value->second);
      if (at == mine.domain.end()) break;
      setting.push_back(static_cast<std::uint32_t>(at - mine.domain.begin()));
    }
    if (setting.size() < space.tunables().size()) continue;
    valid += one.failed ? 0 : 1;
    found.push_back({std::move(setting), one.value, one.failed});
  }
  if (valid < enough) return nullptr;
  return std::make_shared<const std::vector<tried_setting>>(std::move(found));
}

std::optional<tune::indexes> tune::remembered_setting(walk& all, const setting_space& space,
                                                      const learnt& known, rng& random) const {
  const std::vector<indexes> unseen = pool_of(all, space, known, random);
  fitted_lengths lengths{all.lengths_at, all.lengths, all.prior_lengths};
  const auto best = best_of_prior(space, *all.prior, unseen, 1, sees_divisibility(), lengths);
  all.prior_lengths = std::move(lengths.prior);
  return best.empty() ? std::nullopt : std::optional(unseen[best.front()]);
}

std::vector<tune::indexes> tune::near_best(const setting_space& space, const learnt& known) const {
  const tried_setting* best = nullptr;
  for (const auto& one : known.results) {
    if (!one.failed && (best == nullptr || one.value > best->value)) best = &one;
  }
  std::vector<indexes> found;
  if (best == nullptr) return found;
  indexes setting = best->setting;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    const std::uint32_t before = setting[i];
    for (setting[i] = 0; setting[i] < space.tunables()[i].domain.size(); ++setting[i]) {
      if (setting[i] != before && known.known.count(setting) == 0 && space.valid(setting))
        found.push_back(setting);
    }
    setting[i] = before;
  }
  return found;
}

std::vector<tune::indexes> tune::pool_of(const walk& all, const setting_space& space, const learnt& known,
                                         rng& random) const {
  std::vector<indexes> found;
  if (all.small && all.settings.size() <= pool + known.known.size()) {
    found = all.settings;
  } else {
    for (std::size_t i = 0; i < pool; ++i) {
      auto one = any_setting(all.settings, all.small, all.sampler.get(), random);
      if (one) found.push_back(*std::move(one));
    }
    // Those that differ from one of the best in a single tunable.
    std::vector<const tried_setting*> best;
    for (const auto& one : known.results) {
      if (!one.failed) best.push_back(&one);
    }
    if (all.prior && known.known.size() < draws) {
      for (const auto& one : *all.prior) {
        if (one.failed || !space.valid(one.setting)) continue;
        best.push_back(&one);
        found.push_back(one.setting);
      }
    }
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(10, best.size()));
    std::partial_sort(best.begin(), best.begin() + count, best.end(), [](const auto* a, const auto* b) {
      return a->value != b->value ? a->value > b->value : a->setting < b->setting;
    });
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      indexes setting = best[static_cast<std::size_t>(k)]->setting;
      for (std::size_t i = 0; i < setting.size(); ++i) {
        const std::uint32_t before = setting[i];
        for (setting[i] = 0; setting[i] < space.tunables()[i].domain.size(); ++setting[i]) {
          if (setting[i] != before && space.valid(setting)) found.push_back(setting);
        }
        setting[i] = before;
      }
    }
  }
  std::erase_if(found, [&](const indexes& one) { return known.known.count(one) != 0; });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<tune::indexes> tune::expected_best(walk& all, const setting_space& space, const learnt& known,
                                               rng& random) const {
  std::vector<indexes> unseen;
  if (climb > 0 && random.chance(climb)) unseen = near_best(space, known);
  if (unseen.empty()) unseen = pool_of(all, space, known, random);
  fitted_lengths lengths{all.lengths_at, all.lengths, all.prior_lengths};
  const setting_model_settings how{
      model == tune_model::forest ? setting_model_kind::forest : setting_model_kind::gaussian_process, memory,
      cost, sees_divisibility(), all.prior.get()};
  constexpr std::size_t offered = 4;  // the first ones may be known by another way
  const auto order = best_expected(space, known.results, known.pending, unseen, offered, how, lengths);
  all.lengths_at = lengths.results;
  all.lengths = std::move(lengths.logarithms);
  all.prior_lengths = std::move(lengths.prior);
  std::vector<indexes> made;
  for (const std::size_t at : order) made.push_back(unseen[at]);
  return made;
}

}  // namespace kevo
