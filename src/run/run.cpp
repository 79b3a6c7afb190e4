#include "src/run/run.hpp"

#include <memory>
#include <utility>

#include <kevo/load_config.hpp>
#include <kevo/version.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/display/budgets.hpp"
#include "src/run/interrupts.hpp"
#include "src/run/run_plan.hpp"

namespace kevo {
namespace {

/// What a person sees and presses while a session runs.
class console {
 public:
  console(display_mode mode, const session_plan& plan) : display_(make_display(mode, title_of(plan))) {
    for (const auto& op : plan.parts.operators) names_.push_back(op.name());
  }

  /// Joins this console to a plan; it has to live as long as the session.
  void attach(session_plan& plan) {
    plan.parts.sinks.emplace_back(display_);
    plan.wind_down = user_.wind_down();
    plan.at_once = user_.at_once();
    plan.hooks = {.status = [this](const session_status& now) { show(now); },
                  .past = [this](const event& each) { display_.remember(each); },
                  .poll = [this] { user_.poll(); },
                  .message = [this](const std::string& text) { display_.message(text); }};
  }

 private:
  static run_title title_of(const session_plan& plan) {
    const task& subject = *plan.parts.task;
    return {.run = plan.name,
            .folder = plan.folder,
            .task = subject.name,
            .device = plan.fitness.describe(),
            .baseline = subject.baselines.empty() ? "" : subject.baselines.front().name,
            .seed = std::to_string(plan.search.seed)};
  }

  void show(const session_status& now) {
    run_status shown;
    shown.progress = now.progress;
    shown.operator_names = names_;
    shown.credits = now.credits;
    shown.varying = now.varying;
    shown.building = now.evaluating - now.measuring;
    shown.measuring = now.measuring;
    shown.budget_used = now.budget_used;
    shown.budgets = shares_of(now.budgets);
    shown.archive = now.archive;
    shown.elapsed_s = now.elapsed_s;
    shown.stopping = now.stopping;
    display_.refresh(shown);
    say_what_is_waited_for(now);
  }

  /// Once after each Ctrl-C: what it waits for, and what the next one does.
  void say_what_is_waited_for(const session_status& now) {
    const int asked = user_.at_once().stop_requested() ? 2 : user_.wind_down().stop_requested() ? 1 : 0;
    if (asked <= answered_ || !now.stopped) return;  // that it stops is said first
    answered_ = asked;
    const std::string line = waiting_line(now.evaluating, now.varying, asked == 2);
    if (!line.empty()) display_.message(line);
  }

  interrupts user_;
  any_display display_;
  std::vector<std::string> names_;
  int answered_ = 0;  ///< Ctrl-Cs
};

}  // namespace

run_outcome start_run(const run_request& request) {
  session_plan plan = load_config(request.config_path, {.overrides = request.overrides});
  console shown(request.display, plan);
  shown.attach(plan);
  return start_session(std::move(plan));
}

run_outcome resume_run(const resume_request& request) {
  session_plan plan = load_recorded_config(request.directory, {.overrides = request.overrides}, request.task);
  console shown(request.display, plan);
  shown.attach(plan);
  return resume_session(std::move(plan));
}

replay_outcome replay_run(const std::string& directory, replayed_operators which, const std::string& task) {
  return replay_session(recorded_plan(journal::open_read_only(directory), {}, task, plan_use::replay), which);
}

}  // namespace kevo
