// Runs with a journal: what `kevo run` and `kevo resume` do, with roles in Python beside those of the config.

#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kevo/load_config.hpp>
#include <kevo/session.hpp>

#include "python/src/bind.hpp"
#include "python/src/convert.hpp"
#include "python/src/interpreter.hpp"
#include "python/src/roles.hpp"

namespace kevo::python {
namespace {

/// Looks for signals while a session runs on the thread that called it. The first exception of a handler
/// (that of Ctrl-C) winds the run down, the second cancels what is at work.
class signal_watch {
 public:
  void attach(session_plan& plan) {
    plan.graceful_stop = first_.get_token();
    plan.immediate_stop = second_.get_token();
    plan.hooks.poll = [this] { poll(); };
  }
  /// What an exit of the interpreter has to stop.
  std::vector<std::stop_source> stops() const { return {first_, second_}; }
  /// Raises the first exception that a handler raised. The caller has the interpreter's lock.
  void raise() {
    if (raised_) throw std::move(*raised_);
  }

 private:
  void poll() {
    const inside_interpreter lock;
    if (PyErr_CheckSignals() == 0) return;
    py::error_already_set now;
    if (raised_) {
      second_.request_stop();
    } else {
      raised_.emplace(std::move(now));
      first_.request_stop();
    }
  }
  std::stop_source first_;
  std::stop_source second_;
  std::optional<py::error_already_set> raised_;
};

/// The roles in Python of a session, and what it tells.
struct session_roles {
  py::object operators;
  py::object select;
  py::object archive;
  py::object stop;
  py::object fitness;
  py::object sinks;
  py::object message;
};

void put_roles(session_plan& plan, const session_roles& roles) {
  const build_context context{
      .task = plan.parts.task,
      .directory = plan.origin.config_directory.empty() ? "." : plan.origin.config_directory,
      .run_directory = plan.folder,
      .seed = plan.search.seed,
      .builds = plan.evaluations,
      .plugins = &plugins()};
  if (!roles.operators.is_none()) {
    for (const py::handle op : roles.operators) plan.parts.operators.push_back(variation_from(op, context));
  }
  if (!roles.select.is_none()) plan.parts.select = selector_from(roles.select, context);
  if (!roles.archive.is_none()) plan.parts.archive = archive_from(roles.archive, context);
  if (!roles.stop.is_none()) plan.parts.stop = stop_rule_from(roles.stop, context);
  if (!roles.fitness.is_none()) plan.fitness = fitness_role_from(roles.fitness, context);
  if (!roles.sinks.is_none()) {
    for (const py::handle sink : roles.sinks) plan.parts.sinks.push_back(sink_from(sink));
  }
  if (!roles.message.is_none()) {
    plan.hooks.message = [held = held_object(roles.message)](const std::string& text) {
      const inside_interpreter lock;
      held.get()(text);
    };
  }
}

run_outcome carry_out(session_plan plan, const session_roles& roles, bool resume) {
  require_own_process();
  put_roles(plan, roles);
  signal_watch signals;
  signals.attach(plan);
  run_outcome ended = [&] {
    require_no_exit();
    const outside_interpreter others_run(signals.stops());
    return resume ? resume_session(std::move(plan)) : start_session(std::move(plan));
  }();
  signals.raise();
  return ended;
}

run_outcome run(const std::string& config, const std::vector<std::string>& overrides,
                const py::object& operators, const py::object& select, const py::object& archive,
                const py::object& stop, const py::object& fitness, const py::object& sinks,
                const py::object& message) {
  session_plan plan = load_config(config, {.overrides = overrides, .plugins = &plugins()});
  return carry_out(std::move(plan), {operators, select, archive, stop, fitness, sinks, message}, false);
}

run_outcome resume(const std::string& folder, const std::vector<std::string>& overrides,
                   const std::string& task, const py::object& operators, const py::object& select,
                   const py::object& archive, const py::object& stop, const py::object& fitness,
                   const py::object& sinks, const py::object& message) {
  session_plan plan = load_recorded_config(folder, {.overrides = overrides, .plugins = &plugins()}, task);
  return carry_out(std::move(plan), {operators, select, archive, stop, fitness, sinks, message}, true);
}

std::optional<std::pair<double, double>> interval_of(const run_outcome& r) {
  if (!r.best || r.best.speedup <= 0) return std::nullopt;
  return std::pair{r.best.speedup_interval.low, r.best.speedup_interval.high};
}

void bind_outcome(py::module_& module) {
  py::class_<run_outcome>(module, "RunOutcome", "What came of a run.")
      .def_readonly("folder", &run_outcome::directory)
      .def_property_readonly("best",
                             [](const run_outcome& r) -> std::optional<candidate_id> {
                               if (!r.best) return std::nullopt;
                               return r.best.id;
                             })
      .def_property_readonly("best_program",
                             [](const run_outcome& r) -> std::optional<program> {
                               if (!r.best_program) return std::nullopt;
                               return *r.best_program;
                             })
      .def_readonly("best_file", &run_outcome::best_file)
      .def_property_readonly("score",
                             [](const run_outcome& r) -> std::optional<double> {
                               if (!r.best) return std::nullopt;
                               return r.best.score;
                             })
      .def_property_readonly("speedup",
                             [](const run_outcome& r) -> std::optional<double> {
                               if (!r.best || r.best.speedup <= 0) return std::nullopt;
                               return r.best.speedup;
                             })
      .def_property_readonly("speedup_interval", &interval_of)
      .def_property_readonly("confirmed",
                             [](const run_outcome& r) { return r.best && r.best.verdict.confirmed(); })
      .def_readonly("baseline", &run_outcome::baseline)
      .def_readonly("stopped_by", &run_outcome::stopped_by)
      .def_readonly("setbacks", &run_outcome::setbacks)
      .def_property_readonly("evaluations", [](const run_outcome& r) { return r.ledger.evaluations; })
      .def_property_readonly("confirmations", [](const run_outcome& r) { return r.ledger.confirmations; })
      .def_property_readonly("valid", [](const run_outcome& r) { return r.ledger.valid; })
      .def_property_readonly("proposals", [](const run_outcome& r) { return r.ledger.proposals; })
      .def_property_readonly("elapsed_s", [](const run_outcome& r) { return r.ledger.elapsed_s; })
      .def("__repr__", [](const run_outcome& r) {
        return "<kevo.RunOutcome " + r.directory + ", " + std::to_string(r.ledger.evaluations) +
               " evaluations, stopped by " + r.stopped_by + ">";
      });
}

}  // namespace

void bind_session(py::module_& module) {
  bind_outcome(module);
  const auto none = py::none();
  module.def("run", &run, py::arg("config"), py::arg("overrides"), py::arg("operators") = none,
             py::arg("select") = none, py::arg("archive") = none, py::arg("stop") = none,
             py::arg("fitness") = none, py::arg("sinks") = none, py::arg("message") = none);
  module.def("resume", &resume, py::arg("folder"), py::arg("overrides"), py::arg("task") = "",
             py::arg("operators") = none, py::arg("select") = none, py::arg("archive") = none,
             py::arg("stop") = none, py::arg("fitness") = none, py::arg("sinks") = none,
             py::arg("message") = none);
  module.def("register_plugin", &register_plugin, py::arg("kind"), py::arg("name"), py::arg("make"),
             py::arg("doc") = "");
}

}  // namespace kevo::python
