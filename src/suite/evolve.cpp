#include "src/suite/evolve.hpp"

#include <filesystem>
#include <utility>

#include <kevo/session.hpp>

#include "src/run/run_plan.hpp"

namespace kevo {
namespace {

std::string plain_file_name(const std::string& name) {
  std::string safe;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    safe += plain ? c : '_';
  }
  return safe.substr(0, 80);
}

config_source config_for(const suite_plan& plan, const evolution_request& request) {
  config_source config = plan.evolve->config;
  const auto absolute = [](const std::string& path) {
    return settings_node::of(std::filesystem::absolute(path).lexically_normal().string());
  };
  config.tree.set("task", absolute(request.task->file));
  settings_node* run = config.tree.find("run");
  if (run == nullptr || !run->is_map()) run = &config.tree.set("run", settings_node::empty_map());
  run->set("name", settings_node::of(request.task->name));
  run->set("output", absolute(request.folder));
  if (plan.evolve->budget) config.tree.set("stop", *plan.evolve->budget);
  config.tree.set("fitness", fitness_for(plan, request.device));
  return config;
}

}  // namespace

std::string run_folder_of(const suite_plan& plan, const std::string& task, const std::string& key) {
  return plan.output + "/runs/" + plain_file_name(task) + "-" + key.substr(0, 12);
}

evolved_program evolve_task(const suite_plan& plan, const evolution_request& request) {
  session_plan session = decode_plan(config_for(plan, request), {.plugins = plan.plugins.get()},
                                     request.folder, plan_use::session);
  session.origin.config_path = std::filesystem::absolute(plan.file).string();
  session.graceful_stop = request.graceful_stop;
  session.immediate_stop = request.immediate_stop;
  session.hooks.message = request.message;
  const run_outcome ended = start_or_resume_session(std::move(session));
  evolved_program made{ended.best_program, ended.directory, {}, ended.interrupted};
  if (made.best) return made;
  made.reason = "no candidate was confirmed; stopped by " + ended.stopped_by;
  for (const auto& setback : ended.setbacks) made.reason += "; " + setback;
  return made;
}

}  // namespace kevo
