// A recorded tuning space as a problem of the laboratory.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/lab/recorded_fitness.hpp>
#include <kevo/lab/recorded_moves.hpp>

#include "src/base/settings/path_setting.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/lab/problem.hpp"
#include "src/lab/recorded_file.hpp"
#include "src/lab/strategies/recorded_strategy.hpp"
#include "src/plugins/tune.hpp"

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

/// A recorded space with the task that stands for it: operators see of which space a request speaks.
struct recorded_place {
  std::shared_ptr<const task> named;
  std::shared_ptr<const recorded_space> space;
};
using recorded_places = std::vector<recorded_place>;

/// One operator for each space; the task of the request says which one is asked.
template <class Operator>
struct by_space {
  std::vector<std::pair<std::shared_ptr<const task>, Operator>> each;

  std::string name() const { return each.front().second.name(); }
  bool repairs() const {
    if constexpr (requires { each.front().second.repairs(); }) return each.front().second.repairs();
    return true;
  }
  bool learns() const {
    if constexpr (requires { each.front().second.learns(); }) return each.front().second.learns();
    return false;
  }
  variation_result vary(const variation_request& request, rng& random) {
    for (auto& [named, op] : each) {
      if (named == request.task || each.size() == 1) return op.vary(request, random);
    }
    return no_proposal{"this task is no recorded space", true};
  }
};

template <class Make>
any_variation for_each_space(const recorded_places& places, Make make) {
  by_space<decltype(make(places.front().space))> all;
  for (const auto& one : places) all.each.emplace_back(one.named, make(one.space));
  return any_variation(std::move(all));
}

/// The recorded configurations as settings of the tunables of their sources, sorted.
std::shared_ptr<const std::vector<std::vector<std::uint32_t>>> settings_in(const recorded_space& space) {
  std::vector<std::vector<std::uint32_t>> all;
  for (std::size_t i = 0; i < space.size(); ++i) all.push_back(space.at(i).setting);
  std::sort(all.begin(), all.end());
  return std::make_shared<const std::vector<std::vector<std::uint32_t>>>(std::move(all));
}

/// Results of other recorded spaces, drawn at random; null if none are named.
std::shared_ptr<const std::vector<tune_experience>> recorded_experience(settings& from,
                                                                        const std::string& directory) {
  const std::vector<std::string> files = paths_from(
      from, "recorded",
      {.doc = "recorded spaces of other devices or sizes, relative to the config; the model starts "
              "from results drawn from them"},
      directory, std::vector<std::string>{});
  const auto count = static_cast<std::size_t>(from.integer(
      "results",
      {.def = 100, .min = 5, .max = 100'000, .unit = "results", .doc = "number of results of each of them"}));
  if (files.empty()) return nullptr;
  std::vector<tune_experience> made;
  for (const auto& file : files) {
    const recorded_space space = load_recorded_space({.results = file});
    const std::size_t first = made.size();
    rng random(first);
    for (std::size_t i = 0; i < count; ++i) {
      const recorded_result& r = space.at(random.below(space.size()));
      tune_experience one;
      for (std::size_t p = 0; p < r.setting.size(); ++p)
        one.values[space.parameters()[p].name] = space.parameters()[p].values[r.setting[p]];
      one.failed = r.outcome != outcome::valid;
      if (!one.failed) one.value = std::log(space.speed_of(r, r.objective));
      made.push_back(std::move(one));
    }
    relate_to_best(made, first);
  }
  return std::make_shared<const std::vector<tune_experience>>(std::move(made));
}

void add_moves(registry& all, const recorded_places& places) {
  all.operators.add(
      "recorded_step",
      [places](settings& from, const build_context&) {
        recorded_step op;
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
        return for_each_space(places, [op](const auto& space) {
          recorded_step made = op;
          made.space = space;
          return made;
        });
      },
      "recorded spaces: changes one or several parameters");
  all.operators.add(
      "recorded_cross",
      [places](settings& from, const build_context&) {
        const std::size_t tries = tries_from(from, recorded_cross{}.tries);
        return for_each_space(places, [tries](const auto& space) { return recorded_cross{space, tries}; });
      },
      "recorded spaces: crosses two candidates, taking each parameter from one of them");
  all.operators.add(
      "recorded_draw",
      [places](settings&, const build_context&) {
        return for_each_space(places, [](const auto& space) { return recorded_draw{space}; });
      },
      "recorded spaces: draws a random configuration that is not known yet, for random search");
  all.operators.add(
      "recorded_tune",
      [places](settings& from, const build_context& context) {
        tune op = tune_from(from);
        op.experience = recorded_experience(from, context.directory);
        return for_each_space(places, [op](const auto& space) {
          tune made = op;
          made.only = settings_in(*space);
          return made;
        });
      },
      "recorded spaces: the operator `tune`, told which configurations were recorded");
}

void add_strategies(registry& all, const recorded_places& places) {
  all.operators.add(
      "recorded_strategy",
      [places](settings& from, const build_context&) {
        std::vector<std::string> names;
        for (const auto& one : published_strategies()) names.emplace_back(one.name);
        const std::string wanted =
            from.text("strategy",
                      {.doc = "the strategy whose evaluations are proposed, in its order", .one_of = names});
        const auto evaluations = static_cast<std::size_t>(from.integer(
            "evaluations",
            {.def = 1000, .min = 1, .max = 1'000'000, .unit = "evaluations", .doc = "its longest search"}));
        const published_strategy* chosen = nullptr;
        for (const auto& one : published_strategies()) {
          if (one.name == wanted) chosen = &one;
        }
        return for_each_space(places, [chosen, evaluations](const auto& space) {
          recorded_strategy made;
          made.space = space;
          made.strategy = chosen;
          made.evaluations = evaluations;
          return made;
        });
      },
      "recorded spaces: a published strategy of other tuners");
}

/// The spaces of `file` or `files`; says which of these keys it was.
std::vector<recorded_source> sources_from(settings& from, const std::string& directory, bool& from_list) {
  const std::string file = path_from(
      from, "file", {.def = "", .doc = "Kernel Tuner cache file or T4 results file, relative to the config"},
      directory);
  std::vector<std::string> files = paths_from(
      from, "files",
      {.doc = "several such files instead of one: seed k searches the k-th of them, again from the "
              "first after the last"},
      directory, std::vector<std::string>{});
  if (file.empty() == files.empty())
    from.fail(file.empty() ? "file" : "files", "a recorded problem needs either file or files",
              "for example, file: space.json");
  from_list = file.empty();
  if (!from_list) files = {file};
  std::vector<recorded_source> sources;
  for (auto& path : files) sources.push_back({.results = std::move(path)});
  return sources;
}

}  // namespace

lab_problem recorded_problem(settings& from, const std::string& directory) {
  bool from_list = false;
  std::vector<recorded_source> sources = sources_from(from, directory, from_list);
  recorded_source common;
  common.parameters = path_from(from, "parameters",
                                {.def = "",
                                 .doc = "T1 file with the order and values of the parameters, relative to "
                                        "the config; empty takes them from the results file"},
                                directory);
  common.objective = from.text(
      "objective",
      {.def = "",
       .doc = "name of the measured objective; empty uses the one that the file declares, or else time"});
  common.larger_is_better = from.optional<bool>(
      "larger_is_better", {.doc = "whether larger values of the objective are better, as for a rate; null "
                                  "decides by its name, and refuses names that do not tell"});
  const std::string start =
      from.text("start", {.def = "median",
                          .doc = "the configuration from which searches start, by its rank",
                          .one_of = {"median", "worst", "random"}});
  const bool sampled =
      from.boolean("sampled", {.def = false,
                               .doc = "whether an evaluation draws one of the recorded measurements at "
                                      "random; otherwise it uses their summary"});
  from.finish();

  std::string content = content_of(common.parameters, from.place("parameters"));
  recorded_places places;
  std::size_t size = 0;
  std::size_t valid = 0;
  for (auto& source : sources) {
    content += content_of(source.results, from.place(from_list ? "files" : "file"));
    source.parameters = common.parameters;
    source.objective = common.objective;
    source.larger_is_better = common.larger_is_better;
    places.push_back({std::make_shared<const task>(),
                      std::make_shared<const recorded_space>(load_recorded_space(source))});
    size += places.back().space->size();
    valid += places.back().space->ranked().size();
  }
  lab_problem problem;
  problem.description =
      sources.size() == 1
          ? fmt::format("the recorded space {}: {} configurations, {} valid", sources.front().results, size,
                        valid)
          : fmt::format("{} recorded spaces: {} configurations, {} valid", sources.size(), size, valid);
  problem.identity = dump_yaml(from.resolved()) + content;
  problem.instance = [places, start, sampled](std::uint64_t seed) {
    const auto& [named, space] = places[(seed + places.size() - 1) % places.size()];
    const std::size_t first = start_of(*space, start, seed);
    lab_instance made;
    made.seeds = {space->to_source(space->at(first).setting)};
    made.fitness = any_fitness(std::make_shared<recorded_fitness>(space, first, sampled, seed));
    made.true_value = [space = space, first](const program& p) {
      const auto setting = space->setting_in(p.text());
      const auto found = setting ? space->find(*setting) : std::nullopt;
      return found ? space->speed(*found) / space->speed(first) : 0;
    };
    made.optimum = space->speed(space->ranked().front()) / space->speed(first);
    made.task = named;
    return made;
  };
  problem.extend = [places](registry& all) {
    add_moves(all, places);
    add_strategies(all, places);
  };
  return problem;
}

}  // namespace kevo
