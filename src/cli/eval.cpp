// kevo eval: one program on one task, by the whole protocol.

#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/renamed_file.hpp"
#include "src/cli/announced_waits.hpp"
#include "src/cli/command.hpp"
#include "src/cli/fitness_options.hpp"
#include "src/cli/standard_error.hpp"
#include "src/plugins/builtin.hpp"
#include "src/report/evaluation_text.hpp"
#include "src/task/misspelt.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace kevo::cli {
namespace {

struct eval_options {
  std::string task;
  std::string program;
  fitness_options fitness;
  bool samples = false;
};

// The program's file is called "kernel.cpp" while it is built, whatever the user calls it; those of a folder
// keep their names.
void name_the_users_file(evaluation& result, const program& source, const std::string& path) {
  if (std::filesystem::is_directory(path)) return;
  const auto rename = [&](std::string& text) {
    text = with_renamed_file(text, source.files.front().path, path);
  };
  rename(result.feedback);
  for (auto& reason : result.reasons) rename(reason);
}

void evaluate(const eval_options& given, const invocation& shared) {
  registry plugins = builtin_plugins();
  const fitness_choice choice = read_fitness_options(given.fitness, plugins);
  const auto loaded = std::make_shared<const task>(load_task(given.task));
  const build_context context{.task = loaded, .plugins = &plugins};
  const auto source = std::make_shared<const program>(load_program(given.program));
  for (const auto& each : misspelt_annotations(*source, given.program)) warn(each);
  announced_waits waits;
  evaluation result = make_fitness(choice, plugins, context)
                          .evaluate({.program = source,
                                     .wanted = evaluation_stage::confirmed,
                                     .fresh = true,
                                     .waiting = waits.listener()});
  name_the_users_file(result, *source, given.program);
  if (shared.json) {
    fmt::print("{}\n", to_json(result, {.task = loaded->name,
                                        .program = to_string(id_of(*source)),
                                        .raw_samples = given.samples}));
  } else {
    fmt::print("{}", format::printable(describe(result, loaded->name)));
  }
}

}  // namespace

void add_eval(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("eval", "Build, check and time one program for a task");
  auto given = std::make_shared<eval_options>();
  verb->add_option("task", given->task, "Task file")->required();
  verb->add_option("program", given->program, "Source file of the candidate")->required();
  add_fitness_options(*verb, given->fitness);
  verb->add_flag("--samples", given->samples, "With --json: also print the raw timing pairs");
  add_json_flag(*verb, shared);
  verb->callback([given, &shared] { evaluate(*given, shared); });
}

}  // namespace kevo::cli
