#pragma once
// A landscape as a fitness function: it returns the true value with noise, and the simulated cost of the
// evaluation.

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <kevo/evaluate.hpp>
#include <kevo/lab/landscape.hpp>

namespace kevo {

/// How a simulated evaluation is measured and what it costs. All defaults are kevo's choice.
struct simulated_measurement {
  double noise = 0;            ///< standard deviation of the logarithm of a measured speedup
  double confirmed_noise = 0;  ///< standard deviation of the logarithm of a confirmed speedup
  /// Number of small tasks of a program; 0 means one task. Each measurement runs the program on one of them,
  /// drawn at random, as POLCA's rollouts do. The noise then has two parts of equal variance: the difficulty
  /// of the task, which is the same for all programs, and how well the program suits the task. Both are fixed
  /// for the whole search.
  std::size_t tasks = 0;
  double build_s = 2;  ///< [s] simulated cost of a build; a build that fails costs half of it
  /// [s] Simulated cost of timing a program that is as fast as the seed; a confirmation costs twice as much.
  double run_s = 4;
};

/// Makes simulated measurements of true values. The n-th measurement of a program always gives the same
/// result, whatever else was measured before. Thread-safe.
class simulated_timer {
 public:
  /// Equal settings and seeds give equal measurements.
  simulated_timer(simulated_measurement how, std::uint64_t seed)
      : how_(how), root_(rng(seed).split("noise")) {}

  /// The evaluation of the program in `request` whose true outcome and value are given.
  evaluation measure(outcome verdict, double value, const evaluation_request& request) {
    evaluation e;
    e.outcome = verdict;
    e.backend = "simulated";
    e.stage = request.wanted;
    if (verdict == outcome::build_failed) {
      e.stage = evaluation_stage::none;
      e.cost.wall_s = how_.build_s / 2;
      return e;
    }
    if (verdict != outcome::valid) {
      e.stage = evaluation_stage::checked;
      e.cost.wall_s = how_.build_s;
      return e;
    }
    const bool confirmed = request.wanted == evaluation_stage::confirmed;
    const double noise = confirmed ? how_.confirmed_noise : how_.noise;
    e.speedup = e.score = value * std::exp(noise > 0 ? noise * draw(*request.program) : 0);
    e.speedup_interval = {e.speedup * std::exp(-1.96 * noise), e.speedup * std::exp(1.96 * noise)};
    e.cost.device_s = (confirmed ? 2 : 1) * how_.run_s / value;
    e.cost.wall_s = how_.build_s + e.cost.device_s;
    return e;
  }

 private:
  double draw(const program& source) {
    const content_id id = id_of(source);
    std::uint64_t turn = 0;
    {
      const std::scoped_lock lock(guard_);
      turn = measured_[id]++;
    }
    const rng own = root_.split(id.high).split(id.low);
    if (how_.tasks == 0) return own.split(turn).normal();
    const std::uint64_t task = own.split(turn).below(how_.tasks);
    const double hard = root_.split("task").split(task).normal();
    const double unsuited = own.split("task").split(task).normal();
    return (hard + unsuited) / std::sqrt(2.0);
  }

  simulated_measurement how_;
  rng root_;
  std::mutex guard_;
  std::map<content_id, std::uint64_t> measured_;
};

/// The fitness function of one landscape. Measures: `applied` (number of applied steps), `resource` (mean
/// level, from 0 to 1), `first` (the step that is applied first, -1 if there is none) and `level_0`,
/// `level_1`, ... Thread-safe.
class landscape_fitness {
 public:
  /// `seed` determines the noise.
  landscape_fitness(std::shared_ptr<const landscape> world, simulated_measurement how, std::uint64_t seed)
      : world_(std::move(world)), timer_(how, seed) {}

  evaluation evaluate(const evaluation_request& request) {
    const auto p = landscape_program_in(request.program->text());
    if (!p) {
      evaluation e = timer_.measure(outcome::build_failed, 0, request);
      e.feedback = "not a program of a landscape";
      return e;
    }
    const landscape_verdict verdict = world_->judge(*p);
    evaluation e = timer_.measure(verdict.outcome, verdict.value, request);
    if (!e.valid()) {
      e.feedback = verdict.outcome == outcome::incorrect ? "a step requires another step before it"
                                                         : "two tunables exceed the resource that they share";
      return e;
    }
    double sum = 0;
    for (std::size_t i = 0; i < p->tuning.size(); ++i) {
      e.measures["level_" + std::to_string(i)] = p->tuning[i];
      sum += p->tuning[i];
    }
    e.measures["applied"] = static_cast<double>(p->order.size());
    e.measures["first"] = p->order.empty() ? -1 : static_cast<double>(p->order.front());
    e.measures["resource"] =
        p->tuning.empty() ? 0 : sum / static_cast<double>(p->tuning.size() * (p->levels - 1));
    return e;
  }
  std::string describe() const { return "a simulated landscape"; }

 private:
  std::shared_ptr<const landscape> world_;
  simulated_timer timer_;
};

}  // namespace kevo
