// kevo import flashinfer, kevo import sol: data sets whose tasks are JSON, so that no Python is needed.

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/base/text/utf8.hpp"
#include "src/cli/command.hpp"
#include "src/import/data_set_import.hpp"

namespace kevo::cli {
namespace {

struct import_words {
  std::string path;
  std::string output;
};

using importer = suite_import (*)(const std::string& path, const std::string& output);

std::string words_of(const suite_import_task& one) {
  std::string text =
      one.folder.empty()
          ? fmt::format("{}: not imported\n", format::one_line(one.name))
          : fmt::format("{}: {} workload{}, {} solution{}\n", format::one_line(one.name), one.workloads,
                        one.workloads == 1 ? "" : "s", one.solutions, one.solutions == 1 ? "" : "s");
  for (const auto& note : one.notes) text += "  " + format::one_line(note) + '\n';
  return text;
}

boost::json::object object_of(const suite_import_task& one) {
  boost::json::array notes;
  for (const auto& note : one.notes) notes.push_back(boost::json::value(as_utf8(note)));
  return {{"task", as_utf8(one.name)},
          {"folder", one.folder.empty() ? boost::json::value(nullptr) : boost::json::value(one.folder)},
          {"workloads", one.workloads},
          {"solutions", one.solutions},
          {"notes", std::move(notes)}};
}

void print(const suite_import& made, const invocation& shared) {
  if (!shared.json) {
    for (const auto& one : made.tasks) fmt::print("{}", words_of(one));
    fmt::print("{} of {} tasks imported into {}\n", made.imported(), made.tasks.size(),
               format::printable(made.output));
    if (!made.suite_file.empty()) fmt::print("suite: {}\n", format::printable(made.suite_file));
    return;
  }
  boost::json::array tasks;
  for (const auto& one : made.tasks) tasks.push_back(object_of(one));
  fmt::print("{}\n", boost::json::serialize(boost::json::object{
                         {"output", made.output},
                         {"suite", made.suite_file.empty() ? boost::json::value(nullptr)
                                                           : boost::json::value(made.suite_file)},
                         {"imported", made.imported()},
                         {"tasks", std::move(tasks)}}));
}

void add_suite(CLI::App& import, invocation& shared, const char* name, const char* what, importer run) {
  auto* verb = import.add_subcommand(name, what);
  auto words = std::make_shared<import_words>();
  verb->add_option("path", words->path, "Your copy of the suite")->required();
  verb->add_option("-o,--output", words->output, "Folder in which each task gets a folder")->required();
  add_json_flag(*verb, shared);
  verb->callback([words, run, &shared] {
    const suite_import made = run(words->path, words->output);
    print(made, shared);
    if (made.imported() == 0) shared.exit_code = 2;
  });
}

}  // namespace

void add_suite_imports(CLI::App& import, invocation& shared) {
  add_suite(import, shared, "flashinfer", "Import a data set of FlashInfer-Bench, or one of its definitions",
            import_flashinfer);
  add_suite(import, shared, "sol", "Import problems of SOL-ExecBench", import_sol);
}

}  // namespace kevo::cli
