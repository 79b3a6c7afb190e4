#include "python/src/roles.hpp"

#include <cmath>
#include <exception>
#include <functional>
#include <optional>
#include <pybind11/stl.h>
#include <utility>

#include <kevo/error.hpp>
#include <kevo/program.hpp>
#include <kevo/stop/any_of.hpp>

#include "python/src/convert.hpp"
#include "python/src/errors.hpp"
#include "python/src/evaluators.hpp"
#include "python/src/interpreter.hpp"
#include "python/src/views.hpp"

namespace kevo::python {
namespace {

bool has(const held_object& role, const char* method) {
  return py::hasattr(role.get(), method);
}

/// The method of a role, or the role itself where it is a function.
py::object method_of(const held_object& role, const char* method) {
  if (has(role, method)) return role.get().attr(method);
  return role.get();
}

std::string name_of(py::handle role) {
  if (py::hasattr(role, "name")) {
    const py::object name = role.attr("name");
    return py::str(PyCallable_Check(name.ptr()) != 0 ? name() : name);
  }
  if (py::hasattr(role, "__name__")) return py::str(role.attr("__name__"));
  return py::str(py::type::handle_of(role).attr("__name__"));
}

/// A member that may be a method, an attribute, or absent.
template <class T>
T value_of(py::handle role, const char* member, T usual) {
  if (!py::hasattr(role, member)) return usual;
  const py::object found = role.attr(member);
  return (PyCallable_Check(found.ptr()) != 0 ? found() : found).cast<T>();
}

bool on_main_thread() {
  const auto threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

struct python_variation {
  explicit python_variation(py::object op)
      : role(op),
        known_as(name_of(op)),
        at_once(value_of<std::size_t>(op, "concurrency", 1)),
        repeatable(value_of(op, "replayable", false)),
        from_failures(value_of(op, "repairs", true)) {}

  std::string name() const { return known_as; }
  std::size_t concurrency() const { return at_once; }
  bool replayable() const { return repeatable; }
  bool repairs() const { return from_failures; }

  variation_result vary(const variation_request& request, rng& random) {
    const inside_interpreter lock;
    const py::object shown = py::cast(request_handle{request});
    const py::object drawn = py::cast(random_handle{random});
    struct end_of_call {  // also where the call ends by an exception: what the services refer to ends, too
      const py::object& shown;
      const py::object& drawn;
      rng& random;
      ~end_of_call() {
        shown.cast<request_handle&>().request.services.reset();
        random = drawn.cast<random_handle&>().numbers;
      }
    } const ending{shown, drawn, random};
    try {
      return result_from(method_of(role, "vary")(shown, drawn), request);
    } catch (const py::error_already_set& raised) {
      return failure(raised, request);
    } catch (const std::exception& wrong) {  // what it returned is no program, or no valid Unicode
      return no_proposal{known_as + ": " + wrong.what()};
    }
  }

  void observe(const observation& seen) {
    const inside_interpreter lock;
    if (has(role, "observe")) role.get().attr("observe")(seen);
  }

 private:
  static variation_result result_from(const py::object& said, const variation_request& request) {
    if (said.is_none()) return no_proposal{"the operator made no proposal"};
    std::string language = request.parents.empty() ? usual_language(request.task.get())
                                                   : request.parents.front()->program->language;
    if (py::isinstance<no_proposal>(said)) return said.cast<no_proposal>();
    if (!py::isinstance<py::tuple>(said)) return proposal{program_like(said, language, request), {}};
    const auto pair = py::reinterpret_borrow<py::tuple>(said);
    if (pair.size() != 2)
      throw error(error_code::usage, "an operator returns a program, or a program and a summary");
    if (pair[0].is_none()) return no_proposal{py::str(pair[1])};
    return proposal{program_like(pair[0], language, request), py::str(pair[1])};
  }

  /// A text is the main file of the first parent, changed; its other files stay.
  static program program_like(py::handle said, const std::string& language,
                              const variation_request& request) {
    if (!py::isinstance<py::str>(said) || request.parents.empty()) return program_from(said, language);
    program child = *request.parents.front()->program;
    if (child.files.empty()) return program_from(said, language);
    child.files.front().text = said.cast<std::string>();
    return child;
  }

  variation_result failure(const py::error_already_set& raised, const variation_request& request) const {
    // What ends the run or the evaluation of a draft is no failure of the operator.
    if (const auto wrong = kevo_error_in(raised);
        wrong && (wrong->code() == error_code::interrupted || wrong->code() == error_code::environment))
      throw error(*wrong);
    if (!raised.matches(PyExc_Exception) && on_main_thread()) throw py::error_already_set(raised);
    const std::string trace = traceback_of(raised);
    const std::string reason = known_as + " raised " + line_of(raised);
    const outside_interpreter others_run;
    request.note(trace);
    return no_proposal{reason};
  }

  held_object role;
  std::string known_as;
  std::size_t at_once;
  bool repeatable;
  bool from_failures;
};
static_assert(variation<python_variation>);

memory_scope scope_from(const std::string& name) {
  for (std::size_t i = 0; i < memory_scope_names.size(); ++i) {
    if (memory_scope_names[i] == name) return static_cast<memory_scope>(i);
  }
  throw error(error_code::usage, "unknown scope '" + name + "'", {.file = {}, .key = "scope"});
}

/// A number, a list of numbers, or a dict with the members of `selection`.
selection selection_from(const py::object& said, const view_handle& view) {
  selection chosen;
  const auto ids = [&](py::handle from) {
    std::vector<candidate_id> all;
    if (py::isinstance<py::int_>(from)) return std::vector{view.checked(from.cast<candidate_id>())};
    for (const py::handle one : from) all.push_back(view.checked(one.cast<candidate_id>()));
    return all;
  };
  if (py::isinstance<py::dict>(said)) {
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(said)) {
      const std::string name = py::str(key);
      if (name == "parents")
        chosen.parents = ids(value);
      else if (name == "inspirations")
        chosen.inspirations = ids(value);
      else if (name == "scope")
        chosen.scope = scope_from(py::str(value));
      else if (name == "reevaluate")
        chosen.reevaluate = value.cast<bool>();
      else
        throw error(error_code::usage, "unknown key '" + name + "' of a selection",
                    {.file = {}, .key = name});
    }
  } else {
    chosen.parents = ids(said);
  }
  if (chosen.parents.empty()) throw error(error_code::usage, "a selector has to name at least one parent");
  return chosen;
}

struct python_selector {
  held_object role;

  selection select(const population_view& view, rng& random) {
    const inside_interpreter lock;
    const py::object shown = py::cast(view_handle{&view});
    const py::object drawn = py::cast(random_handle{random});
    const auto end = [&] {
      shown.cast<view_handle&>().view = nullptr;
      random = drawn.cast<random_handle&>().numbers;
    };
    try {
      selection chosen = selection_from(method_of(role, "select")(shown, drawn), {&view});
      end();
      return chosen;
    } catch (...) {
      end();
      throw;
    }
  }
  void observe(const observation& seen) {
    const inside_interpreter lock;
    if (has(role, "observe")) role.get().attr("observe")(seen);
  }
  bool ready(const pending_work& pending) const {
    const inside_interpreter lock;
    if (!has(role, "ready")) return true;
    return py::bool_(role.get().attr("ready")(pending.variations, pending.proposals, pending.measurements));
  }
};
static_assert(selector<python_selector>);

struct python_stop_rule {
  held_object role;

  std::optional<std::string> stop(const progress& now) {
    const inside_interpreter lock;
    const py::object said = method_of(role, "stop")(now);
    if (py::isinstance<py::str>(said)) return said.cast<std::string>();
    if (PyObject_IsTrue(said.ptr()) == 1) return name_of(role.get());
    return std::nullopt;
  }
  void observe(const progress& now) {
    const inside_interpreter lock;
    if (has(role, "observe")) role.get().attr("observe")(now);
  }
};
static_assert(stop_rule<python_stop_rule>);

struct python_fitness {
  held_object role;

  evaluation evaluate(const evaluation_request& request) {
    const inside_interpreter lock;
    evaluation made = evaluation_from(method_of(role, "evaluate")(request));
    if (made.backend.empty()) made.backend = "python";
    return made;
  }
  std::string describe() const {
    const inside_interpreter lock;
    if (has(role, "describe")) return py::str(role.get().attr("describe")());
    return "python: " + name_of(role.get());
  }
};
static_assert(fitness<python_fitness>);

archive_result archive_answer(const py::object& said) {
  const auto named = [](const std::string& name) {
    for (std::size_t i = 0; i < archive_status_names.size(); ++i) {
      if (archive_status_names[i] == name) return static_cast<archive_status>(i);
    }
    throw error(error_code::usage,
                "an archive answers 'rejected', 'improved' or 'new_cell', not '" + name + "'");
  };
  if (py::isinstance<py::str>(said)) return {named(said.cast<std::string>()), 0};
  const auto pair = said.cast<std::pair<std::string, double>>();
  return {named(pair.first), pair.second};
}

struct python_archive {
  held_object role;
  std::vector<std::string> names{};

  archive_result add(const archive_entry& entry) { return offer("add", entry); }
  archive_result update(const archive_entry& entry) { return offer("update", entry); }
  bool remove(candidate_id id) {
    const inside_interpreter lock;
    return py::bool_(role.get().attr("remove")(id));
  }
  std::optional<elite> sample(rng& random) const {
    const std::size_t count = size();
    if (count == 0) return std::nullopt;
    return at(random.below(count));
  }
  std::size_t size() const {
    const inside_interpreter lock;
    return has(role, "size") ? role.get().attr("size")().cast<std::size_t>() : py::len(role.get());
  }
  elite at(std::size_t i) const {
    const inside_interpreter lock;
    const auto pair = role.get().attr("at")(i).cast<std::pair<candidate_id, double>>();
    return {pair.first, pair.second, 0};
  }
  std::vector<std::string> measures() const { return names; }
  bool wants_source() const { return true; }

 private:
  archive_result offer(const char* method, const archive_entry& entry) {
    const inside_interpreter lock;
    py::dict shown;
    shown["id"] = entry.id;
    shown["score"] = entry.score;
    py::dict values;
    for (std::size_t i = 0; i < std::min(names.size(), entry.measures.size()); ++i) {
      if (!std::isnan(entry.measures[i])) values[py::str(names[i])] = entry.measures[i];
    }
    shown["measures"] = values;
    shown["parents"] = std::vector<candidate_id>(entry.parents.begin(), entry.parents.end());
    shown["program"] = entry.source ? py::cast(*entry.source) : py::none();
    return archive_answer(role.get().attr(method)(**shown));
  }
};
static_assert(archive<python_archive>);

/// A role of Python's, or a plug-in as a config says it: a name or a dict with a type.
template <class Made, class Table>
std::optional<Made> shipped(py::handle value, const Table& table, const build_context& context,
                            const char* key) {
  if (!py::isinstance<py::str>(value) && !py::isinstance<py::dict>(value)) return std::nullopt;
  settings_node node = node_from(value, key);
  if (node.type == settings_node::kind::text) {
    settings_node map = settings_node::empty_map();
    map.set("type", std::move(node));
    node = std::move(map);
    node.place.key = key;
  }
  settings reader(std::move(node));
  Made made = table.make(reader, context);
  reader.finish();
  return made;
}

py::object require(py::handle value, const char* method, const char* role) {
  const bool is_class = PyType_Check(value.ptr()) != 0;
  if (!is_class && (py::hasattr(value, method) || PyCallable_Check(value.ptr()) != 0))
    return py::reinterpret_borrow<py::object>(value);
  throw error(error_code::usage,
              std::string("expected ") + role + ": an object with the method '" + method +
                  "', a function, or a plug-in of kevo's as a config names it",
              {}, is_class ? "make an instance of the class" : "");
}

}  // namespace

any_variation variation_from(py::handle value, const build_context& context) {
  if (auto made = shipped<any_variation>(value, plugins().operators, context, "operators")) return *made;
  return python_variation(require(value, "vary", "a variation operator"));
}

any_selector selector_from(py::handle value, const build_context& context) {
  if (auto made = shipped<any_selector>(value, plugins().selectors, context, "select")) return *made;
  return python_selector{held_object(require(value, "select", "a selector"))};
}

any_stop_rule stop_rule_from(py::handle value, const build_context& context) {
  if (value.is_none()) return {};
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    stop::any_of any;
    for (const py::handle each : value) any.rules.push_back(stop_rule_from(each, context));
    return any;
  }
  if (py::isinstance<py::dict>(value)) {
    settings reader(node_from(value, "stop"));
    any_stop_rule made = plugins().make_stop_rule(reader, context);
    reader.finish();
    return made;
  }
  return python_stop_rule{held_object(require(value, "stop", "a stop rule"))};
}

any_archive archive_from(py::handle value, const build_context& context) {
  if (auto made = shipped<any_archive>(value, plugins().archives, context, "archive")) return *made;
  const py::object role = require(value, "add", "an archive");
  return python_archive{held_object(role), value_of(role, "measures", std::vector<std::string>())};
}

any_portfolio portfolio_from(py::handle value, const build_context& context) {
  if (auto made = shipped<any_portfolio>(value, plugins().portfolios, context, "portfolio")) return *made;
  throw error(error_code::usage, "a portfolio is one of kevo's, as a config names it",
              {.file = {}, .key = "portfolio"});
}

any_fitness fitness_role_from(py::handle value, const build_context& context) {
  if (py::isinstance<py::str>(value) || py::isinstance<py::dict>(value)) {
    if (!context.task)
      throw error(error_code::usage, "a fitness function of kevo's needs a task",
                  {.file = {}, .key = "task"});
    return fitness_from(node_from(value, "fitness"), context.task, context.builds);
  }
  if (auto judge = judge_of(value)) return *judge;
  return python_fitness{held_object(require(value, "evaluate", "a fitness function"))};
}

any_sink sink_from(py::handle value) {
  struct python_sink {
    held_object role;
    void consume(const event& what) const {
      const inside_interpreter lock;
      method_of(role, "consume")(event_dict(what));
    }
    void close() const {
      const inside_interpreter lock;
      if (has(role, "close")) role.get().attr("close")();
    }
  };
  return python_sink{held_object(require(value, "consume", "a sink"))};
}

}  // namespace kevo::python
