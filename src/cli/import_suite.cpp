// kevo import flashinfer, sol, tritonbench, kernelbench-x.

#include "src/cli/import_suite.hpp"

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/utf8.hpp"
#include "src/import/data_set_import.hpp"
#include "src/import/split_file_import.hpp"
#include "src/import/tested_import.hpp"

namespace kevo::cli {
namespace {

struct import_words {
  std::string path;
  std::string output;
};

using importer = suite_import (*)(const std::string& path, const std::string& output,
                                  const data_set_options& how);

std::string words_of(const suite_import_task& one, bool with_solutions) {
  std::string text = format::one_line(one.name) + ": ";
  if (one.folder.empty()) {
    text += "not imported\n";
  } else if (one.draft && one.problem.empty()) {
    text += fmt::format("draft, {}\n", format::counted(one.cases, "test case"));
  } else if (one.draft) {
    text += fmt::format("draft: {}\n", format::one_line(one.problem));
  } else if (!with_solutions) {
    text += fmt::format("{}\n", format::counted(one.workloads, "workload"));
  } else {
    text += fmt::format("{}, {}\n", format::counted(one.workloads, "workload"),
                        format::counted(one.solutions, "solution"));
  }
  if (!one.accepted.empty())
    text += fmt::format("  FLAGGED: the tolerance accepts these wrong outputs: {}\n",
                        fmt::join(one.accepted, ", "));
  if (!one.tested_with.empty())
    text += fmt::format("  the tolerance was tested with smaller sizes: {}\n", one.tested_with);
  if (!one.untested.empty())
    text +=
        fmt::format("  the tolerance was not tested: {}; kevo task check --device cuda tests it on a GPU\n",
                    format::one_line(one.untested));
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
          {"problem",
           one.problem.empty() ? boost::json::value(nullptr) : boost::json::value(as_utf8(one.problem))},
          {"tolerance", one.tolerance},
          {"accepted", boost::json::value_from(one.accepted)},
          {"checked", one.checked},
          {"tested_with",
           one.tested_with.empty() ? boost::json::value(nullptr) : boost::json::value(one.tested_with)},
          {"untested",
           one.untested.empty() ? boost::json::value(nullptr) : boost::json::value(as_utf8(one.untested))},
          {"seconds", one.seconds},
          {"notes", std::move(notes)}};
}

void print(const suite_import& made, const invocation& shared) {
  if (!shared.json) {
    fmt::print("{} of {} tasks imported into {}\n", made.imported() - made.drafts(), made.tasks.size(),
               format::printable(made.output));
    if (made.drafts() > 0)
      fmt::print("{}, which a person has to complete\n", format::counted(made.drafts(), "draft"));
    for (const auto& note : made.notes) fmt::print("not imported: {}\n", format::one_line(note));
    if (!made.untested.empty()) fmt::print("no tolerance was tested: {}\n", format::one_line(made.untested));
    if (!made.suite_file.empty()) fmt::print("suite: {}\n", format::printable(made.suite_file));
    return;
  }
  boost::json::array tasks, notes;
  for (const auto& note : made.notes) notes.push_back(boost::json::value(as_utf8(note)));
  for (const auto& one : made.tasks) tasks.push_back(object_of(one));
  fmt::print("{}\n", boost::json::serialize(boost::json::object{
                         {"output", made.output},
                         {"suite", made.suite_file.empty() ? boost::json::value(nullptr)
                                                           : boost::json::value(made.suite_file)},
                         {"imported", made.imported() - made.drafts()},
                         {"drafts", made.drafts()},
                         {"untested", made.untested.empty() ? boost::json::value(nullptr)
                                                            : boost::json::value(as_utf8(made.untested))},
                         {"notes", std::move(notes)},
                         {"tasks", std::move(tasks)}}));
}

/// How the tolerances of tasks are tested.
template <class Options>
void add_test_options(CLI::App& verb, const std::shared_ptr<Options>& how, bool& unchecked) {
  verb.add_option("--python", how->python,
                  "A Python that has PyTorch, or a folder of packages (default: searched for)");
  verb.add_option("--device", how->device,
                  "Where the tolerance of each task is tested: cpu or cuda (default: cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  verb.add_flag("--no-check", unchecked, "Do not test the tolerance of each task with controls");
}

/// Each problem is printed as soon as it is finished, unless the output is JSON.
template <class Options>
void print_each(Options& how, const invocation& shared, bool with_solutions) {
  if (shared.json) return;
  how.done = [with_solutions](const suite_import_task& one) {
    fmt::print("{}", words_of(one, with_solutions));
    std::fflush(stdout);
  };
}

void add_suite(CLI::App& import, invocation& shared, const char* name, const char* what, importer run) {
  auto* verb = import.add_subcommand(name, what);
  auto words = std::make_shared<import_words>();
  auto how = std::make_shared<data_set_options>();
  auto unchecked = std::make_shared<bool>(false);
  verb->add_option("path", words->path, "Your copy of the suite")->required();
  verb->add_option("-o,--output", words->output, "Folder in which each task gets a folder")->required();
  add_test_options(*verb, how, *unchecked);
  verb->add_option(
          "--seconds", how->seconds,
          "Longest time of a test; what takes longer is tried once more with smaller sizes (default: 120)")
      ->check(CLI::PositiveNumber);
  verb->add_option(
          "-j,--jobs", how->jobs,
          "Number of tasks that are tested at the same time (default: one per processor core, as far as "
          "there are 6 GiB of memory for each)")
      ->check(CLI::PositiveNumber);
  add_json_flag(*verb, shared);
  verb->callback([words, how, unchecked, run, &shared] {
    how->check = !*unchecked;
    print_each(*how, shared, true);
    const suite_import made = run(words->path, words->output, *how);
    print(made, shared);
    if (made.imported() == 0) shared.exit_code = 2;
  });
}

using tested_importer = suite_import (*)(const std::string& path, const std::string& output,
                                         const tested_import& how);

void add_tested_suite(CLI::App& import, invocation& shared, const char* name, const char* what,
                      tested_importer run) {
  auto* verb = import.add_subcommand(name, what);
  auto words = std::make_shared<import_words>();
  auto how = std::make_shared<tested_import>();
  auto unchecked = std::make_shared<bool>(false);
  verb->add_option("path", words->path, "Your copy of the suite: the folder with its Python files")
      ->required();
  verb->add_option("-o,--output", words->output, "Folder in which each task gets a folder")->required();
  add_test_options(*verb, how, *unchecked);
  verb->add_option("--seconds", how->seconds,
                   "Processor time for executing the test of a problem (default: 60)")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--given-size-only", how->given_size_only, given_size_only_help);
  verb->add_flag("--drafts", how->drafts, "Only split the files; execute nothing, and write drafts of tasks");
  add_json_flag(*verb, shared);
  verb->callback([words, how, unchecked, run, &shared] {
    how->check = !*unchecked;
    print_each(*how, shared, false);
    const suite_import made = run(words->path, words->output, *how);
    print(made, shared);
    if (made.imported() == 0) shared.exit_code = 2;
  });
}

}  // namespace

void add_suite_imports(CLI::App& import, invocation& shared) {
  add_suite(import, shared, "flashinfer", "Import a data set of FlashInfer-Bench, or one of its definitions",
            import_flashinfer);
  add_suite(import, shared, "sol", "Import problems of SOL-ExecBench", import_sol);
  add_tested_suite(import, shared, "tritonbench", "Import problems of TritonBench (T or G)",
                   import_tritonbench);
  add_tested_suite(import, shared, "kernelbench-x", "Import problems of KernelBench-X", import_kernelbench_x);
}

}  // namespace kevo::cli
