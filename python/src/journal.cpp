// kevo.Journal: the record of a run, as columns that pandas and Arrow take as they are.

#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>
#include <kevo/journal.hpp>

#include "python/src/bind.hpp"
#include "python/src/convert.hpp"

namespace kevo::python {
namespace py = pybind11;
namespace {

/// Columns of equal length, in the order in which they were first filled.
class columns {
 public:
  template <class T>
  void add(const char* name, T&& value) {
    if (!data_.contains(name)) data_[name] = py::list();
    data_[name].cast<py::list>().append(std::forward<T>(value));
  }
  /// Columns that a table without rows has, too.
  explicit columns(std::initializer_list<const char*> names) {
    for (const char* name : names) data_[name] = py::list();
  }
  py::dict take() const { return data_; }

 private:
  py::dict data_;
};

py::dict candidates_of(const journal& run) {
  columns table{"id",      "program",    "operator", "parents", "inspirations", "born_s",
                "summary", "transcript", "wall_s",   "money",   "tokens_in",    "tokens_out"};
  for (const recorded_candidate& c : run.candidates()) {
    table.add("id", c.id);
    table.add("program", to_string(c.program));
    table.add("operator", c.operator_name);
    table.add("parents", c.parents);
    table.add("inspirations", c.inspirations);
    table.add("born_s", c.born_s);
    table.add("summary", c.summary);
    table.add("transcript", c.transcript);
    table.add("wall_s", c.cost.wall_s);
    table.add("money", c.cost.money);
    table.add("tokens_in", c.cost.tokens_in);
    table.add("tokens_out", c.cost.tokens_out);
  }
  return table.take();
}

void add_evaluation(columns& table, const recorded_evaluation& e) {
  const evaluation& r = *e.result;
  table.add("candidate", e.candidate);
  table.add("time_s", e.time_s);
  table.add("wanted", std::string(to_string(e.wanted)));
  table.add("stage", std::string(to_string(r.stage)));
  table.add("outcome", std::string(to_string(r.outcome)));
  table.add("score", r.valid() ? py::object(py::float_(r.score)) : py::none());
  table.add("speedup", measured(r.speedup));
  table.add("speedup_low", measured(r.speedup_interval.low));
  table.add("speedup_high", measured(r.speedup_interval.high));
  table.add("sol_fraction", measured(r.sol_fraction));
  table.add("baseline", r.baseline);
  table.add("archived", std::string(to_string(e.archived.status)));
  table.add("cached", r.cached);
  table.add("wall_s", r.cost.wall_s);
  table.add("device_s", r.cost.device_s);
  table.add("feedback", r.feedback);
  table.add("reasons", r.reasons);
}

py::dict evaluations_of(const journal& run) {
  columns table{"candidate", "time_s",      "wanted",       "stage",        "outcome",  "score",
                "speedup",   "speedup_low", "speedup_high", "sol_fraction", "baseline", "archived",
                "cached",    "wall_s",      "device_s",     "feedback",     "reasons"};
  for (const recorded_evaluation& e : run.evaluations()) add_evaluation(table, e);
  return table.take();
}

py::dict recorded_workloads(const journal& run) {
  columns table{"candidate", "time_s",      "uuid",    "hidden",       "outcome",
                "time_ns",   "baseline_ns", "speedup", "sol_fraction", "samples"};
  for (const recorded_evaluation& e : run.evaluations()) {
    for (const auto& w : e.result->workloads) {
      table.add("candidate", e.candidate);
      table.add("time_s", e.time_s);
      table.add("uuid", w.uuid);
      table.add("hidden", w.hidden);
      table.add("outcome", std::string(to_string(w.outcome)));
      table.add("time_ns", measured(w.time_ns));
      table.add("baseline_ns", measured(w.baseline_ns));
      table.add("speedup", measured(w.speedup));
      table.add("sol_fraction", measured(w.sol_fraction));
      table.add("samples", w.samples.size());
    }
  }
  return table.take();
}

py::dict measures_of(const journal& run) {
  columns table{"candidate", "time_s", "measure", "value"};
  for (const recorded_evaluation& e : run.evaluations()) {
    for (const auto& [name, value] : e.result->measures) {
      table.add("candidate", e.candidate);
      table.add("time_s", e.time_s);
      table.add("measure", name);
      table.add("value", value);
    }
  }
  return table.take();
}

py::dict edges_of(const journal& run) {
  columns table{"parent", "child", "operator", "rank"};
  for (const recorded_candidate& c : run.candidates()) {
    for (std::size_t i = 0; i < c.parents.size(); ++i) {
      table.add("parent", c.parents[i]);
      table.add("child", c.id);
      table.add("operator", c.operator_name);
      table.add("rank", i);
    }
  }
  return table.take();
}

std::vector<candidate_id> lineage_of(const journal& run, candidate_id id) {
  std::vector<candidate_id> line;
  for (const auto& each : run.lineage(id)) line.push_back(each.id);
  return line;
}

recorded_candidate known_candidate(const journal& run, candidate_id id) {
  if (auto found = run.candidate(id)) return *found;
  throw error(error_code::usage, "there is no candidate with the number " + std::to_string(id),
              {.file = run.directory()});
}

}  // namespace

void bind_journal(py::module_& module) {
  py::class_<journal>(module, "_Journal", "The record of a run, open for reading.")
      .def(py::init([](const std::string& folder) { return journal::open_read_only(folder); }),
           py::arg("folder"))
      .def("refresh", &journal::refresh)
      .def_property_readonly("folder", &journal::directory)
      .def_property_readonly("name", [](const journal& j) { return j.header().run_name; })
      .def_property_readonly("config", [](const journal& j) { return j.header().config_yaml; })
      .def_property_readonly("seed", [](const journal& j) { return j.header().seed; })
      .def_property_readonly("operators", [](const journal& j) { return j.header().operators; })
      .def_property_readonly("kevo_version", [](const journal& j) { return j.header().kevo_version; })
      .def_property_readonly("best", &journal::best)
      .def("__len__", &journal::candidate_count)
      .def(
          "source",
          [](const journal& j, candidate_id id) { return *j.source(known_candidate(j, id).program); },
          py::arg("candidate"))
      .def(
          "evaluations_of",
          [](const journal& j, candidate_id id) {
            std::vector<evaluation> all;
            for (const auto& each : j.evaluations(known_candidate(j, id).id)) all.push_back(*each.result);
            return all;
          },
          py::arg("candidate"))
      .def("lineage", &lineage_of, py::arg("candidate"))
      .def("_candidates", &candidates_of)
      .def("_evaluations", &evaluations_of)
      .def("_workloads", &recorded_workloads)
      .def("_measures", &measures_of)
      .def("_edges", &edges_of);
}

}  // namespace kevo::python
