#include "src/task/decode_constructor.hpp"

#include <fmt/format.h>

#include "src/base/settings/json.hpp"

namespace kevo {
namespace {

bool is_given(const settings_node* node) {
  return node != nullptr && node->type != settings_node::kind::null;
}

// The first {pretrained_config: NAME} whose model is not among `known`; empty if there is none.
std::string unknown_config(const settings_node& value, const settings_node* known) {
  if (value.is_map()) {
    for (const auto& entry : value.entries) {
      if (entry.key == "pretrained_config" && (known == nullptr || known->find(entry.value.text) == nullptr))
        return entry.value.text;
      if (auto name = unknown_config(entry.value, known); !name.empty()) return name;
    }
  }
  for (const auto& item : value.items) {
    if (auto name = unknown_config(item, known); !name.empty()) return name;
  }
  return {};
}

std::string decode_arguments(const settings_node& init, const settings_node* known,
                             const settings& reference) {
  settings given(init);
  const auto* args = given.raw("args", "positional arguments", "list");
  const auto* kwargs = given.raw("kwargs", "named arguments", "map");
  if (args != nullptr && !args->is_list()) given.fail("args", "expected a list, found " + describe(*args));
  if (kwargs != nullptr && !kwargs->is_map())
    given.fail("kwargs", "expected a map, found " + describe(*kwargs));
  given.finish();
  if (const auto name = unknown_config(init, known); !name.empty())
    reference.fail("init", fmt::format("'pretrained' has no configuration of the model '{}'", name),
                   "write the content of the model's config.json under pretrained");
  return json_of(init);
}

}  // namespace

std::string decode_constructor(settings& reference) {
  const auto* init = reference.raw(
      "init", "language python, form module: arguments of the constructor, {args: [...], kwargs: {...}}",
      "map");
  const auto* pretrained = reference.raw(
      "pretrained",
      "form module: configurations of transformers by the name of the model; from_pretrained gives a model "
      "with weights drawn under the seed",
      "map");
  if (!is_given(pretrained)) pretrained = nullptr;
  if (pretrained != nullptr) {
    if (!pretrained->is_map()) reference.fail("pretrained", "expected a map, found " + describe(*pretrained));
    for (const auto& entry : pretrained->entries) {
      if (!entry.value.is_map())
        reference.fail("pretrained", fmt::format("the configuration of '{}' is {}, not a map", entry.key,
                                                 describe(entry.value)));
    }
  }
  std::string text = is_given(init) ? decode_arguments(*init, pretrained, reference) : "";
  if (pretrained == nullptr) return text;
  if (text.empty()) text = "{}";
  text.pop_back();
  return fmt::format(R"({}{}"pretrained": {}}})", text, text.size() > 1 ? ", " : "", json_of(*pretrained));
}

}  // namespace kevo
