#include "src/lab/system_policy.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "src/run/run_plan.hpp"

namespace kevo {
namespace {

/// Which simulated call stands for which operator. Everything else of the operator's entry is about real
/// models, except what `kept_keys` lists.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> counterparts = {{
    {"llm_rewrite", "rewrite"},
    {"llm_diff", "diff"},
    {"llm_crossover", "rewrite"},
    {"llm_contrastive", "rewrite"},
    {"llm_universal", "universal"},
    {"macro_micro", "macro_micro"},
    {"paradigm_shift", "rewrite"},
    {"summarize", "summarize"},
    {"summarize_rounds", "summarize_rounds"},
    {"llm_repair", "rewrite"},
    {"agent", "rewrite"},  // its tools are not simulated: one turn is one reply
}};
constexpr std::array<std::string_view, 2> kept_keys = {"memory", "feedback"};

settings_node simulated(const settings_node& op) {
  const settings_node* type = op.find("type");
  if (type == nullptr || type->text.rfind("landscape_", 0) == 0 || type->text == "simulated_model") return op;
  for (const auto& [real, call] : counterparts) {
    if (type->text != real) continue;
    settings_node made = settings_node::empty_map();
    made.place = op.place;
    made.set("type", settings_node::of("simulated_model"));
    made.set("call", settings_node::of(std::string(call)));
    for (const auto key : kept_keys) {
      if (const auto* value = op.find(key)) made.set(key, *value);
    }
    return made;
  }
  throw error(error_code::input, "the laboratory cannot simulate the operator '" + type->text + "'",
              type->place, "replace it with `set`, or give the policy a `vary` of its own");
}

}  // namespace

settings_node policy_of_system(const std::string& path, const std::vector<std::string>& overrides,
                               bool recorded) {
  settings_node system = read_config(path, overrides).tree;
  settings_node policy = settings_node::empty_map();
  policy.place = system.place;
  for (const char* key : {"archive", "select", "filter", "vary"}) {
    if (auto* part = system.find(key)) policy.set(key, *part);
  }
  if (auto* vary = policy.find("vary"); vary != nullptr && recorded) {
    settings_node only = settings_node::empty_map();
    only.set("type", settings_node::of("recorded_proposal"));
    settings_node list = settings_node::of(std::vector<std::string>{});
    list.items.push_back(std::move(only));
    *vary = settings_node::empty_map();
    vary->set("operators", std::move(list));
  } else if (vary != nullptr) {
    if (auto* operators = vary->find("operators")) {
      for (auto& op : operators->items) op = simulated(op);
    }
  }
  if (const auto* run = system.find("run")) {
    if (const auto* parallel = run->find("parallel")) {
      if (const auto* ahead = parallel->find("proposals_ahead")) policy.set("proposals_ahead", *ahead);
    }
  }
  return policy;
}

}  // namespace kevo
