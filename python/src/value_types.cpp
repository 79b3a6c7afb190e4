// Programs, tasks, evaluations and candidates as Python sees them.

#include <cmath>
#include <limits>
#include <map>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/content_id.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/load_task.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "python/src/bind.hpp"
#include "python/src/convert.hpp"
#include "src/base/json/evaluation_json.hpp"

namespace kevo::python {
namespace py = pybind11;
namespace {

py::object ends_of(const interval& value) {
  if (value == interval{}) return py::none();
  return py::make_tuple(value.low, value.high);
}

py::object name_of(const std::optional<outcome>& what) {
  return py::str(std::string(to_string(what)));
}

py::list workloads_of(const evaluation& e) {
  py::list all;
  for (const auto& w : e.workloads) {
    py::dict one;
    one["uuid"] = w.uuid;
    one["axes"] = w.axes;
    one["hidden"] = w.hidden;
    one["outcome"] = name_of(w.outcome);
    one["time_ns"] = measured(w.time_ns);
    one["interval_ns"] = ends_of(w.time_interval);
    one["baseline_ns"] = measured(w.baseline_ns);
    one["speedup"] = measured(w.speedup);
    one["sol_fraction"] = measured(w.sol_fraction);
    one["samples"] = w.samples.size();
    one["weight"] = w.weight;
    for (const auto& [name, time] : {std::pair("device", &w.device), std::pair("host", &w.host)}) {
      if (!(time->ns > 0)) continue;
      const std::string start = name;
      one[py::str(start + "_ns")] = time->ns;
      one[py::str(start + "_interval_ns")] = ends_of(time->range);
      one[py::str(start + "_baseline_ns")] = measured(time->baseline_ns);
      one[py::str(start + "_speedup")] = measured(time->speedup);
    }
    all.append(std::move(one));
  }
  return all;
}

py::object as_dict(const evaluation& e, bool samples, bool hidden) {
  const std::string text = to_json(e, {.raw_samples = samples, .hidden_details = hidden});
  return py::module_::import("json").attr("loads")(text);
}

std::string show(const evaluation& e) {
  std::string text = "<kevo.Evaluation " + std::string(to_string(e.outcome));
  char number[64];
  if (e.speedup > 0) {
    std::snprintf(number, sizeof number, " %.4gx [%.4g, %.4g]", e.speedup, e.speedup_interval.low,
                  e.speedup_interval.high);
    text += number;
    if (!e.baseline.empty()) text += " over " + e.baseline;
  } else if (e.valid()) {
    std::snprintf(number, sizeof number, " score %.6g", e.score);
    text += number;
  } else if (!e.reasons.empty()) {
    text += ": " + e.reasons.front();
  }
  return text + ">";
}

evaluation made_evaluation(const std::string& name, std::optional<double> score,
                           std::optional<double> speedup,
                           const std::optional<std::pair<double, double>>& ends, std::string feedback,
                           std::map<std::string, double> measures, std::vector<std::string> reasons,
                           const std::string& stage) {
  const auto what = parse_outcome(name);
  if (!what) throw error(error_code::usage, "unknown outcome '" + name + "'", {.file = {}, .key = "outcome"});
  evaluation made;
  made.outcome = *what;
  if (made.valid()) {
    if (!score && !speedup)
      throw error(error_code::usage, "a valid evaluation needs a score or a speedup",
                  {.file = {}, .key = "score"});
    made.speedup = speedup.value_or(0);
    made.score = score ? *score : *speedup;
    if (!std::isfinite(made.score) || !std::isfinite(made.speedup) || made.speedup < 0)
      throw error(error_code::usage, "score and speedup must be finite, and a speedup above 0",
                  {.file = {}, .key = "score"});
    if (ends) made.speedup_interval = {ends->first, ends->second};
  }
  made.feedback = std::move(feedback);
  made.measures = std::move(measures);
  made.reasons = std::move(reasons);
  if (!stage.empty()) made.stage = stage_from(stage);
  return made;
}

void bind_program(py::module_& module) {
  py::class_<program>(module, "Program",
                      "The source of a candidate: its language and its files, which never change.")
      .def(py::init(
               [](py::handle source, const std::string& language) { return program_from(source, language); }),
           py::arg("source"), py::arg("language") = "cpp")
      .def_readonly("language", &program::language)
      .def_property_readonly("text", [](const program& p) { return std::string(p.text()); })
      .def_property_readonly("files",
                             [](const program& p) {
                               py::dict files;
                               for (const auto& file : p.files) files[py::str(file.path)] = file.text;
                               return files;
                             })
      .def_property_readonly("id", [](const program& p) { return to_string(id_of(p)); })
      .def(
          "__eq__", [](const program& a, const program& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const program& p) { return py::hash(py::str(to_string(id_of(p)))); })
      .def("__str__", [](const program& p) { return std::string(p.text()); })
      .def("__repr__",
           [](const program& p) { return "<kevo.Program " + p.language + " " + to_string(id_of(p)) + ">"; })
      .def(py::pickle(
          [](const program& p) {
            py::list files;
            for (const auto& file : p.files) files.append(py::make_tuple(file.path, file.text));
            return py::make_tuple(p.language, files);
          },
          [](const py::tuple& state) {
            program made{state[0].cast<std::string>(), {}};
            for (const py::handle file : state[1]) {
              const auto pair = file.cast<std::pair<std::string, std::string>>();
              made.files.push_back({pair.first, pair.second});
            }
            return made;
          }));
}

void bind_task(py::module_& module) {
  py::class_<task_handle>(module, "Task", "What is optimized, as its file says: kevo.load_task(path).")
      .def_property_readonly("name", [](const task_handle& t) { return t.task->name; })
      .def_property_readonly("op_type", [](const task_handle& t) { return t.task->op_type; })
      .def_property_readonly("description", [](const task_handle& t) { return t.task->description; })
      .def_property_readonly("file", [](const task_handle& t) { return t.task->file; })
      .def_property_readonly("seeds", [](const task_handle& t) { return t.task->seeds; })
      .def_property_readonly("baselines",
                             [](const task_handle& t) {
                               std::vector<std::string> names;
                               for (const auto& each : t.task->baselines) names.push_back(each.name);
                               return names;
                             })
      .def_property_readonly("language", [](const task_handle& t) { return usual_language(t.task.get()); })
      .def_property_readonly(
          "workloads",
          [](const task_handle& t) {  // visible ones: nobody learns the sizes of hidden ones here
            py::list all;
            for (const auto& w : t.task->workloads) {
              if (w.hidden) continue;
              py::dict one;
              one["uuid"] = w.uuid;
              one["axes"] = w.axes;
              one["weight"] = w.weight;
              all.append(std::move(one));
            }
            return all;
          })
      .def("__repr__", [](const task_handle& t) { return "<kevo.Task " + t.task->name + ">"; });
  module.def(
      "load_task",
      [](py::handle path, py::handle workloads) {
        const auto text = [](py::handle p) {
          return std::string(py::str(py::module_::import("os").attr("fspath")(p)));
        };
        return task_handle{std::make_shared<const task>(
            load_task(text(path), workloads.is_none() ? std::string() : text(workloads)))};
      },
      py::arg("path"), py::arg("workloads") = py::none(),
      "Loads a task file (YAML), or a FlashInfer-Bench Definition (JSON) with its workloads.");
}

void bind_evaluation(py::module_& module) {
  py::class_<evaluation, std::shared_ptr<evaluation>>(module, "Evaluation",
                                                      "All that a fitness function said of a program.")
      .def(py::init(&made_evaluation), py::arg("outcome") = "valid", py::arg("score") = py::none(),
           py::arg("speedup") = py::none(), py::arg("speedup_interval") = py::none(),
           py::arg("feedback") = "", py::arg("measures") = std::map<std::string, double>(),
           py::arg("reasons") = std::vector<std::string>(), py::arg("stage") = "")
      .def_property_readonly("outcome", [](const evaluation& e) { return std::string(to_string(e.outcome)); })
      .def_property_readonly("valid", &evaluation::valid)
      .def("__bool__", &evaluation::valid)
      .def_property_readonly("speedup", [](const evaluation& e) { return measured(e.speedup); })
      .def_property_readonly("speedup_interval",
                             [](const evaluation& e) { return ends_of(e.speedup_interval); })
      .def_property_readonly("device_speedup", [](const evaluation& e) { return measured(e.device_speedup); })
      .def_property_readonly("device_speedup_interval",
                             [](const evaluation& e) { return ends_of(e.device_speedup_interval); })
      .def_property_readonly("host_speedup", [](const evaluation& e) { return measured(e.host_speedup); })
      .def_property_readonly("host_speedup_interval",
                             [](const evaluation& e) { return ends_of(e.host_speedup_interval); })
      .def_readonly("score", &evaluation::score)
      .def_property_readonly("sol_fraction", [](const evaluation& e) { return measured(e.sol_fraction); })
      .def_property_readonly("stage", [](const evaluation& e) { return std::string(to_string(e.stage)); })
      .def_readonly("cached", &evaluation::cached)
      .def_readonly("baseline", &evaluation::baseline)
      .def_readonly("other_speedups", &evaluation::other_speedups)
      .def_property_readonly("other_speedup_intervals",
                             [](const evaluation& e) {
                               py::dict all;
                               for (const auto& [name, range] : e.other_speedup_intervals)
                                 all[py::str(name)] = ends_of(range);
                               return all;
                             })
      .def_property_readonly("workloads", &workloads_of)
      .def_readonly("measures", &evaluation::measures)
      .def_readonly("feedback", &evaluation::feedback)
      .def_readonly("reasons", &evaluation::reasons)
      .def_property_readonly("cost",
                             [](const evaluation& e) {
                               py::dict cost;
                               cost["wall_s"] = e.cost.wall_s;
                               cost["device_s"] = e.cost.device_s;
                               cost["waited_s"] = e.cost.waited_s;
                               cost["parts_s"] = e.cost.parts_s;
                               return cost;
                             })
      .def_readonly("device", &evaluation::device)
      .def_readonly("backend", &evaluation::backend)
      .def_readonly("protocol", &evaluation::protocol)
      .def_readonly("context", &evaluation::context)
      .def("as_dict", &as_dict, py::arg("samples") = false, py::arg("hidden") = true,
           "The object that `kevo eval --json` prints, without the names of task and program. `samples`: "
           "with the raw "
           "timing pairs. `hidden`: with the sizes of hidden workloads.")
      .def("__repr__", &show)
      .def(py::pickle([](const evaluation& e) { return to_json(e, {.exact = true}); },
                      [](const std::string& text) { return evaluation_from_json(text); }));
}

void bind_candidate(py::module_& module) {
  py::class_<candidate_snapshot>(module, "Candidate",
                                 "A candidate of a search, as it was when it was asked for.")
      .def_readonly("id", &candidate_snapshot::id)
      .def_property_readonly("program", [](const candidate_snapshot& c) { return *c.program; })
      .def_property_readonly("text",
                             [](const candidate_snapshot& c) { return std::string(c.program->text()); })
      .def_property_readonly("evaluation",
                             [](const candidate_snapshot& c) -> std::optional<evaluation> {
                               if (!c.evaluation) return std::nullopt;
                               return *c.evaluation;
                             })
      .def_property_readonly("score",
                             [](const candidate_snapshot& c) -> std::optional<double> {
                               if (!c.evaluation || !c.evaluation->valid()) return std::nullopt;
                               return c.evaluation->score;
                             })
      .def_readonly("operator_name", &candidate_snapshot::operator_name)
      .def_readonly("parents", &candidate_snapshot::parents)
      .def_readonly("summary", &candidate_snapshot::summary)
      .def("__repr__", [](const candidate_snapshot& c) {
        return "<kevo.Candidate " + std::to_string(c.id) + " by " + c.operator_name + ">";
      });
}

}  // namespace

void bind_value_types(py::module_& module) {
  bind_program(module);
  bind_task(module);
  bind_evaluation(module);
  bind_candidate(module);
}

}  // namespace kevo::python
