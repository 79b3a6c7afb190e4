#include "src/import/data_set_older.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/import/data_set_definition.hpp"
#include "src/import/destination_wrapper.hpp"

namespace kevo::importing {

namespace json = boost::json;

namespace {

[[noreturn]] void cannot_renew(const std::string& why) {
  throw error(error_code::input, why);
}

const json::object& tensors_of(const json::object& definition, const char* kind) {
  const auto* found = definition.if_contains(kind);
  if (found == nullptr || !found->is_object()) cannot_renew(fmt::format("'{}' is missing", kind));
  return found->as_object();
}

/// Lines that define `run` around the function `entry`.
std::string by_name_lines(const json::object& definition, const std::string& entry) {
  std::string parameters, arguments, results;
  for (const auto& [key, spec] : tensors_of(definition, "inputs")) {
    const std::string name = python_name(std::string_view(key.data(), key.size()));
    parameters += (parameters.empty() ? "" : ", ") + name;
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, name);
  }
  const json::object& outputs = tensors_of(definition, "outputs");
  for (const auto& [key, spec] : outputs)
    results +=
        fmt::format("{}_kevo_results[{}]", results.empty() ? "" : ", ", json::serialize(json::value(key)));
  if (outputs.size() > 1) results = "(" + results + ")";
  return fmt::format(
      "\n\n# Added by kevo import: inputs in their order; outputs from a dictionary, in theirs.\n"
      "_kevo_by_name = {}\n\n\ndef run({}):\n    _kevo_results = _kevo_by_name({})\n"
      "    return {} if isinstance(_kevo_results, dict) else _kevo_results\n",
      entry, parameters, arguments, results);
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool has_commands(const json::object& spec) {
  for (const char* key : {"build_commands", "build_steps"}) {
    const auto* given = spec.if_contains(key);
    if (given != nullptr && given->is_array() && !given->as_array().empty()) return true;
  }
  return false;
}

}  // namespace

bool has_older_form(const json::object& definition) {
  return !text_of(definition, "type").empty() && !definition.contains("op_type");
}

void renew_definition(json::object& definition) {
  definition["op_type"] = text_of(definition, "type");
  definition.erase("type");
  const std::string reference = text_of(definition, "reference");
  if (reference.find("def run") == std::string::npos) return;  // the decoder says what is wrong
  definition["reference"] = reference + by_name_lines(definition, "run");
}

void renew_scalars(json::object& definition, const std::vector<json::object>& workloads) {
  auto* inputs = definition.if_contains("inputs");
  if (inputs == nullptr || !inputs->is_object()) return;
  for (auto& [name, spec] : inputs->as_object()) {
    auto* shape = spec.is_object() ? spec.as_object().if_contains("shape") : nullptr;
    if (shape == nullptr || !shape->is_array() || !shape->as_array().empty()) continue;
    const bool number = std::any_of(workloads.begin(), workloads.end(), [&, &key = name](const auto& one) {
      const auto* given = one.if_contains("inputs");
      const auto* recipe =
          given != nullptr && given->is_object() ? given->as_object().if_contains(key) : nullptr;
      return recipe != nullptr && recipe->is_object() && text_of(recipe->as_object(), "type") == "scalar";
    });
    if (number) *shape = nullptr;
  }
}

void renew_solution(const json::object& definition, json::object& solution) {
  auto* found = solution.if_contains("spec");
  auto* sources = solution.if_contains("sources");
  if (found == nullptr || !found->is_object() || sources == nullptr || !sources->is_array()) return;
  json::object& spec = found->as_object();
  if (spec.contains("destination_passing_style")) return;
  const std::string language = in_small_letters(text_of(spec, "language"));
  const bool in_python = language == "python" || language == "triton";
  if (!language.empty() && (!in_python || has_commands(spec))) {
    cannot_renew(
        fmt::format("it is written in '{}'{}, and a data set whose Definitions have 'type' does not say how "
                    "Python calls what was built; write the solution in today's form, with 'binding' and "
                    "'destination_passing_style'",
                    text_of(spec, "language"), in_python ? " with commands that build it" : ""));
  }
  spec["language"] = language;
  spec["destination_passing_style"] = false;
  const std::string point = text_of(spec, "entry_point");
  const auto colons = point.rfind("::");
  std::string file = colons == std::string::npos ? "" : point.substr(0, colons);
  const std::string entry = python_name(colons == std::string::npos ? point : point.substr(colons + 2));
  for (auto& one : sources->as_array()) {
    if (!one.is_object()) continue;
    const std::string path = text_of(one.as_object(), "path");
    if (file.empty() && sources->as_array().size() == 1) file = path;
    const std::string content = text_of(one.as_object(), "content");
    if (path != file || content.empty()) continue;
    one.as_object()["content"] = content + by_name_lines(definition, entry);
    spec["entry_point"] = file + "::run";
  }
}

}  // namespace kevo::importing
