// Selectors by name: how a config's `select:` becomes a policy.

#include <kevo/select/adaptive_intensity.hpp>
#include <kevo/select/bucket_softmax.hpp>
#include <kevo/select/curiosity.hpp>
#include <kevo/select/explore_exploit.hpp>
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
                "which earlier candidates operators are shown; parent_trajectory: the parent's lineage; "
                "siblings: the parent's earlier children; both: the lineage and the children; notes: only "
                "the notes of the run and the inspirations; clean_slate: nothing");
}
parent_source source_from(settings& from) {
  return choice(from, "from", parent_source_names, parent_source::archive,
                "from which candidates parents are drawn; archive: the elites of the archive; population: "
                "all valid candidates");
}
std::size_t count_from(settings& from, const char* key, std::int64_t def, const char* doc) {
  return static_cast<std::size_t>(
      from.integer(key, {.def = def, .min = 0, .max = 1000, .unit = "candidates", .doc = doc}));
}
inspirations inspirations_from(settings& from) {
  settings inner = from.child_or_empty("inspirations", "further candidates that operators are shown");
  return {
      .top = count_from(inner, "top", 1, "number of best elites shown"),
      .diverse = count_from(inner, "diverse", 1, "number of elites of other cells shown, drawn uniformly"),
      .neighbours =
          count_from(inner, "neighbours", 0, "number of elites shown from the cells nearest to the parent's"),
      .contrastive = count_from(inner, "contrastive", 0,
                                "number of candidates shown from the worse half of all valid candidates")};
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

/// Reads `exploration` and `exploitation` of a policy that does something else in the remaining cases.
template <class Policy>
void shares_of(settings& from, Policy& policy, const char* exploration, const char* exploitation) {
  policy.exploration = share_from(from, "exploration", policy.exploration, exploration);
  policy.exploitation = share_from(from, "exploitation", policy.exploitation, exploitation);
  if (policy.exploration + policy.exploitation > 1)
    from.fail("exploitation", "the sum of exploration and exploitation must not exceed 1",
              "reduce exploration or exploitation");
}

void register_stateless(registry& all) {
  all.selectors.add(
      "uniform",
      [](settings& from, const build_context&) {
        uniform policy = common(from, uniform{});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "selects each elite with equal probability (MAP-Elites)");
  all.selectors.add(
      "weighted",
      [](settings& from, const build_context&) {
        weighted policy = common(from, weighted{});
        policy.lambda =
            from.real("lambda", {.def = policy.lambda,
                                 .min = 0.0,
                                 .doc = "steepness of the sigmoid over scores, which are scaled by their "
                                        "median absolute deviation; larger is greedier"});
        policy.discount = from.boolean(
            "discount", {.def = policy.discount,
                         .doc = "whether the weight of a candidate falls with the number of its children"});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "selects by score, discounted by the number of children (ShinkaEvolve)");
  all.selectors.add(
      "explore_exploit",
      [](settings& from, const build_context&) {
        explore_exploit policy = common(from, explore_exploit{});
        shares_of(from, policy, "probability of selecting any elite",
                  "probability of selecting one of the best elites; in the remaining cases selection is "
                  "proportional to the score");
        policy.elites = size_from(from, "elites", policy.elites, 1, 1'000'000, "candidates",
                                  "number of best candidates that exploitation selects from");
        policy.among = choice(from, "among", elites_among_names, policy.among,
                              "which candidates count as the best; pool: the best of those from which "
                              "parents are drawn (with islands: of one island); population: of these, the "
                              "ones that are among the best of all valid candidates of the run");
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "explores, exploits or follows the score, each with a fixed probability (OpenEvolve, Kernel-Smith)");
}

void register_learning(registry& all) {
  all.selectors.add(
      "curiosity",
      [](settings& from, const build_context&) {
        curiosity policy = common(from, curiosity{});
        policy.reward = from.real(
            "reward",
            {.def = policy.reward,
             .min = 0.0,
             .doc = "added to the curiosity value of the parent for each child that the archive keeps"});
        policy.penalty = from.real("penalty", {.def = policy.penalty,
                                               .min = 0.0,
                                               .doc = "subtracted from the curiosity value of the parent for "
                                                      "each child that the archive does not keep"});
        return any_selector(policy);
      },
      "prefers elites whose children were kept by the archive (Cully and Demiris)");
  all.selectors.add(
      "lineage",
      [](settings& from, const build_context&) {
        lineage policy;
        policy.scope = scope_from(from);
        policy.history = size_from(from, "history", policy.history, 0, 1000, "candidates",
                                   "number of earlier versions that operators are shown");
        return any_selector(policy);
      },
      "continues a single lineage and shows its history (AVO)");
  all.selectors.add(
      "adaptive_intensity",
      [](settings& from, const build_context&) {
        adaptive_intensity policy = common(from, adaptive_intensity{});
        policy.from = source_from(from);
        policy.least =
            share_from(from, "least", policy.least, "exploration probability while the score improves");
        policy.most =
            share_from(from, "most", policy.most, "exploration probability while the score does not improve");
        policy.gain = from.real(
            "gain", {.def = policy.gain,
                     .above = 0.0,
                     .doc = "scale of relative improvements of the score; 1 is the published value"});
        policy.alpha = from.real(
            "alpha", {.def = policy.alpha,
                      .min = 0.0,
                      .doc = "exponent of the power law over ranks that is used when not exploring"});
        policy.decay = share_from(from, "decay", policy.decay,
                                  "weight of the earlier improvements when a new one is added to their "
                                  "moving average, which determines the exploration probability");
        policy.elite_share =
            share_from(from, "elite_share", policy.elite_share,
                       "when not exploring, the parent is drawn uniformly from this fraction of the elites, "
                       "the best ones; 0: it is drawn by rank; AdaEvolve's code uses 0.25");
        policy.proportional = share_from(from, "proportional", policy.proportional,
                                         "with elite_share above 0, when not exploring: probability that the "
                                         "parent is drawn in proportion to the score instead");
        return any_selector(policy);
      },
      "explores more when the score improves less (AdaEvolve)");
  all.selectors.add(
      "bucket_softmax",
      [](settings& from, const build_context&) {
        bucket_softmax policy;
        policy.scope = scope_from(from);
        policy.width = from.real("width", {.def = policy.width,
                                           .above = 0.0,
                                           .doc = "width of a score bucket, relative to its scores: 0.25 "
                                                  "means that they differ by less than 25 %"});
        policy.temperature =
            from.real("temperature", {.def = policy.temperature,
                                      .above = 0.0,
                                      .doc = "temperature of the softmax over the mean scores of the "
                                             "buckets, relative to the greatest of them"});
        policy.exemplars = size_from(from, "exemplars", policy.exemplars, 1, 100, "candidates",
                                     "number of candidates that are selected, each from a different score "
                                     "bucket: the parent and its inspirations");
        return any_selector(policy);
      },
      "selects the parent and its inspirations from different score buckets (CUDA-L1)");
}

void register_structured(registry& all) {
  all.selectors.add(
      "priority_queue",
      [](settings& from, const build_context&) {
        priority_queue policy = common(from, priority_queue{});
        policy.candidates = size_from(from, "candidates", policy.candidates, 1, 10000, "candidates",
                                      "number of best candidates in a round");
        policy.measurements =
            size_from(from, "measurements", policy.measurements, 0, 100, "evaluations",
                      "number of additional evaluations of each valid candidate of a round before any "
                      "becomes a parent; use 0 for deterministic fitness functions");
        policy.proposals = size_from(from, "proposals", policy.proposals, 1, 100, "turns",
                                     "number of turns with each candidate of a round as the parent");
        policy.order = choice(from, "order", priority_order_names, policy.order,
                              "value by which candidates are ordered: the mean of their scores, or its upper "
                              "(ucb) or lower (lcb) confidence bound");
        policy.exploration =
            from.real("exploration", {.def = policy.exploration,
                                      .min = 0.0,
                                      .doc = "scale factor of the width of the confidence bounds"});
        policy.best =
            from.boolean("best", {.def = policy.best,
                                  .doc = "whether every round contains the candidate with the highest mean "
                                         "score, even where order would leave it out"});
        return any_selector(policy);
      },
      "works in rounds: evaluates the best few candidates again, then selects each of them as the parent "
      "(POLCA)");
  all.selectors.add(
      "uct",
      [](settings& from, const build_context&) {
        uct policy = common(from, uct{});
        policy.exploration =
            from.real("exploration", {.def = policy.exploration,
                                      .min = 0.0,
                                      .doc = "weight of the exploration term of the UCT bound"});
        policy.width = size_from(
            from, "width", policy.width, 1, 1000, "turns",
            "number of turns with a node as the parent before the search descends to one of its children");
        policy.widening =
            from.real("widening", {.def = policy.widening,
                                   .min = 0.0,
                                   .max = 1.0,
                                   .doc = "exponent of progressive widening: the width grows with this power "
                                          "of the visits; 0 keeps the width fixed"});
        policy.repairs = size_from(from, "repairs", policy.repairs, 0, 1000, "turns",
                                   "maximum number of consecutive turns that try to repair an invalid "
                                   "candidate; 0 disables repairs");
        policy.drafts =
            size_from(from, "drafts", policy.drafts, 0, 100'000, "turns",
                      "number of turns at the beginning of the run that have a seed as the parent and see no "
                      "earlier candidates, so that their programs are independent of each other");
        return any_selector(policy);
      },
      "Monte-Carlo tree search (UCT) on the lineage (AIRA, KernelEvolve)");
  all.selectors.add(
      "island_mix",
      [](settings& from, const build_context&) {
        island_mix policy = common(from, island_mix{});
        policy.islands =
            size_from(from, "islands", policy.islands, 1, 32, "islands", "number of islands on the ring");
        shares_of(from, policy, "probability of selecting any member of the island",
                  "probability of selecting one of the island's elites; in the remaining cases selection is "
                  "proportional to the score");
        policy.elites = size_from(from, "elites", policy.elites, 1, 1'000'000, "candidates",
                                  "number of best members of an island that count as its elites");
        policy.capacity = size_from(from, "capacity", policy.capacity, 1, 1'000'000, "candidates",
                                    "maximum number of members of an island");
        policy.interval = size_from(from, "interval", policy.interval, 1, 1'000'000, "candidates",
                                    "number of new members of an island between two of its migrations");
        policy.share = share_from(
            from, "share", policy.share,
            "fraction of an island's own members, the best ones, that joins both neighbours in a migration");
        return any_selector(policy);
      },
      "selects from islands on a ring, one island after the other; each selection explores, exploits or is "
      "proportional to the score (OpenEvolve, Kernel-Smith)");
}

any_selector on_islands_from(settings& from, const build_context& context) {
  on_islands policy;
  policy.turns = choice(from, "turns", island_turns_names, policy.turns,
                        "which island is next; round_robin: one after the other; ucb: the one with the "
                        "greatest upper confidence bound on its recent improvements (AdaEvolve)");
  policy.exploration = from.real(
      "exploration",
      {.def = policy.exploration, .min = 0.0, .doc = "for ucb: weight of the exploration term of the bound"});
  policy.decay = share_from(
      from, "decay", policy.decay,
      "for ucb: factor by which an island's earlier improvements are multiplied at each new result");
  policy.inner = power_law{};
  if (from.probing() || context.plugins == nullptr) {
    from.raw("of", "the selector used on each island, written as under select", "map");
  } else {
    settings inner = from.child_or_empty("of", "the selector used on each island");
    policy.inner = context.plugins->selectors.make(inner, context, "type", "power_law");
  }
  return any_selector(policy);
}

}  // namespace

void register_selectors(registry& all) {
  register_stateless(all);
  register_learning(all);
  register_structured(all);
  all.selectors.add(
      "islands", on_islands_from,
      "applies a selector to the islands of the archive in turn; requires archive.type: islands");
  all.selectors.add(
      "greedy", [](settings& from, const build_context&) { return any_selector(common(from, greedy{})); },
      "always selects the best candidate");
  all.selectors.add(
      "tournament",
      [](settings& from, const build_context&) {
        tournament policy = common(from, tournament{});
        policy.size = static_cast<std::size_t>(
            from.integer("size", {.def = 3,
                                  .min = 1,
                                  .unit = "candidates",
                                  .doc = "number of candidates that compete in a tournament"}));
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "selects the best of a few candidates that are drawn uniformly");
  all.selectors.add(
      "power_law",
      [](settings& from, const build_context&) {
        power_law policy = common(from, power_law{});
        policy.alpha = from.real("alpha", {.def = 1.0,
                                           .min = 0.0,
                                           .doc = "exponent of the power law: rank r has weight r^-alpha; 0 "
                                                  "is uniform, large values are greedy"});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "selects by rank with power-law weights (ShinkaEvolve)");
  all.selectors.add(
      "fitness_proportional",
      [](settings& from, const build_context&) {
        fitness_proportional policy = common(from, fitness_proportional{});
        policy.from = source_from(from);
        return any_selector(policy);
      },
      "selects with probability proportional to the score");
}

}  // namespace kevo
