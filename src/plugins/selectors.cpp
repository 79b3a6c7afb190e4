// Selectors by name: how a config's `select:` becomes a policy.

#include <kevo/select/adaptive_intensity.hpp>
#include <kevo/select/bucket_softmax.hpp>
#include <kevo/select/curiosity.hpp>
#include <kevo/select/fitness_proportional.hpp>
#include <kevo/select/greedy.hpp>
#include <kevo/select/island_mix.hpp>
#include <kevo/select/lineage.hpp>
#include <kevo/select/on_islands.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/select/priority_queue.hpp>
#include <kevo/select/tournament.hpp>
#include <kevo/select/uct.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/select/weighted.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

template <class Enum, std::size_t n>
Enum choice(settings& from, const char* key, const std::array<std::string_view, n>& names, Enum def,
            const char* doc) {
  const std::string word = from.text(key, {.def = std::string(to_string(def)),
                                           .doc = doc,
                                           .one_of = std::vector<std::string>(names.begin(), names.end())});
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == word) return static_cast<Enum>(i);
  }
  return def;
}

memory_scope scope_from(settings& from) {
  return choice(from, "scope", memory_scope_names, memory_scope::parent_trajectory,
                "how much of the past operators are shown");
}
parent_source source_from(settings& from) {
  return choice(from, "from", parent_source_names, parent_source::archive, "where parents are drawn from");
}
std::size_t count_from(settings& from, const char* key, std::int64_t def, const char* doc) {
  return static_cast<std::size_t>(
      from.integer(key, {.def = def, .min = 0, .max = 1000, .unit = "candidates", .doc = doc}));
}
inspirations inspirations_from(settings& from) {
  settings inner = from.child_or_empty("inspirations", "other candidates that operators are shown");
  return {.top = count_from(inner, "top", 1, "the best elites"),
          .diverse = count_from(inner, "diverse", 1, "elites of other cells, drawn uniformly"),
          .neighbours = count_from(inner, "neighbours", 0, "elites of the cells nearest to the parent's"),
          .contrastive = count_from(inner, "contrastive", 0, "of the worse half of all that are valid")};
}

/// What every policy that varies one parent shares.
template <class Policy>
Policy common(settings& from, Policy policy) {
  policy.scope = scope_from(from);
  policy.inspirations = inspirations_from(from);
  return policy;
}

std::size_t size_from(settings& from, const char* key, std::size_t def, std::int64_t min, std::int64_t max,
                      const char* unit, const char* doc) {
  return static_cast<std::size_t>(from.integer(
      key, {.def = static_cast<std::int64_t>(def), .min = min, .max = max, .unit = unit, .doc = doc}));
}
double share_from(settings& from, const char* key, double def, const char* doc) {
  return from.real(key, {.def = def, .min = 0.0, .max = 1.0, .doc = doc});
}

void register_stateless(registry& all) {
  all.selectors.add(
      "uniform",
      [](settings& from, const build_context&) {
        uniform policy = common(from, uniform{});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "any elite alike (MAP-Elites)");
  all.selectors.add(
      "weighted",
      [](settings& from, const build_context&) {
        weighted policy = common(from, weighted{});
        policy.lambda = from.real(
            "lambda", {.def = policy.lambda, .min = 0.0, .doc = "steepness in median absolute deviations"});
        policy.discount =
            from.boolean("discount", {.def = policy.discount, .doc = "candidates with children count less"});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "good scores, discounted by children (ShinkaEvolve)");
}

void register_learning(registry& all) {
  all.selectors.add(
      "curiosity",
      [](settings& from, const build_context&) {
        curiosity policy = common(from, curiosity{});
        policy.reward = from.real(
            "reward", {.def = policy.reward, .min = 0.0, .doc = "for a child that the archive kept"});
        policy.penalty = from.real(
            "penalty", {.def = policy.penalty, .min = 0.0, .doc = "for a child that it did not keep"});
        return any_selector(policy);
      },
      "elites whose children were kept (Cully and Demiris)");
  all.selectors.add(
      "lineage",
      [](settings& from, const build_context&) {
        lineage policy;
        policy.scope = scope_from(from);
        policy.history =
            size_from(from, "history", policy.history, 0, 1000, "candidates", "versions that are shown");
        return any_selector(policy);
      },
      "one line of descent with its history (AVO)");
  all.selectors.add(
      "adaptive_intensity",
      [](settings& from, const build_context&) {
        adaptive_intensity policy = common(from, adaptive_intensity{});
        policy.from = source_from(from);
        policy.least = share_from(from, "least", policy.least, "exploration while the search gains");
        policy.most = share_from(from, "most", policy.most, "exploration while it does not");
        policy.gain = from.real(
            "gain", {.def = policy.gain, .above = 0.0, .doc = "scales relative gains; 1 as published"});
        policy.alpha = from.real(
            "alpha", {.def = policy.alpha, .min = 0.0, .doc = "power law of what does not explore"});
        return any_selector(policy);
      },
      "explores more the less it gains (AdaEvolve)");
  all.selectors.add(
      "bucket_softmax",
      [](settings& from, const build_context&) {
        bucket_softmax policy;
        policy.scope = scope_from(from);
        policy.width =
            from.real("width", {.def = policy.width, .above = 0.0, .unit = "score", .doc = "of a bucket"});
        policy.temperature = from.real(
            "temperature",
            {.def = policy.temperature, .above = 0.0, .unit = "score", .doc = "of the softmax over buckets"});
        policy.exemplars = size_from(from, "exemplars", policy.exemplars, 1, 100, "candidates",
                                     "parent and inspirations together, each of another bucket");
        return any_selector(policy);
      },
      "exemplars of different speed (CUDA-L1)");
}

void register_structured(registry& all) {
  all.selectors.add(
      "priority_queue",
      [](settings& from, const build_context&) {
        priority_queue policy = common(from, priority_queue{});
        policy.candidates =
            size_from(from, "candidates", policy.candidates, 1, 10000, "candidates", "best ones of a round");
        policy.measurements = size_from(from, "measurements", policy.measurements, 0, 100, "evaluations",
                                        "of each one of a round before it is varied");
        policy.proposals =
            size_from(from, "proposals", policy.proposals, 1, 100, "variations", "of each one of a round");
        policy.order = choice(from, "order", priority_order_names, policy.order, "what priority is");
        policy.exploration = from.real(
            "exploration", {.def = policy.exploration, .min = 0.0, .doc = "width of the confidence bounds"});
        return any_selector(policy);
      },
      "the best few, measured again before they are varied (POLCA)");
  all.selectors.add(
      "uct",
      [](settings& from, const build_context&) {
        uct policy = common(from, uct{});
        policy.exploration = from.real(
            "exploration", {.def = policy.exploration, .min = 0.0, .doc = "weight of the visits' term"});
        policy.width =
            size_from(from, "width", policy.width, 1, 1000, "children", "before the search descends");
        policy.widening =
            from.real("widening", {.def = policy.widening,
                                   .min = 0.0,
                                   .max = 1.0,
                                   .doc = "width grows with visits to this power; 0 is a fixed width"});
        policy.repairs = size_from(from, "repairs", policy.repairs, 0, 1000, "variations",
                                   "in a row of a candidate that is not valid");
        return any_selector(policy);
      },
      "tree search on the lineage (AIRA, KernelEvolve)");
  all.selectors.add(
      "island_mix",
      [](settings& from, const build_context&) {
        island_mix policy = common(from, island_mix{});
        policy.islands = size_from(from, "islands", policy.islands, 1, 32, "islands", "on the ring");
        policy.exploration =
            share_from(from, "exploration", policy.exploration, "share of picks of any member");
        policy.exploitation =
            share_from(from, "exploitation", policy.exploitation, "share of picks of an elite");
        if (policy.exploration + policy.exploitation > 1) {
          from.fail("exploitation", "exploration and exploitation are shares of one whole",
                    "let their sum be at most 1");
        }
        policy.elites = size_from(from, "elites", policy.elites, 1, 1'000'000, "candidates", "of an island");
        policy.capacity =
            size_from(from, "capacity", policy.capacity, 1, 1'000'000, "candidates", "of an island");
        policy.interval = size_from(from, "interval", policy.interval, 1, 1'000'000, "candidates",
                                    "new members between migrations");
        policy.share = share_from(from, "share", policy.share, "part of an island that migrates");
        return any_selector(policy);
      },
      "islands on a ring, with exploring and exploiting picks (OpenEvolve, Kernel-Smith)");
}

any_selector on_islands_from(settings& from, const build_context& context) {
  on_islands policy;
  policy.inner = power_law{};
  if (from.probing() || context.plugins == nullptr) {
    from.raw("of", "the selector on each island, a map as under select", "map");
  } else {
    settings inner = from.child_or_empty("of", "the selector on each island");
    policy.inner = context.plugins->selectors.make(inner, context, "type", "power_law");
  }
  return any_selector(policy);
}

}  // namespace

void register_selectors(registry& all) {
  register_stateless(all);
  register_learning(all);
  register_structured(all);
  all.selectors.add("islands", on_islands_from,
                    "any selector on one island of the archive after the other (needs archive: islands)");
  all.selectors.add(
      "greedy", [](settings& from, const build_context&) { return any_selector(common(from, greedy{})); },
      "always the best candidate");
  all.selectors.add(
      "tournament",
      [](settings& from, const build_context&) {
        tournament policy = common(from, tournament{});
        policy.size = static_cast<std::size_t>(
            from.integer("size", {.def = 3, .min = 1, .unit = "candidates", .doc = "how many compete"}));
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "the best of a few drawn uniformly");
  all.selectors.add(
      "power_law",
      [](settings& from, const build_context&) {
        power_law policy = common(from, power_law{});
        policy.alpha = from.real(
            "alpha",
            {.def = 1.0, .min = 0.0, .doc = "rank r has weight r^-alpha; 0 is uniform, large is greedy"});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "by rank, with a long tail (ShinkaEvolve)");
  all.selectors.add(
      "fitness_proportional",
      [](settings& from, const build_context&) {
        fitness_proportional policy = common(from, fitness_proportional{});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "with probability proportional to the score");
}

}  // namespace kevo
