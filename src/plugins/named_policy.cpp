#include "src/plugins/named_policy.hpp"

#include "src/base/settings/path_setting.hpp"

namespace kevo {
namespace {

action_policy learnt_policy_from(settings& from, const std::string& file) {
  const double explore = from.real(
      "explore", {.def = 0.2,
                  .min = 0.0,
                  .max = 1.0,
                  .unit = "probability",
                  .doc = "with a policy file, probability of choosing by the fixed weights instead"});
  const bool regions =
      from.boolean("regions", {.def = true,
                               .doc = "with a policy file, whether the policy also chooses the place of an "
                                      "action; otherwise the place is chosen by the fixed weights"});
  if (file.empty() || from.probing()) return {};
  const auto learnt = read_policy(file);
  try {
    require_features(*learnt, rewrite_features(), "rewrite");
  } catch (const error& wrong) {
    throw error(wrong.code(), wrong.message(), {.file = file}, wrong.hint());
  }
  return trained_actions(learnt, rewrite_features(), explore, regions);
}

}  // namespace

named_policy named_policy_from(settings& from, const setting<std::string>& what,
                               const std::set<std::string>& names, const std::string& directory) {
  const settings_node* raw = from.raw().find("policy");
  const bool named = raw == nullptr || names.contains(raw->text);
  named_policy made;
  made.name = named ? from.text("policy", what) : path_from(from, "policy", what, directory);
  made.learnt = learnt_policy_from(from, named ? std::string() : made.name);
  return made;
}

}  // namespace kevo
