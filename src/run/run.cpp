#include "src/run/run.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <kevo/load_config.hpp>
#include <kevo/version.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/display/budgets.hpp"
#include "src/llm/language_models.hpp"
#include "src/run/idle_devices.hpp"
#include "src/run/interrupts.hpp"
#include "src/run/model_checks.hpp"
#include "src/run/run_plan.hpp"
#include "src/task/misspelt.hpp"

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
    plan.graceful_stop = user_.graceful_stop();
    plan.immediate_stop = user_.immediate_stop();
    finish_s_ = plan.finish_s;
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
    shown.waits_for = now.waits_for;
    shown.waits_s = now.waits_s;
    shown.stopping = now.stopping;
    display_.refresh(shown);
    say_what_is_waited_for(now);
  }

  /// Once after each Ctrl-C: what it waits for, and what the next one does. After a stop rule: what is waited
  /// for, if that takes longer than a second, and again when it changes.
  void say_what_is_waited_for(const session_status& now) {
    if (!now.stopped) return;  // that it stops is said first
    const work_left left{.evaluations = now.evaluating - now.confirming,
                         .confirmations = now.confirming,
                         .variations = now.varying};
    const int asked = user_.immediate_stop().stop_requested()  ? 2
                      : user_.graceful_stop().stop_requested() ? 1
                                                               : 0;
    if (asked > 0) {
      if (asked > answered_) say_wait(waiting_line(left, asked == 2));
      answered_ = asked;
      return;
    }
    // By the clock on the wall, as the driver counts: the run time stands still during waits.
    const auto wall = std::chrono::steady_clock::now();
    const auto since_s = [&](auto then) { return std::chrono::duration<double>(wall - then).count(); };
    if (!stopped_at_) stopped_at_ = said_at_ = wall;
    if (now.cut_off) {
      if (const auto line = cut_off_line(left); !cut_off_ && !line.empty()) display_.message(line);
      cut_off_ = true;
      return;
    }
    if (since_s(said_at_) < (words(left) == said_ ? say_again_s : 1)) return;
    said_at_ = wall;
    said_ = words(left);
    say_wait(finishing_line(left, std::max(0.0, finish_s_ - since_s(*stopped_at_))));
  }
  void say_wait(const std::string& line) {
    if (!line.empty()) display_.waiting(line);
  }

  /// [s] After this time the same is said again, with the time that is left.
  static constexpr double say_again_s = 10;

  interrupts user_;
  any_display display_;
  std::vector<std::string> names_;
  int answered_ = 0;  ///< Ctrl-Cs
  double finish_s_ = 0;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;  ///< when the stop was first seen
  std::chrono::steady_clock::time_point said_at_;  ///< of the latest line about what is waited for
  std::string said_;
  bool cut_off_ = false;  ///< that the time is over was said
};

/// Devices that would rest, from the config with its defaults.
void warn_of_idle_devices(const session_plan& plan) {
  const std::string warning = idle_devices(parse_yaml(plan.origin.config), plan.evaluations);
  if (!warning.empty()) plan.hooks.message("warning: " + warning);
}

/// Which candidate is which file, where there are several seeds: "seeds: #0 seed.cpp, #1 tunable.cpp".
std::string seeds_of(const task& t) {
  std::set<std::string> known;  // the same text twice is one candidate
  std::string text;
  for (const auto& seed : t.seeds) {
    const std::size_t number = known.size();
    const std::string file = source_file_of(t, seed);
    if (!known.insert(to_string(id_of(seed))).second || file.empty()) continue;
    text += (text.empty() ? "seeds: #" : ", #") + std::to_string(number) + ' ' + file;
  }
  return known.size() > 1 ? text : std::string();
}

/// The file of each seed by its program, for `kevo show` and the report: programs are called "kernel.cpp" in
/// a run.
void name_seeds(session_plan& plan) {
  for (const auto& seed : plan.parts.task->seeds) {
    const std::string file = source_file_of(*plan.parts.task, seed);
    if (!file.empty()) plan.origin.more.try_emplace("seed_file." + to_string(id_of(seed)), file);
  }
}

/// Asks each model once, before minutes go into the seeds. A server that cannot be reached yet may be started
/// late, as llm.patience allows; one that refuses will refuse again.
void require_models_that_answer(const session_plan& plan) {
  if (!plan.models || !is_asked(plan.models->settings())) return;
  auto asked = std::async(std::launch::async,
                          [&] { return check_models(plan.models->settings(), plan.graceful_stop); });
  const auto began = std::chrono::steady_clock::now();
  bool told = false;
  while (asked.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    plan.hooks.poll();  // Ctrl-C ends it
    if (told || std::chrono::steady_clock::now() - began < std::chrono::seconds(2)) continue;
    plan.hooks.message("asking each language model once, for at most 30 s");
    told = true;
  }
  const auto checks = asked.get();
  double spent = 0;
  for (const auto& one : checks) spent += one.money;
  plan.models->remember(spent, {});
  if (plan.graceful_stop.stop_requested()) return;
  std::string all;
  for (const auto& one : checks)
    all += fmt::format("{}'{}': {}", all.empty() ? "" : "; ", one.model, one.said);
  const bool none = std::all_of(checks.begin(), checks.end(), [](const auto& one) { return one.refused; });
  if (none)
    throw error(error_code::environment, "no language model accepts a request; " + all, {.key = "llm.models"},
                "correct the config, and try it with: kevo run --check CONFIG");
  for (const auto& one : checks) {
    if (!one.works)
      plan.hooks.message(
          fmt::format("warning: the language model '{}' does not answer: {}", one.model, one.said));
  }
}

}  // namespace

run_outcome start_run(const run_request& request) {
  const config_options options{.overrides = request.overrides};
  session_plan plan =
      request.evaluator ? new_plan(evaluator_run(*request.evaluator, request.config_path, request.overrides),
                                   request.config_path, options)
                        : load_config(request.config_path, options);
  if (request.evaluator) plan.origin.more["evaluator_words"] = words_of(*request.evaluator);
  name_seeds(plan);
  console shown(request.display, plan);
  shown.attach(plan);
  if (const auto seeds = seeds_of(*plan.parts.task); !seeds.empty()) plan.hooks.message(seeds);
  for (const auto& warning : misspelt_annotations(*plan.parts.task))
    plan.hooks.message("warning: " + warning);
  warn_of_idle_devices(plan);
  require_models_that_answer(plan);
  return start_session(std::move(plan));
}

run_outcome resume_run(const resume_request& request) {
  session_plan plan = load_recorded_config(request.directory, {.overrides = request.overrides}, request.task);
  console shown(request.display, plan);
  shown.attach(plan);
  warn_of_idle_devices(plan);
  return resume_session(std::move(plan));
}

replay_outcome replay_run(const std::string& directory, replayed_operators which, const std::string& task) {
  return replay_session(recorded_plan(journal::open_read_only(directory), {}, task, plan_use::replay), which);
}

}  // namespace kevo
