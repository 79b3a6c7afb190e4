// Selectors by name: how a config's `select:` becomes a policy.

#include <kevo/select/fitness_proportional.hpp>
#include <kevo/select/greedy.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/select/tournament.hpp>

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
          .diverse = count_from(inner, "diverse", 1, "elites of other cells, drawn uniformly")};
}

/// What every policy that varies one parent shares.
template <class Policy>
Policy common(settings& from, Policy policy) {
  policy.scope = scope_from(from);
  policy.inspirations = inspirations_from(from);
  return policy;
}

}  // namespace

void register_selectors(registry& all) {
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
