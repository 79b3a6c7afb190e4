#include "src/display/budgets.hpp"

#include <kevo/registry.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/plugins/builtin.hpp"

namespace kevo {

std::vector<budget_rule> budget_rules_of(const std::string& resolved_config) {
  std::vector<budget_rule> rules;
  try {
    const settings_node config = parse_yaml(resolved_config);
    const settings_node* stop = config.find("stop");
    if (stop == nullptr || !stop->is_map()) return rules;
    const registry plugins = builtin_plugins();
    build_context context;
    context.plugins = &plugins;
    const auto add = [&](const settings_node& one) {
      if (!one.is_map()) return;
      for (const auto& entry : one.entries) {
        if (!plugins.stop_rules.contains(entry.key)) continue;
        settings reader(one);
        rules.push_back({entry.key + (entry.value.is_scalar() ? " " + entry.value.text : std::string()),
                         plugins.make_stop_rule(reader, context)});
        return;
      }
    };
    const settings_node* any = stop->find("any");
    if (any != nullptr && any->is_list()) {
      for (const auto& one : any->items) add(one);
    } else {
      add(*stop);
    }
  } catch (const error&) {
    rules.clear();
  }
  return rules;
}

std::vector<budget_share> shares_of(const std::vector<budget_rule>& rules, const progress& now) {
  std::vector<budget_share> shares;
  for (const auto& one : rules) {
    if (const auto used = one.rule.used(now)) shares.push_back({one.name, *used});
  }
  return shares;
}

}  // namespace kevo
