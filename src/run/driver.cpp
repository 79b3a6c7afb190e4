#include "src/run/driver.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "src/run/driver_threads.hpp"
#include "src/run/relatives.hpp"
#include "src/run/replay.hpp"

namespace kevo {
namespace {

using namespace driver_threads;

/// The coordinator: the only thread that asks and tells.
class coordinator {
 public:
  coordinator(shared_state& shared, const driver_settings& settings) : shared_(shared), settings_(settings) {}

  void run(std::vector<job> unfinished) {
    for (job& left : unfinished) dispatch(std::move(left));
    bool open = true;
    while (open || load_.varying + load_.evaluating > 0) {
      heed_interrupts();
      heed_limits();
      if (open && !fault_) open = hand_out();
      if (fault_) {
        open = false;
        shared_.last_calls.request_stop();
      }
      between(false);
      if (open || load_.varying + load_.evaluating > 0) take_in();
    }
    between(true);
    refresh(true);
    if (fault_ && !settings_.immediate_stop.stop_requested()) std::rethrow_exception(fault_);
  }

 private:
  /// A failing disk ends the run, but what is out is still taken in.
  void between(bool idle) {
    if (!settings_.between) return;
    try {
      settings_.between(idle);
    } catch (const error&) {
      if (!fault_) fault_ = std::current_exception();
    }
  }

  void heed_interrupts() {
    std::string why;
    if (settings_.graceful_stop.stop_requested() || settings_.immediate_stop.stop_requested()) {
      why = "interrupted";
    } else if (settings_.ends) {
      const std::scoped_lock lock(shared_.guard);
      if (!shared_.engine.stopped()) why = settings_.ends();  // a stop rule's champions are still confirmed
    }
    if (!why.empty()) {
      const std::scoped_lock lock(shared_.guard);
      shared_.engine.stop(why, settings_.clock_s(), false);
      shared_.interrupted = true;
      shared_.last_calls.request_stop();
    }
    if (settings_.immediate_stop.stop_requested()) cancel_all();
  }

  void cancel_all() {
    shared_.cancel_repeatable.request_stop();
    shared_.cancel.request_stop();
  }

  /// A stop rule's times for finishing. After an interrupt the user decides.
  void heed_limits() {
    if (!stopped_at_ || shared_.interrupted || load_.cut_off) return;
    const double since_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - *stopped_at_).count();
    if (since_s >= settings_.linger_s) shared_.cancel_repeatable.request_stop();
    if (since_s < settings_.finish_s) return;
    load_.cut_off = true;
    refresh(true);  // while it can be told what is cancelled
    cancel_all();
    const std::scoped_lock lock(shared_.guard);
    shared_.engine.stop({}, settings_.clock_s(), false);  // it has stopped: no more confirmations
  }

  /// Asks until nothing is to be had; false once the search has stopped for good.
  bool hand_out() {
    while (true) {
      job next = [&] {
        const std::scoped_lock lock(shared_.guard);
        const double now_s = settings_.clock_s();
        const capacity free{.vary = load_.varying < settings_.variations,
                            .evaluate = load_.evaluating < settings_.evaluations && !budget_is_out(now_s)};
        return shared_.engine.ask(free, now_s);
      }();
      if (shared_.engine.stopped()) {
        shared_.stopped = true;
        if (!stopped_at_) stopped_at_ = std::chrono::steady_clock::now();
        shared_.last_calls.request_stop();
      }
      if (std::holds_alternative<wait_job>(next)) return true;
      if (std::holds_alternative<stop_job>(next)) return false;
      dispatch(std::move(next));
    }
  }

  /// Whether the evaluations that are out will use up what the stop rule leaves. At least one is out then, so
  /// that a search which waits for this is told a result.
  bool budget_is_out(double now_s) const {
    const std::size_t confirming = std::min<std::size_t>(shared_.confirming, load_.evaluating);
    const auto out = static_cast<double>(load_.evaluating - confirming);
    const auto budgets = shared_.engine.budgets(now_s);
    return std::any_of(budgets.begin(), budgets.end(), [out](const stop_part& one) {
      const double left = one.limit - one.spent;
      return one.name == "evaluations" && left > 0 && out >= left;
    });
  }

  void dispatch(job work) {
    if (auto* vary = std::get_if<variation_job>(&work)) {
      ++load_.varying;
      // What is not computed again from request and stream alone is shown what a replay can show it, too.
      if (const std::scoped_lock lock(shared_.guard);
          !vary->request.services && !shared_.engine.operators()[vary->op].replayable())
        vary->request.services = settled_relatives(shared_.engine, *vary);
      shared_.to_vary.push(std::move(*vary));
    } else if (auto* evaluate = std::get_if<evaluation_job>(&work)) {
      ++load_.evaluating;
      const auto& row = shared_.engine.population().row(evaluate->candidate);
      // A seed, or what a model or a program was paid or waited for.
      const bool settled =
          row.made_by == seed_operator || shared_.engine.operators()[row.made_by].evaluated_after_stop();
      const bool confirms = evaluate->request.wanted == evaluation_stage::confirmed;
      const bool must_run = confirms || (settled && !row.evaluated);
      if (auto known = draft_result(*evaluate))
        return shared_.ended.push(evaluation_end{evaluate->id, *std::move(known)});
      if (chosen_.erase(id_of(*evaluate->request.program)) > 0) evaluate->request.fresh = true;
      shared_.to_evaluate.push({std::move(*evaluate), must_run, confirms});
    }
  }

  /// What is known of a candidate that its turn had measured as a draft; nothing if it has to be measured.
  /// Its cost was that of the draft.
  std::optional<evaluation> draft_result(const evaluation_job& work) {
    if (work.request.fresh || work.request.wanted != evaluation_stage::timed_full) return std::nullopt;
    auto found = proposed_.extract(id_of(*work.request.program));
    if (found.empty()) return std::nullopt;
    found.mapped().cost = {};
    return std::move(found.mapped());
  }

  /// Keeps what the turn knows of its proposal, and forgets its other drafts. A proposal that is the best of
  /// several by their times owes a part of its time to chance, so that it is measured again.
  void keep_draft_result(const variation_end& end) {
    const auto turn = drafts_.extract(end.id);
    const auto* made = std::get_if<proposal>(&end.result);
    if (turn.empty() || made == nullptr || made->program.files.empty()) return;
    const content_id id = id_of(made->program);
    std::size_t timed = turn.mapped().timed.size();
    if (const auto begun = settings_.begun.find(end.id); begun != settings_.begun.end()) {
      for (const auto& [draft, result] : begun->second.drafts)
        timed += is_timed(result) && !turn.mapped().timed.contains(draft) ? 1U : 0U;
    }
    if (timed > 1) {
      chosen_.insert(id);
    } else if (const auto found = turn.mapped().results.find(id); found != turn.mapped().results.end()) {
      proposed_[id] = found->second;
    }
  }

  /// Waits for an ending and tells it, and all others that are there.
  void take_in() {
    auto end = shared_.ended.pop_for(0.005);
    if (!end) {
      between(true);
      refresh(false);
      end = shared_.ended.pop_for(settings_.breath_s);
    }
    for (; end; end = shared_.ended.pop_for(0)) {
      const std::scoped_lock lock(shared_.guard);
      std::visit([this](auto& what) { tell(what); }, *end);
    }
    refresh(false);
  }

  void tell(variation_end& end) {
    --load_.varying;
    keep_draft_result(end);
    shared_.engine.tell(end.id, std::move(end.result), end.cost, std::move(end.transcript),
                        settings_.clock_s());
  }
  void tell(evaluation_end& end) {
    --load_.evaluating;
    shared_.engine.tell(end.id, std::move(end.result), settings_.clock_s());
  }
  void tell(draft_end& end) {
    if (is_timed(end.result)) {
      turn_drafts& turn = drafts_[end.id];
      turn.timed.insert(id_of(end.draft));
      // A measurement that something disturbed is made again.
      if (end.result.stage == evaluation_stage::timed_full && !end.result.context.contains("disturbed"))
        turn.results.insert_or_assign(id_of(end.draft), end.result);
    }
    shared_.engine.tell_draft(end.id, end.draft, std::move(end.result), settings_.clock_s());
  }
  void tell(further_end& end) {
    shared_.engine.tell_further(end.id, std::move(end.made), settings_.clock_s());
  }
  void tell(call_end& end) {
    if (settings_.call) settings_.call(end.id, end.call, settings_.clock_s());
  }
  void tell(fault& end) {
    --(end.evaluates ? load_.evaluating : load_.varying);
    if (!fault_) fault_ = end.what;
  }

  /// It stays asked and untold: whoever resumes the run does it.
  void tell(withdrawn& end) {
    --(end.evaluates ? load_.evaluating : load_.varying);
    shared_.engine.withdraw(end.id);
  }

  void refresh(bool at_once) {
    // By the clock on the wall: the run time may stand still.
    const auto now = std::chrono::steady_clock::now();
    const auto breath = std::chrono::duration<double>(settings_.breath_s);
    if (!settings_.refresh || (!at_once && refreshed_ && now - *refreshed_ < breath)) return;
    refreshed_ = now;
    const std::scoped_lock lock(shared_.guard);
    driver_load load = load_;
    load.measuring = std::min<std::size_t>(shared_.measuring, load.evaluating);
    load.confirming = std::min<std::size_t>(shared_.confirming, load.evaluating);
    if (const auto wait = shared_.waits.first()) {
      load.waits_for = wait->holder;
      load.waits_s = std::chrono::duration<double>(now - wait->since).count();
    }
    settings_.refresh(shared_.engine, load);
  }

  shared_state& shared_;
  const driver_settings& settings_;
  driver_load load_;
  std::exception_ptr fault_;
  /// The drafts of a turn that were timed.
  struct turn_drafts {
    std::set<content_id> timed;
    std::map<content_id, evaluation> results;  ///< those that need not be measured again
  };
  static bool is_timed(const evaluation& result) {
    return result.valid() && result.stage >= evaluation_stage::timed_short;
  }

  std::map<ticket, turn_drafts> drafts_;       ///< of the turns that are out
  std::map<content_id, evaluation> proposed_;  ///< not evaluated since, as they were measured
  std::set<content_id> chosen_;                ///< proposals to be measured again
  std::optional<std::chrono::steady_clock::time_point> refreshed_;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;  ///< when the search was seen stopped
};

}  // namespace

void drive(search& engine, const any_fitness& fitness_function, std::vector<job> unfinished,
           const driver_settings& settings) {
  shared_state shared{.engine = engine,
                      .fitness_function = fitness_function,
                      .begun = settings.begun,
                      .require_models = settings.require_models,
                      .awaits = settings.awaits,
                      .waits = present_waits(settings.waiting)};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < settings.variations; ++i) {
    threads.emplace_back([&shared](const std::stop_token& stop) {
      while (auto work = shared.to_vary.pop(stop)) vary_one(shared, std::move(*work));
    });
  }
  for (std::size_t i = 0; i < settings.evaluations; ++i) {
    threads.emplace_back([&shared](const std::stop_token& stop) {
      while (auto work = shared.to_evaluate.pop(stop)) evaluate_one(shared, std::move(*work));
    });
  }
  try {
    coordinator(shared, settings).run(std::move(unfinished));
  } catch (...) {
    shared.last_calls.request_stop();
    shared.cancel_repeatable.request_stop();  // before the threads are joined
    shared.cancel.request_stop();
    throw;
  }
}

}  // namespace kevo
