// kevo task check: is a task's tolerance worth anything? Mutants must fail, honest programs must pass.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cpu/task_check.hpp"
#include "fitness/torch/check_torch_task.hpp"
#include "src/base/text/format.hpp"
#include "src/cli/announced_waits.hpp"
#include "src/cli/command.hpp"
#include "src/cli/fitness_options.hpp"
#include "src/cli/standard_error.hpp"
#include "src/mutants/check_sources.hpp"
#include "src/plugins/builtin.hpp"
#include "src/task/misspelt.hpp"
#include "src/task/task_loader.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;

const char* word(const control_result& one) {
  return one.skipped ? "skipped" : one.ok ? "ok" : "FAILS";
}

json::array places_value(const std::vector<mutant_place>& all) {
  json::array result;
  for (const auto& one : all) {
    result.push_back(json::object{{"file", one.file},
                                  {"line", one.line},
                                  {"kind", one.kind},
                                  {"change", one.change},
                                  {"before", one.before},
                                  {"after", one.after}});
  }
  return result;
}

json::value sources_value(const std::optional<source_check>& checked) {
  if (!checked) return nullptr;
  return json::object{
      {"not_made", checked->not_made.empty() ? json::value(nullptr) : json::value(checked->not_made)},
      {"possible", checked->possible},
      {"made", checked->made},
      {"not_built", checked->not_built},
      {"caught", checked->caught},
      {"equivalent", checked->equivalent},
      {"surviving", places_value(checked->surviving)}};
}

void print_report_json(const std::string& name, const task_report& report,
                       const std::optional<source_check>& sources) {
  json::array controls;
  for (const auto& one : report.controls) {
    controls.push_back(json::object{{"name", one.name},
                                    {"honest", one.honest},
                                    {"ok", one.ok},
                                    {"skipped", one.skipped},
                                    {"detail", one.detail}});
  }
  const auto mutants = count_mutants(report);
  fmt::print(
      "{}\n",
      json::serialize(json::object{
          {"task", name},
          {"ok", report.ok()},
          {"controls", std::move(controls)},
          {"mutants", {{"made", mutants.made}, {"tried", mutants.tried}, {"refused", mutants.refused}}},
          {"separates", report.ok() && mutants.enough()},
          {"source_mutants", sources_value(sources)},
          {"fixed_result",
           report.fixed_result.empty() ? json::value(nullptr) : json::value(report.fixed_result)},
          {"advice", report.advice.empty() ? json::value(nullptr) : json::value(report.advice)}}));
}

void print_report(const std::string& name, const task_report& report,
                  const std::optional<source_check>& sources) {
  std::string text;
  for (const auto& one : report.controls) {
    text += fmt::format("{:>8}  {:28} {:36} {}\n", word(one), one.name,
                        one.honest ? "correct: must pass all workloads" : "mutant: must fail a workload",
                        one.detail);
  }
  if (sources) text += text_of(*sources);
  text += fmt::format("{}: {}\n", name, conclusion_of(report));
  fmt::print("{}", format::printable(text));
}

// Mutants of programs that need a GPU: there is nothing here to try them.
void print_list(const task& t, bool json_wanted) {
  const auto all = list_mutants(t);
  if (json_wanted) {
    fmt::print("{}\n", json::serialize(json::object{{"task", t.name}, {"listed", places_value(all)}}));
    return;
  }
  fmt::print("{}{} mutants of the seeds, not tried: the programs of this task run on a GPU\n",
             format::printable(text_of(all, "made")), all.size());
}

/// Compiler, flags and threads of a config or of `--set`: what a program in C++ needs in order to be built
/// and run.
void take_build_settings(const fitness_options& given, const std::shared_ptr<const task>& loaded,
                         cpu_settings& to) {
  if (given.config.empty() && given.overrides.empty()) return;
  registry plugins = builtin_plugins();
  const fitness_choice choice = read_fitness_options(given, plugins);
  make_fitness(choice, plugins, {.task = loaded, .plugins = &plugins});  // refuses wrong keys and values
  settings root(choice.tree);
  settings section = root.child("fitness");
  to.compiler = section.text("compiler", {.def = to.compiler});
  to.flags = section.texts("flags", {}, to.flags);
  to.threads = static_cast<int>(section.integer("threads", {.def = to.threads}));
}

}  // namespace

void add_task(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("task", "Check task files");
  verb->require_subcommand(1);
  auto* check = verb->add_subcommand("check",
                                     "Load a task and test it with controls: incorrect programs (mutants) "
                                     "must fail, and correct ones must pass");
  auto path = std::make_shared<std::string>();
  auto sandbox = std::make_shared<std::string>("required");
  check->add_option("task", *path, "Task file")->required();
  check->add_option("--sandbox", *sandbox, "Sandbox mode: required, best or off (default: required)")
      ->check(CLI::IsMember({"required", "best", "off"}));
  auto device = std::make_shared<std::string>("cpu");
  check
      ->add_option("--device", *device,
                   "Where PyTorch programs run: cpu or cuda (default: cpu); no effect on other tasks")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  auto limits = std::make_shared<source_check_limits>();
  check
      ->add_option(
          "--mutants", limits->mutants,
          fmt::format(
              "How many mutants of the seeds to try at most, however long it takes; 0: none "
              "(default: {}, for at most {:g} s). Where programs need a GPU, any other number lists all",
              limits->mutants, limits->seconds))
      ->each([limits](const std::string&) { limits->seconds = 0; });
  auto fitness = std::make_shared<fitness_options>();
  add_fitness_options(*check, *fitness);
  add_json_flag(*check, shared);
  check->callback([check, path, sandbox, device, limits, fitness, &shared] {
    const auto loaded = std::make_shared<const task>(load_task(*path));
    cpu_settings settings;
    settings.sandbox = *sandbox == "required" ? sandbox_mode::required
                       : *sandbox == "best"   ? sandbox_mode::best
                                              : sandbox_mode::off;
    for (const auto& each : misspelt_annotations(*loaded)) warn(each);
    if (loaded->reference && loaded->reference->language == "python") {
      torch_settings torch;
      torch.sandbox = settings.sandbox;
      torch.device = *device;
      std::optional<source_check> sources;
      task_report report;
      if (*device == "cpu") {
        const auto by = torch::programs_on_cpu(loaded, torch);
        report = check_task(by.whole, by.settings, {}, by.kind);
        if (report.ok()) sources = check_sources(by.whole, by.settings, *limits, {}, {}, by.kind);
      } else {
        report = torch::check_torch_task(loaded, torch);
      }
      (shared.json ? print_report_json : print_report)(loaded->name, report, sources);
      if (!report.ok()) shared.exit_code = exit_code(error_code::input);
      return;
    }
    if (loaded->reference && loaded->reference->language != "cpp") {
      if (check->count("--mutants") > 0 && limits->mutants > 0) {
        print_list(*loaded, shared.json);
        return;
      }
      throw error(
          error_code::input,
          "kevo task check runs references in C++ and Python, and this one is in " +
              loaded->reference->language,
          {.file = *path, .key = "reference"},
          "test the tolerance of this task with `kevo attack " + *path +
              "`, which runs on its device. --mutants 1 lists mutants of its seeds, to be tried there");
    }
    take_build_settings(*fitness, loaded, settings);
    announced_waits waits;
    const task_report report = check_task(loaded, settings, {}, nullptr, waits.listener());
    std::optional<source_check> sources;
    if (report.ok()) sources = check_sources(loaded, settings, *limits, {}, waits.listener());
    (shared.json ? print_report_json : print_report)(loaded->name, report, sources);
    if (!report.ok()) shared.exit_code = exit_code(error_code::input);
  });
}

}  // namespace kevo::cli
