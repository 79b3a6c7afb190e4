#include "src/export/flashinfer_data_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/export/flashinfer_schema.hpp"

namespace kevo {
namespace {

namespace json = boost::json;
namespace files = std::filesystem;
using namespace flashinfer;  // NOLINT(google-build-using-namespace): the other half of this writer

constexpr std::array<std::string_view, 5> their_languages = {"python", "triton", "cpp", "cuda", "tilelang"};

json::object solution_of(const task& t, const flashinfer_solution& s) {
  const program& source = *s.source;
  if (std::find(their_languages.begin(), their_languages.end(), source.language) == their_languages.end()) {
    throw error(error_code::input,
                fmt::format("{} is written in '{}', a language that FlashInfer-Bench does not support",
                            s.shown_as, source.language),
                {.file = s.origin, .key = {}}, "export as csv or jsonl");
  }
  const bool on_gpu = source.language != "cpp" && source.language != "python";
  json::object spec{{"language", source.language},
                    {"target_hardware", json::array{on_gpu ? "cuda" : "cpu"}},
                    {"entry_point", source.files.front().path + "::run"},
                    {"dependencies", json::array()},
                    {"destination_passing_style", true}};
  json::array sources;
  for (const auto& file : source.files) {
    // Their schema refuses empty files.
    sources.push_back(json::object{{"path", file.path}, {"content", file.text.empty() ? "\n" : file.text}});
  }
  return {{"name", s.name},          {"definition", t.name},
          {"author", s.author},      {"description", s.description},
          {"spec", std::move(spec)}, {"sources", std::move(sources)}};
}

std::string_view status_of(outcome o) {
  switch (o) {
    case outcome::valid:
      return "PASSED";
    case outcome::build_failed:
      return "COMPILE_ERROR";
    case outcome::timed_out:
      return "TIMEOUT";
    case outcome::incorrect:
      return "INCORRECT_NUMERICAL";
    case outcome::launch_failed:
    case outcome::crashed:
    case outcome::rejected:  // their schema has no word for cheating; the log says it
    case outcome::suspect:
    case outcome::unchecked:  // nor for a program that was only built
      return "RUNTIME_ERROR";
  }
  return "RUNTIME_ERROR";
}

std::string log_of(const evaluation& e, outcome shown, bool own) {
  if (shown == outcome::valid) return "reference_latency_ms is of the baseline '" + e.baseline + "'";
  std::string text(to_string(shown));
  if (own && e.outcome != outcome::valid) text += " (the candidate failed another workload)";
  for (const auto& reason : e.reasons) text += "\n" + reason;
  if (!e.feedback.empty()) text += "\n" + e.feedback;
  return text;
}

/// The trace of one workload; nothing if it was not timed and did not fail.
std::optional<json::object> evaluation_of(const evaluation& e, const std::string& uuid,
                                          const std::string& timestamp, const std::string& version) {
  const workload_result* found = nullptr;
  for (const auto& w : e.workloads) {
    if (w.uuid == uuid && !w.hidden) found = &w;
  }
  // A candidate that failed anywhere passes nowhere: a fast wrong kernel is no record.
  const bool failed_here = found != nullptr && found->outcome.has_value() && found->outcome != outcome::valid;
  const outcome shown = failed_here ? *found->outcome : e.outcome;
  const std::string_view status = status_of(shown);
  if (shown == outcome::valid && (found == nullptr || !(found->time_ns > 0))) return std::nullopt;

  json::object libs{{"kevo", version.empty() ? "unknown" : version}};
  for (const auto& [key, value] : e.context) libs[key] = value;
  json::object o{{"status", status},
                 {"environment", json::object{{"hardware", e.device.empty() ? "unknown" : e.device},
                                              {"libs", std::move(libs)}}},
                 {"timestamp", timestamp},
                 {"log", log_of(e, shown, !failed_here)}};
  if (status == "PASSED" || status == "INCORRECT_NUMERICAL") {
    // kevo checks every element by the task's own rule and keeps no maximum; 0, their default, would be
    // untrue.
    o["correctness"] =
        json::object{{"max_relative_error", "NaN"},
                     {"max_absolute_error", "NaN"},
                     {"extra", json::object{{"checked_by", "kevo"}, {"protocol", e.protocol}}}};
  }
  if (status == "PASSED") {
    const auto positive = [](double x) { return std::isfinite(x) && x > 0 ? x : 0; };
    o["performance"] = json::object{{"latency_ms", positive(found->time_ns) / 1e6},
                                    {"reference_latency_ms", positive(found->baseline_ns) / 1e6},
                                    {"speedup_factor", positive(found->speedup)}};
  }
  return o;
}

}  // namespace

struct flashinfer_data_set::state {
  const task& subject;
  files::path root;
  files::path group;
  std::string name;
  std::vector<std::pair<std::string, json::object>> workloads;
  files::path traces_path;
  std::ofstream traces;
  flashinfer_summary summary;
};

flashinfer_data_set::flashinfer_data_set(const task& t, const std::string& directory)
    : state_(std::make_unique<state>(state{.subject = t,
                                           .root = directory,
                                           .group = file_name(op_type_of(t)),
                                           .name = file_name(t.name),
                                           .workloads = {},
                                           .traces_path = {},
                                           .traces = {},
                                           .summary = {}})) {
  state& s = *state_;
  {
    const auto path = s.root / "definitions" / s.group / (s.name + ".json");
    const std::string text = line(definition_of(t));
    auto out = open_file(path);
    out << text;
    close_file(out, path);
  }
  {
    const auto path = s.root / "workloads" / s.group / (s.name + ".jsonl");
    auto out = open_file(path);
    for (const auto& w : t.workloads) {
      if (w.hidden) continue;
      write_contents(s.root, t, w);
      s.workloads.emplace_back(w.uuid, workload_of(t, w));
      out << line({{"definition", t.name},
                   {"workload", s.workloads.back().second},
                   {"solution", nullptr},
                   {"evaluation", nullptr}});
    }
    close_file(out, path);
  }
  s.traces_path = s.root / "traces" / s.group / (s.name + ".jsonl");
  s.traces = open_file(s.traces_path);
}

flashinfer_data_set::~flashinfer_data_set() = default;

void flashinfer_data_set::add(const flashinfer_solution& given) {
  state& s = *state_;
  const task& t = s.subject;
  const auto path =
      s.root / "solutions" / file_name(given.author) / s.group / s.name / (file_name(given.name) + ".json");
  const std::string text = line(solution_of(t, given));
  auto out = open_file(path);
  out << text;
  close_file(out, path);
  ++s.summary.solutions;
  for (const auto& [uuid, w] : s.workloads) {
    auto e = evaluation_of(*given.result, uuid, given.timestamp, given.kevo_version);
    if (!e) continue;
    s.traces << line(
        {{"definition", t.name}, {"workload", w}, {"solution", given.name}, {"evaluation", std::move(*e)}});
    ++s.summary.traces;
  }
}

flashinfer_summary flashinfer_data_set::finish() {
  close_file(state_->traces, state_->traces_path);
  return state_->summary;
}

}  // namespace kevo
