// kevo import: tasks from the files of a benchmark suite.

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/text/format.hpp"
#include "src/cli/command.hpp"
#include "src/cli/import_suite.hpp"
#include "src/import/kernelbench.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;

std::string sentence(const imported_task& one, bool given_size_only) {
  if (!one.problem.empty()) return fmt::format("{:>8}  {}: {}\n", "left out", one.source, one.problem);
  std::string text = fmt::format("{:>8}  {}\n", "wrote", one.file);
  const auto add = [&text](const std::string& line) { text += fmt::format("{:>8}  {}\n", "", line); };
  if (!one.models.empty())
    add(fmt::format("weights of {} are drawn under the seed of an evaluation; none are loaded",
                    fmt::join(one.models, ", ")));
  if (!given_size_only)
    add(one.varies.empty() ? std::string("no extent may vary: the task has no hidden size")
                           : fmt::format("hidden workloads change {}", fmt::join(one.varies, ", ")));
  if (one.late) add("the time ended before all extents had been tried: --seconds allows more");
  for (const auto& size : one.dropped) add("no hidden workload has the size " + size);
  if (one.all_made)
    add("the inputs are those of get_inputs alone: where their elements are all alike, as in some of kevo's "
        "own "
        "contents, the reference gives NaN or infinity");
  if (!one.made.empty())
    add(fmt::format("get_inputs of the file makes {} in every call", fmt::join(one.made, ", ")));
  if (!one.guessed.empty())
    add(fmt::format(
        "the distribution of {} was guessed from the elements; compare `generate` with get_inputs",
        fmt::join(one.guessed, ", ")));
  if (one.tolerance > 0 && one.tolerance < one.given_tolerance)
    add(fmt::format("the tolerance is {:g}; KernelBench's {:g} accepts wrong outputs", one.tolerance,
                    one.given_tolerance));
  if (!one.lost.empty())
    add(fmt::format(
        "in the file {}, but not in the task: a program that relies on it is incorrect for the task",
        fmt::join(one.lost, ", ")));
  if (!one.tested_with.empty()) add("the tolerance was tested with " + one.tested_with);
  if (one.widened < 1)
    add(fmt::format("the absolute tolerance is {:g}: at the sizes of the file the outputs are smaller",
                    one.tolerance * one.widened));
  if (one.widened > 1)
    add(fmt::format(
        "the absolute tolerance is {:g}: the outputs are long sums, and KernelBench's {:g} is less than "
        "their rounding errors",
        one.tolerance * one.widened, one.given_tolerance));
  if (!one.accepted.empty())
    add(fmt::format("FLAGGED: the tolerance still accepts these wrong outputs: {}",
                    fmt::join(one.accepted, ", ")));
  if (!one.untested.empty()) {
    add(fmt::format("the tolerance was not tested: {}; run kevo task check --device cuda", one.untested));
  } else if (!one.checked) {
    add("the tolerance was not tested: run kevo task check");
  }
  return text;
}

json::array texts(const std::vector<std::string>& all) {
  json::array made;
  for (const auto& one : all) made.emplace_back(one);
  return made;
}

json::object object_of(const imported_task& one) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
  };
  return {{"source", one.source},
          {"task", one.name},
          {"file", or_null(one.file)},
          {"problem", or_null(one.problem)},
          {"varies", texts(one.varies)},
          {"made", texts(one.made)},
          {"all_made", one.all_made},
          {"left_out_sizes", texts(one.dropped)},
          {"guessed", texts(one.guessed)},
          {"accepted", texts(one.accepted)},
          {"tolerance", one.tolerance},
          {"absolute_tolerance", one.tolerance * one.widened},
          {"given_tolerance", one.given_tolerance},
          {"models", texts(one.models)},
          {"checked", one.checked},
          {"tested_with", or_null(one.tested_with)},
          {"untested", or_null(one.untested)},
          {"late", one.late},
          {"lost", texts(one.lost)},
          {"seconds", one.seconds}};
}

void add_kernelbench(CLI::App& import, invocation& shared) {
  auto* verb =
      import.add_subcommand("kernelbench", "Import problems of KernelBench: files with Model and get_inputs");
  auto given = std::make_shared<kernelbench_import>();
  auto unchecked = std::make_shared<bool>(false);
  verb->add_option("path", given->from, "A file, or a folder that is searched for files")->required();
  verb->add_option("-o,--output", given->to, "Folder in which each task gets a folder")->required();
  verb->add_option("--python", given->python,
                   "A Python that has PyTorch, or a folder of packages (default: searched for)");
  verb->add_option("--seconds", given->seconds,
                   "Processor time for finding out which extents may vary, for each file (default: 60)")
      ->check(CLI::PositiveNumber);
  verb->add_option(
          "-j,--jobs", given->jobs,
          "Number of files that are imported at the same time (default: one per processor core, as far as "
          "there are 8 GiB of memory for each)")
      ->check(CLI::PositiveNumber);
  verb->add_option("--device", given->device,
                   "Where the tolerance of each task is tested: cpu or cuda (default: cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  verb->add_option("--models", given->models,
                   "Folder with the config.json of models that files load by from_pretrained, as "
                   "ORG/NAME/config.json or as in Hugging Face's cache (default: that cache). Weights are "
                   "drawn, not loaded")
      ->check(CLI::ExistingDirectory);
  verb->add_flag("--no-check", *unchecked, "Do not test the tolerance of each task with controls");
  verb->add_flag("--given-size-only", given->given_size_only, given_size_only_help);
  verb->add_flag("--small", given->small,
                 "Write tasks with sizes that are small enough for a CPU, if the sizes of a file are not. "
                 "Their scores cannot be compared with published ones");
  add_json_flag(*verb, shared);
  verb->callback([given, unchecked, &shared] {
    given->check = !*unchecked;
    if (!shared.json) {
      given->done = [only = given->given_size_only](const imported_task& one) {
        fmt::print("{}", format::printable(sentence(one, only)));
        std::fflush(stdout);
      };
    }
    const auto all = import_kernelbench(*given);
    const auto suite = write_kernelbench_suite(*given, all);
    json::array tasks;
    std::size_t written = 0;
    for (const auto& one : all) {
      written += one.problem.empty() ? 1 : 0;
      if (shared.json) tasks.push_back(object_of(one));
    }
    if (shared.json) {
      fmt::print("{}\n", json::serialize(json::object{
                             {"tasks", std::move(tasks)},
                             {"suite", suite.empty() ? json::value(nullptr) : json::value(suite)},
                             {"written", written}}));
    } else {
      fmt::print("{} of {} files became tasks\n", written, all.size());
      if (!suite.empty()) fmt::print("suite: {}\n", format::printable(suite));
    }
  });
}

}  // namespace

void add_import(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("import", "Make tasks from the files of a benchmark suite");
  verb->require_subcommand(1);
  add_kernelbench(*verb, shared);
  add_suite_imports(*verb, shared);
}

}  // namespace kevo::cli
