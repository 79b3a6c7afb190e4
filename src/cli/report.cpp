// kevo report: a recorded run as one HTML page.

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/cli/command.hpp"
#include "src/report/run_archive.hpp"
#include "src/report/run_report.hpp"
#include "src/report/show.hpp"

namespace kevo::cli {

void add_report(CLI::App& program, invocation& shared) {
  auto* verb = program.add_subcommand("report", "Write RUN/report.html, one page with all results of a run");
  auto folder = std::make_shared<std::string>();
  auto plugins = std::make_shared<bool>(false);
  verb->add_option("run", *folder, "Run folder; the run may still be in progress")->required();
  verb->add_flag("--plugins", *plugins, plugins_help);
  add_json_flag(*verb, shared);
  verb->callback([folder, plugins, &shared] {
    const journal run = journal::open_read_only(*folder);
    const std::string path =
        write_report(run, empty_archive_of(run, *plugins ? run_plugins::load : run_plugins::leave));
    fmt::print("{}\n", shared.json ? report_json(*folder, path) : format::printable(path));
  });
}

}  // namespace kevo::cli
