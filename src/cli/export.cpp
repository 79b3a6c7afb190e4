#include "src/export/export.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/plugins.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/base/text/format.hpp"
#include "src/cli/announced_waits.hpp"
#include "src/cli/command.hpp"
#include "src/cli/standard_output.hpp"
#include "src/export/bundle/bundle.hpp"
#include "src/export/parquet.hpp"
#include "src/export/training.hpp"
#include "src/journal/run_folder.hpp"
#include "src/suite/suite_files.hpp"
#include "src/task/task_loader.hpp"

namespace kevo::cli {
namespace {

struct export_words {
  std::string run;
  std::string format = "csv";
  std::string output;
  std::string task;
  std::string python;
  std::vector<std::string> held_out;
  std::size_t top = 0;
  std::optional<candidate_id> candidate;
  std::string name;
  std::string sandbox;
  std::string timing;
  std::vector<std::string> plugins;
  std::vector<std::string> rules;
  bool need_kernel = false;
  training_options training;
};

/// Writes through `work` into `path`, or to standard output if that is "-".
template <class Work>
std::size_t into(const std::string& path, Work work) {
  if (path == "-") {
    output_buffer buffer;
    std::ostream out(&buffer);
    out.exceptions(std::ios::badbit);
    return work(out);
  }
  std::ofstream out(path, std::ios::binary);
  if (!out)
    throw error(error_code::environment, "cannot write this file", {.file = path, .key = {}},
                "check the permissions of the folder and the free disk space");
  const std::size_t count = work(out);
  out.close();
  if (!out)
    throw error(error_code::environment, "the write failed; check the free disk space",
                {.file = path, .key = {}});
  return count;
}

bool is_training(export_format format) {
  return format >= export_format::trajectories;
}

/// Nothing of a task that is kept for tests may reach a trainer: its content decides, or that it is the same
/// file, also if that was changed since.
void refuse_held_out(const journal& record, const std::vector<std::string>& patterns) {
  for (const auto& pattern : patterns) {
    for (const auto& file : matching_files(pattern, {.file = {}, .key = "--held-out"})) {
      std::error_code missing;
      const bool same_file = std::filesystem::equivalent(record.header().task_path, file, missing);
      if (!same_file && to_string(id_of(load_task(file))) != record.header().task_id) continue;
      throw error(error_code::input, "the task of this run is held out, so its data are not exported",
                  {.file = file, .key = {}}, "export the runs of other tasks");
    }
  }
}

bool is_parquet(const std::string& output) {
  return output.ends_with(".parquet");
}

/// Writes data for trainers, and a card beside a file.
std::size_t write_training(const journal& record, const export_words& words, export_format format,
                           const std::string& output) {
  training_summary summary;
  const auto write = format == export_format::trajectories ? export_trajectories
                     : format == export_format::sft        ? export_sft
                     : format == export_format::dpo        ? export_dpo
                                                           : export_grpo;
  const std::string lines = is_parquet(output) ? output + ".lines" : output;
  const auto rows = into(lines, [&](std::ostream& out) {
    summary = write(record, words.training, out);
    return summary.rows;
  });
  if (is_parquet(output)) {
    const struct removed {
      const std::string& file;
      ~removed() {
        std::error_code ignored;
        std::filesystem::remove(file, ignored);
      }
    } at_end{lines};
    write_parquet(lines, output, words.python);
  }
  if (output != "-") {
    into(output + ".card.md", [&](std::ostream& out) {
      out << training_card(record, words.format, words.training, summary);
      return rows;
    });
  }
  return rows;
}

/// The task that the run was about; results are keyed by its content, so it must not have changed since.
task task_of(const journal& record, const export_words& words) {
  const std::string path = words.task.empty() ? record.header().task_path : words.task;
  task t = load_task(path);
  const std::string id = to_string(id_of(t));
  if (record.header().task_id.empty() || record.header().task_id == id) return t;
  throw error(error_code::input,
              "this is not the task of the run: it has changed since the run, or it is a different task",
              {.file = path, .key = {}},
              "give the unchanged task with --task FILE, or export as csv or jsonl");
}

sandbox_mode mode_of(const std::string& word) {
  return word == "best" ? sandbox_mode::best : word == "off" ? sandbox_mode::off : sandbox_mode::required;
}

bundle_timing timing_of(const std::string& word) {
  return word == "told" ? bundle_timing::told : word == "off" ? bundle_timing::off : bundle_timing::required;
}

/// Adds to `answer` what became of a bundle, and returns it as text.
std::string tell_bundle(const bundle_summary& summary, const std::string& output,
                        boost::json::object& answer) {
  answer["candidate"] = summary.candidate;
  answer["name"] = summary.name;
  std::string said = fmt::format("candidate {} as {} in {}\n", summary.candidate, summary.name, output);
  if (summary.as_measured) {
    answer["machine_code_as_measured"] = *summary.as_measured;
    said += *summary.as_measured
                ? "its machine code is the one that the run measured\n"
                : "its machine code was compiled again; the run's folder has no equal build\n";
  }
  if (summary.time_ratio) {
    const auto& [value, range] = *summary.time_ratio;
    answer["time_ratio"] = boost::json::value{{"value", value}, {"low", range.low}, {"high", range.high}};
    said += fmt::format("a call takes {:.3f} [{:.3f}, {:.3f}] of the time of what the run measured\n", value,
                        range.low, range.high);
  }
  boost::json::array remarks;
  for (const auto& remark : summary.remarks) {
    remarks.emplace_back(remark);
    said += remark + "\n";
  }
  answer["remarks"] = std::move(remarks);
  return said;
}

/// The rules of --need-kernel and --rule: a name, or a map with settings.
std::vector<reward_rule> rules_of(const export_words& words) {
  registry plugins = builtin_plugins();
  for (const auto& path : words.plugins) load_plugin(path, plugins, {.file = {}, .key = "--plugin"});
  std::vector<std::string> wanted = words.rules;
  if (words.need_kernel)
    wanted.insert(wanted.begin(), {"defines_kernel", "names_own_kernel", "launches_own_kernel"});
  std::vector<reward_rule> rules;
  for (const auto& text : wanted) {
    settings_node node = parse_yaml(text, "--rule");
    if (node.is_scalar()) {
      settings_node named = settings_node::empty_map();
      named.set("type", std::move(node));
      node = std::move(named);
    }
    settings from(std::move(node));
    rules.push_back(plugins.reward_rules.make(from, {.directory = ".", .plugins = &plugins}));
    from.finish();
  }
  return rules;
}

/// Refuses options that mean nothing for a format.
void refuse_other_formats(const export_words& words, export_format format) {
  if (words.top > 0 && format != export_format::flashinfer) {
    throw error(error_code::usage, "this option applies to the format flashinfer only",
                {.file = {}, .key = "--top"}, "remove it, or write --format flashinfer");
  }
  for (const auto& [given, key] :
       {std::pair(words.candidate.has_value(), "--candidate"), std::pair(!words.name.empty(), "--name"),
        std::pair(!words.sandbox.empty(), "--sandbox"), std::pair(!words.timing.empty(), "--timing")}) {
    if (given && format != export_format::bundle)
      throw error(error_code::usage, "this option applies to the format bundle only",
                  {.file = {}, .key = key}, "remove it, or write --format bundle");
  }
  const auto& training = words.training;
  for (const auto& [given, key] :
       {std::pair(training.confirmed, "--confirmed"), std::pair(training.best_steps, "--best-steps"),
        std::pair(words.need_kernel, "--need-kernel"), std::pair(!words.rules.empty(), "--rule"),
        std::pair(!words.plugins.empty(), "--plugin"), std::pair(!words.held_out.empty(), "--held-out"),
        std::pair(!words.python.empty(), "--python"), std::pair(is_parquet(words.output), "--output")}) {
    if (given && !is_training(format))
      throw error(error_code::usage,
                  std::string(key) == "--output"
                      ? "only the formats trajectories, sft, dpo and grpo are written as Parquet"
                      : "this option applies to the formats trajectories, sft, dpo and grpo only",
                  {.file = {}, .key = key}, "change it, or choose one of these formats");
  }
}

void run_export(export_words words, const invocation& shared) {
  const auto format = parse_export_format(words.format);
  if (!format) {
    throw error(error_code::usage, "unknown format '" + words.format + "'", {.file = {}, .key = "--format"},
                "the formats are csv, jsonl, steps, flashinfer, bundle, trajectories, sft, dpo and grpo");
  }
  refuse_other_formats(words, *format);
  words.training.rules = rules_of(words);
  const journal record = journal::open_read_only(words.run);
  refuse_held_out(record, words.held_out);
  if (words.output.empty()) detail::refuse_links(words.run);  // the default is a place in the run's folder
  std::string output = words.output;
  const auto default_file = [&](const char* name) {
    if (output.empty()) output = shared.json ? (std::filesystem::path(words.run) / name).string() : "-";
    if (shared.json && output == "-") {
      throw error(error_code::usage, "with --json, standard output is reserved for the JSON object",
                  {.file = {}, .key = "--output"}, "name an output file with --output FILE");
    }
  };

  boost::json::object answer{{"run", words.run}, {"format", words.format}};
  std::string said;
  switch (*format) {
    case export_format::csv:
      default_file("export.csv");
      answer["rows"] = into(output, [&](std::ostream& out) { return export_csv(record, out); });
      break;
    case export_format::jsonl:
      default_file("export.jsonl");
      answer["rows"] = into(output, [&](std::ostream& out) { return export_jsonl(record, out); });
      break;
    case export_format::steps:
      default_file("steps.jsonl");
      answer["rows"] = into(output, [&](std::ostream& out) { return export_steps(record, out); });
      break;
    case export_format::trajectories:
    case export_format::sft:
    case export_format::dpo:
    case export_format::grpo:
      default_file((words.format + ".jsonl").c_str());
      answer["rows"] = write_training(record, words, *format, output);
      break;
    case export_format::flashinfer: {
      if (output.empty()) output = (std::filesystem::path(words.run) / "flashinfer").string();
      const auto summary = export_flashinfer(record, task_of(record, words), output, {.top = words.top});
      answer["solutions"] = summary.solutions;
      answer["traces"] = summary.traces;
      said = fmt::format("{} solutions and {} traces in {}\n", summary.solutions, summary.traces, output);
      break;
    }
    case export_format::bundle: {
      if (output.empty()) output = (std::filesystem::path(words.run) / "bundle").string();
      announced_waits waits;
      const auto summary = export_bundle(
          record, task_of(record, words), output,
          {words.candidate, words.name, mode_of(words.sandbox), timing_of(words.timing), waits.listener()});
      said = tell_bundle(summary, output, answer);
      break;
    }
  }
  answer["output"] = output;
  if (shared.json) {
    fmt::print("{}\n", boost::json::serialize(answer));
  } else if (!said.empty()) {
    fmt::print("{}", format::printable(said));
  } else if (output != "-") {
    fmt::print("{} rows in {}\n", answer.at("rows").to_number<std::size_t>(), format::printable(output));
  }
}

}  // namespace

void add_export(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("export",
                                      "Export a run as tables, as data for training, as a FlashInfer-Bench "
                                      "data set, or its best program as a "
                                      "folder to link");
  auto words = std::make_shared<export_words>();
  verb->add_option("RUN", words->run, "Folder of the run")->required();
  verb->add_option(
          "--format", words->format,
          "csv: one row per candidate; jsonl: one line per candidate with all its data; steps: one line per "
          "turn of an operator, for training; flashinfer: Definition, Solutions and Traces; bundle: one "
          "program as a folder to link, with a test and a card; for training language models, as JSON lines: "
          "trajectories (whole conversations), sft (prompts and good replies), dpo (pairs of replies), grpo "
          "(replies with rewards and advantages)")
      ->capture_default_str();
  verb->add_option(
      "--output", words->output,
      "Output file, or - for standard output (the default); training data are written as Parquet "
      "if its name ends with .parquet; for flashinfer and bundle, a folder (default: RUN/flashinfer, "
      "RUN/bundle)");
  verb->add_option("--python", words->python,
                   "Parquet: a Python that has pyarrow, or a folder of packages (default: searched for)");
  verb->add_option(
          "--held-out", words->held_out,
          "Training data: task files, or patterns of them, that are kept for tests: the export of a run "
          "on one of them is refused; may be repeated")
      ->take_all();
  verb->add_option("--task", words->task, "flashinfer and bundle: path of the task file, if it has moved");
  verb->add_option("--top", words->top,
                   "flashinfer: number of best valid candidates to export; 0 exports all");
  verb->add_option("--candidate", words->candidate,
                   "bundle: number of the candidate (default: the champion)");
  verb->add_option(
      "--name", words->name,
      "bundle: name of the CMake target, the namespace and the files (default: kevo_TASK; Triton: TASK)");
  verb->add_option(
          "--timing", words->timing,
          "bundle in C++ or of PyTorch: required: build it, time it against what the run measured, and "
          "refuse it if "
          "it takes another time; told: write it in any case, with what was found; off: neither "
          "build nor time "
          "it (default: required)")
      ->check(CLI::IsMember({"required", "told", "off"}));
  verb->add_option(
          "--sandbox", words->sandbox,
          "bundle: sandbox of the compilers, which read the sources: required, best or off (default: "
          "required)")
      ->check(CLI::IsMember({"required", "best", "off"}));
  verb->add_option("--reward", words->training.recipe,
                   "Training data: reward of a reply: autotriton, dr_kernel, kernel_smith, cuda_l1 or stages")
      ->capture_default_str();
  verb->add_flag("--best-steps", words->training.best_steps,
                 "Training data: leave out prompts whose replies gave no program faster than all before it");
  verb->add_flag("--confirmed", words->training.confirmed,
                 "Training data: leave out valid programs whose result was not confirmed in new processes");
  verb->add_option("--rule", words->rules,
                   "Training data: a rule; programs that break it get the reward 0. A name "
                   "(names_own_kernel), or a map with settings ('{type: launches_own_kernel, least: 0.1}'); "
                   "may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--plugin", words->plugins,
                   "Training data: a shared object with rules for --rule; may be repeated")
      ->allow_extra_args(false);
  verb->add_flag("--need-kernel", words->need_kernel,
                 "Training data: programs that define no kernel, or whose kernels do none of the work, get "
                 "the reward 0 (the rules defines_kernel, names_own_kernel and launches_own_kernel)");
  add_json_flag(*verb, shared);
  verb->callback([words, &shared] { run_export(*words, shared); });
}

}  // namespace kevo::cli
