// The program: parses the command line, runs one verb, prints its error.

#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>

#include <kevo/error.hpp>

#include "src/base/json/error_json.hpp"
#include "src/cli/command.hpp"
#include "src/cli/standard_error.hpp"
#include "src/cli/standard_output.hpp"
#include "src/cli/unknown_command.hpp"

namespace kevo::cli {

void add_json_flag(CLI::App& verb, invocation& shared) {
  verb.add_flag("--json", shared.json, "Print one JSON object on standard output, also for errors");
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
    std::puts(to_json(wrong).c_str());  // which does not throw where standard output is full
  } else {
    say(std::string("kevo: ") + wrong.what());  // which may quote a task, a source or what a compiler said
  }
  return exit_code(wrong.code());
}

/// Parses the command line and runs its verb; the exit code. Sets `write_error` to the errno of a failed
/// print, where that was thrown.
int run_verb(int count, char** words, bool json, int& write_error) {
  CLI::App program(
      "kevo searches for fast compute kernels: it varies programs, checks and times them, and keeps the "
      "best.",
      "kevo");
  program.require_subcommand(1);
  program.footer(
      "Every command has --help. Exit codes: 0 the command did its job, 1 the machine failed, 2 the command "
      "line or an input is wrong, no candidate of a run was valid, or an exploit got through (kevo attack "
      "--fail), 3 a run ended without a confirmed best program (--require-confirmed), 130 interrupted.");
  program.set_version_flag("--version", version_text(), "Print the version");
  invocation shared;
  shared.program = words[0];
  for (const auto add : {add_run, add_resume, add_rejudge, add_eval, add_bench, add_attack, add_report,
                         add_show, add_export, add_import, add_task, add_learn, add_lab, add_serve, add_init,
                         add_doctor, add_completion, add_man, add_version}) {
    add(program, shared);
  }
  try {
    program.parse(count, words);
    return shared.exit_code;
  } catch (const CLI::Success& asked) {  // --help, --version
    return program.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    if (const auto verb = unknown_command(program, count, words)) return report_error(*verb, json);
    return report_error(error(error_code::usage, wrong.what(), {}, "see kevo --help, or kevo COMMAND --help"),
                        json);
  } catch (const error& wrong) {
    return report_error(wrong, json);
  } catch (const std::exception& wrong) {
    if (const auto* system = dynamic_cast<const std::system_error*>(&wrong);
        system != nullptr && std::ferror(stdout) != 0) {
      write_error = system->code().value();
      return shared.exit_code;  // `output_failure` has the word
    }
    return report_error(
        error(error_code::internal, wrong.what(), {}, "this is a bug in kevo; please report it"), json);
  }
}

// What a parent has left in an unusual state, and what would end kevo where a failed write says as much.
void prepare_process() {
  // The next file that is opened must not become standard output. Writing to a descriptor for reading fails,
  // as it does without one.
  for (int number = 0; number <= 2; ++number) {
    if (::fcntl(number, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) break;
  }
  std::signal(SIGCHLD, SIG_DFL);  // a parent that ignores it has handed that down
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // of `ulimit -f`
}

int main(int count, char** words) {
  prepare_process();
  const bool json = wants_json(count, words);
  int write_error = 0;
  const int ended = run_verb(count, words, json, write_error);
  const auto lost = output_failure(write_error);
  if (!lost) return ended;
  const int code = report_error(*lost, false);  // never on standard output
  return ended == 0 ? code : ended;
}

}  // namespace
}  // namespace kevo::cli

int main(int count, char** words) {
  return kevo::cli::main(count, words);
}
