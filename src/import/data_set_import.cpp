#include "src/import/data_set_import.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "fitness/machine/available_memory.hpp"
#include "fitness/machine/core_plan.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/settings/json.hpp"
#include "src/base/text/counted.hpp"
#include "src/base/text/text_file.hpp"
#include "src/base/text/utf8.hpp"
#include "src/import/data_set_check.hpp"
#include "src/import/data_set_definition.hpp"
#include "src/import/data_set_layout.hpp"
#include "src/import/data_set_older.hpp"
#include "src/import/output_tasks.hpp"
#include "src/import/solution_program.hpp"
#include "src/import/typed_workload.hpp"
#include "src/task/task_loader.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using namespace importing;  // NOLINT(google-build-using-namespace): the other half of the importers

constexpr std::uintmax_t largest_blob = std::uintmax_t{4} << 30U;

/// A name for the folder of a task that no other task of this import has.
std::string free_name(const std::string& name, std::set<std::string>& taken) {
  std::string folder = file_name_of(name);
  for (int n = 2; !taken.insert(folder).second; ++n) folder = fmt::format("{}_{}", file_name_of(name), n);
  return folder;
}

/// The workloads of a Definition: each line is a workload, or a trace around one.
std::vector<json::object> workloads_in(const fs::path& file, const std::string& definition) {
  std::vector<json::object> all;
  std::istringstream lines(read_text_file(file.string(), largest_data_set_text));
  std::set<std::string> known;
  for (std::string one; std::getline(lines, one);) {
    if (one.find_first_not_of(" \t\r") == std::string::npos) continue;
    json::object trace = object_in(one, file.string());
    const std::string of = text_of(trace, "definition");
    if (!of.empty() && of != definition) continue;
    json::object workload = trace.contains("workload") && trace.at("workload").is_object()
                                ? std::move(trace.at("workload").as_object())
                                : std::move(trace);
    const std::string uuid = text_of(workload, "uuid");
    if (!uuid.empty() && !known.insert(uuid).second) continue;  // traces of several solutions repeat theirs
    drop_nulls(workload);
    all.push_back(std::move(workload));
  }
  return all;
}

/// Copies the contents of a workload's inputs into the folder of the task and lets the workload name them
/// there.
/// @throws kevo::error (input) for a file outside of the data set, a link out of it included
void take_contents(json::object& workload, const fs::path& root, const fs::path& folder,
                   std::map<std::string, std::string>& copied) {
  auto* inputs = workload.if_contains("inputs");
  if (inputs == nullptr || !inputs->is_object()) return;
  for (auto& [name, input] : inputs->as_object()) {
    if (!input.is_object() || !input.as_object().contains("path")) continue;
    const std::string named = text_of(input.as_object(), "path");
    std::error_code failed;
    const fs::path whole = fs::canonical(root, failed);
    const fs::path source = fs::canonical(root / named, failed);
    if (failed) throw error(error_code::input, "there is no file '" + named + "' in the data set");
    const fs::path inside = source.lexically_relative(whole);
    if (inside.empty() || *inside.begin() == "..")
      throw error(error_code::input, "the file '" + named + "' is outside the data set");
    if (fs::file_size(source, failed) > largest_blob || failed)
      throw error(error_code::input, "the file '" + named + "' is larger than 4 GiB");
    auto& target = copied[source.string()];
    if (target.empty()) {
      target = fmt::format("blob/{}_{}", copied.size(), file_name_of(source.filename().string()));
      fs::create_directories(folder / "blob", failed);
      if (!fs::copy_file(source, folder / target, fs::copy_options::overwrite_existing, failed))
        throw error(error_code::environment, "cannot copy the file of an input: " + failed.message(),
                    {.file = (folder / target).string(), .key = {}}, "check the free disk space");
    }
    input.as_object()["path"] = target;
  }
}

/// Whether kevo loads the Definition with this workload alone; why not, otherwise.
std::optional<std::string> refusal(const settings_node& definition, const std::string& name,
                                   const json::object& workload, const fs::path& folder) {
  const source_reader no_sources = [](const std::string&, const std::string&,
                                      const error_place& named) -> program {
    throw error(error_code::input, "a Definition names no source files", named);
  };
  const contents_reader contents = [&](const std::string& file, const error_place& named) {
    return read_binary_file((folder / file).string(), std::size_t{1} << 32U, named);
  };
  try {
    decode_task(
        definition, no_sources,
        {parse_json(json::serialize(json::object{{"definition", name}, {"workload", workload}}), "workload")},
        contents);
    return std::nullopt;
  } catch (const error& wrong) {
    if (wrong.code() != error_code::input) throw;
    return (wrong.place().key.empty() ? "" : wrong.place().key + ": ") + wrong.message();
  }
}

void note_tolerances(const std::vector<json::object>& workloads, suite_import_task& made) {
  std::size_t loose = 0;
  for (const auto& w : workloads) {
    const auto* rule = w.if_contains("tolerance");
    if (rule == nullptr || !rule->is_object()) continue;
    const auto* ratio = rule->as_object().if_contains("required_matched_ratio");
    const bool below_one = ratio != nullptr && ratio->is_number() && ratio->to_number<double>() < 1;
    loose += below_one && !rule->as_object().contains("max_error_cap") ? 1 : 0;
  }
  if (loose > 0)
    made.notes.push_back(
        fmt::format("{} workloads accept a share of arbitrarily wrong elements: "
                    "required_matched_ratio is below 1, without max_error_cap",
                    loose));
}

/// @param older whether they have the older form of FlashInfer-Bench
void import_solutions(const data_set_entry& entry, const json::object& definition, bool older,
                      const fs::path& folder, suite_import_task& made) {
  std::set<std::string> names;
  for (const auto& file : entry.solutions) {
    try {
      json::object solution = object_in(read_text_file(file.string(), largest_data_set_text), file.string());
      const std::string of = text_of(solution, "definition");
      if (!of.empty() && of != made.name) {
        throw error(error_code::input,
                    fmt::format("it names the Definition '{}', not '{}'; correct its key 'definition'", of,
                                made.name));
      }
      std::string name = file_name_of(text_of(solution, "name"));
      while (!names.insert(name).second) name += "_";
      if (older) renew_solution(definition, solution);
      const auto files = solution_program(definition, solution);
      const fs::path place = folder / "solutions" / name;
      if (files.size() == 1) write_file(place.string() + ".py", files.front().text);
      for (const auto& one : files) {
        if (files.size() > 1) write_file(place / one.path, one.text);
      }
      ++made.solutions;
    } catch (const error& wrong) {
      if (wrong.code() != error_code::input) throw;
      made.notes.push_back(fmt::format("solution {}: {}", file.filename().string(), wrong.message()));
    }
  }
}

std::string no_workloads(const fs::path& file, const std::string& definition) {
  return fmt::format("{}: no line is a workload of the Definition '{}'; the key 'definition' names it",
                     file.string(), definition);
}

suite_import_task import_entry(const data_set_entry& entry, const std::string& output,
                               std::set<std::string>& taken) {
  suite_import_task made{.name = entry.definition.stem().string(), .folder = {}, .category = {}, .notes = {}};
  try {
    json::object definition = object_in(read_text_file(entry.definition.string(), largest_data_set_text),
                                        entry.definition.string());
    made.name = text_of(definition, "name");
    drop_nulls(definition);
    if (made.name.empty()) throw error(error_code::input, "the Definition has no name");
    if (text_of(definition, "schema_version") == "sol_execbench.definition.v1")
      definition.erase("schema_version");
    const bool older = has_older_form(definition);
    if (older) renew_definition(definition);
    made.category = text_of(definition, "op_type");
    replace_computed_axes(definition);
    keep_gradients(definition);
    const auto file = std::find_if(entry.workloads.begin(), entry.workloads.end(), [](const fs::path& p) {
      std::error_code unreadable;
      return fs::is_regular_file(p, unreadable);
    });
    if (file == entry.workloads.end()) {
      throw error(error_code::input, "there are no workloads for this Definition",
                  {.file = entry.definition.string(), .key = {}},
                  "write them into " + entry.workloads.front().string() + ", one in a line");
    }
    auto workloads = workloads_in(*file, made.name);
    if (older) renew_scalars(definition, workloads);
    const fs::path folder = fresh_task_folder(output, free_name(made.name, taken));
    const settings_node decoded = parse_json(json::serialize(definition), "task.json");
    std::map<std::string, std::string> copied;
    std::map<std::string, std::size_t> refusals;
    std::string lines;
    std::vector<json::object> kept;
    for (auto& workload : workloads) {
      std::optional<std::string> why;
      try {
        renew_workload(workload);
        take_contents(workload, entry.root, folder, copied);
        why = refusal(decoded, made.name, workload, folder);
      } catch (const error& wrong) {
        if (wrong.code() != error_code::input) throw;
        why = wrong.message();
      }
      if (why) {
        ++refusals[*why];
        continue;
      }
      lines += json::serialize(json::object{{"definition", made.name}, {"workload", workload}}) + '\n';
      kept.push_back(std::move(workload));
    }
    for (const auto& [why, count] : refusals)
      made.notes.push_back(fmt::format("{} not imported: {}", format::counted(count, "workload"), why));
    made.workloads = kept.size();
    if (kept.empty()) {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
      if (refusals.empty()) made.notes.push_back(no_workloads(*file, made.name));
    } else {
      note_tolerances(kept, made);
      write_file(folder / "task.json", json::serialize(definition) + '\n');
      write_file(folder / "task.jsonl", lines);
      import_solutions(entry, definition, older, folder, made);
      made.folder = folder.string();
    }
  } catch (const error& wrong) {
    if (wrong.code() != error_code::input) throw;
    made.notes.emplace_back(wrong.what());
  }
  if (made.folder.empty() && !entry.solutions.empty()) {
    std::vector<std::string> names;
    for (const auto& file : entry.solutions) names.push_back(file.filename().string());
    made.notes.push_back(fmt::format("{} not imported, because the Definition is not: {}",
                                     format::counted(names.size(), "solution"), fmt::join(names, ", ")));
  }
  return made;
}

// A test holds inputs and results of a few calls in some processes.
std::size_t jobs_of(const data_set_options& how, std::size_t tasks) {
  constexpr std::uint64_t bytes_per_job = std::uint64_t{6} << 30U;
  std::uint64_t jobs = how.jobs > 0 ? static_cast<std::uint64_t>(how.jobs) : physical_cores().size();
  if (const auto memory = available_memory(); how.jobs <= 0 && memory)
    jobs = std::min<std::uint64_t>(jobs, static_cast<std::uint64_t>(*memory) / bytes_per_job);
  if (how.jobs <= 0 && how.device != "cpu") jobs = 1;
  return std::clamp<std::uint64_t>(jobs, 1, std::max<std::size_t>(tasks, 1));
}

/// Tests the tolerances of all tasks, some at the same time.
void check_tasks(suite_import& report, const data_set_options& how) {
  std::optional<data_set_checker> checker;
  if (how.check && report.imported() > 0) {
    try {
      checker.emplace(how);
    } catch (const error& missing) {
      if (missing.code() != error_code::environment) throw;
      report.untested = missing.message();
    }
  }
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < report.tasks.size(); i = next++) {
        auto& one = report.tasks[i];
        if (checker && !one.folder.empty()) checker->check(one);
        const std::scoped_lock lock(telling);
        if (how.done) how.done(one);
      }
    } catch (...) {
      next = report.tasks.size();  // the others finish what they have begun
      throw;
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; checker && i < jobs_of(how, report.tasks.size()); ++i)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& one : others) one.get();
}

suite_import import_entries(const std::string& suite, const std::vector<data_set_entry>& entries,
                            const std::string& output, const data_set_options& how) {
  open_output(output);
  suite_import report{.suite = suite, .output = output, .suite_file = {}, .tasks = {}};
  std::set<std::string> taken;
  for (const auto& entry : entries) report.tasks.push_back(import_entry(entry, output, taken));
  write_suite(report, "task.json", how.device, false);
  check_tasks(report, how);
  return report;
}

}  // namespace

suite_import import_flashinfer(const std::string& path, const std::string& output,
                               const data_set_options& how) {
  const data_set_layout set = flashinfer_layout(path);
  suite_import report = import_entries("flashinfer", set.entries, output, how);
  report.notes = set.left_over;
  return report;
}

suite_import import_sol(const std::string& path, const std::string& output, const data_set_options& how) {
  std::vector<data_set_entry> entries;
  for (const auto& file : files_below(path, ".json")) {
    if (file.filename() != "definition.json") continue;
    const fs::path folder = file.parent_path();
    data_set_entry entry{
        .root = folder, .definition = file, .workloads = {folder / "workload.jsonl"}, .solutions = {}};
    for (const auto& other : files_below(folder, ".json")) {
      if (other.parent_path() == folder && other.filename().string().starts_with("solution"))
        entry.solutions.push_back(other);
    }
    entries.push_back(std::move(entry));
  }
  if (entries.empty()) {
    throw error(error_code::input, "this folder contains no definition.json", {.file = path, .key = {}},
                "give a folder with problems of SOL-ExecBench, each with definition.json and workload.jsonl");
  }
  return import_entries("sol", entries, output, how);
}

}  // namespace kevo
