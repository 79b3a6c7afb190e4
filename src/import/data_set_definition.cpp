#include "src/import/data_set_definition.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/exact_parse.hpp"

namespace kevo::importing {

namespace json = boost::json;

json::object object_in(const std::string& text, const std::string& file) {
  try {
    json::value parsed = parse_json_exactly(text);
    if (parsed.is_object()) return std::move(parsed.as_object());
  } catch (const error& wrong) {
    error_place place = wrong.place();
    place.file = file;
    throw error(error_code::input, wrong.message(), place);
  }
  throw error(error_code::input, "expected a JSON object", {.file = file, .key = {}});
}

std::string text_of(const json::object& o, std::string_view key) {
  const auto* found = o.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

void drop_nulls(json::object& o) {
  std::vector<std::string> gone;
  for (auto& [key, value] : o) {
    if (value.is_null() && key != "shape") gone.emplace_back(key);
    if (value.is_object()) drop_nulls(value.as_object());
  }
  for (const auto& key : gone) o.erase(key);
}

namespace {

/// The function that makes inputs is told the computed axes, too, which kevo's tasks do not have.
/// @param computed what Python computes them from
void tell_computed_axes(json::object& definition, const std::map<std::string, std::string>& computed) {
  const std::string function = text_of(definition, "custom_inputs_entrypoint");
  std::string text = text_of(definition, "reference");
  if (function.empty() || computed.empty() || text.find("def " + function) == std::string::npos) return;
  text += "\n\n# By kevo import: axes that are computed from others.\ndef kevo_make_inputs(axes, device):\n";
  text += "    axes = dict(axes)\n";
  for (const auto& [name, expression] : computed) {
    text += fmt::format("    axes[{}] = eval({}, {{}}, axes)\n", json::serialize(json::value(name)),
                        json::serialize(json::value(expression)));
  }
  text += "    return " + function + "(axes, device)\n";
  definition["reference"] = text;
  definition["custom_inputs_entrypoint"] = "kevo_make_inputs";
}

}  // namespace

void replace_computed_axes(json::object& definition) {
  auto* axes = definition.if_contains("axes");
  if (axes == nullptr || !axes->is_object()) return;
  std::map<std::string, std::string> computed, given_axes;
  for (const auto& [key, axis] : axes->as_object()) {
    if (!axis.is_object() || text_of(axis.as_object(), "type") != "expr") continue;
    const std::string given = text_of(axis.as_object(), "expression");
    std::string text;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const bool twice = i + 1 < given.size() && given[i + 1] == given[i];
      if ((given[i] == '/' && !twice) || (given[i] == '*' && twice)) {
        throw error(
            error_code::input,
            fmt::format("the axis '{}' is computed by '{}', and kevo's integers have no such operator",
                        std::string_view(key.data(), key.size()), given));
      }
      text += given[i];
      if (given[i] == '/') ++i;
    }
    computed[std::string(key)] = text;
    given_axes[std::string(key)] = given;
  }
  for (const auto& [name, text] : computed) axes->as_object().erase(name);
  tell_computed_axes(definition, given_axes);
  for (const char* kind : {"inputs", "outputs"}) {
    auto* tensors = definition.if_contains(kind);
    if (tensors == nullptr || !tensors->is_object()) continue;
    for (auto& [name, spec] : tensors->as_object()) {
      auto* shape = spec.is_object() ? spec.as_object().if_contains("shape") : nullptr;
      if (shape == nullptr || !shape->is_array()) continue;
      for (auto& extent : shape->as_array()) {
        const auto found =
            extent.is_string() ? computed.find(std::string(extent.as_string())) : computed.end();
        if (found != computed.end()) extent = found->second;
      }
    }
  }
}

void keep_gradients(json::object& definition) {
  const std::string text = text_of(definition, "reference");
  if (text.find("requires_grad") == std::string::npos || text.find("def run") == std::string::npos) return;
  definition["reference"] = text +
                            "\n\n# Added by kevo import: kevo calls references without gradients.\n"
                            "import torch as _kevo_torch\n\nrun = _kevo_torch.enable_grad()(run)\n";
}

}  // namespace kevo::importing
