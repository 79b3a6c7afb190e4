#pragma once
// What Python hands over, as kevo's types. The callers have the interpreter's lock.

#include <memory>
#include <pybind11/pybind11.h>
#include <string>

#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/registry.hpp>
#include <kevo/settings_node.hpp>
#include <kevo/task.hpp>

namespace kevo::python {

/// A task that Python holds. Tasks are constants, which Python's wrappers have no word for.
struct task_handle {
  std::shared_ptr<const kevo::task> task;
};

/// None, booleans, numbers, texts, paths, lists and dicts as a node of a config. `key` names it in messages.
/// @throws kevo::error (usage) for anything else
settings_node node_from(pybind11::handle value, const std::string& key = {});

/// A node of a config as Python's value.
pybind11::object object_from(const settings_node& node);

/// A time or ratio, of which 0 means "not measured": None in Python.
pybind11::object measured(double value);

/// A path or a Task. @throws kevo::error (input) as load_task does
std::shared_ptr<const task> task_from(pybind11::handle value);

/// The language that candidates of a task are written in unless it is said: that of its first seed.
std::string usual_language(const task* subject);

/// A text (the main file), a path (os.PathLike, which is read), a dict of texts by path, or a Program.
/// @throws kevo::error (usage) for anything else; (input) for a file that cannot be read
program program_from(pybind11::handle value, const std::string& language);

/// A stage by its name. @throws kevo::error (usage) that lists the names
evaluation_stage stage_from(const std::string& name);

/// What a fitness function in Python returned: an Evaluation, a number (the score of a valid program), or a
/// dict whose keys are arguments of Evaluation.
/// @throws kevo::error (usage) for anything else
evaluation evaluation_from(pybind11::handle value);

/// The plug-ins that kevo ships, and those that Python added (`kevo.register`).
registry& plugins();

}  // namespace kevo::python
