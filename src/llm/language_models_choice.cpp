// Which model is asked, and what it earns.
#include <algorithm>
#include <cmath>

#include <kevo/error.hpp>

#include "src/llm/language_models.hpp"

namespace kevo {

std::size_t language_models::named(const std::string& name) const {
  for (std::size_t i = 0; i < settings_.models.size(); ++i) {
    if (settings_.models[i].name == name) return i;
  }
  throw error(error_code::input, "llm.models has no model named '" + name + "'", {},
              "add it to llm.models, or name another model");
}

std::size_t language_models::choose(const std::string& tier, rng& random) {
  std::vector<std::size_t> choices;
  std::vector<double> weights;
  for (std::size_t i = 0; i < settings_.models.size(); ++i) {
    if (!tier.empty() && settings_.models[i].tier != tier) continue;
    if (!(settings_.models[i].weight > 0)) continue;  // embeddings, judges: asked by name alone
    choices.push_back(i);
    weights.push_back(settings_.models[i].weight);
  }
  if (choices.empty())
    throw error(error_code::input, "llm.models has no model of tier '" + tier + "' with a positive weight",
                {}, "give a model this tier and a weight above 0, or choose another tier");
  leave_out_refused(choices, weights);
  if (choices.size() == 1) return choices.front();
  if (settings_.choice.portfolio) return pick(choices, random);
  if (settings_.choice.bandit) return pull(choices, random);
  return choices[random.weighted(weights)];
}

/// Where all are refused, all stay: whoever asks one is told why it is of no use.
void language_models::leave_out_refused(std::vector<std::size_t>& choices,
                                        std::vector<double>& weights) const {
  const std::scoped_lock lock(guard_);
  std::vector<std::size_t> left;
  std::vector<double> weights_left;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!refused_[choices[i]].empty()) continue;
    left.push_back(choices[i]);
    weights_left.push_back(weights[i]);
  }
  if (left.empty()) return;
  choices = std::move(left);
  weights = std::move(weights_left);
}

bool language_models::may_ask(const std::string& name, const std::string& tier) const {
  const std::scoped_lock lock(guard_);
  for (std::size_t i = 0; i < settings_.models.size(); ++i) {
    const model_settings& model = settings_.models[i];
    const bool meant =
        name.empty() ? (tier.empty() || model.tier == tier) && model.weight > 0 : model.name == name;
    if (meant && refused_[i].empty()) return true;
  }
  return false;
}

// UCB1 on decayed means, less what a call costs (ShinkaEvolve's cost-aware bandit).
std::size_t language_models::pull(const std::vector<std::size_t>& choices, rng& random) {
  if (random.chance(settings_.choice.exploration)) return choices[random.below(choices.size())];
  const std::scoped_lock lock(guard_);
  double total = 0;
  double highest = 0;
  for (const std::size_t i : choices) {
    if (arms_[i].calls == 0) return i;
    total += arms_[i].pulls;
    highest = std::max(highest, mean_cost(i));
  }
  double best = -1e300;
  std::size_t chosen = choices.front();
  for (const std::size_t i : choices) {
    const double n = std::max(arms_[i].pulls, 0.5);  // the first turns may still be out
    const double value = arms_[i].reward / n + std::sqrt(2 * std::log(std::max(total, 1.0) + 1) / n) -
                         (highest > 0 ? settings_.choice.cost_weight * mean_cost(i) / highest : 0);
    if (value > best) {
      best = value;
      chosen = i;
    }
  }
  return chosen;
}

// The portfolio knows all models; those of another tier may not run now.
std::size_t language_models::pick(const std::vector<std::size_t>& choices, rng& random) {
  const std::scoped_lock lock(guard_);
  const auto available = std::make_unique<bool[]>(arms_.size());
  for (const std::size_t i : choices) available[i] = true;
  return settings_.choice.portfolio.pick({available.get(), arms_.size()}, random);
}

double language_models::mean_cost(std::size_t model) const {
  return arms_[model].calls > 0 ? arms_[model].cost / arms_[model].calls : 0.0;
}

void language_models::observe(const observation& seen) {
  if (seen.job == 0) return;
  skills_.observe(seen);
  credit(seen.job, seen.gain(), seen.cost_s);
}

void language_models::fruitless(std::uint64_t job) {
  credit(job, 0, 0);
}

void language_models::credit(std::uint64_t job, double reward, double cost_s) {
  const std::scoped_lock lock(guard_);
  const auto it = asked_.find(job);
  if (it == asked_.end()) return;
  for (arm& each : arms_) {
    each.pulls *= settings_.choice.decay;
    each.reward *= settings_.choice.decay;
  }
  arms_[it->second].pulls += 1;
  arms_[it->second].reward += reward;
  if (settings_.choice.portfolio) {  // what models cost is money where they have prices, else time
    const bool priced = std::any_of(settings_.models.begin(), settings_.models.end(),
                                    [](const auto& m) { return m.price.input > 0 || m.price.output > 0; });
    settings_.choice.portfolio.observe(
        {.index = it->second, .reward = reward, .cost_s = priced ? mean_cost(it->second) : cost_s});
  }
  asked_.erase(it);
}

}  // namespace kevo
