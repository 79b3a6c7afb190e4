#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <kevo/journal.hpp>
#include <kevo/session.hpp>
#include <kevo/task_id.hpp>
#include <kevo/vary/ucb1.hpp>
#include <kevo/version.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"
#include "src/llm/language_models.hpp"
#include "src/report/run_report.hpp"
#include "src/report/setbacks.hpp"
#include "src/run/best_file.hpp"
#include "src/run/driver.hpp"
#include "src/run/output_folder.hpp"
#include "src/run/recorded_turns.hpp"
#include "src/run/replay.hpp"
#include "src/run/run_clock.hpp"
#include "src/run/same_plan.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

/// Why a session ends whose turns wait for replies in files.
constexpr const char* model_is_asked = "a model is asked";

[[noreturn]] void lacks(const std::string& what) {
  throw error(error_code::usage, "the session_plan has no " + what, {},
              "fill it in before the session begins");
}

/// The plan with what may be left out filled in. Throws kevo::error (usage) if something else is missing.
session_plan completed(session_plan plan, bool evaluates) {
  if (plan.folder.empty()) lacks("folder");
  if (evaluates && !plan.fitness) lacks("fitness function");
  if (!plan.parts.select) lacks("selector (parts.select)");
  if (!plan.parts.archive) lacks("archive (parts.archive)");
  if (plan.parts.operators.empty()) lacks("variation operator (parts.operators)");
  if (evaluates && (plan.variations == 0 || plan.evaluations == 0))
    lacks("threads: variations and evaluations must be at least 1");
  if (!plan.parts.portfolio) plan.parts.portfolio = ucb1{};
  if (plan.models) {
    plan.models->set_tunes(std::any_of(plan.parts.operators.begin(), plan.parts.operators.end(),
                                       [](const any_variation& one) { return one.name() == "tune"; }));
  }
  if (!plan.parts.task) plan.parts.task = std::make_shared<const task>(task{.name = plan.name});
  return plan;
}

/// What the journal keeps of the task's file; of a folder of another system, what it was made into.
std::string text_of(const task& subject) {
  if (subject.file.empty()) return {};
  if (!fs::is_directory(subject.file)) return read_text_file(subject.file);
  settings_node made = settings_node::empty_map();
  made.set("name", settings_node::of(subject.name));
  made.set("description", settings_node::of(subject.description));
  return dump_yaml(made);
}

journal_header header_of(const session_plan& plan) {
  const std::string& file = plan.parts.task->file;
  journal_header header{
      .run_name = plan.name,
      .kevo_version = fmt::format("{}.{}.{}", KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH),
      .config_yaml = plan.origin.config,
      .config_path = plan.origin.config_path,
      .task_path = file.empty() ? "" : fs::absolute(file).string(),
      .task_json_or_text = text_of(*plan.parts.task),
      .task_id = to_string(id_of(*plan.parts.task)),
      .seed = plan.search.seed,
      .operators = operator_names_of(plan),
      .more = plan.origin.more};
  header.more["fitness"] = plan.fitness.describe();
  if (!plan.origin.config_directory.empty()) header.more["config_directory"] = plan.origin.config_directory;
  header.more.merge(decisive_settings(plan.search));
  return header;
}

/// What the champion's speedup is over: as its evaluation says, else the task's first baseline.
std::string baseline_of(const search& engine, const task& subject) {
  const std::string otherwise = subject.baselines.empty() ? "" : subject.baselines.front().name;
  if (engine.best().id == no_candidate) return otherwise;
  const auto found = engine.store().evaluation_of(engine.best().id);
  return found && !found->baseline.empty() ? found->baseline : otherwise;
}

std::shared_ptr<const program> best_program_of(const search& engine) {
  return engine.best().id == no_candidate ? nullptr : engine.snapshot(engine.best().id).program;
}

/// Observes the past for a stop rule that will decide later. The journal says where the past stopped.
struct listening_rule {
  std::shared_ptr<any_stop_rule> rule;
  std::optional<std::string> stop(const progress&) const { return std::nullopt; }
  void observe(const progress& now) const { rule->observe(now); }
};

/// Tells the models what became of candidates.
struct model_observer {
  std::shared_ptr<language_models> models;
  void consume(const event& each) const { models->observe_event(each); }
};

/// One session: a search with its journal and sinks, driven to its end.
class running_session {
 public:
  running_session(session_plan plan, journal record)
      : plan_(std::move(plan)),
        record_(std::move(record)),
        empty_archive_(plan_.parts.archive),
        sinks_(std::exchange(plan_.parts.sinks, {})),
        task_(plan_.parts.task) {
    plan_.parts.store = record_.store();
    if (plan_.models) plan_.models->keep_requests_in((fs::path(record_.directory()) / "requests").string());
  }

  run_outcome begin() {
    engine_ = std::make_unique<search>(std::move(plan_.parts), plan_.search);
    listen();
    for (const program& seed : task_->seeds) engine_->add_seed(seed, 0);
    for (const program& seed : plan_.seeds) engine_->add_seed(seed, 0);
    return drive_on({}, 0);
  }

  /// After a kill or a stop: the past is fed back, then the search goes on.
  run_outcome go_on() {
    const auto rule = std::make_shared<any_stop_rule>(std::move(plan_.parts.stop));
    plan_.parts.stop = listening_rule{rule};
    engine_ = std::make_unique<search>(std::move(plan_.parts), plan_.search);
    // Operators that ask models run their variations again, to know what they knew; what they had proposed
    // stands.
    const recorded_turns memory(record_, plan_.models);
    replay_report past = replay(
        *engine_,
        [this](const auto& repeat) {  // one reading for both: it is most of what a resume of a long run takes
          record_.for_each_event([&](const event& each) {
            record_.see_until(each.sequence);
            repeat(each);
            if (plan_.models) plan_.models->observe_event(each);
            if (plan_.hooks.past) plan_.hooks.past(each);
          });
        },
        engine_->store().program_of,
        {.recompute_variations = false,
         .repeat =
             [&](auto& op, auto& asked, auto drafts) {
               try {
                 return memory.repeat(op, asked, std::move(drafts));
               } catch (const error&) {  // for instance a prompt file that was deleted: less is remembered
                 return std::optional<variation_result>();
               }
             },
         .stops_from_record = true});
    record_.see_until({});
    if (past.divergence) {
      throw error(error_code::input,
                  "this run cannot be resumed: repeating its recorded decisions gives a different result; " +
                      *past.divergence,
                  {record_.directory()},
                  "use the selector, operators, portfolio, archive and settings that it began with, and the "
                  "version of kevo and of the plug-ins that recorded it");
    }
    for (const event& each : past.unrecorded) record_.consume(each);
    if (plan_.hooks.past) {
      for (const event& each : past.unrecorded) plan_.hooks.past(each);
    }
    if (plan_.models) plan_.models->remember(record_.model_spending(), record_.model_call_keys());
    for (const job& left : past.unfinished) {
      const auto* vary = std::get_if<variation_job>(&left);
      if (vary == nullptr) continue;
      begun_turn& begun = begun_[vary->id];
      if (memory.holds(vary->id)) begun.cost = memory.prepare(vary->id);
      begun.drafts = std::move(past.drafts[vary->id]);
    }
    listen();
    engine_->resume(std::move(*rule), "resumed", past.last_time_s);
    return drive_on(std::move(past.unfinished), past.last_time_s);
  }

 private:
  void listen() {
    engine_->attach(any_sink(record_));
    if (plan_.models) engine_->attach(model_observer{plan_.models});
    for (const any_sink& one : sinks_) engine_->attach(one);
  }

  run_outcome drive_on(std::vector<job> unfinished, double offset_s) {
    run_clock clock(offset_s);
    const auto clock_s = [&clock] { return clock.now_s(); };
    const auto between = [&](bool idle) {
      if (plan_.hooks.poll) plan_.hooks.poll();
      pass_on_warnings();
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
             .evaluations = plan_.evaluations,
             .clock_s = clock_s,
             .waiting = [&clock](bool begins) { clock.wait(begins); },
             .between = between,
             .refresh = [&](const search&, driver_load load) { tell_status(clock_s(), load); },
             .call = [&](ticket job, const model_call& call,
                         double now_s) { record_.append_model_call(job, now_s, call); },
             .begun = begun_,
             .graceful_stop = plan_.graceful_stop,
             .immediate_stop = plan_.immediate_stop,
             .finish_s = plan_.finish_s,
             .require_models =
                 [this] {
                   if (plan_.models) plan_.models->require_answers();
                 },
             .awaits = [this](ticket turn) { return plan_.models && plan_.models->awaits(turn); },
             .ends = [this] { return awaited().empty() ? std::string() : std::string(model_is_asked); }});
    } catch (...) {
      close_sinks();
      save_what_can_be();
      throw;
    }
    record_.append_ledger(engine_->progress(clock_s()).ledger);
    record_.commit();
    write_best();
    close_sinks();
    report();
    tell_what_is_awaited();
    record_.close();
    return outcome(clock_s());
  }

  /// The requests that wait for a reply in a file.
  std::vector<std::string> awaited() const {
    return plan_.models ? plan_.models->awaited().requests() : std::vector<std::string>();
  }

  /// What is to be done before the run can go on; the first of the outcome's sentences.
  void tell_what_is_awaited() {
    const auto requests = awaited();
    if (requests.empty() || engine_->stopped() != model_is_asked) return;
    std::string list;
    for (const auto& one : requests) list += "\n  " + one;
    setbacks_.insert(
        setbacks_.begin(),
        fmt::format(
            "{} for a reply: write it beside the request, as .reply.md (text) or .reply.json in place of "
            ".request.json, then go on with: kevo resume {}{}",
            requests.size() == 1 ? "a request waits" : "requests wait", record_.directory(), list));
  }

  /// Of models: a user who waits for a server that is not there must hear of it.
  void pass_on_warnings() const {
    if (!plan_.models || !plan_.hooks.message) return;
    for (const std::string& one : plan_.models->take_warnings()) plan_.hooks.message("warning: " + one);
  }

  void close_sinks() {
    for (const any_sink& one : sinks_) one.close();
  }

  /// The page is made from the journal and can be made again: a failure here does not fail the run.
  void report() {
    try {
      const auto content = content_of(record_, std::move(empty_archive_));
      setbacks_ = setbacks_of(content);
      write_report(content, record_.directory());
    } catch (const std::exception& wrong) {
      if (plan_.hooks.message)
        plan_.hooks.message(std::string("the report was not written: ") + wrong.what());
    }
  }

  /// The user must hear of the first error, not of one that follows it.
  void save_what_can_be() noexcept {
    try {
      record_.commit();
      write_best();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  void tell_status(double now_s, driver_load load) const {
    if (!plan_.hooks.status) return;
    plan_.hooks.status({.progress = engine_->progress(now_s),
                        .credits = engine_->credits(),
                        .varying = load.varying,
                        .evaluating = load.evaluating,
                        .measuring = load.measuring,
                        .confirming = load.confirming,
                        .budgets = engine_->budgets(now_s),
                        .budget_used = engine_->budget_used(now_s),
                        .archive = &engine_->archive(),
                        .elapsed_s = now_s,
                        .waits_for = load.waits_for,
                        .waits_s = load.waits_s,
                        .stopping = plan_.graceful_stop.stop_requested(),
                        .stopped = engine_->stopped().has_value(),
                        .cut_off = load.cut_off});
  }

  void write_best() {
    if (engine_->best().id == written_) return;
    if (engine_->best().id == no_candidate) {  // the champion was disqualified
      std::error_code ignored;
      std::filesystem::remove(best_file_, ignored);
      best_file_.clear();
      written_ = no_candidate;
      return;
    }
    best_file_ = write_best_file(record_.directory(), *best_program_of(*engine_));
    written_ = engine_->best().id;
  }

  run_outcome outcome(double now_s) const {
    return {.directory = record_.directory(),
            .best = engine_->best(),
            .best_program = best_program_of(*engine_),
            .best_file = best_file_,
            .stopped_by = engine_->stopped().value_or("interrupted"),
            .ledger = engine_->progress(now_s).ledger,
            .interrupted = plan_.graceful_stop.stop_requested(),
            .baseline = baseline_of(*engine_, *task_),
            .screened = engine_->screened(),
            .setbacks = setbacks_,
            .archive = engine_->archive(),
            .baseline_duplicate = engine_->baseline_duplicate()};
  }

  session_plan plan_;
  journal record_;
  any_archive empty_archive_;
  std::vector<any_sink> sinks_;
  std::shared_ptr<const task> task_;
  std::unique_ptr<search> engine_;
  std::map<ticket, begun_turn> begun_;
  candidate_id written_ = no_candidate;
  std::string best_file_;
  std::vector<std::string> setbacks_;
};

}  // namespace

run_outcome start_session(session_plan plan) {
  plan = completed(std::move(plan), true);
  if (!journal::exists(plan.folder)) free_run_folder(plan.folder, {});  // refuses files of the user
  journal record = journal::create(plan.folder, header_of(plan));
  return running_session(std::move(plan), std::move(record)).begin();
}

run_outcome resume_session(session_plan plan) {
  plan = completed(std::move(plan), true);
  journal record = journal::open(plan.folder);
  plan.search.confirm = rules_of(record, plan.search.confirm);
  require_same_plan(record, plan);
  const bool empty = record.last_sequence() == 0;  // killed before its first event was on disk
  running_session session(std::move(plan), std::move(record));
  return empty ? session.begin() : session.go_on();
}

run_outcome start_or_resume_session(session_plan plan) {
  return journal::exists(plan.folder) ? resume_session(std::move(plan)) : start_session(std::move(plan));
}

replay_outcome replay_session(session_plan plan, replayed_operators which) {
  plan = completed(std::move(plan), false);
  const journal record = journal::open_read_only(plan.folder);
  plan.search.confirm = rules_of(record, plan.search.confirm);
  require_same_plan(record, plan);
  // Programs and evaluations come from the record, which holds a part of them in memory. What the replay
  // itself puts goes to memory, for nothing is written here: that is little, unless it diverges.
  const candidate_store recorded = record.store();
  candidate_store own = memory_store();
  candidate_store store = recorded;
  store.put_program = [own, recorded](const content_id& id, std::shared_ptr<const program> source) {
    if (!recorded.program_of(id)) own.put_program(id, std::move(source));
  };
  store.program_of = [own, recorded](const content_id& id) {
    auto found = recorded.program_of(id);
    return found ? found : own.program_of(id);
  };
  const std::shared_ptr<const task> subject = plan.parts.task;
  plan.parts.store = store;
  plan.parts.sinks.clear();
  search engine(std::move(plan.parts), plan.search);
  replay_settings how;
  std::optional<recorded_turns> turns;
  if (which == replayed_operators::with_models && plan.models) {
    plan.models->open_knowledge();
    turns.emplace(record, plan.models);
    how.trust_repeated = true;
    how.repeat = [&](any_variation& op, variation_job& asked, std::vector<recorded_draft> drafts) {
      return turns->repeat(op, asked, std::move(drafts));
    };
  }
  replay_report report = replay(
      engine,
      [&](const auto& repeat) {
        record.for_each_event([&](const event& each) {
          record.see_until(each.sequence);
          repeat(each);
          if (plan.models) plan.models->observe_event(each);
        });
      },
      store.program_of, how);
  replay_outcome result{.events = report.events, .divergence = std::move(report.divergence)};
  if (plan.models) {
    result.replies = plan.models->account().replayed;
    result.changed_requests = plan.models->account().changed;
  }
  result.run = {.directory = record.directory(),
                .best = engine.best(),
                .best_program = best_program_of(engine),
                .stopped_by = engine.stopped().value_or(""),
                .ledger = engine.progress(report.last_time_s).ledger,
                .baseline = baseline_of(engine, *subject),
                .baseline_duplicate = engine.baseline_duplicate()};
  if (!result.divergence) result.run.archive = engine.archive();
  return result;
}

}  // namespace kevo
