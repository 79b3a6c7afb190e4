// kevo import flashinfer, sol, tritonbench, kernelbench-x: suites that are read without executing Python.

#include "src/cli/import_suite.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/utf8.hpp"
#include "src/import/data_set_import.hpp"
#include "src/import/split_file_import.hpp"

namespace kevo::cli {
namespace {

struct import_words {
  std::string path;
  std::string output;
};

using importer = suite_import (*)(const std::string& path, const std::string& output);

std::string words_of(const suite_import_task& one) {
  std::string text = format::one_line(one.name) + ": ";
  if (one.folder.empty()) {
    text += "not imported\n";
  } else if (one.draft) {
    text += fmt::format("draft, {}\n", format::counted(one.cases, "test case"));
  } else {
    text += fmt::format("{}, {}\n", format::counted(one.workloads, "workload"),
                        format::counted(one.solutions, "solution"));
  }
  for (const auto& note : one.notes) text += "  " + format::one_line(note) + '\n';
  return text;
}

boost::json::object object_of(const suite_import_task& one) {
  boost::json::array notes;
  for (const auto& note : one.notes) notes.push_back(boost::json::value(as_utf8(note)));
  return {{"task", as_utf8(one.name)},
          {"folder", one.folder.empty() ? boost::json::value(nullptr) : boost::json::value(one.folder)},
          {"draft", one.draft},
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
    if (made.imported() > 0 && made.suite_file.empty())
      fmt::print("drafts have to be completed: their inputs are made by Python code, which needs PyTorch\n");
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
  add_suite(import, shared, "tritonbench", "Split the problems of TritonBench (T or G) into drafts of tasks",
            import_tritonbench);
  add_suite(import, shared, "kernelbench-x", "Split the problems of KernelBench-X into drafts of tasks",
            import_kernelbench_x);
}

}  // namespace kevo::cli
