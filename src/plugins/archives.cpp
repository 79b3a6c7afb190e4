// Archives by name: how a config's `archive:` becomes a container.

#include <kevo/archive/cvt.hpp>
#include <kevo/archive/epsilon_net.hpp>
#include <kevo/archive/feature_map.hpp>
#include <kevo/archive/grid.hpp>
#include <kevo/archive/islands.hpp>
#include <kevo/archive/novelty.hpp>
#include <kevo/archive/pareto.hpp>
#include <kevo/archive/sliding.hpp>
#include <kevo/archive/top_k.hpp>

#include "src/plugins/builtin.hpp"
#include "src/plugins/ngrams.hpp"

namespace kevo {
namespace {

constexpr const char* measures_hint = "for example, measures: {code_bytes: {range: [64, 65536], scale: log}}";

/// `range` and `scale` of one measure, for any kind of axis.
template <class Axis>
void read_range(settings& axis, Axis& one) {
  const auto range =
      axis.reals("range", {.doc = "[low, high]; values outside are counted in the first or last bin"});
  if (!axis.probing()) {
    if (range.size() != 2)
      axis.fail("range", "a range must have exactly two numbers", "write range: [low, high]");
    one.low = range[0];
    one.high = range[1];
  }
  one.scale = axis.text("scale", {.def = "linear",
                                  .doc = "spacing of the axis: linear or logarithmic",
                                  .one_of = {"linear", "log"}}) == "log"
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
  settings measures = from.child("measures", "measures of the archive by name, each with range and scale");
  const auto ranges = ranges_from(measures);
  if (ranges.empty()) from.fail("measures", "this archive needs at least one measure", measures_hint);
  try {
    return make(ranges);
  } catch (const error& wrong) {
    measures.fail(wrong.place().key, wrong.message(), wrong.hint());
  }
}

soft_threshold soft_from(settings& from) {
  settings soft = from.child_or_empty("soft", "soft acceptance thresholds (CMA-MAE)");
  return {
      .rate = soft.real("rate", {.def = 1.0,
                                 .min = 0.0,
                                 .max = 1.0,
                                 .doc = "learning rate of a cell's acceptance threshold; at 1 the threshold "
                                        "is the score of the cell's elite, which disables soft thresholds"}),
      .least = soft.real("least",
                         {.def = 0.0, .unit = "score", .doc = "initial acceptance threshold of every cell"})};
}

any_archive cvt_from(settings& from) {
  const auto cells = static_cast<std::size_t>(from.integer(
      "cells", {.def = 1000,
                .min = 1,
                .max = 100'000,
                .unit = "cells",
                .doc = "number of cells (centroids); placing the maximum number takes some seconds"}));
  const auto seed = static_cast<std::uint64_t>(from.integer(
      "seed",
      {.def = 1, .min = 0, .doc = "seed for placing the centroids; the same seed gives the same cells"}));
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
  from.raw("measures",
           "measures by name, each with range and scale; if absent, distances are computed between embedded "
           "sources",
           "map");
  return make(embedding_from(from));
}

any_archive epsilon_net_from(settings& from) {
  const double epsilon =
      from.real("epsilon", {.def = from.has("measures") ? 0.05 : 0.1,
                            .min = 0.0,
                            .doc = "minimum distance between two elites; default 0.1 between embedded "
                                   "sources, 0.05 between measures scaled to their ranges"});
  return of_distances<epsilon_net>(from, epsilon, 0);
}

any_archive novelty_from(settings& from) {
  const double threshold =
      from.real("threshold",
                {.def = from.has("measures") ? 0.05 : 0.1,
                 .min = 0.0,
                 .doc = "mean distance to the nearest elites from which a candidate counts as novel; default "
                        "0.1 between embedded sources, 0.05 between measures scaled to their ranges"});
  const auto nearest = static_cast<std::size_t>(
      from.integer("nearest", {.def = 15,
                               .min = 1,
                               .max = 1000,
                               .unit = "elites",
                               .doc = "number of nearest elites over whose distances the mean is taken"}));
  return of_distances<novelty>(from, threshold, nearest);
}

any_archive sliding_from(settings& from) {
  const auto count = [](settings& at, const char* key, std::int64_t def, const char* doc) {
    return static_cast<std::size_t>(
        at.integer(key, {.def = def, .min = 1, .max = 1'000'000, .unit = "candidates", .doc = doc}));
  };
  const std::size_t remap =
      count(from, "remap", 100, "number of candidates between two recomputations of the bin boundaries");
  const std::size_t window = count(
      from, "window", 1000, "number of most recent candidates whose percentiles become the bin boundaries");
  settings measures = from.child("measures", "measures of the grid by name, each with its number of bins");
  std::vector<sliding_axis> axes;
  for (const auto& name : measures.keys()) {
    settings axis = measures.child(name, "a measure of the fitness function");
    axes.push_back(
        {name, static_cast<std::size_t>(axis.integer("bins", {.def = 10,
                                                              .min = 1,
                                                              .max = 1'000'000,
                                                              .unit = "cells",
                                                              .doc = "number of bins along this measure"}))});
  }
  if (measures.probing()) axes = {{"any", 1}};
  if (axes.empty())
    from.fail("measures", "a grid needs at least one measure",
              "for example, measures: {code_bytes: {bins: 8}}");
  try {
    return any_archive(sliding(std::move(axes), remap, window));
  } catch (const error& wrong) {
    measures.fail(wrong.place().key, wrong.message(), wrong.hint());
  }
}

topology topology_from(settings& from, std::size_t count) {
  const std::string kind =
      from.text("topology", {.def = "ring",
                             .doc = "which islands exchange elites; ring: each with both neighbours; full: "
                                    "all with each other; none: no migration; free: along the edges in ways",
                             .one_of = {"ring", "full", "none", "free"}});
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  const auto flat = from.integers(
      "ways",
      {.min = 0, .doc = "edges of a free topology as a flat list of island numbers: from, to, from, to, ..."},
      std::vector<std::int64_t>{});
  if (flat.size() % 2 != 0)
    from.fail("ways", "the list must hold pairs of islands, but its length is odd",
              "write ways: [0, 1, 1, 2] for migration from island 0 to 1 and from 1 to 2");
  for (std::size_t i = 0; i < flat.size(); i += 2) {
    edges.emplace_back(static_cast<std::size_t>(flat[i]), static_cast<std::size_t>(flat[i + 1]));
  }
  if (kind != "free" && !edges.empty())
    from.fail("ways", "ways is only allowed with a free topology", "write topology: free");
  try {
    return kind == "ring"   ? topology::ring(count)
           : kind == "full" ? topology::full(count)
                            : topology::from_edges(count, edges);
  } catch (const error& wrong) {
    from.fail("ways", wrong.message(), wrong.hint());
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
  const std::size_t islands_count = count("count", 5, 1, "islands", "initial number of islands");
  if (islands_count > 1000) from.fail("count", "there are too many islands", "use at most 1000");
  const topology graph = topology_from(from, islands_count);
  islands_settings how;
  how.interval = count("interval", how.interval, 1, "candidates",
                       "number of candidates that an island accepts between two of its migrations");
  how.count_rejected = from.boolean(
      "count_rejected",
      {.def = how.count_rejected,
       .doc = "whether interval counts valid candidates that the island rejects, too (OpenEvolve)"});
  how.share =
      part("share", how.share,
           "fraction of an island's elites, the best ones, that is offered to its neighbours in a migration");
  how.most = count("most", how.most, 0, "islands", "maximum number of islands; 0 disables spawning");
  how.spawn_below = part("spawn_below", how.spawn_below,
                         "a new island is spawned when less than this fraction of the offered valid "
                         "candidates improve on the best of their island (moving average)");
  how.cooldown = count("cooldown", how.cooldown, 0, "candidates",
                       "minimum number of valid candidates offered between two spawnings");
  how.cull_interval =
      count("cull_interval", how.cull_interval, 0, "offers",
            "number of candidates offered to the archive between two cullings; 0 disables culling");
  how.cull_share = part("cull_share", how.cull_share,
                        "fraction of the islands, the worst ones, that are emptied in a culling");
  if (from.probing() || context.plugins == nullptr) {
    from.raw("of", "the archive of each island, written as under archive", "map");
    return any_archive(islands(any_archive(top_k()), graph, how));
  }
  settings inner = from.child("of", "the archive of each island");
  return any_archive(islands(context.plugins->archives.make(inner, context), graph, how));
}

any_archive feature_map_from(settings& from) {
  std::vector<std::string> features = from.texts(
      "features",
      {.doc = "features of a candidate: complexity (bytes of the source), diversity (mean distance of the "
              "source to the first candidates), score, or the name of a measure"},
      std::vector<std::string>{"complexity", "diversity"});
  const auto bins = static_cast<std::size_t>(
      from.integer("bins", {.def = 10,
                            .min = 1,
                            .max = 1000,
                            .unit = "cells",
                            .doc = "number of bins of each feature, over the range of the values so far"}));
  const auto references = static_cast<std::size_t>(from.integer(
      "references",
      {.def = 20,
       .min = 1,
       .max = 10'000,
       .unit = "candidates",
       .doc = "for diversity: number of first candidates, over whose distances the mean is taken"}));
  try {
    return any_archive(feature_map(std::move(features), bins, references));
  } catch (const error& wrong) {
    from.fail("features", wrong.message(), wrong.hint());
  }
}

any_archive pareto_from(settings& from) {
  const auto capacity = static_cast<std::size_t>(from.integer(
      "capacity",
      {.def = 1000,
       .min = 2,
       .unit = "candidates",
       .doc =
           "maximum number of elites; beyond it the elite with the smallest crowding distance is removed"}));
  std::vector<objective> objectives;
  for (const bool maximize : {false, true}) {
    for (auto& name : from.texts(maximize ? "maximize" : "minimize",
                                 {.doc = "names of measures that are objectives in addition to the score"},
                                 std::vector<std::string>{})) {
      objectives.push_back({std::move(name), maximize});
    }
  }
  if (objectives.empty() && !from.probing()) {
    from.fail("minimize", "a Pareto archive needs at least one objective beside the score",
              "for example, minimize: [code_bytes]");
  }
  return any_archive(pareto(std::move(objectives), capacity));
}

grid grid_from(settings& from) {
  std::vector<grid_axis> axes;
  settings measures = from.child("measures", "measures of the grid by name, each with bins, range and scale");
  for (const auto& name : measures.keys()) {
    settings axis = measures.child(name, "a measure of the fitness function");
    grid_axis one{.measure = name};
    one.bins = static_cast<std::size_t>(axis.integer("bins", {.def = 10,
                                                              .min = 1,
                                                              .max = 1'000'000,
                                                              .unit = "cells",
                                                              .doc = "number of bins along this measure"}));
    read_range(axis, one);
    axes.push_back(one);
  }
  if (axes.empty() && !from.probing()) {
    from.fail("measures", "a grid needs at least one measure",
              "for example, measures: {code_bytes: {bins: 8, range: [64, 65536], scale: log}}");
  }
  const soft_threshold soft = soft_from(from);
  try {
    return grid(std::move(axes), soft);
  } catch (const error& wrong) {
    measures.fail(wrong.place().key, wrong.message(), wrong.hint());
  }
}

}  // namespace

void register_archives(registry& all) {
  all.archives.add(
      "top_k",
      [](settings& from, const build_context&) {
        return any_archive(top_k(static_cast<std::size_t>(from.integer(
            "k",
            {.def = 100, .min = 1, .unit = "candidates", .doc = "number of candidates that are kept"}))));
      },
      "keeps the k best candidates");
  all.archives.add(
      "grid", [](settings& from, const build_context&) { return any_archive(grid_from(from)); },
      "MAP-Elites: keeps the best candidate of each cell of a grid over named measures");
  all.archives.add(
      "cvt", [](settings& from, const build_context&) { return cvt_from(from); },
      "CVT-MAP-Elites: keeps the best candidate of each cell; the number of cells does not depend on the "
      "number of measures");
  all.archives.add(
      "epsilon_net", [](settings& from, const build_context&) { return epsilon_net_from(from); },
      "epsilon-net: keeps elites that differ from each other by a minimum distance, in their sources or "
      "their measures (POLCA)");
  all.archives.add(
      "novelty", [](settings& from, const build_context&) { return novelty_from(from); },
      "novelty archive: keeps novel candidates; a candidate that is not novel replaces its nearest elite if "
      "it is better (Lehman and Stanley)");
  all.archives.add(
      "sliding", [](settings& from, const build_context&) { return sliding_from(from); },
      "MAP-Elites with sliding boundaries: the bin boundaries are percentiles of the most recent candidates "
      "(Fontaine et al.)");
  all.archives.add(
      "feature_map", [](settings& from, const build_context&) { return feature_map_from(from); },
      "MAP-Elites over features of the candidates; the bins of a feature span the values seen so far "
      "(OpenEvolve, Kernel-Smith)");
  all.archives.add("islands", islands_from,
                   "several islands, each with an archive of its own, with migration, culling and spawning; "
                   "use select.type: islands to select from one island at a time");
  all.archives.add(
      "pareto", [](settings& from, const build_context&) { return pareto_from(from); },
      "Pareto archive: keeps the candidates that no other one dominates in the score and the named "
      "objectives");
}

}  // namespace kevo
