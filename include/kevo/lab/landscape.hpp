#pragma once
// A simulated landscape of kernel programs. It has the difficulties of a search for fast kernels, but needs
// no compiler and no measurement. A program is an ordered list of optimization steps and a level for each
// tunable. Its speedup is a product of factors. The model is kevo's own:
//
//   * Each step has a factor. Most steps need another step, their enabler, before them. Without its enabler,
//     a step makes the program slower; some steps make it incorrect.
//   * Some enablers make a program slower by themselves and are worthwhile only with the steps that they
//     enable (valleys).
//   * Each tunable has a target level. Its factor falls with the distance from the target, in plateaus. For
//     some tunables (traps) it drops beside the target and then rises with the distance (Deb and Goldberg,
//     "Analyzing deception in trap functions", FOGA 1993). Some targets change when a step is applied.
//   * Pairs of tunables share a resource. A program that exceeds its capacity does not build.
//
// The best program is known by construction, so that the result of a search can be stated as a share of it.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/random.hpp>

namespace kevo {

/// The settings from which a landscape is drawn. A probability applies to each step or tunable separately.
/// All defaults are kevo's choice.
struct landscape_settings {
  std::size_t steps = 12;    ///< number of optimization steps
  std::size_t tunables = 6;  ///< number of tunables
  std::size_t levels = 8;    ///< number of values of each tunable, at least 2
  double gain_low = 1.1;   ///< smallest factor of a step, or of a tunable at its target; drawn log-uniformly
  double gain_high = 1.6;  ///< largest factor
  double ordered = 0.7;    ///< probability that a step needs an enabler before it
  /// Probability that a step makes the program incorrect, instead of slower, if its enabler is missing.
  double strict = 0.3;
  /// Probability that an enabler makes the program slower by itself, if the steps that it enables make up for
  /// it.
  double valleys = 0.3;
  double misplaced = 0.85;   ///< speedup factor of a step whose enabler is missing
  double coupled = 0.5;      ///< probability that the target of a tunable depends on a step
  double traps = 0.3;        ///< probability that the value of a tunable rises away from its target
  double trap_height = 0.6;  ///< share of the logarithm of the gain at the far end of a trap
  std::size_t plateau = 2;  ///< [levels] number of neighbouring distances from the target with the same value
  std::size_t resources = 2;  ///< number of pairs of tunables that share a resource
};

/// A program of a landscape. `name` changes only the source text, so that programs of equal value can have
/// different texts (near duplicates).
struct landscape_program {
  std::size_t steps = 0;              ///< number of steps of the landscape
  std::size_t levels = 0;             ///< number of levels of each tunable of the landscape
  std::vector<std::uint32_t> order;   ///< the applied steps, each at most once, first applied first
  std::vector<std::uint32_t> tuning;  ///< a level for every tunable
  std::uint64_t name = 0;             ///< a number that has no effect on the value
  friend bool operator==(const landscape_program&, const landscape_program&) = default;
};

/// The source text of a program, in four lines.
inline program to_source(const landscape_program& p) {
  std::string text = "landscape " + std::to_string(p.steps) + ' ' + std::to_string(p.levels) + "\nsteps";
  for (const auto step : p.order) text += ' ' + std::to_string(step);
  text += "\ntuning";
  for (const auto level : p.tuning) text += ' ' + std::to_string(level);
  text += "\nname " + std::to_string(p.name) + '\n';
  return single_file_program("landscape", "program.txt", std::move(text));
}

namespace detail {

/// Removes the first line of `text`, which must begin with `word`, and returns the numbers after the word;
/// nothing if the line has another form.
inline std::optional<std::vector<std::uint64_t>> numbers_after(std::string_view word,
                                                               std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || text.substr(0, word.size()) != word) return std::nullopt;
  std::string_view line = text.substr(word.size(), end - word.size());
  text.remove_prefix(end + 1);
  std::vector<std::uint64_t> numbers;
  while (!line.empty()) {
    if (line.front() != ' ') return std::nullopt;
    std::uint64_t number = 0;
    const auto [stopped, wrong] = std::from_chars(line.data() + 1, line.data() + line.size(), number);
    if (wrong != std::errc()) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(stopped - line.data()));
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace detail

/// The inverse of `to_source`; nothing if the text is not a program of a landscape: for instance, if a step
/// does not exist or occurs twice, or a level is out of range. O(length of the text).
inline std::optional<landscape_program> landscape_program_in(std::string_view text) {
  const auto head = detail::numbers_after("landscape", text);
  constexpr std::uint64_t most = 4096;  // of each; what an operator makes of a text stays small
  if (!head || head->size() != 2 || (*head)[0] > most || (*head)[1] > most) return std::nullopt;
  landscape_program p{.steps = (*head)[0], .levels = (*head)[1]};
  const auto order = detail::numbers_after("steps", text);
  const auto tuning = detail::numbers_after("tuning", text);
  const auto name = detail::numbers_after("name", text);
  if (!order || !tuning || !name || name->size() != 1 || !text.empty()) return std::nullopt;
  for (const auto step : *order) {
    const auto known = static_cast<std::uint32_t>(step);
    if (step >= p.steps || std::find(p.order.begin(), p.order.end(), known) != p.order.end())
      return std::nullopt;
    p.order.push_back(known);
  }
  for (const auto level : *tuning) {
    if (level >= p.levels) return std::nullopt;
    p.tuning.push_back(static_cast<std::uint32_t>(level));
  }
  p.name = name->front();
  return p;
}

/// The true result of a program, without noise.
struct landscape_verdict {
  kevo::outcome outcome = kevo::outcome::build_failed;  ///< valid, incorrect or build_failed
  double value = 0;                                     ///< true speedup over the seed; 0 unless valid
};

/// One landscape. Equal settings and seeds give equal landscapes. Immutable: any number of threads may read
/// it.
class landscape {
 public:
  /// Draws a landscape. `levels` counts as at least 2 and `plateau` as at least 1.
  explicit landscape(landscape_settings settings = {}, std::uint64_t seed = 1) : settings_(settings) {
    settings_.levels = std::max<std::size_t>(settings_.levels, 2);
    settings_.plateau = std::max<std::size_t>(settings_.plateau, 1);
    const rng root = rng(seed).split("landscape");
    plant_steps(root.split("steps"));
    plant_tunables(root.split("tunables"));
    plant_resources(root.split("resources"));
    seed_ = draw_seed(root.split("seed"));
    seed_value_ = raw_value(seed_);
  }

  /// The settings, with the limits of the constructor applied.
  const landscape_settings& settings() const { return settings_; }
  /// The program from which a search starts: no steps, and levels with which it builds. Its value is 1.
  const landscape_program& seed() const { return seed_; }

  /// A program with the largest possible speedup.
  landscape_program best() const {
    landscape_program p{settings_.steps, settings_.levels, planted_, {}, 0};
    for (const auto& t : tunables_) p.tuning.push_back(t.target_with);
    return p;
  }
  /// The largest possible speedup over the seed.
  double optimum() const { return raw_value(best()) / seed_value_; }

  /// The true outcome and value of a program. O(steps + tunables).
  landscape_verdict judge(const landscape_program& p) const {
    if (p.steps != settings_.steps || p.levels != settings_.levels || p.tuning.size() != tunables_.size())
      return {};
    for (const auto& r : resources_) {
      if (p.tuning[r.first] + p.tuning[r.second] > r.capacity) return {};
    }
    const std::vector<state> states = states_of(p);
    for (const auto id : p.order) {
      if (steps_[id].strict && states[id] != state::works) return {outcome::incorrect, 0};
    }
    return {outcome::valid, raw_value(p) / seed_value_};
  }

 private:
  static constexpr std::size_t absent = ~std::size_t{0};

  struct step {
    double gain = 1;
    std::size_t enabler = absent;
    bool strict = false;
  };
  struct tunable {
    double gain = 1;
    std::uint32_t target = 0;       ///< target level while the step that changes the target is absent
    std::uint32_t target_with = 0;  ///< target level when that step is applied
    std::size_t moved_by = absent;
    bool trap = false;
  };
  struct resource {
    std::size_t first = 0;
    std::size_t second = 0;
    std::uint32_t capacity = 0;
  };

  double draw_gain(rng& random) const {
    return std::exp(random.uniform(std::log(settings_.gain_low), std::log(settings_.gain_high)));
  }

  void plant_steps(rng random) {
    steps_.resize(settings_.steps);
    for (std::uint32_t i = 0; i < settings_.steps; ++i) planted_.push_back(i);
    random.shuffle(std::span<std::uint32_t>(planted_));
    for (std::size_t i = 0; i < planted_.size(); ++i) {
      step& s = steps_[planted_[i]];
      s.gain = draw_gain(random);
      const bool ordered = random.chance(settings_.ordered);
      const bool strict = random.chance(settings_.strict);
      const std::size_t back = 1 + random.below(std::min<std::size_t>(i, 3));
      if (i > 0 && ordered) {
        s.enabler = planted_[i - back];
        s.strict = strict;
      }
    }
    // From the last planted step to the first: the product of the factors of a step and of all steps that
    // need it. This product must be above 1 for each step, so that the best program applies all steps.
    std::vector<double> worth(steps_.size(), 1);
    for (std::size_t i = planted_.size(); i > 0; --i) {
      const std::size_t id = planted_[i - 1];
      step& s = steps_[id];
      const double loss = random.uniform(0.85, 0.98);
      if (random.chance(settings_.valleys) && worth[id] * loss > 1.05) s.gain = loss;
      worth[id] *= s.gain;
      if (s.enabler != absent) worth[s.enabler] *= worth[id];
    }
  }

  void plant_tunables(rng random) {
    const auto level = [&] { return static_cast<std::uint32_t>(random.below(settings_.levels)); };
    for (std::size_t i = 0; i < settings_.tunables; ++i) {
      tunable t{.gain = draw_gain(random), .target = level(), .target_with = level()};
      t.trap = random.chance(settings_.traps);
      if (random.chance(settings_.coupled) && settings_.steps > 0) {
        t.moved_by = random.below(settings_.steps);
      } else {
        t.target = t.target_with;
      }
      tunables_.push_back(t);
    }
  }

  void plant_resources(rng random) {
    if (tunables_.size() < 2) return;
    for (std::size_t i = 0; i < settings_.resources; ++i) {
      const std::size_t first = random.below(tunables_.size());
      const std::size_t second = (first + 1 + random.below(tunables_.size() - 1)) % tunables_.size();
      const auto slack = static_cast<std::uint32_t>(random.below(2));
      resources_.push_back(
          {first, second, tunables_[first].target_with + tunables_[second].target_with + slack});
    }
  }

  landscape_program draw_seed(rng random) const {
    landscape_program p{settings_.steps, settings_.levels, {}, {}, 0};
    for (int tries = 0; tries < 100; ++tries) {
      p.tuning.clear();
      for (std::size_t i = 0; i < tunables_.size(); ++i)
        p.tuning.push_back(static_cast<std::uint32_t>(random.below(settings_.levels)));
      const bool builds = std::all_of(resources_.begin(), resources_.end(), [&](const resource& r) {
        return p.tuning[r.first] + p.tuning[r.second] <= r.capacity;
      });
      if (builds) return p;
    }
    std::fill(p.tuning.begin(), p.tuning.end(), 0U);
    return p;
  }

  enum class state : std::uint8_t { missing, misplaced, works };

  /// A step works if it needs no enabler, or if its enabler is before it and works. A misplaced step does not
  /// enable others: otherwise it could be better to leave out an enabler that makes the program slower, and
  /// the planted program would not be the best one.
  std::vector<state> states_of(const landscape_program& p) const {
    std::vector<state> states(steps_.size(), state::missing);
    for (const auto id : p.order) {
      const std::size_t enabler = steps_[id].enabler;
      states[id] = enabler == absent || states[enabler] == state::works ? state::works : state::misplaced;
    }
    return states;
  }

  double share_of(const tunable& t, std::size_t level, std::size_t target) const {
    const std::size_t distance = level > target ? level - target : target - level;
    if (distance == 0) return 1;
    const std::size_t farthest = std::max(target, settings_.levels - 1 - target);
    if (t.trap) {
      return farthest < 2 ? 0
                          : settings_.trap_height * static_cast<double>(distance - 1) /
                                static_cast<double>(farthest - 1);
    }
    const std::size_t plateaus = (distance + settings_.plateau - 1) / settings_.plateau;
    return std::max(0.0, 1 - static_cast<double>(plateaus * settings_.plateau) /
                                 static_cast<double>(settings_.levels - 1));
  }

  double raw_value(const landscape_program& p) const {
    const std::vector<state> states = states_of(p);
    double log_value = 0;
    for (const auto id : p.order)
      log_value += std::log(states[id] == state::works ? steps_[id].gain : settings_.misplaced);
    for (std::size_t i = 0; i < tunables_.size(); ++i) {
      const tunable& t = tunables_[i];
      const bool moved = t.moved_by != absent && states[t.moved_by] != state::missing;
      log_value += std::log(t.gain) * share_of(t, p.tuning[i], moved ? t.target_with : t.target);
    }
    return std::exp(log_value);
  }

  landscape_settings settings_;
  std::vector<step> steps_;
  std::vector<tunable> tunables_;
  std::vector<resource> resources_;
  std::vector<std::uint32_t> planted_;  ///< all steps in an order that satisfies every one of them
  landscape_program seed_;
  double seed_value_ = 1;
};

}  // namespace kevo
