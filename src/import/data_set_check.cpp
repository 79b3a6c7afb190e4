#include "src/import/data_set_check.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/python_server.hpp"
#include "src/base/text/counted.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/import/limited_check.hpp"
#include "src/import/narrowed_tolerance.hpp"
#include "src/import/python_failure.hpp"
#include "src/import/reduced_workload.hpp"

namespace kevo::importing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_tolerances = 3;  // that are tested of one task
// Elements of inputs and outputs: what a test begins with, what it tries after that, and what is too large.
constexpr double first_elements = 4e6, next_elements = 2.5e5, most_elements = 1.3e8;
constexpr double device_factor = 64;

std::string key_of(const task& t, const workload& w) {
  std::string key;
  for (const auto& output : t.outputs) {
    const auto rule = tolerance_for(t, w, output.name);
    key += fmt::format("{} {} {} {} {} {};", rule.rule, rule.max_atol, rule.max_rtol,
                       rule.required_matched_ratio, rule.max_error_cap.value_or(-1), rule.allow_negative_inf);
  }
  return key;
}

/// The workloads of a task by their tolerances, those with the fewest elements first.
std::vector<std::vector<std::size_t>> groups_of(const task& t) {
  std::map<std::string, std::vector<std::size_t>> by_tolerance;
  for (std::size_t i = 0; i < t.workloads.size(); ++i) by_tolerance[key_of(t, t.workloads[i])].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [key, places] : by_tolerance) {
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return elements_of(t, t.workloads[a]) < elements_of(t, t.workloads[b]);
    });
    groups.push_back(std::move(places));
  }
  return groups;
}

/// The task with a small and a large workload of a group, which has one where both are the same. Without one
/// if all are too large.
task part_of(const task& t, const std::vector<std::size_t>& group, double elements, bool reduce) {
  task part = t;
  part.workloads.clear();
  for (const std::size_t place : {group.front(), group.back()}) {
    const auto& given = t.workloads[place];
    auto w = reduce ? reduced_workload(t, given, elements) : given;
    if (elements_of(t, w) > most_elements * std::max(1.0, elements / first_elements)) continue;
    if (!part.workloads.empty() && (!reduce || part.workloads.front().axes == w.axes)) continue;
    w.hidden = !part.workloads.empty();
    part.workloads.push_back(std::move(w));
  }
  return part;
}

task with_narrowed(task part, const narrowing& by) {
  for (auto& w : part.workloads) {
    for (const auto& output : part.outputs)
      w.tolerances[output.name] = narrowed(tolerance_for(part, w, output.name), by);
  }
  return part;
}

std::vector<std::string> accepted_controls(const task_report& report) {
  std::vector<std::string> names;
  for (const auto& one : report.controls) {
    if (!one.honest && !one.ok) names.push_back(one.name);
  }
  return names;
}

/// Why a program that is right is refused; nothing if none is.
std::optional<std::string> refused_honest(const task_report& report) {
  for (const auto& one : report.controls) {
    if (one.honest && !one.ok) return one.detail;
  }
  return std::nullopt;
}

/// What came of the test of one tolerance.
struct group_result {
  std::optional<task> part;  ///< with which it was tested; nothing: it was not
  std::string untested;      ///< why not
  std::string refused;       ///< why the reference in the types of the task is not accepted; empty if it is
  std::string fixed;         ///< why a program that ignores its inputs is right; empty if none is
  std::vector<std::string> accepted_first;  ///< wrong outputs that the suite's tolerance accepts
  std::vector<std::string> accepted;        ///< and that the narrowed one does
  narrowing by;
};

void narrow(const limited_check& check, group_result& result) {
  const bool shares = [&] {
    for (const auto& output : result.part->outputs) {
      if (tolerance_for(*result.part, result.part->workloads.front(), output.name).required_matched_ratio < 1)
        return true;
    }
    return false;
  }();
  std::vector<narrowing> steps;
  if (shares) steps.push_back({1, true});
  for (const double factor : {0.1, 0.01, 0.001}) steps.push_back({factor, shares});
  for (const auto& step : steps) {
    if (result.accepted.empty()) return;
    const auto report = check(with_narrowed(*result.part, step));
    if (refused_honest(report)) return;
    auto accepted = accepted_controls(report);
    // A tolerance that refuses no more than a wider one only harms honest programs.
    if (accepted.size() >= result.accepted.size()) continue;
    result.accepted = std::move(accepted);
    result.by = step;
  }
}

group_result test_group(const task& t, const std::vector<std::size_t>& group, const limited_check& check,
                        bool on_device) {
  group_result result;
  const double factor = on_device ? device_factor : 1;
  const std::vector<std::pair<double, bool>> tries = {
      {factor * first_elements, true}, {factor * next_elements, true}, {factor * first_elements, false}};
  std::vector<workload> before;
  bool too_large = true;
  for (const auto& [elements, reduce] : tries) {
    const auto part = part_of(t, group, elements, reduce);
    if (part.workloads.empty()) continue;
    too_large = false;
    const auto same = [](const workload& a, const workload& b) { return a.axes == b.axes; };
    if (std::equal(part.workloads.begin(), part.workloads.end(), before.begin(), before.end(), same))
      continue;
    before = part.workloads;
    try {
      const auto report = check(part);
      result.part = part;
      result.accepted = result.accepted_first = accepted_controls(report);
      if (report.fixed_exactly) result.fixed = report.fixed_result;
      if (const auto why = refused_honest(report)) {
        result.refused = *why;
      } else {
        narrow(check, result);
      }
      return result;
    } catch (const error& failure) {
      const bool late = failure.code() == error_code::interrupted;
      if (result.part) return result;  // the time was over while it was narrowed
      if (result.untested.empty() || !late)
        result.untested = late ? "it was not finished in the time that --seconds allows"
                               : explained_failure(failure.message());
    }
  }
  if (too_large) {
    const auto& smallest = t.workloads[group.front()];
    result.untested = fmt::format(
        "its inputs and outputs have {:.2g} elements{}", elements_of(t, smallest),
        has_contents(smallest) ? ", and those from files have one size" : " with the smallest sizes, too");
  }
  return result;
}

std::string sizes_of(const task& part) {
  std::vector<std::string> texts;
  for (const auto& w : part.workloads) {
    std::vector<std::string> axes;
    for (const auto& [name, value] : w.axes) axes.push_back(fmt::format("{} = {}", name, value));
    texts.push_back(fmt::format("{}", fmt::join(axes, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

bool is_reduced(const task& t, const task& part) {
  return std::any_of(part.workloads.begin(), part.workloads.end(), [&](const workload& w) {
    const auto found = std::find_if(t.workloads.begin(), t.workloads.end(),
                                    [&](const workload& given) { return given.uuid == w.uuid; });
    return found->axes != w.axes;
  });
}

void note_result(const task& t, const std::vector<std::size_t>& group, const group_result& result,
                 suite_import_task& made) {
  if (!result.refused.empty())
    made.notes.push_back(
        "FLAGGED: the reference in the types of the task is not accepted by the tolerance: " +
        result.refused);
  if (!result.fixed.empty()) made.notes.push_back("FLAGGED: " + fixed_result_advice(result.fixed));
  for (const auto& name : result.accepted) {
    if (std::find(made.accepted.begin(), made.accepted.end(), name) == made.accepted.end())
      made.accepted.push_back(name);
  }
  if (is_reduced(t, *result.part)) {
    const auto sizes = sizes_of(*result.part);
    if (made.tested_with.find(sizes) == std::string::npos)
      made.tested_with += (made.tested_with.empty() ? "" : "; ") + sizes;
  }
  if (result.accepted.size() == result.accepted_first.size()) return;
  const auto& w = t.workloads[group.front()];
  const auto given = tolerance_for(t, w, t.outputs.front().name);
  const auto now = narrowed(given, result.by);
  const auto words = [](const tolerance& rule) {
    std::string text = fmt::format("{:g} absolute and {:g} relative", rule.max_atol, rule.max_rtol);
    if (rule.required_matched_ratio < 1)
      text += fmt::format(" in {:g} of the elements", rule.required_matched_ratio);
    return text;
  };
  made.notes.push_back(
      fmt::format("the tolerance of {} is now {}; the suite's, {}, accepts wrong outputs ({})",
                  format::counted(group.size(), "workload"), words(now), words(given),
                  fmt::join(result.accepted_first, ", ")));
}

}  // namespace

data_set_checker::data_set_checker(const data_set_options& how) : how_(how) {
  settings_.sandbox = how.sandbox;
  settings_.python = how.python;
  settings_.device = how.device;
  server_ = std::make_shared<torch::python_server>(torch::find_torch(how.python, contains(how.sandbox)),
                                                   how.sandbox);
}

void data_set_checker::check(suite_import_task& made) const {
  const auto start = std::chrono::steady_clock::now();
  const fs::path folder = made.folder;
  try {
    const task t = load_task((folder / "task.json").string());
    const limited_check check(settings_, server_, how_.seconds);
    auto groups = groups_of(t);
    if (groups.size() > most_tolerances) {
      made.notes.push_back(
          fmt::format("{} of its tolerances were not tested", groups.size() - most_tolerances));
      groups.resize(most_tolerances);
    }
    std::map<std::string, narrowing> narrower;
    for (const auto& group : groups) {
      const auto result = test_group(t, group, check, how_.device != "cpu");
      if (!result.part) {
        made.untested = result.untested;
        continue;
      }
      made.checked = true;
      note_result(t, group, result, made);
      if (result.accepted.size() == result.accepted_first.size()) continue;
      for (const std::size_t place : group) narrower[t.workloads[place].uuid] = result.by;
    }
    if (!narrower.empty()) write_tolerances(t, narrower, folder / "task.jsonl");
    const task now = load_task((folder / "task.json").string());
    for (const auto& w : now.workloads)
      made.tolerance = std::max(made.tolerance, tolerance_for(now, w, now.outputs.front().name).max_rtol);
  } catch (const error& failure) {
    if (failure.code() == error_code::usage || failure.code() == error_code::internal) throw;
    made.untested = explained_failure(failure.message());
  }
  made.seconds = seconds_since(start);
}

}  // namespace kevo::importing
