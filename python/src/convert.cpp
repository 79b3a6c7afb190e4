#include "python/src/convert.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <pybind11/stl.h>
#include <utility>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>
#include <kevo/plugins.hpp>

#include "src/task/source_file.hpp"

namespace kevo::python {
namespace py = pybind11;
namespace {

[[noreturn]] void refuse(py::handle value, const std::string& expected, const std::string& key = {}) {
  const std::string type = py::str(py::type::handle_of(value).attr("__name__"));
  throw error(error_code::usage, "expected " + expected + ", found a value of the type '" + type + "'",
              {.file = {}, .key = key});
}

bool is_path(py::handle value) {
  return py::hasattr(value, "__fspath__");
}

std::string path_of(py::handle value) {
  return py::str(value.attr("__fspath__")());
}

settings_node list_node(py::handle value, const std::string& key) {
  settings_node node;
  node.type = settings_node::kind::list;
  std::size_t index = 0;
  for (const py::handle item : value) node.items.push_back(node_from(item, path_below(key, index++)));
  return node;
}

settings_node map_node(py::handle value, const std::string& key) {
  settings_node node = settings_node::empty_map();
  for (const auto& [name, item] : py::reinterpret_borrow<py::dict>(value)) {
    if (!py::isinstance<py::str>(name)) refuse(name, "a text as the key of a setting", key);
    const std::string word = py::str(name);
    node.set(word, node_from(item, path_below(key, word)));
  }
  return node;
}

settings_node scalar_node(py::handle value, const std::string& key) {
  if (value.is_none()) return {};
  if (py::isinstance<py::bool_>(value)) return settings_node::of(value.cast<bool>());
  if (py::isinstance<py::int_>(value)) return settings_node::of(value.cast<std::int64_t>());
  if (py::isinstance<py::float_>(value)) return settings_node::of(value.cast<double>());
  if (py::isinstance<py::str>(value)) return settings_node::of(value.cast<std::string>());
  if (is_path(value)) return settings_node::of(path_of(value));
  refuse(value, "a setting: None, a boolean, a number, a text, a path, a list or a dict", key);
}

}  // namespace

settings_node node_from(py::handle value, const std::string& key) {
  settings_node node = py::isinstance<py::dict>(value) ? map_node(value, key)
                       : py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)
                           ? list_node(value, key)
                           : scalar_node(value, key);
  node.place.key = key;
  return node;
}

py::object object_from(const settings_node& node) {
  switch (node.type) {
    case settings_node::kind::null:
      return py::none();
    case settings_node::kind::boolean:
      return py::bool_(node.boolean);
    case settings_node::kind::integer:
      return py::int_(node.integer);
    case settings_node::kind::real:
      return py::float_(node.real);
    case settings_node::kind::text:
      return py::str(node.text);
    case settings_node::kind::list: {
      py::list list;
      for (const auto& item : node.items) list.append(object_from(item));
      return list;
    }
    case settings_node::kind::map: {
      py::dict map;
      for (const auto& entry : node.entries) map[py::str(entry.key)] = object_from(entry.value);
      return map;
    }
  }
  return py::none();
}

py::object measured(double value) {
  if (!(value > 0)) return py::none();
  return py::float_(value);
}

std::shared_ptr<const task> task_from(py::handle value) {
  if (py::isinstance<task_handle>(value)) return value.cast<const task_handle&>().task;
  if (py::isinstance<py::str>(value))
    return std::make_shared<const task>(load_task(value.cast<std::string>()));
  if (is_path(value)) return std::make_shared<const task>(load_task(path_of(value)));
  refuse(value, "a task: the path of its file, or what kevo.load_task returned", "task");
}

std::string usual_language(const task* subject) {
  if (subject == nullptr) return "text";
  if (!subject->seeds.empty()) return subject->seeds.front().language;
  return subject->reference && subject->reference->language != "cpp" ? subject->reference->language : "cpp";
}

program program_from(py::handle value, const std::string& language) {
  if (py::isinstance<program>(value)) return value.cast<const program&>();
  if (py::isinstance<py::str>(value)) return program_of(language, value.cast<std::string>());
  if (py::isinstance<py::dict>(value)) {
    program made{language, {}};
    for (const auto& [path, text] : py::reinterpret_borrow<py::dict>(value)) {
      if (!py::isinstance<py::str>(path) || !py::isinstance<py::str>(text))
        refuse(py::isinstance<py::str>(path) ? text : path, "a program: texts by their paths");
      made.files.push_back({path.cast<std::string>(), text.cast<std::string>()});
    }
    return made;
  }
  if (is_path(value)) return load_program(path_of(value), language == "text" ? "" : language);
  refuse(value, "a program: its text, a path, a dict of texts by path, or a kevo.Program");
}

evaluation_stage stage_from(const std::string& name) {
  if (const auto stage = parse_evaluation_stage(name); stage && *stage != evaluation_stage::none)
    return *stage;
  std::string known;
  for (const auto each : evaluation_stage_names) {
    if (each != "none") known += (known.empty() ? "" : ", ") + std::string(each);
  }
  throw error(error_code::usage, "unknown stage '" + name + "'", {.file = {}, .key = "stage"},
              "known: " + known);
}

evaluation evaluation_from(py::handle value) {
  if (py::isinstance<evaluation>(value)) return value.cast<const evaluation&>();
  if (py::isinstance<py::dict>(value)) {
    const auto type = py::module_::import("kevo._kevo").attr("Evaluation");
    return type(**py::reinterpret_borrow<py::dict>(value)).cast<evaluation>();
  }
  if (PyNumber_Check(value.ptr()) == 0)
    refuse(value, "what a fitness function returns: a kevo.Evaluation, a number, or a dict of its fields");
  evaluation made;
  made.outcome = outcome::valid;
  made.score = py::float_(py::reinterpret_borrow<py::object>(value));
  if (!std::isfinite(made.score))
    throw error(error_code::usage, "a score must be finite", {.file = {}, .key = "score"});
  return made;
}

registry& plugins() {
  // Never destroyed: what Python added would take the lock of an interpreter that has ended.
  static auto* const all = new registry(builtin_plugins());
  return *all;
}

}  // namespace kevo::python
