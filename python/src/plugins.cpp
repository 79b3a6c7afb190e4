// Classes and functions of Python as plug-ins that configs may name (`kevo.register`).

#include <string>
#include <utility>

#include <kevo/error.hpp>
#include <kevo/registry.hpp>
#include <kevo/settings.hpp>

#include "python/src/convert.hpp"
#include "python/src/interpreter.hpp"
#include "python/src/roles.hpp"

namespace kevo::python {
namespace {

/// Makes the role of Python's that a config names: `make` with its settings as keyword arguments.
py::object instance(const held_object& make, settings& from) {
  py::dict words;
  for (const auto& key : from.keys()) {
    if (key == "type" || key == "backend") continue;
    if (const settings_node* node = from.raw(key)) words[py::str(key)] = object_from(*node);
  }
  return make.get()(**words);
}

}  // namespace

void register_plugin(const std::string& kind, const std::string& name, py::object make,
                     const std::string& doc) {
  const held_object held(std::move(make));
  const auto making = [held, name](auto from) {
    return [held, name, from](settings& reader, const build_context& context) {
      const inside_interpreter lock;
      if (reader.probing())
        throw error(error_code::usage, "'" + name + "' is written in Python and has no list of keys");
      return from(instance(held, reader), context);
    };
  };
  registry& all = plugins();
  if (kind == "operator") return all.operators.add(name, making(variation_from), doc);
  if (kind == "selector") return all.selectors.add(name, making(selector_from), doc);
  if (kind == "archive") return all.archives.add(name, making(archive_from), doc);
  if (kind == "fitness") return all.fitness.add(name, making(fitness_role_from), doc);
  if (kind == "stop_rule") {
    // The key of a stop rule is its name, and its value the argument.
    return all.stop_rules.add(
        name,
        [held, name](settings& reader, const build_context& context) {
          const inside_interpreter lock;
          const settings_node* node = reader.raw(name);
          return stop_rule_from(node == nullptr ? held.get()() : held.get()(object_from(*node)), context);
        },
        doc);
  }
  throw error(error_code::usage, "unknown kind of plug-in '" + kind + "'", {.file = {}, .key = "kind"},
              "known: operator, selector, archive, fitness, stop_rule");
}

}  // namespace kevo::python
