#include "src/suite/bench_exports.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "src/base/text/utf8.hpp"
#include "src/export/flashinfer_data_set.hpp"
#include "src/journal/database_file.hpp"
#include "src/report/evaluation_text.hpp"
#include "src/suite/suite_files.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// The time of a call in milliseconds: the weighted geometric mean over the visible workloads, which is the
/// time itself where there is one. 0 if a time is missing.
double mean_time_ms(const evaluation& e) {
  double sum = 0;
  double weights = 0;
  for (const auto& w : e.workloads) {
    if (w.hidden) continue;
    if (!(w.time_ns > 0)) return 0;
    sum += w.weight * std::log(w.time_ns);
    weights += w.weight;
  }
  return weights > 0 ? std::exp(sum / weights) / 1e6 : 0;
}

/// Of the only visible workload; empty if there are several, whose samples do not mix.
json::object runtime_stats(const evaluation& e) {
  const workload_result* only = nullptr;
  for (const auto& w : e.workloads) {
    if (w.hidden) continue;
    if (only != nullptr) return {};
    only = &w;
  }
  if (only == nullptr || only->samples.empty()) return {};
  const auto n = static_cast<double>(only->samples.size());
  double mean = 0;
  double least = only->samples.front().candidate_ns;
  double most = least;
  for (const auto& pair : only->samples) {
    mean += pair.candidate_ns / n;
    least = std::min(least, pair.candidate_ns);
    most = std::max(most, pair.candidate_ns);
  }
  double squares = 0;
  for (const auto& pair : only->samples)
    squares += (pair.candidate_ns - mean) * (pair.candidate_ns - mean) / n;
  return {
      {"mean", mean / 1e6},          {"std", std::sqrt(squares) / 1e6},    {"min", least / 1e6},
      {"max", most / 1e6},           {"num_trials", only->samples.size()}, {"hardware", as_utf8(e.device)},
      {"device", as_utf8(e.backend)}};
}

json::object sample_object(const bench_task& one, std::size_t index) {
  const bench_solution& s = one.solutions[index];
  const evaluation* e = one.best == index ? one.judged() : s.result ? &*s.result : nullptr;
  json::object metadata{{"solution", as_utf8(s.name)}, {"kevo_state", to_string(s.state)}};
  json::object o{{"sample_id", index}};
  if (e == nullptr) {
    if (!s.message.empty()) metadata["error"] = as_utf8(s.message);
    o["compiled"] = false;
    o["correctness"] = false;
    o["metadata"] = std::move(metadata);
    o["runtime"] = -1.0;
    o["runtime_stats"] = json::object();
    return o;
  }
  const double time = e->valid() ? mean_time_ms(*e) : 0;
  metadata["kevo_outcome"] = to_string(e->outcome);
  metadata["protocol"] = as_utf8(e->protocol);
  metadata["hardware"] = as_utf8(e->device);
  metadata["baseline"] = as_utf8(e->baseline);
  if (e->valid() && e->speedup > 0) {
    metadata["speedup"] = e->speedup;
    metadata["speedup_interval"] = json::array{e->speedup_interval.low, e->speedup_interval.high};
  }
  if (!e->valid()) metadata["correct_at_given_size"] = correct_at_given_size(*e);
  if (!e->valid()) metadata["error"] = as_utf8(failure_text(*e));
  o["compiled"] = e->outcome != outcome::build_failed && e->outcome != outcome::launch_failed;
  o["correctness"] = e->valid();
  o["metadata"] = std::move(metadata);
  o["runtime"] = time > 0 ? time : -1.0;
  o["runtime_stats"] = time > 0 ? runtime_stats(*e) : json::object();
  return o;
}

/// The number of a problem: that of the suite file, else of the name that the published suite gives it, else
/// of the task's.
std::optional<std::int64_t> problem_of(const bench_task& one) {
  if (one.entry.problem) return one.entry.problem;
  const auto published = place_in_name(one.problem_name).number;
  return published ? published : place_in_name(one.entry.name).number;
}

/// The name under which KernelBench's files of times know a problem.
std::string published_name(const bench_task& one) {
  return as_utf8(one.problem_name.empty() ? one.entry.name + ".py" : one.problem_name);
}

void make_folder(const fs::path& folder) {
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  if (wrong)
    throw error(error_code::environment, "cannot make the folder: " + wrong.message(),
                {.file = folder.string(), .key = {}}, "set suite.output to a writable folder");
}

/// One level of KernelBench: the results of its evaluation script, and the times of the baseline.
struct kernelbench_level {
  std::map<std::int64_t, json::array> results;
  json::object baselines;
};

std::vector<std::string> export_kernelbench(const bench_report& report, std::vector<std::string>& left_out) {
  std::map<std::string, kernelbench_level> levels;
  for (const auto& one : report.outcome.tasks) {
    const auto problem = problem_of(one);
    if (!problem) {
      left_out.push_back(one.entry.name + ": it has no number; write problem: NUMBER into its entry");
      continue;
    }
    kernelbench_level& level = levels[one.level.empty() ? "0" : one.level];
    if (level.results.contains(*problem)) {
      left_out.push_back(
          fmt::format("{}: another task of its level has the number {}", one.entry.name, *problem));
      continue;
    }
    json::array& samples = level.results[*problem];
    for (std::size_t i = 0; i < one.solutions.size(); ++i) samples.push_back(sample_object(one, i));
    const evaluation* e = one.judged();
    const double time = e != nullptr && e->valid() && e->speedup > 0 ? mean_time_ms(*e) : 0;
    if (time > 0) {
      level.baselines[published_name(one)] = json::object{
          {"mean", time * e->speedup}, {"hardware", as_utf8(e->device)}, {"baseline", as_utf8(e->baseline)}};
    } else if (!one.solutions.empty()) {
      // KernelBench's analysis leaves out a problem without a time of the baseline, so that its shares would
      // be of the right solutions alone. -1 is its time of what was not measured.
      level.baselines[published_name(one)] = json::object{{"mean", -1.0}};
    }
  }
  std::vector<std::string> files;
  for (auto& [name, level] : levels) {
    std::string safe = name;
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    const fs::path folder = fs::path(report.plan.output) / "kernelbench" / ("level" + safe);
    make_folder(folder);
    json::object results;
    for (auto& [number, samples] : level.results) {
      if (!samples.empty()) results[std::to_string(number)] = std::move(samples);
    }
    files.push_back((folder / "eval_results.json").string());
    replace_file(files.back(), json::serialize(results) + '\n');
    files.push_back((folder / "baseline_time_kevo.json").string());
    replace_file(files.back(),
                 json::serialize(json::object{{"level" + name, std::move(level.baselines)}}) + '\n');
  }
  return files;
}

std::vector<std::string> export_flashinfer_traces(const bench_report& report,
                                                  std::vector<std::string>& left_out) {
  const std::string root = (fs::path(report.plan.output) / "flashinfer").string();
  make_folder(root);
  for (const auto& one : report.outcome.tasks) {
    try {
      const task t = load_task(one.entry.file);
      flashinfer_data_set set(t, root);
      for (std::size_t i = 0; i < one.solutions.size(); ++i) {
        const bench_solution& s = one.solutions[i];
        const evaluation* e = one.best == i ? one.judged() : s.result ? &*s.result : nullptr;
        if (e == nullptr || !s.source) continue;
        try {
          set.add({.name = fmt::format("{}_{}_{}", report.plan.name, one.entry.name, s.name),
                   .description = fmt::format("suite {}, task {}, solution {}", report.plan.name,
                                              one.entry.name, s.name),
                   .source = s.source.get(),
                   .result = e,
                   .timestamp = s.finished_at,
                   .kevo_version = detail::program_version()});
        } catch (const error& wrong) {
          if (wrong.code() != error_code::input) throw;
          left_out.push_back(one.entry.name + ", " + s.name + ": " + wrong.what());
        }
      }
      set.finish();
    } catch (const error& wrong) {
      if (wrong.code() != error_code::input) throw;
      left_out.push_back(one.entry.name + ": " + wrong.what());
    }
  }
  return {root};
}

}  // namespace

std::vector<bench_format> bench_formats_of(const std::vector<std::string>& names) {
  std::vector<bench_format> formats;
  for (const auto& name : names) {
    if (name == "kernelbench") {
      formats.push_back(bench_format::kernelbench);
    } else if (name == "flashinfer") {
      formats.push_back(bench_format::flashinfer);
    } else {
      throw error(error_code::usage, "unknown format '" + name + "'", {.file = {}, .key = "--export"},
                  "the formats are kernelbench and flashinfer");
    }
  }
  return formats;
}

std::vector<std::string> export_bench(const bench_report& report, bench_format format,
                                      std::vector<std::string>& left_out) {
  return format == bench_format::kernelbench ? export_kernelbench(report, left_out)
                                             : export_flashinfer_traces(report, left_out);
}

}  // namespace kevo
