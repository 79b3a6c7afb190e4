#pragma once
// Plug-ins written in Python: objects with the method names of the roles in C++ (docs/python.md), as kevo's
// type-erased roles. The conversions also take what a config would say (a name, or a dict with a type), for
// the plug-ins that kevo ships. The callers have the interpreter's lock; the results take it when they are
// used.

#include <memory>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/event.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/registry.hpp>
#include <kevo/select.hpp>
#include <kevo/stop.hpp>
#include <kevo/vary.hpp>

namespace kevo::python {

/// A variation operator: an object with `vary(request, random)`, or a function with these arguments. An
/// exception that it raises is the reason why there is no proposal; its traceback is noted in the transcript.
any_variation variation_from(pybind11::handle value, const build_context& context);

/// A selector: an object with `select(view, random)`, or such a function.
any_selector selector_from(pybind11::handle value, const build_context& context);

/// A stop rule: an object with `stop(progress)`, or such a function. A list of rules stops when one of them
/// does.
any_stop_rule stop_rule_from(pybind11::handle value, const build_context& context);

/// An archive: an object with `add`, `update`, `remove`, `size` (or `__len__`) and `at`.
any_archive archive_from(pybind11::handle value, const build_context& context);

/// A portfolio; Python writes none of its own.
any_portfolio portfolio_from(pybind11::handle value, const build_context& context);

/// A fitness function: an object with `evaluate(request)`, or such a function; Evaluators; or the section
/// `fitness` of a config.
any_fitness fitness_role_from(pybind11::handle value, const build_context& context);

/// A sink: an object with `consume(event)`, or such a function.
any_sink sink_from(pybind11::handle value);

/// Adds a class or function of Python to the plug-ins that configs may name: `kind` is "operator",
/// "selector", "stop_rule", "archive" or "fitness". The settings of a config become keyword arguments of
/// `make`.
/// @throws kevo::error (usage, input) for an unknown kind or a name in use
void register_plugin(const std::string& kind, const std::string& name, pybind11::object make,
                     const std::string& doc);

/// An event as a dict: `kind`, `sequence`, `time_s`, and what the event of that kind has
/// (include/kevo/event.hpp).
pybind11::dict event_dict(const event& what);

}  // namespace kevo::python
