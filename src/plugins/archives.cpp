// Archives by name: how a config's `archive:` becomes a container.

#include <kevo/archive/cvt.hpp>
#include <kevo/archive/epsilon_net.hpp>
#include <kevo/archive/grid.hpp>
#include <kevo/archive/islands.hpp>
#include <kevo/archive/novelty.hpp>
#include <kevo/archive/pareto.hpp>
#include <kevo/archive/sliding.hpp>
#include <kevo/archive/top_k.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

constexpr const char* measures_hint = "for instance measures: {code_bytes: {range: [64, 65536], scale: log}}";

/// `range` and `scale` of one measure, for any kind of axis.
template <class Axis>
void read_range(settings& axis, Axis& one) {
  const auto range = axis.reals("range", {.doc = "[low, high]; what lies outside counts for the ends"});
  if (!axis.probing()) {
    if (range.size() != 2) axis.fail("range", "a range has two numbers", "write range: [low, high]");
    one.low = range[0];
    one.high = range[1];
  }
  one.scale =
      axis.text("scale", {.def = "linear", .doc = "how it is spaced", .one_of = {"linear", "log"}}) == "log"
          ? axis_scale::log
          : axis_scale::linear;
}

std::vector<measure_range> ranges_from(settings& measures) {
  std::vector<measure_range> ranges;
  for (const auto& name : measures.keys()) {
    settings axis = measures.child(name, "a measure of the fitness function");
    ranges.push_back({.measure = name});
    read_range(axis, ranges.back());
  }
  if (measures.probing()) ranges = {{.measure = "any"}};
  return ranges;
}

/// Makes an archive over the ranges under `measures`; its complaints name the measure.
template <class Make>
any_archive over_ranges(settings& from, Make make) {
  settings measures = from.child("measures", "by name: range, scale");
  const auto ranges = ranges_from(measures);
  if (ranges.empty()) from.fail("measures", "this archive needs at least one measure", measures_hint);
  try {
    return make(ranges);
  } catch (const error& wrong) {
    measures.fail(wrong.place().key, wrong.message());
  }
}

soft_threshold soft_from(settings& from) {
  settings soft = from.child_or_empty("soft", "soft thresholds of acceptance (CMA-MAE)");
  return {.rate = soft.real("rate", {.def = 1.0,
                                     .min = 0.0,
                                     .max = 1.0,
                                     .doc = "how fast a cell's threshold follows what it accepts; 1 is off"}),
          .least = soft.real("least", {.def = 0.0, .unit = "score", .doc = "where thresholds begin"})};
}

any_archive cvt_from(settings& from) {
  const auto cells = static_cast<std::size_t>(
      from.integer("cells", {.def = 1000,
                             .min = 1,
                             .max = 100'000,
                             .unit = "cells",
                             .doc = "centroids; the most take some seconds to be placed"}));
  const auto seed = static_cast<std::uint64_t>(
      from.integer("seed", {.def = 1, .min = 0, .doc = "of the centroids: the same seed, the same cells"}));
  const soft_threshold soft = soft_from(from);
  return over_ranges(from, [&](const auto& ranges) {
    return any_archive(from.probing() ? cvt(ranges, 1) : cvt(ranges, cells, seed, soft));
  });
}

/// An archive of distances: over `measures` where they are given, else between sources.
template <class Archive>
any_archive of_distances(settings& from, double distance, std::size_t nearest) {
  const auto make = [&](auto space) {
    if constexpr (std::is_same_v<Archive, novelty>) {
      return any_archive(novelty(std::move(space), distance, nearest));
    } else {
      return any_archive(epsilon_net(std::move(space), distance));
    }
  };
  if (from.has("measures")) return over_ranges(from, make);
  from.raw("measures", "by name: range, scale; without them sources are compared", "map");
  settings embedding = from.child_or_empty("embedding", "hashed token n-grams of sources");
  ngram_embedding ngrams;
  ngrams.dimensions = static_cast<std::size_t>(embedding.integer(
      "dimensions",
      {.def = 256, .min = 1, .max = 65536, .unit = "numbers", .doc = "of the point of a source"}));
  ngrams.longest = static_cast<std::size_t>(embedding.integer(
      "longest", {.def = 3, .min = 1, .max = 16, .unit = "tokens", .doc = "run that is counted"}));
  return make(embedding_of(ngrams));
}

any_archive epsilon_net_from(settings& from) {
  const double epsilon = from.real(
      "epsilon", {.def = from.has("measures") ? 0.05 : 0.1,
                  .min = 0.0,
                  .doc = "no two elites are this near; 0.1 between sources, 0.05 ranges over measures"});
  return of_distances<epsilon_net>(from, epsilon, 0);
}

any_archive novelty_from(settings& from) {
  const double threshold =
      from.real("threshold", {.def = from.has("measures") ? 0.05 : 0.1,
                              .min = 0.0,
                              .doc = "mean distance at which a candidate is new; 0.1 between sources, 0.05 "
                                     "ranges over measures"});
  const auto nearest = static_cast<std::size_t>(from.integer(
      "nearest", {.def = 15, .min = 1, .max = 1000, .unit = "elites", .doc = "whose mean distance counts"}));
  return of_distances<novelty>(from, threshold, nearest);
}

any_archive sliding_from(settings& from) {
  const auto count = [](settings& at, const char* key, std::int64_t def, const char* doc) {
    return static_cast<std::size_t>(
        at.integer(key, {.def = def, .min = 1, .max = 1'000'000, .unit = "candidates", .doc = doc}));
  };
  const std::size_t remap = count(from, "remap", 100, "between two adjustments of the boundaries");
  const std::size_t window = count(from, "window", 1000, "latest ones, whose percentiles are the boundaries");
  settings measures = from.child("measures", "by name: bins");
  std::vector<sliding_axis> axes;
  for (const auto& name : measures.keys()) {
    settings axis = measures.child(name, "a measure of the fitness function");
    axes.push_back(
        {name, static_cast<std::size_t>(axis.integer(
                   "bins", {.def = 10, .min = 1, .max = 1'000'000, .unit = "cells", .doc = "how many"}))});
  }
  if (measures.probing()) axes = {{"any", 1}};
  if (axes.empty())
    from.fail("measures", "a grid needs at least one measure",
              "for instance measures: {code_bytes: {bins: 8}}");
  try {
    return any_archive(sliding(std::move(axes), remap, window));
  } catch (const error& wrong) {
    measures.fail(wrong.place().key, wrong.message());
  }
}

topology topology_from(settings& from, std::size_t count) {
  const std::string kind = from.text(
      "topology", {.def = "ring", .doc = "where migrants go", .one_of = {"ring", "full", "none", "free"}});
  std::vector<std::pair<std::size_t, std::size_t>> ways;
  const auto flat = from.integers("ways", {.min = 0, .doc = "of a free topology: from, to, from, to, ..."},
                                  std::vector<std::int64_t>{});
  if (flat.size() % 2 != 0)
    from.fail("ways", "every way has two ends", "write ways: [0, 1, 1, 2] for 0 to 1, 1 to 2");
  for (std::size_t i = 0; i < flat.size(); i += 2) {
    ways.emplace_back(static_cast<std::size_t>(flat[i]), static_cast<std::size_t>(flat[i + 1]));
  }
  if (kind != "free" && !ways.empty())
    from.fail("ways", "only a free topology has ways", "write topology: free");
  try {
    return kind == "ring"   ? topology::ring(count)
           : kind == "full" ? topology::full(count)
                            : topology::free(count, ways);
  } catch (const error& wrong) {
    from.fail("ways", wrong.message());
  }
}

any_archive islands_from(settings& from, const build_context& context) {
  const auto count = [&from](const char* key, std::size_t def, std::int64_t min, const char* unit,
                             const char* doc) {
    return static_cast<std::size_t>(from.integer(
        key,
        {.def = static_cast<std::int64_t>(def), .min = min, .max = 1'000'000, .unit = unit, .doc = doc}));
  };
  const auto part = [&from](const char* key, double def, const char* doc) {
    return from.real(key, {.def = def, .min = 0.0, .max = 1.0, .doc = doc});
  };
  const std::size_t islands_count = count("count", 5, 1, "islands", "at the beginning");
  if (islands_count > 1000) from.fail("count", "too many islands", "1000 are the most");
  const topology ways = topology_from(from, islands_count);
  islands_settings how;
  how.interval =
      count("interval", how.interval, 1, "candidates", "kept ones between migrations of an island");
  how.share = part("share", how.share, "best part of an island that is offered to its neighbours");
  how.most = count("most", how.most, 0, "islands", "up to so many are spawned when little is kept; 0: none");
  how.spawn_below = part("spawn_below", how.spawn_below, "share of kept offers at which one is spawned");
  how.cull_interval = count("cull_interval", how.cull_interval, 0, "offers", "between cullings; 0: never");
  how.cull_share = part("cull_share", how.cull_share, "of the islands, the worst, lose all");
  if (from.probing() || context.plugins == nullptr) {
    from.raw("of", "the archive of every island, a map as under archive", "map");
    return any_archive(islands(any_archive(top_k()), ways, how));
  }
  settings inner = from.child("of", "the archive of every island");
  return any_archive(islands(context.plugins->archives.make(inner, context), ways, how));
}

any_archive pareto_from(settings& from) {
  const auto capacity = static_cast<std::size_t>(from.integer(
      "capacity",
      {.def = 1000, .min = 2, .unit = "candidates", .doc = "above it the most crowded one goes"}));
  std::vector<objective> objectives;
  for (const bool maximize : {false, true}) {
    for (auto& name :
         from.texts(maximize ? "maximize" : "minimize", {.doc = "measures that count beside the score"},
                    std::vector<std::string>{})) {
      objectives.push_back({std::move(name), maximize});
    }
  }
  if (objectives.empty() && !from.probing()) {
    from.fail("minimize", "a front needs an objective beside the score",
              "for instance minimize: [code_bytes]");
  }
  return any_archive(pareto(std::move(objectives), capacity));
}

grid grid_from(settings& from) {
  std::vector<grid_axis> axes;
  settings measures = from.child("measures", "by name: bins, range, scale");
  for (const auto& name : measures.keys()) {
    settings axis = measures.child(name, "a measure of the fitness function");
    grid_axis one{.measure = name};
    one.bins = static_cast<std::size_t>(
        axis.integer("bins", {.def = 10, .min = 1, .max = 1'000'000, .unit = "cells", .doc = "how many"}));
    read_range(axis, one);
    axes.push_back(one);
  }
  if (axes.empty() && !from.probing()) {
    from.fail("measures", "a grid needs at least one measure",
              "for instance measures: {code_bytes: {bins: 8, range: [64, 65536], scale: log}}");
  }
  const soft_threshold soft = soft_from(from);
  try {
    return grid(std::move(axes), soft);
  } catch (const error& wrong) {
    measures.fail(wrong.place().key, wrong.message());
  }
}

}  // namespace

void register_archives(registry& all) {
  all.archives.add(
      "top_k",
      [](settings& from, const build_context&) {
        return any_archive(top_k(static_cast<std::size_t>(
            from.integer("k", {.def = 100, .min = 1, .unit = "candidates", .doc = "how many are kept"}))));
      },
      "the best k candidates");
  all.archives.add(
      "grid", [](settings& from, const build_context&) { return any_archive(grid_from(from)); },
      "MAP-Elites: the best candidate of every cell over named measures");
  all.archives.add(
      "cvt", [](settings& from, const build_context&) { return cvt_from(from); },
      "CVT-MAP-Elites: a fixed number of cells however many measures there are");
  all.archives.add(
      "epsilon_net", [](settings& from, const build_context&) { return epsilon_net_from(from); },
      "elites that lie apart, by their sources or their measures (POLCA)");
  all.archives.add(
      "novelty", [](settings& from, const build_context&) { return novelty_from(from); },
      "what is new is kept, else the better of two neighbours (Lehman and Stanley)");
  all.archives.add(
      "sliding", [](settings& from, const build_context&) { return sliding_from(from); },
      "MAP-Elites whose boundaries are percentiles of the latest candidates (Fontaine and others)");
  all.archives.add(
      "islands", islands_from,
      "any archive, several times, with migration, culling and spawning; select.type: islands goes "
      "from one to the next");
  all.archives.add(
      "pareto", [](settings& from, const build_context&) { return pareto_from(from); },
      "what nothing beats in score and objectives at once");
}

}  // namespace kevo
