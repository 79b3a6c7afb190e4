#include "python/src/evaluators.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <thread>
#include <utility>

#include <kevo/annotation.hpp>
#include <kevo/content_id.hpp>
#include <kevo/error.hpp>
#include <kevo/registry.hpp>

#include "python/src/bind.hpp"
#include "python/src/convert.hpp"
#include "python/src/errors.hpp"
#include "python/src/interpreter.hpp"

namespace kevo::python {
namespace {

evaluation refused(const std::string& reason) {
  evaluation result;
  result.outcome = outcome::build_failed;
  result.feedback = reason;
  result.reasons = {reason};
  return result;
}

std::optional<evaluation> evaluate_one(const any_fitness& judge, const program& source,
                                       const batch_settings& how, const std::stop_token& stop) {
  try {
    parse_annotations(source);
  } catch (const error& wrong) {
    return refused(wrong.what());
  }
  try {
    return judge.evaluate({.program = std::make_shared<const program>(source),
                           .wanted = how.wanted,
                           .best_speedup = how.best_speedup,
                           .fresh = how.fresh,
                           .stop = stop});
  } catch (const error& wrong) {
    if (wrong.code() == error_code::interrupted && stop.stop_requested()) return std::nullopt;
    throw;
  }
}

/// Requests a stop after some seconds, unless it is destroyed before.
class time_limit {
 public:
  time_limit(std::stop_source source, std::optional<double> seconds) {
    if (!seconds) return;
    waiter_ = std::jthread([this, source, length = *seconds](const std::stop_token& over) mutable {
      std::unique_lock lock(mutex_);
      if (!ended_.wait_for(lock, over, std::chrono::duration<double>(length), [] { return false; }) &&
          !over.stop_requested())
        source.request_stop();
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread waiter_;
};

/// `kevo.Evaluators`: what Python holds.
class evaluators {
 public:
  evaluators(std::shared_ptr<const task> subject, any_fitness judge, std::size_t workers)
      : subject_(std::move(subject)), judge_(std::move(judge)), workers_(workers) {}

  py::list evaluate_many(const py::iterable& sources, const std::string& stage,
                         std::optional<double> timeout_s, double best_speedup, bool fresh) {
    require_open();
    const batch_settings how{stage_from(stage), best_speedup, fresh, workers_};
    std::vector<program> programs;
    std::vector<std::optional<evaluation>> refusals;  // of what is no program at all
    for (const py::handle source : sources) {
      auto refusal = take(source, programs);
      refusals.push_back(std::move(refusal));
    }
    auto results = judge_all(programs, how, timeout_s);
    py::list all;
    std::size_t next = 0;
    for (auto& refusal : refusals)
      all.append(py::cast(refusal ? std::move(refusal) : std::move(results[next++])));
    return all;
  }

  std::optional<evaluation> evaluate(py::handle source, const std::string& stage,
                                     std::optional<double> timeout_s, double best_speedup, bool fresh) {
    py::list one;
    one.append(source);
    return evaluate_many(one, stage, timeout_s, best_speedup, fresh)[0].cast<std::optional<evaluation>>();
  }

  void close() { judge_ = {}; }
  bool closed() const { return !judge_; }
  std::string describe() const { return judge_ ? judge_.describe() : "closed"; }
  task_handle subject() const { return {subject_}; }
  std::size_t workers() const { return workers_; }
  const any_fitness& judge() const { return judge_; }

 private:
  void require_open() const {
    require_own_process();
    if (!judge_) throw error(error_code::usage, "these evaluators are closed");
  }

  /// Adds a program, or says why it is none: the words of a model may be anything.
  std::optional<evaluation> take(py::handle source, std::vector<program>& programs) const {
    try {
      programs.push_back(program_from(source, usual_language(subject_.get())));
      return std::nullopt;
    } catch (const error& wrong) {
      return refused(wrong.what());
    } catch (const py::error_already_set& raised) {
      return refused(line_of(raised));
    } catch (const py::cast_error&) {  // a text with halves of Unicode's surrogate pairs
      return refused("the text of the program is not valid Unicode");
    }
  }

  std::vector<std::optional<evaluation>> judge_all(const std::vector<program>& programs,
                                                   const batch_settings& how,
                                                   std::optional<double> timeout_s) {
    return interruptibly([&, judge = judge_](const std::stop_token& interrupted) {
      std::stop_source stop;
      const std::stop_callback passed_on(interrupted, [&stop] { stop.request_stop(); });
      const time_limit limit(stop, timeout_s);
      return evaluate_all(judge, programs, how, stop.get_token());
    });
  }

  std::shared_ptr<const task> subject_;
  any_fitness judge_;
  std::size_t workers_;
};

std::unique_ptr<evaluators> make_evaluators(py::handle subject, std::size_t workers,
                                            const py::object& fitness) {
  if (workers == 0)
    throw error(error_code::usage, "at least one worker is needed", {.file = {}, .key = "workers"});
  auto loaded = task_from(subject);
  settings_node section = fitness.is_none() ? settings_node::empty_map() : node_from(fitness, "fitness");
  any_fitness judge = fitness_from(std::move(section), loaded, workers);
  return std::make_unique<evaluators>(std::move(loaded), std::move(judge), workers);
}

}  // namespace

any_fitness fitness_from(settings_node section, const std::shared_ptr<const task>& subject,
                         std::size_t builds) {
  const bool named = section.type == settings_node::kind::text;  // "cpu" for {backend: cpu}
  if (named) {
    settings_node map = settings_node::empty_map();
    map.set("backend", std::move(section));
    section = std::move(map);
  }
  section.place.key = "fitness";
  if (section.find("backend") == nullptr) {
    const std::string language = subject->reference ? subject->reference->language : "cpp";
    section.set("backend", settings_node::of(language == "cuda"     ? "cuda"
                                             : language == "python" ? "torch"
                                                                    : "cpu"));
  }
  const registry& all = plugins();
  settings reader(std::move(section));
  any_fitness made = all.fitness.make(
      reader, {.task = subject, .directory = ".", .builds = builds, .plugins = &all}, "backend");
  reader.finish();
  return made;
}

std::vector<std::optional<evaluation>> evaluate_all(const any_fitness& judge,
                                                    const std::vector<program>& programs,
                                                    const batch_settings& how, const std::stop_token& stop) {
  std::map<content_id, std::size_t> first;  // where a program stands first
  std::vector<std::size_t> same_as(programs.size());
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto [place, is_new] = first.try_emplace(id_of(programs[i]), i);
    same_as[i] = place->second;
    if (is_new) different.push_back(i);
  }
  std::vector<std::optional<evaluation>> results(programs.size());
  std::stop_source all_end;
  const std::stop_callback passed_on(stop, [&all_end] { all_end.request_stop(); });
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::exception_ptr fault;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(how.workers, different.size()); ++i) {
      threads.emplace_back([&] {
        for (std::size_t n = next++; n < different.size() && !all_end.stop_requested(); n = next++) {
          try {
            results[different[n]] = evaluate_one(judge, programs[different[n]], how, all_end.get_token());
          } catch (...) {
            const std::scoped_lock lock(guard);
            if (!fault) fault = std::current_exception();
            all_end.request_stop();
          }
        }
      });
    }
  }
  if (fault) std::rethrow_exception(fault);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (same_as[i] != i) results[i] = results[same_as[i]];
  }
  return results;
}

std::optional<any_fitness> judge_of(py::handle value) {
  if (!py::isinstance<evaluators>(value)) return std::nullopt;
  const auto& judges = value.cast<const evaluators&>();
  if (judges.closed()) throw error(error_code::usage, "these evaluators are closed");
  return judges.judge();
}

void bind_evaluators(py::module_& module) {
  py::class_<evaluators>(module, "Evaluators", "Judges programs of one task, several at once.")
      .def(py::init(&make_evaluators), py::arg("task"), py::kw_only(), py::arg("workers") = 2,
           py::arg("fitness") = py::none())
      .def("evaluate_many", &evaluators::evaluate_many, py::arg("sources"), py::kw_only(),
           py::arg("stage") = "timed_full", py::arg("timeout_s") = py::none(), py::arg("best_speedup") = 0.0,
           py::arg("fresh") = false)
      .def("evaluate", &evaluators::evaluate, py::arg("source"), py::kw_only(),
           py::arg("stage") = "timed_full", py::arg("timeout_s") = py::none(), py::arg("best_speedup") = 0.0,
           py::arg("fresh") = false)
      .def("close", &evaluators::close)
      .def_property_readonly("closed", &evaluators::closed)
      .def_property_readonly("task", &evaluators::subject)
      .def_property_readonly("workers", &evaluators::workers)
      .def("describe", &evaluators::describe)
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](evaluators& self, const py::args&) { self.close(); });
}

}  // namespace kevo::python
