#pragma once
// A recorded space as a fitness function: it returns the measurements that were made when the space was
// recorded.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <kevo/evaluate.hpp>
#include <kevo/lab/recorded_space.hpp>
#include <kevo/random.hpp>

namespace kevo {

/// Returns recorded results. Speedups are relative to the configuration `start`. With `sampled`, an
/// evaluation draws one of the recorded measurements of the configuration, so that its noise is that of the
/// device; a confirmation returns the recorded value. The cost is the recorded time. A configuration that was
/// not recorded has the outcome `build_failed`, at no cost. Measures: every parameter whose value is a
/// number, by its name. Thread-safe.
class recorded_fitness {
 public:
  /// `start` is the index of the configuration that speedups are relative to; `seed` determines which
  /// measurements are drawn.
  recorded_fitness(std::shared_ptr<const recorded_space> space, std::size_t start, bool sampled,
                   std::uint64_t seed)
      : space_(std::move(space)), start_(start), sampled_(sampled), root_(rng(seed).split("sample")) {}

  evaluation evaluate(const evaluation_request& request) {
    evaluation e;
    e.backend = "recorded";
    const auto setting = space_->setting_in(request.program->text());
    const auto found = setting ? space_->find(*setting) : std::nullopt;
    if (!found) {
      e.feedback =
          setting ? "this configuration was not recorded" : "this is not a configuration of the space";
      return e;
    }
    const recorded_result& r = space_->at(*found);
    e.outcome = r.outcome;
    e.cost = {.wall_s = r.build_s + r.run_s, .device_s = r.run_s};
    if (!e.valid()) {
      e.stage = r.outcome == outcome::build_failed ? evaluation_stage::none : evaluation_stage::checked;
      e.feedback = "this configuration failed when it was recorded";
      return e;
    }
    e.stage = request.wanted;
    const bool sample = sampled_ && !r.samples.empty() && request.wanted != evaluation_stage::confirmed;
    const double objective = sample ? draw(*found, r) : r.objective;
    e.speedup = e.score = space_->speed_of(r, objective) / space_->speed(start_);
    e.speedup_interval = {e.speedup, e.speedup};
    for (std::size_t p = 0; p < setting->size(); ++p) {
      const double number = space_->parameters()[p].numbers[(*setting)[p]];
      if (!std::isnan(number)) e.measures[space_->parameters()[p].name] = number;
    }
    return e;
  }
  std::string describe() const {
    return "a recorded space of " + std::to_string(space_->size()) + " configurations";
  }

 private:
  /// The n-th measurement of a configuration is the same whatever else was measured.
  double draw(std::size_t which, const recorded_result& r) {
    std::uint64_t turn = 0;
    {
      const std::scoped_lock lock(guard_);
      turn = measured_[which]++;
    }
    return r.samples[root_.split(which).split(turn).below(r.samples.size())];
  }

  std::shared_ptr<const recorded_space> space_;
  std::size_t start_ = 0;
  bool sampled_ = false;
  rng root_;
  std::mutex guard_;
  std::map<std::size_t, std::uint64_t> measured_;
};

}  // namespace kevo
