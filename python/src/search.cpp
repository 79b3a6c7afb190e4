// kevo.Search: the state machine of kevo/search.hpp, driven by Python through ask and tell.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <kevo/memory_store.hpp>
#include <kevo/search.hpp>

#include "python/src/bind.hpp"
#include "python/src/convert.hpp"
#include "python/src/evaluators.hpp"
#include "python/src/interpreter.hpp"
#include "python/src/roles.hpp"
#include "python/src/views.hpp"

namespace kevo::python {
namespace {

/// A job that Python holds until it tells the result.
struct job_handle {
  kevo::job what;
  std::string operator_name;  ///< of a variation

  const char* kind() const {
    if (std::holds_alternative<variation_job>(what)) return "vary";
    if (std::holds_alternative<evaluation_job>(what)) return "evaluate";
    return std::holds_alternative<wait_job>(what) ? "wait" : "stop";
  }
  const variation_job& variation() const {
    if (const auto* job = std::get_if<variation_job>(&what)) return *job;
    throw error(error_code::usage, std::string("this is a job of the kind '") + kind() + "'");
  }
  const evaluation_job& evaluation() const {
    if (const auto* job = std::get_if<evaluation_job>(&what)) return *job;
    throw error(error_code::usage, std::string("this is a job of the kind '") + kind() + "'");
  }
};

/// What an operator did in a job.
struct turn_result {
  variation_result result = no_proposal{};
  spending cost;
  std::string transcript;
};

/// A fitness function, and whether it is written in Python.
struct judging {
  any_fitness function{};
  bool in_python = false;
};

judging judge_from(py::handle value, const build_context& context) {
  const bool shipped = py::isinstance<py::str>(value) || py::isinstance<py::dict>(value);
  return {fitness_role_from(value, context), !shipped && !judge_of(value)};
}

/// A search with the lock that its callers need: while a role in Python runs, other threads run, too.
class search_handle {
 public:
  search_handle(search_parts parts, search_settings settings, judging by)
      : task_(parts.task), engine_(std::move(parts), settings), judge_(std::move(by)) {}

  job_handle ask(bool vary, bool evaluate) {
    const entry inside(*this);
    job_handle made{engine_.ask({.vary = vary, .evaluate = evaluate}, now_s()), {}};
    if (const auto* turn = std::get_if<variation_job>(&made.what))
      made.operator_name = engine_.operators()[turn->op].name();
    return made;
  }

  void add_seed(py::handle source, const std::string& language) {
    const program seed = program_from(source, language.empty() ? usual_language(task_.get()) : language);
    const entry inside(*this);
    engine_.add_seed(seed, now_s());
  }

  /// Runs the operator of a job.
  turn_result vary(const job_handle& job) {
    variation_job turn = job.variation();
    turn_result made;
    std::mutex guard;  // an operator may have threads of its own
    auto services = engine_.services(turn, [this](const auto& call) {
      const std::scoped_lock lock(mutex_);
      call();
    });
    services.book = [&](const spending& more) {
      const std::scoped_lock lock(guard);
      made.cost += more;
    };
    services.note = [&](const std::string& text) {
      const std::scoped_lock lock(guard);
      made.transcript += text;
    };
    if (judge_.function) {
      services.evaluate_until = [this, id = turn.id](const program& draft, evaluation_stage wanted) {
        auto result = judged(judge_, {.program = std::make_shared<const program>(draft), .wanted = wanted});
        const std::scoped_lock lock(mutex_);
        engine_.tell_draft(id, draft, result, now_s());
        return result;
      };
      services.evaluate = [until = services.evaluate_until](const program& draft) {
        return until(draft, evaluation_stage::timed_full);
      };
    }
    turn.request.services = std::make_shared<const variation_services>(std::move(services));
    const double began_s = now_s();
    require_no_exit();
    const outside_interpreter others_run;
    any_variation& op = engine_.operators()[turn.op];
    made.result = op.vary(turn.request, turn.random);
    made.cost.wall_s += now_s() - began_s;
    return made;
  }

  /// Evaluates from now on, drafts of operators included.
  void use_fitness(py::handle fitness) { judge_ = judge_from(fitness, {.task = task_, .directory = "."}); }

  evaluation evaluate(const job_handle& job, const py::object& fitness) {
    const evaluation_job asked = job.evaluation();
    const judging by = fitness.is_none() ? judge_ : judge_from(fitness, {.task = task_, .directory = "."});
    if (!by.function)
      throw error(error_code::usage, "this search has no fitness function", {},
                  "pass one to run() or search()");
    require_no_exit();
    const outside_interpreter others_run;
    return judged(by, asked.request);
  }

  /// Ends the evaluations that are under way on other threads by an error with the code `interrupted`.
  void cancel() {
    const std::scoped_lock lock(cancelling_);
    cancelled_.request_stop();
    cancelled_ = std::stop_source();
  }

  void tell_variation(const job_handle& job, turn_result result) {
    const ticket id = job.variation().id;
    const entry inside(*this);
    engine_.tell(id, std::move(result.result), result.cost, std::move(result.transcript), now_s());
  }
  void tell_evaluation(const job_handle& job, py::handle result) {
    const ticket id = job.evaluation().id;
    evaluation made = with_stage(evaluation_from(result), job.evaluation().request.wanted);
    const entry inside(*this);
    engine_.tell(id, std::move(made), now_s());
  }
  /// What an operator would have returned: a program, a program and a summary, or None.
  void tell_proposal(const job_handle& job, const py::object& said) {
    const variation_job& turn = job.variation();
    const std::string language = turn.request.parents.empty()
                                     ? usual_language(task_.get())
                                     : turn.request.parents.front()->program->language;
    turn_result made;
    if (py::isinstance<py::tuple>(said)) {
      const auto pair = said.cast<std::pair<py::object, std::string>>();
      if (pair.first.is_none())
        made.result = no_proposal{pair.second};
      else
        made.result = proposal{program_from(pair.first, language), pair.second};
    } else if (said.is_none()) {
      made.result = no_proposal{"nothing was proposed"};
    } else {
      made.result = proposal{program_from(said, language), {}};
    }
    tell_variation(job, std::move(made));
  }

  void stop(const std::string& reason) {
    const entry inside(*this);
    engine_.stop(reason, now_s());
  }

  std::optional<candidate_snapshot> best() {
    const entry inside(*this);
    candidate_id id = engine_.best().id;
    if (id == no_candidate && engine_.population().ranked() > 0) id = engine_.population().nth_best(0);
    if (id == no_candidate) return std::nullopt;
    return engine_.snapshot(id);
  }
  std::optional<candidate_snapshot> champion() {
    const entry inside(*this);
    if (!engine_.best()) return std::nullopt;
    return engine_.snapshot(engine_.best().id);
  }
  candidate_snapshot candidate(candidate_id id) {
    const entry inside(*this);
    if (id >= engine_.graph().size())
      throw error(error_code::usage, "there is no candidate with the number " + std::to_string(id));
    return engine_.snapshot(id);
  }
  std::vector<std::pair<candidate_id, double>> elites() {
    const entry inside(*this);
    std::vector<std::pair<candidate_id, double>> all;
    for (std::size_t i = 0; i < engine_.archive().size(); ++i)
      all.emplace_back(engine_.archive().at(i).id, engine_.archive().at(i).score);
    return all;
  }
  std::size_t size() {
    const entry inside(*this);
    return engine_.graph().size();
  }
  progress now() {
    const entry inside(*this);
    return engine_.progress(now_s());
  }
  std::optional<std::string> stopped() {
    const entry inside(*this);
    return engine_.stopped();
  }

 private:
  /// One thread at a time uses the search. A role that is called by the search cannot use it.
  class entry {
   public:
    explicit entry(search_handle& of) : of_(of) {
      if (of.inside_ == std::this_thread::get_id())
        throw error(error_code::usage, "a role of a search cannot use the search while it is called");
      require_no_exit();
      const outside_interpreter others_run;
      of.mutex_.lock();
      of.inside_ = std::this_thread::get_id();
    }
    ~entry() {
      of_.inside_ = std::thread::id();
      of_.mutex_.unlock();
    }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

   private:
    search_handle& of_;
  };

  /// One evaluation. The caller has not the interpreter's lock.
  evaluation judged(const judging& by, evaluation_request request) {
    // On this thread, whose Ctrl-C the interpreter sees itself: to begin another takes longer than most such
    // functions.
    if (by.in_python) return by.function.evaluate(request);
    require_own_process();
    const std::stop_token cancelled = [this] {
      const std::scoped_lock lock(cancelling_);
      return cancelled_.get_token();
    }();
    const inside_interpreter lock;
    return interruptibly([&](const std::stop_token& interrupted) {
      std::stop_source either;
      const std::stop_callback first(interrupted, [&either] { either.request_stop(); });
      const std::stop_callback second(cancelled, [&either] { either.request_stop(); });
      request.stop = either.get_token();
      return by.function.evaluate(request);
    });
  }

  double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::shared_ptr<const task> task_;
  std::mutex mutex_;
  std::atomic<std::thread::id> inside_{};
  kevo::search engine_;
  judging judge_;
  std::mutex cancelling_;
  std::stop_source cancelled_;
};

std::unique_ptr<search_handle> make_search(const py::object& subject, const py::list& operators,
                                           const py::object& select, const py::object& archive,
                                           const py::object& portfolio, const py::object& stop,
                                           const py::object& fitness, const py::list& sinks,
                                           const py::list& seeds, std::uint64_t seed, std::uint32_t patience,
                                           std::size_t proposals_ahead) {
  search_parts parts;
  if (!subject.is_none()) parts.task = task_from(subject);
  const build_context context{.task = parts.task, .directory = ".", .seed = seed, .plugins = &plugins()};
  for (const py::handle op : operators) parts.operators.push_back(variation_from(op, context));
  if (parts.operators.empty())
    throw error(error_code::usage, "a search needs at least one operator", {.file = {}, .key = "operators"});
  parts.select = selector_from(select, context);
  parts.archive = archive_from(archive, context);
  parts.portfolio = portfolio_from(portfolio, context);
  parts.stop = stop_rule_from(stop, context);
  for (const py::handle sink : sinks) parts.sinks.push_back(sink_from(sink));
  judging by;
  if (!fitness.is_none()) by = judge_from(fitness, context);
  const auto subject_task = parts.task;
  auto made = std::make_unique<search_handle>(
      std::move(parts),
      search_settings{.seed = seed, .proposals_ahead = proposals_ahead, .patience = patience}, std::move(by));
  if (subject_task) {
    for (const auto& each : subject_task->seeds) made->add_seed(py::cast(each), {});
  }
  for (const py::handle each : seeds) made->add_seed(each, {});
  return made;
}

void bind_job(py::module_& module) {
  py::class_<turn_result>(module, "TurnResult", "What an operator did in a job.")
      .def_property_readonly("program",
                             [](const turn_result& t) -> std::optional<program> {
                               if (const auto* made = std::get_if<proposal>(&t.result)) return made->program;
                               return std::nullopt;
                             })
      .def_property_readonly("summary",
                             [](const turn_result& t) {
                               if (const auto* made = std::get_if<proposal>(&t.result)) return made->summary;
                               return std::get<no_proposal>(t.result).reason;
                             })
      .def_readonly("transcript", &turn_result::transcript);
  py::class_<job_handle>(module, "Job", "What a search wants done.")
      .def_property_readonly("kind", &job_handle::kind)
      .def_readonly("operator_name", &job_handle::operator_name)
      .def_property_readonly("request",
                             [](const job_handle& j) -> py::object {
                               if (std::holds_alternative<variation_job>(j.what))
                                 return py::cast(request_handle{j.variation().request});
                               return py::cast(j.evaluation().request);
                             })
      .def_property_readonly("candidate", [](const job_handle& j) { return j.evaluation().candidate; })
      .def("__repr__", [](const job_handle& j) { return std::string("<kevo.Job ") + j.kind() + ">"; });
  py::class_<no_proposal>(module, "NoProposal", "The answer of an operator that made no program.")
      .def(py::init([](std::string reason, bool exhausted) {
             return no_proposal{std::move(reason), exhausted};
           }),
           py::arg("reason"), py::arg("exhausted") = false)
      .def_readonly("reason", &no_proposal::reason)
      .def_readonly("exhausted", &no_proposal::exhausted);
}

}  // namespace

void bind_search(py::module_& module) {
  bind_job(module);
  py::class_<search_handle>(module, "Search", "A search, driven by ask and tell.")
      .def(py::init(&make_search), py::arg("task") = py::none(), py::kw_only(), py::arg("operators"),
           py::arg("select") = "greedy", py::arg("archive") = "top_k", py::arg("portfolio") = "ucb1",
           py::arg("stop") = py::none(), py::arg("fitness") = py::none(), py::arg("sinks") = py::list(),
           py::arg("seeds") = py::list(), py::arg("seed") = 1, py::arg("patience") = 50,
           py::arg("proposals_ahead") = 4)
      .def("ask", &search_handle::ask, py::kw_only(), py::arg("vary") = true, py::arg("evaluate") = true)
      .def("add_seed", &search_handle::add_seed, py::arg("source"), py::arg("language") = "")
      .def("vary", &search_handle::vary, py::arg("job"))
      .def("evaluate", &search_handle::evaluate, py::arg("job"), py::arg("fitness") = py::none())
      .def("_tell_turn", &search_handle::tell_variation, py::arg("job"), py::arg("result"))
      .def("_tell_proposal", &search_handle::tell_proposal, py::arg("job"), py::arg("result"))
      .def("_tell_evaluation", &search_handle::tell_evaluation, py::arg("job"), py::arg("result"))
      .def("_use_fitness", &search_handle::use_fitness, py::arg("fitness"))
      .def("_cancel", &search_handle::cancel)
      .def("stop", &search_handle::stop, py::arg("reason") = "stopped")
      .def_property_readonly("best", &search_handle::best)
      .def_property_readonly("champion", &search_handle::champion)
      .def_property_readonly("elites", &search_handle::elites)
      .def_property_readonly("progress", &search_handle::now)
      .def_property_readonly("stopped", &search_handle::stopped)
      .def("candidate", &search_handle::candidate, py::arg("id"))
      .def("__len__", &search_handle::size);
}

}  // namespace kevo::python
