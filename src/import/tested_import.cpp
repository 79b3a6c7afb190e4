#include "src/import/tested_import.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/error.hpp>
#include <kevo/fitness/torch.hpp>

#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/ask_python.hpp"
#include "fitness/torch/python_server.hpp"
#include "src/base/settings/json.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/counted.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/import/kernelbench_script.hpp"
#include "src/import/limited_check.hpp"
#include "src/import/output_tasks.hpp"
#include "src/import/python_failure.hpp"
#include "src/task/task_loader.hpp"

namespace kevo::importing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

std::string text_of(const json::value& value) {
  return std::string(value.as_string());
}

settings_node node_of(const json::value& value) {
  return parse_json(json::serialize(value));
}

using attempt = tolerance_attempt;

double usual_tolerance(std::string_view dtype) {
  if (dtype == "float32") return 1e-4;
  if (dtype == "float64") return 1e-7;
  return dtype == "float16" || dtype == "bfloat16" ? 1e-2 : 0;
}

settings_node tolerance_of(const json::object& result, const attempt& tried) {
  settings_node made = settings_node::empty_map();
  const double usual = usual_tolerance(std::string_view(result.at("dtype").as_string())) * tried.factor;
  if (usual == 0) {
    made.set("rule", settings_node::of("exact"));
    return made;
  }
  const double absolute = result.at("absolute").to_number<double>();
  made.set("max_atol", settings_node::of(std::stod(fmt::format("{:.3g}", std::max(usual, absolute)))));
  made.set("max_rtol", settings_node::of(usual));
  if (result.at("minus_infinity").as_bool()) made.set("allow_negative_inf", settings_node::of(true));
  return made;
}

/// The tolerances of all outputs. `contract`, if there is one, is that of the suite, for real numbers.
settings_node tolerances_of(const json::object& said, const attempt& tried, const settings_node* contract) {
  settings_node all = settings_node::empty_map();
  for (const auto& [name, result] : said.at("results").as_object()) {
    const bool real = usual_tolerance(std::string_view(result.at("dtype").as_string())) > 0;
    all.set(std::string(name),
            real && contract != nullptr ? *contract : tolerance_of(result.as_object(), tried));
  }
  return all;
}

double widest(const json::object& said, const attempt& tried) {
  double found = 0;
  for (const auto& [name, result] : said.at("results").as_object())
    found = std::max(found, usual_tolerance(std::string_view(result.at("dtype").as_string())));
  return found * tried.factor;
}

/// Whether the reference was changed so that its new tensors are zero.
bool is_zeroed(const json::object& said) {
  return said.at("zeroed").as_bool();
}

std::string described(const settings_node& draft, const json::object& said) {
  const auto* given = draft.find("description");
  std::string text = given == nullptr ? "" : given->text + "\n";
  text += "How it is called:\n";
  for (const auto& call : said.at("words").as_array()) text += text_of(call) + "\n";
  if (is_zeroed(said)) text += "Elements of the result that the reference does not write are zero.\n";
  return text;
}

settings_node task_of(const settings_node& draft, const json::object& said, const attempt& tried) {
  settings_node root = settings_node::empty_map();
  for (const char* key : {"name", "op_type"}) root.set(key, *draft.find(key));
  root.set("description", settings_node::of(described(draft, said)));
  root.set("tags", *draft.find("tags"));
  const auto& made = said.at("task").as_object();
  for (const auto& [key, value] : made) {
    if (key != "workloads") root.set(std::string(key), node_of(value));
  }
  settings_node reference = *draft.find("reference");
  reference.set("entry", settings_node::of(text_of(said.at("entry"))));
  if (tried.narrow) reference.set("precision", settings_node::of("task"));
  if (!said.at("calls").as_array().empty()) reference.set("calls", node_of(said.at("calls")));
  if (!said.at("imports").as_array().empty()) reference.set("imports", node_of(said.at("imports")));
  root.set("reference", std::move(reference));
  root.set("tolerance", tolerances_of(said, tried, draft.find("tolerance")));
  root.set("workloads", node_of(made.at("workloads")));
  return root;
}

// What the task has not of the test, and what it has beyond it.
void note_differences(const json::object& said, bool given_size_only, suite_import_task& made) {
  for (const auto& [why, count] : said.at("left_out").as_object()) {
    made.notes.push_back(fmt::format("{} of the test not imported: {}",
                                     format::counted(count.to_number<std::size_t>(), "call"),
                                     std::string_view(why)));
  }
  if (const auto failure = text_of(said.at("failure")); !failure.empty())
    made.notes.push_back(failure + "; the calls until then are imported");
  if (const auto slow = text_of(said.at("smaller")); !slow.empty())
    made.notes.push_back(
        slow +
        " with the sizes of the test; a hidden workload has smaller ones, and only with that "
        "was the function tested");
  else if (!given_size_only && said.at("sizes").to_number<int>() == 0)
    made.notes.emplace_back("no size but those of the test was found with which the function works");
  if (is_zeroed(said))
    made.notes.emplace_back(
        "the function does not write all of its result; in reference.py its new tensors are zero "
        "(torch.zeros "
        "in place of torch.empty), and so have to be those elements of a candidate's result");
  if (said.at("gradients").as_bool())
    made.notes.emplace_back("the test also computes gradients, which the task does not");
  if (const auto& kept = said.at("kept").as_array(); !kept.empty()) {
    std::string names;
    for (const auto& name : kept) names += (names.empty() ? "" : ", ") + text_of(name);
    made.notes.push_back("the values of " + names + " are those of the test in every call");
  }
  for (const auto& treatment : said.at("treatments").as_array()) {
    const auto word = text_of(treatment);
    made.notes.push_back(word == "dominant" ? "matrices are made diagonally dominant before a call"
                         : word == "definite"
                             ? "matrices are made symmetric and positive definite before a call"
                         : word == "positive" ? "some inputs are positive numbers, others than in the test"
                                              : "some inputs are numbers between " +
                                                    std::string(word == "share" ? "0" : "-1") +
                                                    " and 1, others than in the test");
  }
}

bool honest_passes(const task_report& report) {
  return std::all_of(report.controls.begin(), report.controls.end(),
                     [](const control_result& one) { return !one.honest || one.ok; });
}

std::vector<std::string> wrong_but_accepted(const task_report& report) {
  std::vector<std::string> names;
  for (const auto& one : report.controls) {
    if (!one.honest && !one.ok) names.push_back(one.name);
  }
  return names;
}

/// Calls of a workload that the controls need, of the reference and of the baseline together: at least 8
/// input data each, and those of other workloads.
constexpr double calls_of_controls = 25;

/// A GPU needs no limit: this one is never reached. [s]
constexpr double longest_on_device_s = 86400;

/// The workloads whose controls take at most `seconds` of a processor, those with the cheapest calls first;
/// at least one. In the order of the task.
std::vector<std::size_t> affordable(const std::vector<double>& costs, double seconds) {
  std::vector<std::size_t> places(costs.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  double sum = 0;
  std::size_t count = 0;
  while (count < places.size() && (count == 0 || sum + costs[places[count]] * calls_of_controls <= seconds))
    sum += costs[places[count++]] * calls_of_controls;
  places.resize(count);
  std::sort(places.begin(), places.end());
  return places;
}

task with_workloads(task t, const std::vector<std::size_t>& places) {
  std::vector<workload> kept;
  kept.reserve(places.size());
  for (const std::size_t place : places) kept.push_back(std::move(t.workloads.at(place)));
  // One at least has to be visible.
  if (std::all_of(kept.begin(), kept.end(), [](const workload& w) { return w.hidden; }))
    kept.front().hidden = false;
  t.workloads = std::move(kept);
  return t;
}

std::string names_of(const task& t, const std::vector<std::size_t>& places) {
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const std::size_t place : places) names.push_back(t.workloads.at(place).uuid);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

test_runner::test_runner(const tested_import& how) : how_(how) {
  server_ = std::make_shared<torch::python_server>(torch::find_torch(how.python, contains(how.sandbox)),
                                                   how.sandbox);
}

void test_runner::complete(const tested_file& file, const settings_node& draft, const std::string& folder,
                           suite_import_task& made) {
  const auto start = std::chrono::steady_clock::now();
  program parts = single_file_program("python", "kevo_suite.py", "");
  parts.files.push_back({"kevo_suite_reference.py", file.reference});
  parts.files.push_back({"kevo_suite_test.py", file.test});
  parts.files.push_back(
      {"kevo_suite.json", json::serialize(json::object{{"name", file.name},
                                                       {"entry", file.entry},
                                                       {"seconds", how_.seconds},
                                                       {"given_size_only", how_.given_size_only}})});
  parts.files.insert(parts.files.end(), file.helpers.begin(), file.helpers.end());
  const std::string task_file = (fs::path(folder) / "task.yaml").string();
  try {
    const auto said =
        json::parse(torch::ask_python(*server_, parts, suite_script(), how_.seconds)).as_object();
    const bool narrow = said.at("precision").as_string() == "task";
    const bool contract = draft.find("tolerance") != nullptr;
    const auto write = [&](const attempt& tried) {
      write_file(task_file, "# Written by kevo import from the test of the problem, test.py.\n" +
                                dump_yaml(task_of(draft, said, tried)));
      made.tolerance = contract ? 0 : widest(said, tried);
    };
    const std::string reference = text_of(said.at("reference"));
    const bool changed = reference != file.reference;
    if (changed) write_file(fs::path(folder) / "reference.py", reference);
    attempt tried{1, narrow};
    write(tried);
    made.workloads = load_task(task_file).workloads.size();
    if (said.at("strays").as_bool())
      made.notes.emplace_back("with some inputs, the kernel reads memory outside of its tensors");
    const std::string untested = text_of(said.at("untested"));
    if (how_.check && (untested.empty() || how_.device != "cpu"))
      test_tolerance(task_file, contract, tried, write, json::value_to<std::vector<double>>(said.at("costs")),
                     made);
    if (changed && !is_zeroed(said))
      made.notes.emplace_back(
          "reference.py is not quite that of the suite: the comments in it that begin with "
          "'kevo import' say what was changed");
    note_differences(said, how_.given_size_only, made);
    if (!untested.empty() && !made.checked) made.untested = untested;
    made.draft = false;
    fs::remove(fs::path(folder) / "task.draft.yaml");
  } catch (const error& wrong) {
    if (wrong.code() != error_code::input) throw;
    made.problem = explained_failure(wrong.message());
    made.workloads = 0;
    std::error_code ignored;
    fs::remove(task_file, ignored);
  }
  made.seconds = seconds_since(start);
}

// Widens the tolerance until the reference in the types of the task is accepted, or else narrows it for as
// long as wrong outputs are. Of a reference that computes something else in float64 (signs, indices of equal
// elements) the result in the types of the task is expected.
void test_runner::test_tolerance(const std::string& file, bool contract, tolerance_attempt tried,
                                 const std::function<void(const tolerance_attempt&)>& write,
                                 const std::vector<double>& costs, suite_import_task& made) {
  torch_settings settings;
  settings.sandbox = how_.sandbox;
  settings.python = how_.python;
  settings.device = how_.device;
  const bool on_device = how_.device != "cpu";
  const limited_check limited(settings, server_, on_device ? longest_on_device_s : 20 * how_.seconds + 120);
  auto places = affordable(costs, on_device ? longest_on_device_s : how_.seconds);
  const auto check = [&](const attempt& one) {
    write(one);
    return limited(with_workloads(load_task(file), places));
  };
  try {
    auto report = [&] {
      try {
        return check(tried);
      } catch (const error& late) {
        if (late.code() != error_code::interrupted || places.size() == 1) throw;
        places = affordable(costs, 0);
        return check(tried);
      }
    }();
    const std::vector<attempt> wider = {{10, tried.narrow}, {1, true}, {10, true}, {100, true}};
    for (auto one = wider.begin(); !honest_passes(report) && one != wider.end(); ++one)
      report = check(tried = *one);
    if (!honest_passes(report))
      throw error(error_code::input, "its own reference is not accepted: " + report.controls.front().detail);
    if (report.fixed_exactly) throw error(error_code::input, fixed_result_advice(report.fixed_result));
    made.checked = true;
    made.accepted = wrong_but_accepted(report);
    const bool wide = tried.factor > 1;
    for (int step = 0; step < 3 && !wide && !contract && made.tolerance > 0 && !made.accepted.empty();
         ++step) {
      const attempt narrower{tried.factor / 10, tried.narrow};
      report = check(narrower);
      if (!honest_passes(report)) {
        write(tried);
        break;
      }
      tried = narrower;
      made.accepted = wrong_but_accepted(report);
    }
  } catch (const error& late) {
    if (late.code() != error_code::interrupted) throw;
    if (!made.checked) tried = {1, tried.narrow};
    write(tried);
    if (!made.checked) {
      made.untested = fmt::format("the controls were not finished in {:.0f} s (--seconds allows more)",
                                  limited.seconds());
      return;
    }
  }
  if (places.size() < costs.size())
    made.notes.push_back(fmt::format(
        "the tolerance was tested with {} of its {} workloads ({}): the controls would take longer than "
        "--seconds with all",
        places.size(), costs.size(), names_of(load_task(file), places)));
  if (tried.factor > 1)
    made.notes.push_back(fmt::format(
        "the tolerance is {:g} times the usual one: the function multiplies rounding errors", tried.factor));
  if (tried.narrow)
    made.notes.emplace_back(
        "the expected result is computed in the types of the task, because it is another one in float64");
}

}  // namespace kevo::importing
