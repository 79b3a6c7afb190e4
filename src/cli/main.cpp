// The program: parses the command line, runs one verb, prints its error.

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/cli/command.hpp"
#include "src/json/error_json.hpp"

namespace kevo::cli {

void add_json_flag(CLI::App& verb, invocation& shared) {
  verb.add_flag("--json", shared.json, "Print one JSON object on standard output, errors too");
}

namespace {

/// Whether JSON was asked for, also when the command line could not be parsed.
bool wants_json(int count, const char* const* words) {
  for (int i = 1; i < count; ++i) {
    if (std::string_view(words[i]) == "--json") return true;
  }
  return false;
}

int report_error(const error& wrong, bool json) {
  if (json) {
    fmt::print("{}\n", to_json(wrong));
  } else {
    fmt::print(stderr, "kevo: {}\n", wrong.what());
  }
  return exit_code(wrong.code());
}

int main(int count, char** words) {
  const bool json = wants_json(count, words);
  CLI::App program("kevo evolves compute kernels: graph search over executable candidates.", "kevo");
  program.require_subcommand(1);
  program.footer(
      "Every verb has --help. Exit codes: 0 done, 1 the environment failed, 2 wrong usage or input, 130 "
      "interrupted.");
  invocation shared;
  shared.program = words[0];
  for (const auto add : {add_run, add_resume, add_eval, add_report, add_show, add_export, add_task, add_lab,
                         add_init, add_doctor, add_version}) {
    add(program, shared);
  }
  try {
    program.parse(count, words);
    return shared.exit_code;
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& wrong) {
    return report_error(error(error_code::usage, wrong.what(), {}, "see kevo --help, or kevo VERB --help"),
                        json);
  } catch (const error& wrong) {
    return report_error(wrong, json);
  } catch (const std::exception& wrong) {
    return report_error(
        error(error_code::internal, wrong.what(), {}, "this is a bug of kevo; please report it"), json);
  }
}

}  // namespace
}  // namespace kevo::cli

int main(int count, char** words) {
  return kevo::cli::main(count, words);
}
