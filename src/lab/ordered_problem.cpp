// Simulated kernels whose best program needs an order, and the policies that choose steps in them.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <kevo/lab/landscape_fitness.hpp>
#include <kevo/registry.hpp>
#include <kevo/score.hpp>
#include <kevo/vary.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/lab/ordered_steps.hpp"
#include "src/lab/problem.hpp"
#include "src/learn/train.hpp"

namespace kevo {
namespace {

using kernel_pointer = std::shared_ptr<const ordered_kernel>;

/// The kernels of the tasks of a lab: an operator finds the one that it is asked about.
class ordered_kernels {
 public:
  void add(std::shared_ptr<const task> of, kernel_pointer kernel) {
    const std::scoped_lock lock(guard_);
    std::erase_if(all_, [](const auto& one) { return one.second.first.expired(); });
    const task* key = of.get();
    all_[key] = {std::move(of), std::move(kernel)};
  }
  kernel_pointer of(const task* key) const {
    const std::scoped_lock lock(guard_);
    const auto found = all_.find(key);
    return found == all_.end() ? nullptr : found->second.second;
  }

 private:
  mutable std::mutex guard_;
  std::map<const task*, std::pair<std::weak_ptr<const task>, kernel_pointer>> all_;
};

struct ordered_fitness {
  kernel_pointer kernel;
  std::shared_ptr<simulated_timer> timer;
  evaluation evaluate(const evaluation_request& request) const {
    const auto steps = ordered_steps_in(request.program->text());
    const auto [judged, value] = steps ? kernel->judge(*steps) : std::pair(outcome::build_failed, 0.0);
    return timer->measure(judged, value, request);
  }
};

/// Episodes on kernels that no lab searches: their seeds are above all that a config can give.
class ordered_world {
 public:
  ordered_world(std::size_t regions, std::size_t horizon) : regions_(regions), horizon_(horizon) {}
  void begin(rng& random) {
    kernel_ = std::make_unique<ordered_kernel>(regions_, (std::uint64_t{1} << 62U) + random.below(1000));
    steps_.clear();
    failed_.clear();
    turn_ = 0;
    value_ = 1;
  }
  std::shared_ptr<const action_decision> decision() const {
    const action_choice choice = open();
    if (turn_ >= horizon_ || choice.actions.empty()) return nullptr;
    static const action_features features = ordered_kernel::features();
    return std::make_shared<const action_decision>(decision_of(choice, features, features));
  }
  double act(std::size_t action, rng&) {
    const ordered_step step = step_of(open().actions.at(action));
    auto steps = steps_;
    steps.push_back(step);
    const auto [judged, value] = kernel_->judge(steps);
    tree_node before, after;
    before.outcome = outcome::valid;
    before.log_score = std::log(value_);
    after.outcome = judged;
    after.log_score = value > 0 ? std::log(value) : 0;
    const stage_rewards rewards;
    const double reward =
        std::pow(rewards.decay, static_cast<double>(turn_++)) * reward_of(before, after, rewards);
    if (judged == outcome::valid) {
      steps_ = std::move(steps);
      value_ = value;
      failed_.clear();
    } else {
      failed_.push_back(step);
    }
    return reward;
  }
  static ordered_step step_of(const possible_action& action) {
    const auto type = std::find(ordered_step_types.begin(), ordered_step_types.end(), action.type);
    return {static_cast<std::size_t>(type - ordered_step_types.begin()),
            static_cast<std::size_t>(std::stoul(action.region))};
  }

 private:
  action_choice open() const {
    action_choice choice = kernel_->choice(steps_);
    std::erase_if(choice.actions, [this](const auto& one) {
      return std::find(failed_.begin(), failed_.end(), step_of(one)) != failed_.end();
    });
    return choice;
  }

  std::size_t regions_, horizon_, turn_ = 0;
  std::unique_ptr<ordered_kernel> kernel_;
  std::vector<ordered_step> steps_, failed_;
  double value_ = 1;
};

struct training {
  std::size_t iterations = 40;
  std::size_t horizon = 12;
  std::uint64_t seed = 1;
};

std::shared_ptr<const learnt_policy> trained_on_others(std::size_t regions, const training& how) {
  const rng random = rng(how.seed).split("ordered policy");
  const auto features = ordered_kernel::features();
  ppo trainer(net_for(features, 0), {.iterations = how.iterations, .rate = 0.03}, random);
  ordered_world world(regions, how.horizon);
  for (std::size_t i = 0; i < how.iterations; ++i) trainer.improve(world);
  return std::make_shared<const learnt_policy>(learnt_policy{"ordered_step", features, trainer.net(), {}});
}

/// Adds one step that the parent lacks, chosen by a policy.
struct ordered_step_operator {
  std::shared_ptr<const ordered_kernels> kernels;
  action_policy policy;

  std::string name() const { return "ordered_step"; }
  bool repairs() const { return false; }
  bool replayable() const { return false; }  // so that its summaries are kept, from which bandits learn
  bool learns() const { return policy.learns; }
  variation_result vary(const variation_request& request, rng& random) const {
    const auto steps = ordered_steps_in(request.parents.front()->program->text());
    const kernel_pointer kernel = kernels->of(request.task.get());
    if (!steps || !kernel) return no_proposal{"the parent is not a program of this problem", true};
    request.book({.wall_s = 1});
    action_choice choice = kernel->choice(*steps);
    const auto with = [&steps](const possible_action& one) {
      auto longer = *steps;
      longer.push_back(ordered_world::step_of(one));
      return ordered_program(longer);
    };
    std::erase_if(choice.actions, [&](const auto& one) { return request.seen(id_of(with(one))); });
    if (choice.actions.empty()) return no_proposal{"every step was tried on the parent"};
    const auto weights =
        policy.weights(choice, policy.learns ? tried_in(request) : std::vector<tried_action>());
    const std::size_t at = random.weighted(weights);
    const possible_action& chosen = choice.actions[at < weights.size() ? at : 0];
    return proposal{with(chosen), chosen.type + " " + chosen.region};
  }

 private:
  static std::vector<tried_action> tried_in(const variation_request& request) {
    std::map<candidate_id, const told_result*> latest;
    for (const told_result* one = request.results.get(); one != nullptr; one = one->before.get())
      latest.emplace(one->candidate, one);
    std::vector<tried_action> all;
    for (const auto& [id, one] : latest) {
      const auto parent = latest.find(one->parent);
      if (one->summary.empty() || parent == latest.end() || parent->second->outcome != outcome::valid)
        continue;
      const bool valid = one->outcome == outcome::valid;
      const double gain = valid ? relative_gain(one->score, parent->second->score) : 0;
      all.push_back({one->summary.substr(0, one->summary.find(' ')), {}, std::clamp(gain, 0.0, 1.0)});
    }
    return all;
  }
};

}  // namespace

lab_problem ordered_problem(settings& from) {
  const auto regions = static_cast<std::size_t>(from.integer(
      "regions", {.def = 6, .min = 1, .max = 64, .unit = "regions", .doc = "number of regions of a kernel"}));
  simulated_measurement measured;
  measured.noise = from.real(
      "noise", {.def = 0.0, .min = 0.0, .doc = "standard deviation of the logarithm of a measured speedup"});
  from.finish();
  const auto kernels = std::make_shared<ordered_kernels>();
  lab_problem problem;
  problem.description = fmt::format(
      "simulated kernels of {} regions, each of which needs fusion, tiling and pipelining in this order",
      regions);
  problem.identity = dump_yaml(from.resolved());
  problem.instance = [regions, measured, kernels](std::uint64_t seed) {
    const auto kernel = std::make_shared<const ordered_kernel>(regions, seed);
    const auto timer = std::make_shared<simulated_timer>(measured, seed);
    lab_instance made;
    made.seeds = {ordered_program({})};
    made.fitness = any_fitness(ordered_fitness{kernel, timer});
    made.true_value = [kernel](const program& source) {
      const auto steps = ordered_steps_in(source.text());
      return steps ? kernel->judge(*steps).second : 0;
    };
    made.optimum = kernel->optimum();
    made.task = std::make_shared<const task>();
    kernels->add(made.task, kernel);
    return made;
  };
  problem.extend = [regions, kernels](registry& all) {
    all.operators.add(
        "ordered_step",
        [regions, kernels](settings& given, const build_context&) {
          const std::string policy = given.text(
              "policy",
              {.def = "uniform",
               .doc = "how a step is chosen: uniform, ucb (UCB1 over the kinds of step), or trained "
                      "(by PPO, on kernels that the lab does not search)",
               .one_of = {"uniform", "ucb", "trained"}});
          const bool by_region = given.boolean(
              "regions", {.def = true, .doc = "whether a trained policy chooses the region, too"});
          training how;
          how.iterations = static_cast<std::size_t>(
              given.integer("iterations", {.def = 40, .min = 1, .max = 10000, .doc = "iterations of PPO"}));
          how.seed = static_cast<std::uint64_t>(
              given.integer("training_seed", {.def = 1, .min = 0, .doc = "seed of the training"}));
          if (policy == "uniform" || given.probing())
            return any_variation(ordered_step_operator{kernels, uniform_actions()});
          if (policy == "ucb") return any_variation(ordered_step_operator{kernels, ucb_actions()});
          return any_variation(ordered_step_operator{
              kernels,
              trained_actions(trained_on_others(regions, how), ordered_kernel::features(), 0.05, by_region)});
        },
        "simulated ordered steps: adds a step (type, region) that the parent lacks");
  };
  return problem;
}

}  // namespace kevo
