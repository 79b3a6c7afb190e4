#include "src/task/decode_tensors.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/error.hpp>

#include "src/task/decode.hpp"
#include "src/task/decode_generator.hpp"

namespace kevo::task_decoding {
namespace {

std::string decode_dtype(settings& one) {
  std::string name = one.text("dtype", {.doc = "element type"});
  if (find_dtype(name)) return name;
  if (std::find(planned_dtypes.begin(), planned_dtypes.end(), name) != planned_dtypes.end()) {
    not_supported_yet(one, "dtype", "dtype " + name);
  }
  one.fail("dtype", "unknown dtype '" + detail::shown(name) + "'",
           detail::hint_for(name, dtype_names(), "known dtypes"));
}

void decode_shape(settings& one, const task& of, tensor& made) {
  one.require("shape");
  const settings_node* shape = one.raw(
      "shape", "axes or expressions of axes, outermost first; null declares a scalar", "list of texts");
  if (shape->type == settings_node::kind::null) {
    made.scalar = true;
    return;
  }
  if (!shape->is_list())
    one.fail("shape", "expected a list of axes, found " + describe(*shape), "write [M, K]");
  for (const auto& item : shape->items) {
    if (item.type != settings_node::kind::text) {
      throw error(error_code::input, "expected the name of an axis, found " + describe(item), item.place,
                  "make it an axis: {type: const, value: " + item.text + "}");
    }
    if (find_axis(of, item.text) == nullptr) decode_expression(item, of.axes);
    made.shape.push_back(item.text);
  }
}

}  // namespace

std::vector<axis> decode_axes(settings& reader) {
  std::vector<axis> made;
  settings axes = reader.child("axes", "axes of the tensors, by name");
  if (axes.keys().empty())
    reader.fail("axes", "a task needs at least one axis", "for example, axes: {n: {type: var}}");
  for (const auto& name : axes.keys()) {
    check_identifier(name, axes.place(name), "an axis");
    settings one = axes.child(name);
    axis result;
    result.name = name;
    if (const auto* type = one.raw().find("type");
        type != nullptr && (type->text == "expr" || type->text == "derived")) {
      not_supported_yet(one, "type", "an axis computed from other axes");
    }
    const auto type =
        one.text("type", {.doc = "var: each workload gives the extent; const: the task gives it under value",
                          .one_of = {"var", "const"}});
    if (type == "const") {
      result.value = one.integer("value", {.min = 1, .max = max_extent, .doc = "extent of a constant axis"});
    } else if (one.has("value")) {
      one.fail("value", "a variable axis gets its value from the workloads", "write type: const");
    }
    result.description = one.text("description", {.def = ""});
    one.optional<std::string>("parent", {.doc = "hint of FlashInfer-Bench; not used by kevo"});
    made.push_back(std::move(result));
  }
  return made;
}

std::vector<tensor> decode_tensors(settings& reader, const task& of, const std::string& key) {
  const bool input = key == "inputs";
  settings all = reader.child(key, input ? "inputs of a candidate, in the order of its arguments"
                                         : "outputs of a candidate, in the order of its arguments");
  if (all.keys().empty()) reader.fail(key, "a task needs at least one entry under " + key);
  std::vector<tensor> result;
  for (const auto& name : all.keys()) {
    check_identifier(name, all.place(name), "a tensor");
    settings one = all.child(name);
    for (const std::string planned : {"mutable", "alias", "strides", "packed"}) {
      if (one.has(planned)) not_supported_yet(one, planned);
    }
    tensor made;
    made.name = name;
    made.dtype = decode_dtype(one);
    decode_shape(one, of, made);
    if (made.scalar && !input) not_supported_yet(one, "shape", "an output that is a scalar");
    made.description = one.text("description", {.def = ""});
    if (input) made.generate = default_generator(made);
    result.push_back(std::move(made));
  }
  return result;
}

void check_names(const settings& reader, const task& made) {
  for (const auto& output : made.outputs) {
    for (const auto& input : made.inputs) {
      if (input.name != output.name) continue;
      const settings_node* outputs = reader.raw().find("outputs");
      throw error(
          error_code::input, "'" + output.name + "' is also the name of an input",
          outputs->find(output.name)->place,
          "outputs have memory of their own and need a different name; in-place updates are not supported");
    }
  }
}

}  // namespace kevo::task_decoding
