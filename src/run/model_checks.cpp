#include "src/run/model_checks.hpp"

#include <kevo/plugins.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/llm/decode.hpp"

namespace kevo {

bool is_asked(const models_settings& models) {
  const bool recorded = models.mode == cassette_mode::replay || models.mode == cassette_mode::automatic;
  return !recorded && !models.from_files && !models.models.empty();
}

std::vector<model_check> check_models_of(const config_source& config) {
  settings root(config.tree);
  if (!root.has("llm")) return {};
  const registry plugins = builtin_plugins();
  settings as_written = root.child("llm");
  const auto written = decode_models(as_written, config.directory, plugins, false);
  if (!written || !is_asked(written->settings())) return {};
  config_source without = config;
  apply_override(without.tree, "llm.cassette.mode=off");  // one that records would be begun anew
  settings live(without.tree);
  settings llm = live.child("llm");
  return check_models(decode_models(llm, config.directory, plugins, true)->settings(), {});
}

}  // namespace kevo
