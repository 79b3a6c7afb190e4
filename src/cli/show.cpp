// kevo show: a recorded run, or one of its candidates, in words.

#include "src/report/show.hpp"

#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/text/format.hpp"
#include "src/cli/command.hpp"
#include "src/display/terminal.hpp"
#include "src/report/device_front.hpp"
#include "src/report/run_archive.hpp"
#include "src/report/run_report.hpp"

namespace kevo::cli {
namespace {

struct show_options {
  std::string folder;
  std::string id;
  bool source = false;
  bool prompt = false;
  bool plugins = false;
  bool devices = false;
  std::size_t limit = 20;
};

candidate_id candidate_named(const report_content& content, std::string_view name) {
  const std::size_t count = content.history.candidates().size();
  if (name == "best") {
    if (content.best) return *content.best;
    throw error(error_code::usage, "this run has no valid candidate", {.file = content.folder},
                "give the number of a candidate; kevo report shows why candidates failed");
  }
  if (name.starts_with('#')) name.remove_prefix(1);
  candidate_id id = no_candidate;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (failure == std::errc() && end == name.data() + name.size() && id < count) return id;
  throw error(error_code::usage, fmt::format("this run has no candidate '{}'", name),
              {.file = content.folder},
              count == 0 ? "this run has no candidates"
                         : fmt::format("give a number from 0 to {}, or the word best", count - 1));
}

void print_source(const shown_candidate& one, const std::string& folder) {
  if (!one.program)
    throw error(error_code::input, fmt::format("the source of candidate {} is not in the journal", one.id),
                {.file = folder}, "the journal is damaged, or was not written by kevo");
  // A file gets the very bytes; a terminal would obey them.
  const auto& text = one.program->text();
  fmt::print("{}", ::isatty(STDOUT_FILENO) == 1 ? format::printable(text) : std::string(text));
}

void show(const show_options& given, const invocation& shared) {
  const journal run = journal::open_read_only(given.folder);
  if (given.devices) {
    if (!given.id.empty() || given.source || given.prompt)
      throw error(error_code::usage, "--devices shows a whole run, not a single candidate", {},
                  "remove --devices, or the number of the candidate with --source and --prompt");
    const auto all = compare_devices(run);
    fmt::print("{}{}", shared.json ? devices_json(all) : devices_text(all, locale_is_utf8()),
               shared.json ? "\n" : "");
    return;
  }
  // The archive is of interest only where elites are listed.
  const report_content content = content_of(
      run, given.id.empty() ? empty_archive_of(run, given.plugins ? run_plugins::load : run_plugins::leave)
                            : any_archive());
  const show_style style{.unicode = locale_is_utf8(),
                         .color = wants_color() && is_terminal(STDOUT_FILENO),
                         .limit = given.limit};
  if (given.id.empty()) {
    if (given.source || given.prompt)
      throw error(error_code::usage, "--source and --prompt need the number of a candidate", {},
                  "for example, kevo show RUN best --source");
    fmt::print("{}{}", shared.json ? run_json(content) : run_text(content, style), shared.json ? "\n" : "");
    return;
  }
  const shown_candidate one = shown_candidate_of(run, candidate_named(content, given.id));
  if (given.prompt) {
    if (one.calls.empty())
      throw error(error_code::usage, fmt::format("candidate {} was made without a language model", one.id),
                  {.file = given.folder}, "--prompt needs a candidate that an operator with a model made");
    fmt::print("{}", format::printable(kevo::conversation_text(one.calls)));
  } else if (shared.json) {
    fmt::print("{}\n", candidate_json(content, one, given.source));
  } else if (given.source) {
    print_source(one, given.folder);
  } else {
    fmt::print("{}", candidate_text(content, one, style));
  }
}

}  // namespace

void add_show(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand(
      "show", "Show a summary of a run, or the lineage and evaluation of one candidate");
  auto given = std::make_shared<show_options>();
  verb->add_option("run", given->folder, "Run folder; the run may still be in progress")->required();
  verb->add_option("id", given->id, "Number of a candidate, or the word best");
  verb->add_flag("--source", given->source, "Print only the source of the candidate's main file");
  verb->add_flag("--prompt", given->prompt,
                 "Print the prompts sent to language models for this candidate, and their replies");
  verb->add_flag("--plugins", given->plugins, plugins_help);
  verb->add_flag(
      "--devices", given->devices,
      "Show the candidates that kevo rejudge evaluated on other devices, and which of them are on the Pareto "
      "front over the devices");
  verb->add_option("--limit", given->limit,
                   "Maximum number of best candidates, or of steps of a lineage, to list")
      ->capture_default_str();
  add_json_flag(*verb, shared);
  verb->callback([given, &shared] { show(*given, shared); });
}

}  // namespace kevo::cli
