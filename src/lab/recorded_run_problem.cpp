// Recorded runs as a problem of the laboratory.

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/settings/path_setting.hpp"
#include "src/lab/problem.hpp"
#include "src/lab/recorded_run_file.hpp"

namespace kevo {
namespace {

/// The id of everything that a search can meet. The names of the folders do not count; a run that was resumed
/// is another problem.
std::string content_of_runs(const recorded_run_graph& graph) {
  content_hasher hash;
  const auto add = [&hash](const evaluation* e) {
    hash.text(e == nullptr ? std::string() : to_json(*e, {.exact = true}));
  };
  hash.number(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const recorded_program& one = graph.at(i);
    hash.text(to_string(graph.id(i)));
    add(one.result.get());
    add(one.confirmed.get());
    hash.number(one.children.size());
    for (const std::size_t child : one.children) hash.number(child);
  }
  return to_string(hash.finish());
}

std::string description_of_runs(const recorded_run_graph& graph, std::size_t runs) {
  std::size_t evaluated = 0, valid = 0, proposals = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    evaluated += graph.at(i).result ? 1U : 0U;
    valid += graph.value(i) > 0 ? 1U : 0U;
    proposals += graph.at(i).children.size();
  }
  return fmt::format(
      "the recorded proposals of {} {}: {} programs, {} evaluated, {} valid, {} pairs of parent and child",
      runs, runs == 1 ? "run" : "runs", graph.size(), evaluated, valid, proposals);
}

}  // namespace

lab_problem recorded_run_problem(settings& from, const std::string& directory) {
  const std::vector<std::string> folders = paths_from(
      from, "runs", {.doc = "folders of finished runs of one task, relative to the config"}, directory);
  if (folders.empty()) from.fail("runs", "at least one run is needed", "for example, runs: [../runs/matmul]");
  from.finish();
  const auto graph =
      std::make_shared<const recorded_run_graph>(load_recorded_runs(folders, from.place("runs")));
  lab_problem problem;
  problem.description = description_of_runs(*graph, folders.size());
  problem.identity = "recorded_run " + content_of_runs(*graph);
  problem.proposals_are_recorded = true;
  problem.instance = [graph](std::uint64_t) {
    lab_instance made;
    made.seeds = {*graph->at(0).source};
    made.fitness = any_fitness(recorded_run_fitness(graph));
    made.true_value = [graph](const program& p) {
      const auto found = graph->find(id_of(p));
      return found ? graph->value(*found) : 0;
    };
    made.optimum = graph->best();
    return made;
  };
  problem.extend = [graph](registry& all) {
    all.operators.add(
        "recorded_proposal",
        [graph](settings&, const build_context&) { return any_variation(recorded_proposal{graph}); },
        "recorded runs: proposes a program that the runs proposed at the same parent");
  };
  return problem;
}

}  // namespace kevo
