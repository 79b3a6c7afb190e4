// The results of an ablation as files, and as JSON.

#include <set>
#include <sstream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/finite.hpp"
#include "src/base/text/csv_row.hpp"
#include "src/lab/ablation.hpp"
#include "src/lab/line_file.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

csv_row& put_estimate(csv_row& row, const estimate& e) {
  return row.measured(e.value).measured(e.range.low).measured(e.range.high);
}

std::string variants_csv(const ablation_outcome& outcome) {
  std::set<std::string> measures;
  std::set<std::string> tunables;
  for (const auto& r : outcome.rows) {
    for (const auto& [name, value] : r.result->measures) measures.insert(name);
    for (const auto& [name, value] : r.variant.tunables) tunables.insert(name);
  }
  std::ostringstream out;
  csv_row row;
  for (const char* name : {"variant", "kind", "part", "outcome", "evaluations", "time_ns", "time_low",
                           "time_high", "ratio", "ratio_low", "ratio_high", "failure"})
    row.text(name);
  for (const auto& name : tunables) row.text("tunable " + name);
  for (const auto& name : measures) row.text(name);
  row.end(out);
  for (const auto& r : outcome.rows) {
    row.text(r.variant.name).text(to_string(r.variant.kind)).text(r.variant.part);
    row.text(to_string(r.result->outcome)).count(r.evaluations);
    put_estimate(put_estimate(row, r.time_ns), r.ratio).text(r.failure);
    for (const auto& name : tunables) {
      const auto found = r.variant.tunables.find(name);
      found == r.variant.tunables.end() ? row.nothing() : row.text(found->second);
    }
    for (const auto& name : measures) {
      const auto found = r.result->measures.find(name);
      found == r.result->measures.end() ? row.nothing() : row.number(found->second);
    }
    row.end(out);
  }
  return out.str();
}

std::string ablation_workloads_csv(const ablation_outcome& outcome) {
  std::ostringstream out;
  csv_row row;
  for (const char* name :
       {"variant", "workload", "time_ns", "time_low", "time_high", "ratio", "ratio_low", "ratio_high"})
    row.text(name);
  row.end(out);
  for (const auto& r : outcome.rows) {
    for (const auto& w : r.workloads) {
      row.text(r.variant.name).text(w.uuid);
      put_estimate(put_estimate(row, w.time_ns), w.ratio).end(out);
    }
  }
  return out.str();
}

json::value estimate_object(const estimate& e) {
  if (!(e.value > 0)) return nullptr;
  return json::object{{"value", finite_or_null(e.value)},
                      {"interval", {finite_or_null(e.range.low), finite_or_null(e.range.high)}}};
}

json::object row_object(const ablation_plan& plan, const ablation_row& r) {
  json::object tunables;
  for (const auto& [name, value] : r.variant.tunables) tunables[name] = value;
  json::object measures;
  for (const auto& [name, value] : r.result->measures) measures[name] = finite_or_null(value);
  json::array workloads;
  for (const auto& w : r.workloads) {
    workloads.push_back(json::object{
        {"uuid", w.uuid}, {"time_ns", estimate_object(w.time_ns)}, {"ratio", estimate_object(w.ratio)}});
  }
  return {{"variant", r.variant.name},
          {"kind", to_string(r.variant.kind)},
          {"part", r.variant.part.empty() ? json::value(nullptr) : json::value(r.variant.part)},
          {"tunables", std::move(tunables)},
          {"outcome", to_string(r.result->outcome)},
          {"failure", r.failure.empty() ? json::value(nullptr) : json::value(r.failure)},
          {"evaluations", r.evaluations},
          {"time_ns", estimate_object(r.time_ns)},
          {"ratio", estimate_object(r.ratio)},
          {"workloads", std::move(workloads)},
          {"measures", std::move(measures)},
          {"evaluation", json::parse(to_json(*r.result, {.task = plan.subject->name,
                                                         .program = to_string(id_of(*r.variant.source)),
                                                         .raw_samples = false,
                                                         .hidden_details = false}))}};
}

}  // namespace

std::string ablation_json(const ablation_plan& plan, const ablation_outcome& outcome) {
  json::array rows;
  for (const auto& r : outcome.rows) rows.push_back(row_object(plan, r));
  json::array files;
  for (const auto& file : outcome.files) files.push_back(json::value(file));
  const std::string caution = ablation_caution(outcome.rows);
  return json::serialize(json::object{
      {"lab", outcome.folder},
      {"task", plan.subject->name},
      {"program", plan.program_file},
      {"stage", to_string(plan.stage)},
      {"repeats", plan.repeats},
      {"evaluations", outcome.evaluations},
      {"reused", outcome.reused},
      {"pending", outcome.pending},
      {"interrupted", outcome.interrupted},
      {"device",
       outcome.rows.empty() ? json::value(nullptr) : json::value(outcome.rows.front().result->device)},
      {"protocol",
       outcome.rows.empty() ? json::value(nullptr) : json::value(outcome.rows.front().result->protocol)},
      {"caution", caution.empty() ? json::value(nullptr) : json::value(caution)},
      {"variants", std::move(rows)},
      {"files", std::move(files)}});
}

std::vector<std::string> write_ablation(const ablation_plan& plan, const ablation_outcome& outcome) {
  return {write_result(plan.output, "table.csv", variants_csv(outcome)),
          write_result(plan.output, "workloads.csv", ablation_workloads_csv(outcome)),
          write_result(plan.output, "ablation.json", ablation_json(plan, outcome) + "\n"),
          write_result(plan.output, "config.yaml", plan.resolved_config),
          write_result(plan.output, "lab.html", ablation_page(plan, outcome))};
}

}  // namespace kevo
