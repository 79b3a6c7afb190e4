// kevo run: a config to its end, or a recorded run replayed.

#include "src/run/run.hpp"

#include <optional>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/cli/command.hpp"
#include "src/cli/outcome.hpp"
#include "src/run/model_checks.hpp"
#include "src/run/run_plan.hpp"

namespace kevo::cli {
namespace {

struct run_options {
  std::string config;
  std::vector<std::string> overrides;
  std::string replay;
  bool print_config = false;
  bool reference = false;
  bool plain = false;
  bool replay_models = false;
  bool until_model = false;
  bool check = false;
  bool require_confirmed = false;
  std::string task;
  std::string openevolve;
  std::string shinka;
};

std::string json_of(const std::vector<model_check>& models) {
  boost::json::array list;
  for (const auto& one : models)
    list.push_back(boost::json::object{
        {"name", one.model}, {"works", one.works}, {"calls_tools", one.calls_tools}, {"said", one.said}});
  return boost::json::serialize(boost::json::object{{"models", std::move(list)}});
}

std::optional<evaluator_choice> chosen_evaluator(const run_options& given) {
  if (!given.openevolve.empty()) return evaluator_choice{evaluator_system::openevolve, given.openevolve};
  if (!given.shinka.empty()) return evaluator_choice{evaluator_system::shinka, given.shinka};
  return std::nullopt;
}

void print_config(const run_options& given) {
  const auto evaluator = chosen_evaluator(given);
  const config_source config = evaluator ? evaluator_run(*evaluator, given.config, given.overrides)
                                         : read_config(given.config, given.overrides);
  const session_plan plan = decode_plan(config, {}, {}, plan_use::session);
  fmt::print("{}\n", plan.origin.config);
}

/// Decodes the whole config and asks its models once; what was found is printed.
void check(const run_options& given, invocation& shared) {
  const auto evaluator = chosen_evaluator(given);
  const config_source config = evaluator ? evaluator_run(*evaluator, given.config, given.overrides)
                                         : read_config(given.config, given.overrides);
  decode_plan(config, {}, {}, plan_use::session);
  const auto models = check_models_of(config);
  for (const auto& one : models) {
    if (!one.works) shared.exit_code = 1;
  }
  if (shared.json) {
    fmt::print("{}\n", json_of(models));
    return;
  }
  fmt::print("the config is valid\n");
  if (models.empty()) fmt::print("no language model is asked\n");
  for (const auto& one : models)
    fmt::print("{:>6}  {}: {}\n", one.works ? "ok" : "FAILED", format::printable(one.model),
               format::printable(one.said));
}

void replay(const run_options& given, invocation& shared) {
  const replay_outcome result = replay_run(
      given.replay, given.replay_models ? replayed_operators::with_models : replayed_operators::pure,
      given.task);
  if (result.divergence) {
    throw error(error_code::input, "the replay diverges: " + *result.divergence, {given.replay},
                "kevo, a plug-in or a file named in the config has changed since the run was recorded");
  }
  std::string said =
      fmt::format("replayed {} events; all decisions were the same as recorded", result.events);
  if (given.replay_models)
    said += fmt::format(
        "; {} recorded replies of models were used, {} of them for a request that differs from the recorded "
        "one",
        result.replies, result.changed_requests);
  print_outcome(result.run, shared, said, given.require_confirmed);
}

void add_require_confirmed(CLI::App& verb, run_options& given) {
  verb.add_flag("--require-confirmed", given.require_confirmed,
                "Exit with 3 if the run ends without a best program that is confirmed; without this option "
                "an undecided or missing best program is a result, and the exit code is 0");
}

}  // namespace

void add_run(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("run", "Run the search that a config describes");
  auto given = std::make_shared<run_options>();
  verb->add_option("config", given->config, "Config file (YAML)");
  verb->add_option("--set", given->overrides,
                   "Override a key of the config: --set section.key=value. Relative paths in the value start "
                   "in the current "
                   "folder; relative paths in the config start in the folder of the config file")
      ->allow_extra_args(false);
  auto* openevolve = verb->add_option(
      "--openevolve", given->openevolve,
      "Folder with an example of OpenEvolve (evaluator.py, initial_program.*, config.yaml), which gives the "
      "task "
      "and the fitness function of the run. Without a config file, the rest of the config is made from the "
      "folder's own settings");
  verb->add_option(
          "--shinka", given->shinka,
          "Folder with an example of ShinkaEvolve (evaluate.py, initial.*), used like that of --openevolve")
      ->excludes(openevolve);
  verb->add_option(
      "--replay", given->replay,
      "Run folder whose decisions are recomputed from its journal and compared with the recorded ones");
  verb->add_option("--task", given->task, "With --replay: path of the task file, if it has moved");
  verb->add_flag("--print-config", given->print_config,
                 "Print the complete config, including all defaults, and exit");
  verb->add_flag("--reference", given->reference,
                 "Print a description of all config keys in Markdown and exit");
  verb->add_flag("--replay-models", given->replay_models,
                 "Take the replies of language models from the cassette of the config, or with --replay from "
                 "the journal; needs no network and no API keys");
  auto* until = verb->add_flag(
      "--until-model", given->until_model,
      "Ask no language model: stop when one is to be asked, and write its requests as files into the folder "
      "requests of the run. Write the replies beside them; kevo resume goes on with them");
  until->excludes("--replay-models");
  verb->add_flag(
      "--check", given->check,
      "Check the config, ask each of its language models once, with a tool, and exit; exits with 1 if "
      "one does not answer");
  verb->add_flag("--plain", given->plain, "Print plain lines instead of the live display");
  add_require_confirmed(*verb, *given);
  add_json_flag(*verb, shared);
  verb->callback([given, &shared] {
    if (given->until_model) given->overrides.emplace_back("llm.ask=files");
    if (given->replay_models) given->overrides.emplace_back("llm.cassette.mode=replay");
    if (given->reference) {
      fmt::print("{}", config_reference());
      return;
    }
    const auto evaluator = chosen_evaluator(*given);
    if ((given->config.empty() && !evaluator) == given->replay.empty()) {
      throw error(error_code::usage, "a config file, or --replay with a run folder, is missing", {},
                  "for example, kevo run configs/quickstart.yaml");
    }
    if (given->print_config) return print_config(*given);
    if (given->check) return check(*given, shared);
    if (!given->replay.empty()) return replay(*given, shared);
    const auto display = shared.json    ? display_mode::quiet
                         : given->plain ? display_mode::plain
                                        : display_mode::automatic;
    const run_outcome ended = start_run({.config_path = given->config,
                                         .overrides = given->overrides,
                                         .display = display,
                                         .evaluator = evaluator});
    print_outcome(ended, shared, {}, given->require_confirmed);
  });
}

void add_resume(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("resume", "Continue a run that was stopped or killed");
  auto given = std::make_shared<run_options>();
  verb->add_option("run", given->config, "Run folder")->required();
  verb->add_option(
          "--set", given->overrides,
          "Change a stop rule, the parallelism or the server of a model: --set stop.evaluations=1000")
      ->allow_extra_args(false);
  verb->add_option("--task", given->task, "Path of the task file, if it has moved");
  verb->add_flag("--plain", given->plain, "Print plain lines instead of the live display");
  add_require_confirmed(*verb, *given);
  add_json_flag(*verb, shared);
  verb->callback([given, &shared] {
    const auto display = shared.json    ? display_mode::quiet
                         : given->plain ? display_mode::plain
                                        : display_mode::automatic;
    print_outcome(resume_run({.directory = given->config,
                              .task = given->task,
                              .overrides = given->overrides,
                              .display = display}),
                  shared, {}, given->require_confirmed);
  });
}

}  // namespace kevo::cli
