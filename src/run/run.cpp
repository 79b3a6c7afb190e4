#include "src/run/run.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <fmt/format.h>

#include <kevo/version.hpp>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/display/budgets.hpp"
#include "src/journal/journal.hpp"
#include "src/llm/language_models.hpp"
#include "src/report/run_archive.hpp"
#include "src/report/run_report.hpp"
#include "src/report/setbacks.hpp"
#include "src/run/best_file.hpp"
#include "src/run/driver.hpp"
#include "src/run/interrupts.hpp"
#include "src/run/output_folder.hpp"
#include "src/run/recollection.hpp"
#include "src/run/replay.hpp"
#include "src/run/run_plan.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const std::vector<any_variation>& operators) {
  std::vector<std::string> names;
  names.reserve(operators.size());
  for (const auto& op : operators) names.push_back(op.name());
  return names;
}

journal_header header_of(const run_plan& plan, const config_source& config, const run_request& request) {
  return {.run_name = plan.name,
          .kevo_version = fmt::format("{}.{}.{}", KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH),
          .config_yaml = plan.resolved_config,
          .config_path = fs::absolute(request.config_path).string(),
          .task_path = fs::absolute(plan.task_path).string(),
          .task_json_or_text = read_text_file(plan.task_path),
          .task_id = to_string(id_of(*plan.task)),
          .seed = plan.seed,
          .operators = names_of(plan.parts.operators),
          .more = {{"config_directory", fs::absolute(config.directory).string()},
                   {"overrides", boost::json::serialize(boost::json::value_from(request.overrides))},
                   {"fitness", plan.fitness.describe()}}};
}

/// What the champion's speedup is over: as its evaluation says, else the task's.
std::string baseline_of(const search& engine, const std::string& otherwise) {
  if (engine.best().id == no_candidate) return otherwise;
  const auto found = engine.store().evaluation_of(engine.best().id);
  return found && !found->baseline.empty() ? found->baseline : otherwise;
}

/// One session: a search with its journal and display attached, driven to its end.
class session {
 public:
  session(run_plan plan, journal record, display_mode mode)
      : plan_(std::move(plan)), record_(std::move(record)), names_(names_of(plan_.parts.operators)) {
    plan_.parts.store = record_.store();
    baseline_ = plan_.task->baselines.empty() ? "" : plan_.task->baselines.front().name;
    display_ = make_display(mode, {.run = plan_.name,
                                   .folder = record_.directory(),
                                   .task = plan_.task->name,
                                   .device = plan_.fitness.describe(),
                                   .baseline = baseline_,
                                   .seed = std::to_string(plan_.seed)});
    budgets_ = budget_rules_of(plan_.resolved_config);
    engine_ = std::make_unique<search>(std::move(plan_.parts), plan_.search);
  }

  run_outcome begin() {
    listen();
    for (const program& seed : plan_.task->seeds) engine_->add_seed(seed, 0);
    return drive_on({}, 0);
  }

  /// After a kill or a stop: the past is fed back, then the search goes on under `rule`.
  run_outcome go_on(any_stop_rule rule) {
    // Operators that ask models make their turns again, to know what they knew; what they had proposed
    // stands.
    const recollection memory(record_, plan_.models);
    replay_report past = replay(
        *engine_, [this](const auto& each) { record_.for_each_event(each); }, engine_->store().program_of,
        {.recompute_variations = false, .repeat = [&](auto& op, auto& asked, auto drafts) {
           try {
             return memory.repeat(op, asked, std::move(drafts));
           } catch (const error&) {  // a prompt file that is gone, say: less is remembered, the run goes on
             return std::optional<variation_result>();
           }
         }});
    if (past.divergence) {
      throw error(error_code::input,
                  "this run cannot be resumed: its past is decided differently now; " + *past.divergence,
                  {record_.directory()}, "use the version of kevo and of the plug-ins that recorded it");
    }
    for (const event& each : past.unrecorded) record_.consume(each);
    record_.for_each_event([this](const event& each) { display_.remember(each); });
    for (const event& each : past.unrecorded) display_.remember(each);
    if (plan_.models) plan_.models->remember(record_.model_spending(), record_.model_call_keys());
    for (const job& left : past.unfinished) {
      const auto* vary = std::get_if<variation_job>(&left);
      if (vary == nullptr) continue;
      begun_turn& begun = begun_[vary->id];
      if (memory.holds(vary->id)) begun.cost = memory.prepare(vary->id);
      begun.drafts = std::move(past.drafts[vary->id]);
    }
    listen();
    engine_->resume(std::move(rule), "resumed", past.last_time_s);
    return drive_on(std::move(past.unfinished), past.last_time_s);
  }

 private:
  void listen() {
    engine_->attach(any_sink(record_));
    engine_->attach(any_sink(display_));
  }

  run_outcome drive_on(std::vector<job> unfinished, double offset_s) {
    const auto began = std::chrono::steady_clock::now();
    const auto clock_s = [began, offset_s] {
      return offset_s + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    interrupts user;
    const auto between = [&](bool idle) {
      user.poll();
      if (idle) {
        record_.commit();
        write_best();
      } else {
        record_.commit_if_due();
      }
    };
    try {
      drive(*engine_, plan_.fitness, std::move(unfinished),
            {.variations = plan_.variations,
             .evaluations = plan_.builds,
             .clock_s = clock_s,
             .between = between,
             .refresh = [&](const search&, driver_load load) { refresh(clock_s(), load, user); },
             .call = [&](ticket job, const model_call& call,
                         double now_s) { record_.append_model_call(job, now_s, call); },
             .begun = begun_,
             .wind_down = user.wind_down(),
             .at_once = user.at_once()});
    } catch (...) {
      display_.close();
      save_what_can_be();
      throw;
    }
    record_.append_ledger(engine_->progress(clock_s()).ledger);
    record_.commit();
    write_best();
    display_.close();
    report();
    record_.close();
    return outcome(clock_s(), user);
  }

  /// The page is made from the journal and can be made again: what is in its way does not end a run badly.
  void report() {
    try {
      const auto content = content_of(record_, empty_archive_of(record_, run_plugins::load));
      setbacks_ = setbacks_of(content);
      write_report(content, record_.directory());
    } catch (const std::exception& wrong) {
      display_.message(std::string("there is no report: ") + wrong.what());
    }
  }

  /// The first error is what the user must hear of.
  void save_what_can_be() noexcept {
    try {
      record_.commit();
      write_best();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  void refresh(double now_s, driver_load load, const interrupts& user) {
    run_status now;
    now.progress = engine_->progress(now_s);
    now.operator_names = names_;
    now.credits = engine_->credits();
    now.varying = load.varying;
    now.building = load.evaluating - load.measuring;
    now.measuring = load.measuring;
    now.budget_used = engine_->budget_used(now_s);
    now.budgets = shares_of(budgets_, now.progress);
    now.archive = &engine_->archive();
    now.elapsed_s = now_s;
    now.stopping = user.wind_down().stop_requested();
    display_.refresh(now);
    say_what_is_waited_for(load, user);
  }

  /// Once after each Ctrl-C: what it waits for, and what the next one does.
  void say_what_is_waited_for(driver_load load, const interrupts& user) {
    const int asked = user.at_once().stop_requested() ? 2 : user.wind_down().stop_requested() ? 1 : 0;
    if (asked <= answered_ || !engine_->stopped()) return;  // that it stops is said first
    answered_ = asked;
    const std::string line = waiting_line(load.evaluating, load.varying, asked == 2);
    if (!line.empty()) display_.message(line);
  }

  void write_best() {
    if (engine_->best().id == no_candidate || engine_->best().id == written_) return;
    best_file_ = write_best_file(record_.directory(), *engine_->snapshot(engine_->best().id).program);
    written_ = engine_->best().id;
  }

  run_outcome outcome(double now_s, const interrupts& user) const {
    return {.directory = record_.directory(),
            .best = engine_->best(),
            .best_file = best_file_,
            .stopped_by = engine_->stopped().value_or("interrupted"),
            .ledger = engine_->progress(now_s).ledger,
            .interrupted = user.wind_down().stop_requested(),
            .baseline = baseline_of(*engine_, baseline_),
            .screened = engine_->screened(),
            .setbacks = setbacks_};
  }

  run_plan plan_;
  journal record_;
  std::vector<std::string> names_;
  std::string baseline_;
  any_display display_;
  std::vector<budget_rule> budgets_;
  std::unique_ptr<search> engine_;
  std::map<ticket, begun_turn> begun_;
  candidate_id written_ = no_candidate;
  std::string best_file_;
  std::vector<std::string> setbacks_;
  int answered_ = 0;  ///< Ctrl-Cs
};

/// The config that a run was started with, as its journal keeps it; its task may have moved since.
config_source recorded_config(const journal& record, const std::string& task) {
  const journal_header& header = record.header();
  const auto it = header.more.find("config_directory");
  config_source config{.tree = parse_yaml(header.config_yaml, record.directory() + "/journal.sqlite: config"),
                       .directory = it == header.more.end() ? "." : it->second};
  if (!task.empty()) {
    apply_override(config.tree,
                   "task=" + boost::json::serialize(boost::json::value(fs::absolute(task).string())));
  } else if (!header.task_path.empty() && !fs::exists(header.task_path)) {
    throw error(error_code::input, "the task of this run is not there any more", {.file = header.task_path},
                "say where it is now: --task FILE");
  }
  return config;
}

void require_same_task(const journal& record, const run_plan& plan) {
  if (record.header().task_id == to_string(id_of(*plan.task))) return;
  throw error(error_code::input, "the task changed since this run began", {plan.task_path},
              "restore the task file, or start a new run");
}

}  // namespace

run_outcome start_run(const run_request& request) {
  const config_source config = load_config(request.config_path, request.overrides);
  // The folder is known only after decoding, and the fitness function wants it: decode the cheap part first.
  const std::string wanted = plan_run(config, {}, false).output;
  const error_place named = settings(config.tree).child_or_empty("run").place("output");
  const std::string folder = free_run_folder(wanted, named);
  run_plan plan = plan_run(config, folder, true);
  journal record = journal::create(folder, header_of(plan, config, request));
  return session(std::move(plan), std::move(record), request.display).begin();
}

run_outcome resume_run(const resume_request& request) {
  journal record = journal::open(request.directory);
  config_source config = recorded_config(record, request.task);
  const run_plan past = plan_run(config, {}, false);
  require_same_task(record, past);
  if (past.models &&
      past.models->settings().mode == cassette_mode::record)  // not anew: what was paid for stays
    apply_override(config.tree, "llm.cassette.mode=auto");
  for (const auto& assignment : request.overrides) {
    if (assignment.rfind("stop", 0) != 0 && assignment.rfind("run.parallel", 0) != 0) {
      throw error(error_code::usage,
                  "resume can change stop and run.parallel alone, not '" + assignment + "'", {},
                  "other changes need a new run");
    }
    apply_override(config.tree, assignment);
  }
  run_plan plan = plan_run(config, request.directory, true);
  any_stop_rule rule = plan.parts.stop;
  plan.parts.stop = past.parts.stop;
  plan.search.proposals_ahead = past.search.proposals_ahead;
  return session(std::move(plan), std::move(record), request.display).go_on(std::move(rule));
}

replay_outcome replay_run(const std::string& directory, replayed_operators which, const std::string& task) {
  const journal record = journal::open_read_only(directory);
  run_plan plan = plan_run(recorded_config(record, task), {}, false);
  require_same_task(record, plan);
  // Programs come from the record; what the replay itself puts goes to memory, for nothing is written here.
  candidate_store memory = memory_store();
  const auto recorded_program = record.store().program_of;
  memory.program_of = [own = memory.program_of, recorded_program](const content_id& id) {
    auto found = own(id);
    return found ? found : recorded_program(id);
  };
  plan.parts.store = memory;
  search engine(std::move(plan.parts), plan.search);
  replay_settings how;
  std::optional<recollection> turns;
  if (which == replayed_operators::with_models && plan.models) {
    plan.models->open_knowledge();
    turns.emplace(record, plan.models);
    how.trust_repeated = true;
    how.repeat = [&](any_variation& op, variation_job& asked, std::vector<recorded_draft> drafts) {
      return turns->repeat(op, asked, std::move(drafts));
    };
  }
  replay_report report = replay(
      engine, [&](const auto& each) { record.for_each_event(each); }, memory.program_of, how);
  replay_outcome result{.events = report.events, .divergence = std::move(report.divergence)};
  if (plan.models) {
    result.replies = plan.models->account().replayed;
    result.changed_requests = plan.models->account().changed;
  }
  result.run = {
      .directory = directory,
      .best = engine.best(),
      .stopped_by = engine.stopped().value_or(""),
      .ledger = engine.progress(report.last_time_s).ledger,
      .baseline = baseline_of(engine, plan.task->baselines.empty() ? "" : plan.task->baselines.front().name)};
  return result;
}

}  // namespace kevo
