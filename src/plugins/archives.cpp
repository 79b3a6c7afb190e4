// Archives by name: how a config's `archive:` becomes a container.

#include <kevo/archive/cvt.hpp>
#include <kevo/archive/epsilon_net.hpp>
#include <kevo/archive/grid.hpp>
#include <kevo/archive/pareto.hpp>
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

any_archive cvt_from(settings& from) {
  const auto cells = static_cast<std::size_t>(
      from.integer("cells", {.def = 1000, .min = 1, .max = 1'000'000, .unit = "cells", .doc = "centroids"}));
  const auto seed = static_cast<std::uint64_t>(
      from.integer("seed", {.def = 1, .min = 0, .doc = "of the centroids: the same seed, the same cells"}));
  return over_ranges(from, [&](const auto& ranges) {
    return any_archive(from.probing() ? cvt(ranges, 1) : cvt(ranges, cells, seed));
  });
}

any_archive epsilon_net_from(settings& from) {
  const double epsilon =
      from.real("epsilon", {.def = 0.05, .min = 0.0, .unit = "ranges", .doc = "no two elites are this near"});
  return over_ranges(from, [&](const auto& ranges) { return any_archive(epsilon_net(ranges, epsilon)); });
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
  try {
    return grid(std::move(axes));
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
      "elites that lie apart in their measures (POLCA)");
  all.archives.add(
      "pareto", [](settings& from, const build_context&) { return pareto_from(from); },
      "what nothing beats in score and objectives at once");
}

}  // namespace kevo
