// Archives by name: how a config's `archive:` becomes a container.

#include <kevo/archive/grid.hpp>
#include <kevo/archive/top_k.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

grid grid_from(settings& from) {
  std::vector<grid_axis> axes;
  settings measures = from.child("measures", "by name: bins, range, scale");
  for (const auto& name : measures.keys()) {
    settings axis = measures.child(name, "a measure of the fitness function");
    grid_axis one{.measure = name};
    one.bins = static_cast<std::size_t>(
        axis.integer("bins", {.def = 10, .min = 1, .max = 1'000'000, .unit = "cells", .doc = "how many"}));
    const auto range =
        axis.reals("range", {.doc = "[low, high]; what lies outside counts for the outer bins"});
    if (!axis.probing()) {
      if (range.size() != 2) axis.fail("range", "a range has two numbers", "write range: [low, high]");
      one.low = range[0];
      one.high = range[1];
    }
    one.scale =
        axis.text("scale", {.def = "linear", .doc = "how bins are spaced", .one_of = {"linear", "log"}}) ==
                "log"
            ? axis_scale::log
            : axis_scale::linear;
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
}

}  // namespace kevo
