// A config with plug-ins of a program of its own: read, run, resumed from the journal alone.

#include <doctest/doctest.h>

#include <kevo/journal.hpp>
#include <kevo/load_config.hpp>
#include <kevo/plugins.hpp>

#include "tests/support/shell.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo;

namespace {

/// What kevo ships, an operator and a fitness function.
registry toy_plugins() {
  registry all = builtin_plugins();
  all.operators.add("step", [](settings& from, const build_context&) {
    return any_variation(toy::step{.reach = static_cast<int>(from.integer("reach", {.def = 300}))});
  });
  all.fitness.add("hill", [](settings&, const build_context&) { return any_fitness(toy::hill{}); });
  return all;
}

void write_project(const shell::scratch& folder) {
  shell::write_file(folder / "seed.txt", "8000");
  shell::write_file(folder / "reference.cpp", "extern \"C\" void reference() {}\n");
  shell::write_file(
      folder / "task.yaml",
      "name: toy\nop_type: toy\naxes: {K: {type: var}}\n"
      "inputs: {A: {shape: [K], dtype: float32}}\noutputs: {B: {shape: [K], dtype: float32}}\n"
      "reference: {language: cpp, file: reference.cpp}\nworkloads: [{uuid: one, axes: {K: 4}}]\n"
      "seeds: [seed.txt]\n");
  shell::write_file(folder / "config.yaml",
                    "run: {name: toy, output: " + (folder / "run").string() +
                        "}\ntask: task.yaml\nfitness: {backend: hill}\narchive: {type: top_k, k: 5}\n"
                        "select: {type: greedy}\nvary: {operators: [{type: step, reach: 50}]}\n"
                        "stop: {evaluations: 20}\n");
}

}  // namespace

TEST_CASE("a config is read with plug-ins of one's own, run, and resumed from its journal") {
  const shell::scratch folder;
  write_project(folder);
  const registry plugins = toy_plugins();
  session_plan plan = load_config((folder / "config.yaml").string(),
                                  {.overrides = {"stop.evaluations=30"}, .plugins = &plugins});
  CHECK(plan.folder == (folder / "run").string());
  CHECK(plan.parts.task->name == "toy");
  CHECK(plan.parts.operators.front().name() == "step");
  const run_outcome first = start_session(plan);
  CHECK(first.stopped_by == "30 evaluations");

  const run_outcome second = resume_session(
      load_recorded_config(first.directory, {.overrides = {"stop.evaluations=45"}, .plugins = &plugins}));
  CHECK(second.stopped_by == "45 evaluations");
  CHECK(journal::open_read_only(first.directory).sessions().size() == 2);
  // A second run of the config gets a folder of its own.
  CHECK(load_config((folder / "config.yaml").string(), {.plugins = &plugins}).folder ==
        first.directory + "-2");

  CHECK_THROWS_WITH_AS(
      load_recorded_config(first.directory, {.overrides = {"archive.k=9"}, .plugins = &plugins}),
      doctest::Contains(
          "resume can only change stop, run.parallel, run.finish, llm.patience, llm.ask, and url"),
      error);
  CHECK_THROWS_WITH_AS(load_config((folder / "config.yaml").string()), doctest::Contains("not step"), error);
}

TEST_CASE("a run without a config says that its program has to resume it") {
  const shell::scratch folder;
  session_plan plan;
  plan.folder = (folder / "run").string();
  plan.parts.select = toy::best_or_random{};
  plan.parts.operators = {toy::step{}};
  plan.parts.archive = toy::keep_all{};
  plan.fitness = toy::hill{};
  std::stop_source user;  // ends before it begins
  user.request_stop();
  plan.graceful_stop = user.get_token();
  start_session(plan);
  CHECK_THROWS_WITH_AS(load_recorded_config(plan.folder),
                       doctest::Contains("was started by another program than kevo"), error);
}

TEST_CASE("no more turns of an operator are out than its models answer at once") {
  const shell::scratch folder;
  write_project(folder);
  const auto turns = [&](const std::string& with) {
    const session_plan plan = load_config(
        (folder / "config.yaml").string(),
        {.overrides = {"fitness={backend: cpu}",
                       "vary.operators=[{type: llm_rewrite, concurrency: 6" + with + "}]",
                       "llm.models=[{name: a, url: 'http://localhost:1/v1', concurrency: 1, tier: cheap}, "
                       "{name: b, url: 'http://localhost:2/v1', concurrency: 2}]"}});
    return plan.parts.operators.front().concurrency();
  };
  CHECK(turns("") == 3);
  CHECK(turns(", model: b") == 2);
  CHECK(turns(", tier: cheap") == 1);
  CHECK(turns(", model: b, samples: 2") == 2);
}
