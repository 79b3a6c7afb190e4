#include "src/task/decode.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/error.hpp>
#include <kevo/expression.hpp>

namespace kevo::task_decoding {
namespace {

[[noreturn]] void fail(const error_place& place, const std::string& message, const std::string& hint = {}) {
  throw error(error_code::input, message, place, hint);
}

const tensor* find_tensor(const std::vector<tensor>& tensors, const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const tensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

tolerance decode_tolerance(settings& reader, const task& t, const std::vector<const tensor*>& outputs) {
  tolerance result;
  result.rule = reader.text("rule", {.def = "bounds",
                                     .doc = "rule by which an output element is accepted",
                                     .one_of = {"accumulation", "bounds", "exact", "finite"}});
  if (result.rule == "accumulation") {
    result.scale =
        reader.text("scale", {.doc = "name of the scale tensor that the reference writes after its outputs"});
    check_identifier(result.scale, reader.place("scale"), "the scale tensor");
    if (find_tensor(t.inputs, result.scale) != nullptr || find_tensor(t.outputs, result.scale) != nullptr) {
      reader.fail("scale", "'" + result.scale + "' is already the name of an input or output",
                  "the scale tensor is an additional output of the reference: give it another name");
    }
    result.factor = reader.real(
        "factor",
        {.def = 4.0,
         .above = 0.0,
         .doc = "c, the allowed error in units of u * sqrt(K) * scale, where u is the unit roundoff"});
    if (const auto* length = reader.raw(
            "length", "K, the number of terms that are summed in an output element", "expression")) {
      result.length = decode_expression(*length, t.axes);
    }
  } else if (result.rule == "bounds") {
    result.max_atol = reader.real("max_atol", {.def = 1e-5, .min = 0.0, .doc = "maximum absolute error"});
    result.max_rtol = reader.real("max_rtol", {.def = 1e-5, .min = 0.0, .doc = "maximum relative error"});
  }
  for (const std::string key : {"scale", "factor", "length", "max_atol", "max_rtol"}) {
    const bool accumulation = key[0] != 'm';
    if (!reader.has(key) ||
        (result.rule == "accumulation" ? accumulation : result.rule == "bounds" && !accumulation))
      continue;
    reader.fail(key, "the rule '" + result.rule + "' has no such key",
                accumulation ? "write rule: accumulation" : "write rule: bounds");
  }
  result.required_matched_ratio = reader.real(
      "required_matched_ratio",
      {.def = 1.0, .max = 1.0, .above = 0.0, .doc = "fraction of the elements that must be accepted"});
  result.max_error_cap = reader.optional<double>(
      "max_error_cap",
      {.min = 0.0,
       .doc = "upper limit of the error of any element, including those that need not be accepted"});
  result.allow_negative_inf = reader.boolean(
      "allow_negative_inf", {.def = false, .doc = "whether -inf is accepted where -inf is expected"});
  result.min_cosine = reader.optional<double>(
      "min_cosine",
      {.min = 0.0, .max = 1.0, .doc = "minimum cosine of the angle between output and expected output"});
  result.max_relative_l1 = reader.optional<double>(
      "max_relative_l1",
      {.min = 0.0,
       .doc = "maximum sum of absolute errors, as a share of the sum of absolute expected values"});
  result.max_rmse =
      reader.optional<double>("max_rmse", {.min = 0.0, .doc = "maximum root of the mean squared error"});
  result.fast_math = reader.boolean(
      "fast_math", {.def = false, .doc = "whether programs may choose to be compiled with fast math"});
  if (result.fast_math && result.rule == "exact")
    reader.fail("fast_math", "fast math rounds differently, and the rule 'exact' accepts no rounding error",
                "remove fast_math, or write rule: bounds");
  if (result.rule == "finite" && !result.has_contract()) {
    reader.fail("rule", "the rule 'finite' alone accepts every finite output",
                "add min_cosine, max_relative_l1 or max_rmse, or write rule: bounds");
  }
  for (const tensor* output : outputs) {
    const auto type = find_dtype(output->dtype);
    if (type && is_exact(*type) && result.rule == "accumulation") {
      reader.fail("rule",
                  "'" + output->name + "' is " + output->dtype +
                      ": this rule is for floating-point outputs, and integers have no rounding errors",
                  "write rule: exact");
    }
  }
  return result;
}

}  // namespace

void not_supported_yet(const settings& reader, std::string_view key, const std::string& what) {
  reader.fail(key, what + " is not supported yet");
}

void check_identifier(const std::string& name, const error_place& place, const std::string& what) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool good =
      !name.empty() && name.size() <= 64 && letter(name[0]) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (!good) {
    fail(place, "'" + detail::shown(name) + "' is not a valid name for " + what,
         "use up to 64 letters, digits and '_', starting with a letter");
  }
}

expression decode_expression(const settings_node& node, const std::vector<axis>& axes) {
  if (node.type != settings_node::kind::text && node.type != settings_node::kind::integer) {
    fail(node.place, "expected an expression, found " + describe(node), "for example, \"2*M*N*K\"");
  }
  error_place place = node.place;
  if (node.quoted) ++place.column;
  expression result = expression::parse(node.text, place);
  for (const auto& name : result.names()) {
    const auto known = std::any_of(axes.begin(), axes.end(), [&](const axis& a) { return a.name == name; });
    if (known) continue;
    const std::size_t offset = node.text.find(name);
    if (offset != std::string::npos) place.column += static_cast<int>(offset);
    fail(place, "'" + detail::shown(name) + "' is not an axis",
         detail::hint_for(name, names_of(axes), "axes"));
  }
  return result;
}

std::map<std::string, tolerance> decode_tolerances(settings& reader, const task& t) {
  std::map<std::string, tolerance> result;
  if (!reader.has("tolerance")) return result;
  settings given = reader.child("tolerance", "rules by which output elements are accepted");
  const auto keys = given.keys();
  const bool by_output = !keys.empty() && std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto* node = given.raw().find(key);
    return node != nullptr && node->is_map();
  });
  if (!by_output) {
    std::vector<const tensor*> all;
    for (const auto& output : t.outputs) all.push_back(&output);
    result[""] = decode_tolerance(given, t, all);
    return result;
  }
  for (const auto& name : keys) {
    const tensor* output = find_tensor(t.outputs, name);
    if (output == nullptr) {
      given.fail(name, "'" + detail::shown(name) + "' is not an output",
                 detail::hint_for(name, names_of(t.outputs), "outputs"));
    }
    settings one = given.child(name);
    result[name] = decode_tolerance(one, t, {output});
  }
  return result;
}

const axis* find_axis(const task& t, const std::string& name) {
  for (const auto& a : t.axes) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace kevo::task_decoding
