#pragma once
// How a verb of the program is written: src/cli/<verb>.cpp defines add_<verb>, which adds a subcommand whose
// callback does the work and sets `exit_code` only if it is not 0. Errors are thrown as kevo::error; main
// prints them.

#include <string>

namespace CLI {
class App;
}

namespace kevo::cli {

/// What verbs share. `json`: one JSON object on standard output and nothing else there.
struct invocation {
  bool json = false;
  int exit_code = 0;
  std::string program;  ///< argv[0], to find what is installed beside it
};

void add_run(CLI::App& program, invocation& shared);
void add_resume(CLI::App& program, invocation& shared);
void add_rejudge(CLI::App& program, invocation& shared);
void add_eval(CLI::App& program, invocation& shared);
void add_bench(CLI::App& program, invocation& shared);
void add_attack(CLI::App& program, invocation& shared);
void add_report(CLI::App& program, invocation& shared);
void add_show(CLI::App& program, invocation& shared);
void add_export(CLI::App& program, invocation& shared);
void add_import(CLI::App& program, invocation& shared);
void add_task(CLI::App& program, invocation& shared);
void add_learn(CLI::App& program, invocation& shared);
void add_lab(CLI::App& program, invocation& shared);
void add_serve(CLI::App& program, invocation& shared);
void add_init(CLI::App& program, invocation& shared);
void add_doctor(CLI::App& program, invocation& shared);
void add_completion(CLI::App& program, invocation& shared);
void add_man(CLI::App& program, invocation& shared);
void add_version(CLI::App& program, invocation& shared);

/// "0.3.0".
std::string version_number();

/// "kevo 0.3.0 (plug-in ABI 7)".
std::string version_text();

/// Adds `--json` to a verb.
void add_json_flag(CLI::App& verb, invocation& shared);

}  // namespace kevo::cli
