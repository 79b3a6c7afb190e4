#pragma once
// Variation operators on a recorded space. They propose only configurations that were recorded, as a tuner
// proposes only configurations that its restrictions allow.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <kevo/lab/recorded_space.hpp>
#include <kevo/vary.hpp>

namespace kevo {

namespace detail {

/// The configuration as a proposal, unless it was not recorded or the search has seen it.
inline std::optional<variation_result> proposal_in(const recorded_space& space,
                                                   const variation_request& request,
                                                   const recorded_setting& setting, const char* what) {
  if (!space.find(setting)) return std::nullopt;
  program source = space.to_source(setting);
  if (request.seen(id_of(source))) return std::nullopt;
  return proposal{std::move(source), what};
}

}  // namespace detail

/// Changes one or several parameters of the parent: mostly to a neighbouring value, sometimes to any value.
struct recorded_step {
  std::shared_ptr<const recorded_space> space;
  double neighbour = 0.7;      ///< probability that a parameter moves to a neighbouring value
  double another_step = 0.35;  ///< probability of each further parameter, below 1
  /// Maximum number of steps that may lead out of the space or to a known configuration.
  std::size_t tries = 64;

  std::string name() const { return "recorded_step"; }
  variation_result vary(const variation_request& request, rng& random) {
    const auto parent = space->setting_in(request.parents.front()->program->text());
    if (!parent) return no_proposal{"the parent is not a configuration of the space", true};
    for (std::size_t i = 0; i < tries; ++i) {
      recorded_setting setting = *parent;
      do {
        const std::size_t p = random.below(setting.size());
        setting[p] = moved(setting[p], space->parameters()[p].values.size(), random);
      } while (random.chance(another_step));
      if (auto made = detail::proposal_in(*space, request, setting, "step")) return *std::move(made);
    }
    return no_proposal{"every step led out of the space or to a known configuration"};
  }

 private:
  std::uint32_t moved(std::uint32_t value, std::size_t values, rng& random) const {
    const auto last = static_cast<std::uint32_t>(values - 1);
    if (!random.chance(neighbour)) return static_cast<std::uint32_t>(random.below(values));
    if (value == last) return last == 0 ? 0 : value - 1;
    return value == 0 || random.chance(0.5) ? value + 1 : value - 1;
  }
};

/// Takes each parameter from the parent or from another selected candidate.
struct recorded_cross {
  std::shared_ptr<const recorded_space> space;
  std::size_t tries = 64;  ///< maximum number of combinations that may be outside the space or known

  std::string name() const { return "recorded_cross"; }
  variation_result vary(const variation_request& request, rng& random) {
    const auto parent = space->setting_in(request.parents.front()->program->text());
    if (!parent) return no_proposal{"the parent is not a configuration of the space", true};
    const std::size_t others = request.parents.size() - 1 + request.inspirations.size();
    if (others == 0) return no_proposal{"there is no other candidate to cross with"};
    const std::size_t which = 1 + random.below(others);
    const auto& mate = which < request.parents.size() ? request.parents[which]
                                                      : request.inspirations[which - request.parents.size()];
    const auto other = space->setting_in(mate->program->text());
    if (!other) return no_proposal{"the other candidate is not a configuration of the space"};
    for (std::size_t i = 0; i < tries; ++i) {
      recorded_setting setting = *parent;
      for (std::size_t p = 0; p < setting.size(); ++p) {
        if (random.chance(0.5)) setting[p] = (*other)[p];
      }
      if (auto made = detail::proposal_in(*space, request, setting, "cross")) return *std::move(made);
    }
    return no_proposal{"every combination is known or outside the space"};
  }
};

/// Draws a recorded configuration that the search has not seen, whatever the parent is: random search without
/// replacement. O(1) expected while much is unseen, O(size) at the end.
struct recorded_draw {
  std::shared_ptr<const recorded_space> space;

  std::string name() const { return "recorded_draw"; }
  variation_result vary(const variation_request& request, rng& random) {
    const std::size_t first = random.below(space->size());
    for (std::size_t i = 0; i < space->size(); ++i) {
      const std::size_t at = i < 32 ? random.below(space->size()) : (first + i) % space->size();
      if (auto made = detail::proposal_in(*space, request, space->at(at).setting, "draw"))
        return *std::move(made);
    }
    return walked(request, first);
  }

 private:
  /// Tries the up to 32 configurations from `first` on that the loop of `vary` has left out.
  variation_result walked(const variation_request& request, std::size_t first) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(32, space->size()); ++i) {
      const auto& setting = space->at((first + i) % space->size()).setting;
      if (auto made = detail::proposal_in(*space, request, setting, "draw")) return *std::move(made);
    }
    return no_proposal{"all recorded configurations are known", true};
  }
};

}  // namespace kevo
