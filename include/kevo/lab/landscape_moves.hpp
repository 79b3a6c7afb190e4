#pragma once
// Variation operators on programs of a landscape, similar to real ones: cheap changes of tunables, expensive
// macro steps, crossover, and changes without an effect. Each operator reads only the source texts of the
// selected candidates.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <kevo/lab/landscape.hpp>
#include <kevo/vary.hpp>

namespace kevo {

namespace detail {

inline std::optional<landscape_program> landscape_parent(const variation_request& request) {
  return landscape_program_in(request.parents.front()->program->text());
}
inline variation_result not_a_landscape() {
  return no_proposal{"the parent is not a program of a landscape", true};
}
inline variation_result proposed(const variation_request& request, const landscape_program& p, double cost_s,
                                 std::string summary) {
  request.book({.wall_s = cost_s});
  return proposal{to_source(p), std::move(summary)};
}

}  // namespace detail

/// Moves one or several tunables: mostly to a neighbouring level, sometimes anywhere.
struct landscape_tune {
  double neighbour = 0.7;     ///< probability that a tunable moves by one level and not to any level
  double another_step = 0.3;  ///< probability of each further tunable
  double cost_s = 0.01;       ///< [s] booked for each proposal

  std::string name() const { return "landscape_tune"; }
  variation_result vary(const variation_request& request, rng& random) {
    auto p = detail::landscape_parent(request);
    if (!p) return detail::not_a_landscape();
    if (p->tuning.empty()) return no_proposal{"the landscape has no tunables", true};
    do {
      auto& level = p->tuning[random.below(p->tuning.size())];
      const auto top = static_cast<std::uint32_t>(p->levels - 1);
      if (!random.chance(neighbour)) {
        level = static_cast<std::uint32_t>(random.below(p->levels));
      } else if (level == 0 || (level < top && random.chance(0.5))) {
        ++level;
      } else {
        --level;
      }
    } while (random.chance(another_step));
    return detail::proposed(request, *p, cost_s, "tune");
  }
};

/// Applies a step at the end or anywhere, takes one away, or moves one.
struct landscape_macro {
  double add = 0.6;     ///< probability of applying a step that the program does not have
  double remove = 0.2;  ///< probability of removing a step; in the remaining cases a step is moved
  double append = 0.5;  ///< probability that a new step is put at the end; otherwise its position is random
  double cost_s = 1;    ///< [s] booked for each proposal

  std::string name() const { return "landscape_macro"; }
  variation_result vary(const variation_request& request, rng& random) {
    auto p = detail::landscape_parent(request);
    if (!p) return detail::not_a_landscape();
    if (p->steps == 0) return no_proposal{"the landscape has no steps", true};
    auto& order = p->order;
    const double turn = random.uniform();
    if (order.empty() || (turn < add && order.size() < p->steps)) {
      insert(*p, absent_step(*p, random),
             random.chance(append) ? order.size() : random.below(order.size() + 1));
    } else {
      const std::size_t from = random.below(order.size());
      const std::uint32_t step = order[from];
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
      if (turn >= add + remove) insert(*p, step, random.below(order.size() + 1));
    }
    return detail::proposed(request, *p, cost_s, "macro step");
  }

 private:
  static std::uint32_t absent_step(const landscape_program& p, rng& random) {
    std::uint64_t skip = random.below(p.steps - p.order.size());
    std::uint32_t step = 0;
    while (true) {
      if (std::find(p.order.begin(), p.order.end(), step) == p.order.end() && skip-- == 0) return step;
      ++step;
    }
  }
  static void insert(landscape_program& p, std::uint32_t step, std::size_t at) {
    p.order.insert(p.order.begin() + static_cast<std::ptrdiff_t>(at), step);
  }
};

/// Crosses the parent with another selected candidate: takes all steps from one of the two, and each level
/// from one of the two.
struct landscape_cross {
  double cost_s = 0.01;  ///< [s] booked for each proposal

  std::string name() const { return "landscape_cross"; }
  variation_result vary(const variation_request& request, rng& random) {
    auto p = detail::landscape_parent(request);
    if (!p) return detail::not_a_landscape();
    const auto others = request.parents.size() - 1 + request.inspirations.size();
    if (others == 0) return no_proposal{"there is no other candidate to cross with"};
    const std::size_t which = random.below(others) + 1;
    const auto& mate = which < request.parents.size() ? request.parents[which]
                                                      : request.inspirations[which - request.parents.size()];
    const auto other = landscape_program_in(mate->program->text());
    if (!other || other->tuning.size() != p->tuning.size())
      return no_proposal{"the other candidate is not a program of a landscape"};
    if (random.chance(0.5)) p->order = other->order;
    for (std::size_t i = 0; i < p->tuning.size(); ++i) {
      if (random.chance(0.5)) p->tuning[i] = other->tuning[i];
    }
    return detail::proposed(request, *p, cost_s, "cross");
  }
};

/// Changes only the name of a program: a near duplicate, which is new to the search and has the same value as
/// its parent.
struct landscape_rename {
  double cost_s = 1;  ///< [s] booked for each proposal

  std::string name() const { return "landscape_rename"; }
  variation_result vary(const variation_request& request, rng& random) {
    auto p = detail::landscape_parent(request);
    if (!p) return detail::not_a_landscape();
    p->name = 1 + random.below(1'000'000'000);
    return detail::proposed(request, *p, cost_s, "rename");
  }
};

/// Draws a random program, independent of the parent: random search. The number of steps is uniform.
struct landscape_draw {
  double cost_s = 0.01;  ///< [s] booked for each proposal

  std::string name() const { return "landscape_draw"; }
  variation_result vary(const variation_request& request, rng& random) {
    auto p = detail::landscape_parent(request);
    if (!p) return detail::not_a_landscape();
    p->order.clear();
    for (std::uint32_t i = 0; i < p->steps; ++i) p->order.push_back(i);
    random.shuffle(std::span<std::uint32_t>(p->order));
    p->order.resize(random.below(p->steps + 1));
    for (auto& level : p->tuning) level = static_cast<std::uint32_t>(random.below(p->levels));
    return detail::proposed(request, *p, cost_s, "draw");
  }
};

}  // namespace kevo
