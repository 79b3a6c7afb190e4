// A recorded tuning space as a problem of the laboratory.

#include <memory>
#include <utility>

#include <fmt/format.h>

#include <kevo/lab/recorded_fitness.hpp>
#include <kevo/lab/recorded_moves.hpp>

#include "src/base/settings/path_setting.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/lab/problem.hpp"
#include "src/lab/recorded_file.hpp"

namespace kevo {
namespace {

/// Where a search starts: a place in the list of all configurations.
std::size_t start_of(const recorded_space& space, const std::string& which, std::uint64_t seed) {
  const auto& ranked = space.ranked();
  if (which == "worst") return ranked.back();
  if (which == "median") return ranked[ranked.size() / 2];
  return ranked[rng(seed).split("start").below(ranked.size())];
}

std::size_t tries_from(settings& from, std::size_t def) {
  return static_cast<std::size_t>(from.integer(
      "tries",
      {.def = static_cast<std::int64_t>(def),
       .min = 1,
       .max = 100'000,
       .unit = "configurations",
       .doc =
           "number of configurations that may be outside the space or known before the operator gives up"}));
}

/// The id of what a file says; `named` is where the config names it.
std::string content_of(const std::string& path, const error_place& named) {
  if (path.empty()) return {};
  return to_string(content_hasher().text(read_text_file(path, recorded_file_limit, named)).finish());
}

void add_moves(registry& all, const std::shared_ptr<const recorded_space>& space) {
  all.operators.add(
      "recorded_step",
      [space](settings& from, const build_context&) {
        recorded_step op{space};
        op.neighbour = from.real("neighbour", {.def = op.neighbour,
                                               .min = 0.0,
                                               .max = 1.0,
                                               .unit = "probability",
                                               .doc = "probability that a parameter moves to a neighbouring "
                                                      "value; otherwise it moves to any value"});
        op.another_step =
            from.real("another_step",
                      {.def = op.another_step,
                       .min = 0.0,
                       .max = 0.99,
                       .unit = "probability",
                       .doc = "probability of changing one more parameter, applied again after each change"});
        op.tries = tries_from(from, op.tries);
        return any_variation(op);
      },
      "recorded spaces: changes one or several parameters");
  all.operators.add(
      "recorded_cross",
      [space](settings& from, const build_context&) {
        recorded_cross op{space};
        op.tries = tries_from(from, op.tries);
        return any_variation(op);
      },
      "recorded spaces: crosses two candidates, taking each parameter from one of them");
  all.operators.add(
      "recorded_draw",
      [space](settings&, const build_context&) { return any_variation(recorded_draw{space}); },
      "recorded spaces: draws a random configuration that is not known yet, for random search");
}

}  // namespace

lab_problem recorded_problem(settings& from, const std::string& directory) {
  recorded_source source;
  source.results = path_from(
      from, "file", {.doc = "Kernel Tuner cache file or T4 results file, relative to the config"}, directory);
  source.parameters = path_from(from, "parameters",
                                {.def = "",
                                 .doc = "T1 file with the order and values of the parameters, relative to "
                                        "the config; empty takes them from the results file"},
                                directory);
  source.objective = from.text(
      "objective",
      {.def = "",
       .doc = "name of the measured objective; empty uses the one that the file declares, or else time"});
  source.larger_is_better =
      from.boolean("larger_is_better",
                   {.def = false, .doc = "whether larger values of the objective are better, as for a rate"});
  const std::string start =
      from.text("start", {.def = "median",
                          .doc = "the configuration from which searches start, by its rank",
                          .one_of = {"median", "worst", "random"}});
  const bool sampled =
      from.boolean("sampled", {.def = false,
                               .doc = "whether an evaluation draws one of the recorded measurements at "
                                      "random; otherwise it uses their summary"});
  from.finish();

  // The content of the files counts, not their names.
  const std::string content = content_of(source.results, from.place("file")) +
                              content_of(source.parameters, from.place("parameters"));
  const auto space = std::make_shared<const recorded_space>(load_recorded_space(source));
  lab_problem problem;
  problem.description = fmt::format("the recorded space {}: {} configurations, {} valid", source.results,
                                    space->size(), space->ranked().size());
  problem.identity = dump_yaml(from.resolved()) + content;
  problem.instance = [space, start, sampled](std::uint64_t seed) {
    const std::size_t first = start_of(*space, start, seed);
    lab_instance made;
    made.seeds = {space->to_source(space->at(first).setting)};
    made.fitness = any_fitness(std::make_shared<recorded_fitness>(space, first, sampled, seed));
    made.true_value = [space, first](const program& p) {
      const auto setting = space->setting_in(p.text());
      const auto found = setting ? space->find(*setting) : std::nullopt;
      return found ? space->speed(*found) / space->speed(first) : 0;
    };
    made.optimum = space->speed(space->ranked().front()) / space->speed(first);
    return made;
  };
  problem.extend = [space](registry& all) { add_moves(all, space); };
  return problem;
}

}  // namespace kevo
