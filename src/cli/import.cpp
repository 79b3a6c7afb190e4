// kevo import: tasks from the files of a benchmark suite.

#include <CLI/CLI.hpp>

#include "src/cli/command.hpp"
#include "src/cli/import_suite.hpp"

namespace kevo::cli {

void add_import(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("import", "Make tasks from the files of a benchmark suite");
  verb->require_subcommand(1);
  add_suite_imports(*verb, shared);
}

}  // namespace kevo::cli
