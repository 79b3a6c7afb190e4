#include "src/task/decode_workload.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/task_extents.hpp>

#include "src/task/decode.hpp"
#include "src/task/decode_file_input.hpp"
#include "src/task/decode_generator.hpp"

namespace kevo::task_decoding {
namespace {

constexpr double max_tensor_bytes = 1099511627776.0;  // 1 TiB: more is a slip of the pen

void decode_inputs(settings& one, const task& t, const workload_context& context, workload& made) {
  settings inputs = one.child_or_empty("inputs", "inputs that are not random: type, and value for a scalar");
  for (const auto& name : inputs.keys()) {
    const auto found = std::find_if(t.inputs.begin(), t.inputs.end(),
                                    [&](const tensor& input) { return input.name == name; });
    if (found == t.inputs.end()) {
      inputs.fail(name, "'" + detail::shown(name) + "' is not an input",
                  detail::hint_for(name, names_of(t.inputs), "inputs"));
    }
    settings input = inputs.child(name);
    workload_input recipe;
    const auto* type = input.raw().find("type");
    if (type != nullptr && type->text == "custom" && !context.makes_inputs) {
      input.fail("type", "the task names no function that makes inputs",
                 "name a function of a reference in Python: custom_inputs_entrypoint: make_inputs");
    }
    recipe.kind =
        input.text("type", {.doc = "kind of the input",
                            .one_of = {"random", "scalar", "npy", "safetensors", "matrix_market", "custom"}});
    if (recipe.kind == "custom" && found->scalar)
      input.fail("type", "'" + name + "' is a scalar: a function makes tensors only", "give it a value");
    if (is_file_type(recipe.kind)) {
      if (found->scalar)
        input.fail("type", "'" + name + "' is a scalar: it needs a value",
                   "write {type: scalar, value: 1.0}");
      if (!context.read)
        input.fail("type", "this task was not read from a file, so it cannot refer to files");
      const bool generated = made.generate.contains(name) || context.generated.contains(name);
      recipe = decode_file_input(input, recipe.kind, t, *found, made, context.read, generated);
      // FlashInfer's own tasks keep integers and know no generators: those stay as in the file in all calls.
      const bool theirs = recipe.kept && !context.strict;
      if (is_exact(*find_dtype(found->dtype)) && !generated && !theirs) {
        input.fail("type", "'" + name + "' is " + found->dtype + " from a file, and has no generator",
                   "some calls are checked with other values than those of the file: add generate: {" + name +
                       ": ...}");
      }
    } else if (recipe.kind == "scalar") {
      if (!found->scalar)
        input.fail("type", "'" + name + "' is a tensor, not a scalar",
                   "a scalar is declared with shape: null in the task");
      const auto* value = input.raw().find("value");
      if (value != nullptr && value->type == settings_node::kind::boolean) {
        recipe.value = input.boolean("value") ? 1 : 0;
      } else {
        recipe.value = input.real("value", {.doc = "value of the scalar"});
      }
      if (is_exact(*find_dtype(found->dtype)) && std::trunc(recipe.value) != recipe.value) {
        input.fail("value", "'" + name + "' is " + found->dtype + ", and this value is not a whole number",
                   "write an integer, or change the dtype of the input");
      }
    } else if (found->scalar) {
      input.fail("type", "'" + name + "' is a scalar: it needs a value", "write {type: scalar, value: 1.0}");
    }
    made.inputs[name] = recipe;
  }
  for (const auto& input : t.inputs) {
    if (input.scalar && !made.inputs.contains(input.name)) {
      one.fail("inputs", "the scalar '" + input.name + "' has no value",
               "add " + input.name + ": {type: scalar, value: 1.0}");
    }
  }
}

// Shapes have a value at this workload, and tensors fit into memory.
void require_extents(const settings& one, const task& t, const workload& made) {
  const auto values = axis_values(t, made);
  const auto extents_of = [&](const tensor& x) {
    try {
      return extents(x, values);
    } catch (const error& wrong) {
      one.fail("axes", "the shape of '" + x.name + "': " + wrong.message());
    }
  };
  for (const auto* tensors : {&t.inputs, &t.outputs}) {
    for (const auto& one_tensor : *tensors) {
      double bytes = static_cast<double>(find_dtype(one_tensor.dtype)->size);
      for (const auto extent : extents_of(one_tensor)) {
        if (extent < 1) {
          one.fail("axes", "'" + one_tensor.name + "' has the extent " + std::to_string(extent) +
                               " for this workload; extents are 1 or greater");
        }
        bytes *= static_cast<double>(extent);
      }
      if (bytes > max_tensor_bytes)
        one.fail("axes", "'" + one_tensor.name + "' would need more than 1 TiB of memory",
                 "give the axes of the workload smaller values");
    }
  }
}

// Whether constraints and cost make sense for a workload; mistakes are told at the workload.
void check_sizes(const settings& one, const task& t, const workload& made, const expression_places& places) {
  const auto values = axis_values(t, made);
  const symbol_lookup lookup = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  const auto value_of = [&](const expression& e) {
    try {
      return e.evaluate(lookup);
    } catch (const error& wrong) {
      one.fail("axes", wrong.message(), "the expression is in line " + std::to_string(wrong.place().line));
    }
  };
  for (std::size_t i = 0; i < t.constraints.size(); ++i) {
    if (value_of(t.constraints[i]) == 0) {
      one.fail("axes", "the workload violates the constraint '" + t.constraints[i].text() + "'",
               "the constraint is in line " + std::to_string(places.constraints[i].line));
    }
  }
  for (const auto& [cost, place] : places.costs) {
    if (value_of(cost) < 0) {
      one.fail("axes", "the cost '" + cost.text() + "' is negative for this workload",
               "the expression is in line " + std::to_string(place.line));
    }
  }
  for (const auto* chosen : {&t.tolerances, &made.tolerances}) {
    for (const auto& [output, rule] : *chosen) {
      if (rule.length && value_of(*rule.length) < 1) {
        one.fail("axes", "the length '" + rule.length->text() + "' of a tolerance is not positive");
      }
    }
  }
}

}  // namespace

workload decode_workload(settings& one, const task& t, const workload_context& context) {
  workload made;
  made.uuid = one.text("uuid", {.doc = "unique name of the workload"});
  if (made.uuid.empty()) one.fail("uuid", "a workload needs a uuid", "write uuid: NAME");
  settings axes = one.child_or_empty("axes", "value of each variable axis");
  for (const auto& name : axes.keys()) {
    const axis* known = find_axis(t, name);
    if (known == nullptr) {
      axes.fail(name, "'" + detail::shown(name) + "' is not an axis",
                detail::hint_for(name, names_of(t.axes), "axes"));
    }
    const auto value = axes.integer(name, {.min = 1, .max = max_extent});
    if (known->value && *known->value != value) {
      axes.fail(name, "'" + name + "' is constant, with the value " + std::to_string(*known->value),
                "remove it from the workload");
    }
    if (!known->value) made.axes[name] = value;
  }
  for (const auto& a : t.axes) {
    if (!a.value && !made.axes.contains(a.name)) {
      one.fail("axes", "the variable axis '" + a.name + "' has no value", "add " + a.name + ": <extent>");
    }
  }
  made.generate = decode_generators(one, t);
  made.tolerances = decode_tolerances(one, t);
  made.cache = one.text(
      "cache", {.def = "warm",
                .doc = "warm: call repeatedly without flushing; cold: flush the caches before each call",
                .one_of = {"warm", "cold"}});
  made.hidden = one.boolean("hidden", {.def = false,
                                       .doc = "whether the workload is hidden: it is used for checking only, "
                                              "is never timed and is never shown to operators"});
  made.weight =
      one.real("weight", {.def = 1.0, .above = 0.0, .doc = "weight in the geometric mean of the speedups"});
  check_sizes(one, t, made, context.places);
  require_extents(one, t, made);
  decode_inputs(one, t, context, made);
  require_some_secret(one, t, made);
  check_generators(one, t, made);
  return made;
}

}  // namespace kevo::task_decoding
