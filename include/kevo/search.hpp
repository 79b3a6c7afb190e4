#pragma once
// The search: a synchronous state machine without threads, clock, files or network. `ask` returns the next
// job; `tell` takes results, in any order. The driver (a session, a trainer, a test) provides time and
// concurrency.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <kevo/confirm.hpp>
#include <kevo/detail/evaluation_queue.hpp>
#include <kevo/error.hpp>
#include <kevo/event.hpp>
#include <kevo/job.hpp>
#include <kevo/score.hpp>
#include <kevo/search_graph.hpp>

namespace kevo {

/// A search over candidates. A job is outstanding from the moment at which `ask` returns it until its result
/// is told. Not thread-safe: one thread at a time may call it. When `ask` answers `wait_job`, every change of
/// state that a replay needs has been emitted as an event, so a replay need not repeat that call.
class search {
 public:
  /// A search without candidates; `add_seed` adds the first ones. The archive, the selector and the portfolio
  /// in `parts` must not be empty.
  search(search_parts parts, search_settings settings)
      : parts_(std::move(parts)),
        settings_(settings),
        root_(settings.seed),
        confirmation_(settings_.confirm),
        queue_(std::move(parts_.screen)),
        fruitless_(parts_.operators.size(), 0),
        running_(parts_.operators.size(), 0),
        measure_names_(parts_.archive.measures()),
        wants_source_(parts_.archive.wants_source()) {
    if (const screening* screen = queue_.screen()) {
      settings_.proposals_ahead = std::max(settings_.proposals_ahead, screen->pool);
    }
    learns_ = std::any_of(parts_.operators.begin(), parts_.operators.end(),
                          [](const any_variation& op) { return op.learns(); });
    lineage_queries_.parents = [this](candidate_id id) { return graph_.parents(id); };
    lineage_queries_.children = [this](candidate_id id) { return graph_.children(id); };
  }
  search(const search&) = delete;
  search& operator=(const search&) = delete;

  /// Adds a program given by the user as a candidate. No turn of an operator begins until all seeds are
  /// evaluated. A program that is already in the search graph is ignored. O(size of the program).
  void add_seed(const program& source, double now_s) {
    const content_id id = id_of(source);
    if (graph_.find(id)) return;
    const candidate_id born = join(id, std::make_shared<const program>(source), seed_operator, {});
    std::fill(fruitless_.begin(), fruitless_.end(), 0U);
    queue_.push_back({.candidate = born});
    if (parts_.filter) parts_.filter->filter.remember(unevaluated_of(born));
    ++unevaluated_seeds_;
    emit({++sequence_, now_s, seeded{born, id}});
  }

  /// Returns the next job, of a kind that `free` allows; `wait_job` if a result must be told first;
  /// `stop_job` once nothing will be handed out any more. `now_s` is the run time [s] and must not decrease.
  job ask(capacity free, double now_s) {
    check_stop(now_s);
    if (stopped_) return ask_after_stop(free, now_s);
    if (filter_due()) filter_gathered(now_s);
    if (free.evaluate && held_) return hand_out_held();
    if (free.evaluate && confirmation_.due()) return confirm_next(now_s);
    const bool choosy = free.vary && queue_.wants_more() && may_vary();
    if (free.evaluate && !queue_.empty() && !choosy) return evaluate_next(now_s);
    if (free.vary && !held_ && may_vary()) return vary_next(free, now_s);
    if (free.evaluate && confirmation_.due(true) && evaluator_idles()) return confirm_next(now_s);
    if (in_flight_.empty() && queue_.empty() && confirmation_.next() == no_candidate && free.vary) {
      halt(dead_end(), now_s, false);
      return stop_job{};
    }
    return wait_job{};
  }

  /// Takes the result of the turn `id`, what it spent, and its transcript for the journal. A proposal whose
  /// program has no files counts as `no_proposal`. `now_s` is the run time [s], here and below.
  /// @throws kevo::error (internal) if no turn with this id is outstanding
  void tell(ticket id, variation_result result, const spending& cost, std::string transcript, double now_s) {
    const in_flight turn = take(id, false);
    if (const auto* made = std::get_if<proposal>(&result); made != nullptr && made->program.files.empty())
      result = no_proposal{"the operator proposed a program without files"};
    const std::size_t op = turn.op;
    --running_[op];
    --pending_.variations;
    ledger_.variation += cost;
    variation_told told{.job = id, .cost = cost, .transcript = std::move(transcript)};
    if (auto* made = std::get_if<proposal>(&result)) {
      take_in(std::move(*made), turn, told);
    } else {
      auto& none = std::get<no_proposal>(result);
      ++ledger_.no_proposals;
      told.summary = std::move(none.reason);
      told.exhausted = none.exhausted;
    }
    if (!told.program || told.duplicate) {
      fruitless_[op] += told.exhausted ? std::max(1U, settings_.patience / 5) : 1;
      parts_.portfolio.observe({.index = op, .reward = 0, .cost_s = cost.wall_s});
    }
    emit({++sequence_, now_s, std::move(told)});
    parts_.stop.observe(progress(now_s));
  }

  /// Takes a further program of the turn `id`, which is still outstanding (see `variation_request::propose`).
  /// It becomes a candidate with the parents of the turn; a program that is in the search graph is recorded
  /// as known. Ignored if the turn has told a program with the same `sample` before, or if the program has no
  /// files.
  /// @throws kevo::error (internal) if no turn with this id is outstanding
  void tell_further(ticket id, proposal made, double now_s);

  /// Takes the result of the evaluation `id`. A valid result without a stage gets the stage that was
  /// requested.
  /// @throws kevo::error (internal) if no evaluation with this id is outstanding
  void tell(ticket id, evaluation result, double now_s) {
    const in_flight turn = take(id, true);
    const candidate_id who = turn.candidate;
    if (turn.wanted != evaluation_stage::confirmed && turn.fresh) --pending_.measurements;
    const population_row before = population_.row(who);
    const auto kept = std::make_shared<const evaluation>(with_stage(std::move(result), turn.wanted));
    const evaluation& e = *kept;
    parts_.store.put_evaluation(who, kept);
    (turn.wanted == evaluation_stage::confirmed ? ledger_.confirmations : ledger_.evaluations) += 1;
    ledger_.evaluation += {.wall_s = e.cost.wall_s, .device_s = e.cost.device_s};
    ledger_.waited_s += e.cost.waited_s;
    if (before.made_by == seed_operator && !before.evaluated) --unevaluated_seeds_;
    if (before.made_by != seed_operator && !before.evaluated) --pending_.proposals;

    population_.evaluate(who, e.outcome, e.valid() ? blended(before, turn, e) : 0);
    const population_row& now = population_.row(who);
    if (now.ranked()) scores_.include(now.score);
    // What had nothing to do with the parents before may find work in this one.
    if (now.ranked() && !before.evaluated) std::fill(fruitless_.begin(), fruitless_.end(), 0U);
    ledger_.valid += (e.valid() ? 1U : 0U);
    ledger_.valid -= (before.evaluated && before.outcome == outcome::valid ? 1U : 0U);
    const archive_result archived = offer(who, before, e);
    if (learns_) record_result(who, e);
    observe(who, turn, before, kept, archived);
    queue_.learn(who, now.ranked() ? std::optional(now.score) : std::nullopt, archived);
    count_improvement(turn, who);
    since_kept_ = archived.status == archive_status::rejected ? since_kept_ + 1 : 0;
    emit({++sequence_, now_s, evaluation_told{id, who, turn.wanted, kept, archived}});
    if (turn.wanted == evaluation_stage::confirmed) {
      if (confirmation_.finish(who, kept, stopped_.has_value())) tell_champion(now_s);
      look_for_contender();
    } else {
      confirmation_.count_evaluation();
      nominate(who, before, e, now_s);
    }
    pass_over_baselines(now_s);
    parts_.stop.observe(progress(now_s));
  }

  /// Records that an operator evaluated a draft during its turn `id`, which is still outstanding. The
  /// draft does not become a candidate.
  void tell_draft(ticket id, const program& draft, evaluation result, double now_s) {
    ++ledger_.evaluations;
    ledger_.evaluation += {.wall_s = result.cost.wall_s, .device_s = result.cost.device_s};
    ledger_.waited_s += result.cost.waited_s;
    const content_id program_id = id_of(draft);
    parts_.store.put_program(program_id, std::make_shared<const program>(draft));
    emit({++sequence_, now_s,
          draft_evaluated{id, program_id, std::make_shared<const evaluation>(std::move(result))}});
  }

  /// Withdraws an outstanding job: after a stop, the search no longer waits for its result. This is not
  /// recorded, so a resumed session runs the job first. The result may still be told. Does nothing if the job
  /// is not outstanding.
  void withdraw(ticket id) {
    const auto found = in_flight_.find(id);
    if (found == in_flight_.end() || found->second.withdrawn) return;
    found->second.withdrawn = true;
    ++withdrawn_;
  }

  /// Filters the proposals gathered so far. `ask` does this itself when a batch is complete; a replay calls
  /// this function where the record says that it happened. Does nothing without a filter or without such
  /// proposals.
  void filter_gathered(double now_s);

  /// Stops the search for a reason from outside, such as an interrupt: no new turns and no ordinary
  /// evaluations. With `finish_confirmations`, `ask` still hands out first evaluations of waiting seeds and
  /// of candidates that were expensive to make (see `capacity::settle`), and then confirmations of
  /// possible champions, best first, until three valid ones in a row bring no new champion. If the search has
  /// stopped already, only `finish_confirmations` is updated.
  void stop(std::string reason, double now_s, bool finish_confirmations = true) {
    finish_confirmations_ = finish_confirmations;
    if (!stopped_) halt(std::move(reason), now_s, true);
  }
  /// Continues after a stop with a new stop rule, or records that a new process continues the run. Withdrawn
  /// jobs are waited for again, and operators that rested after fruitless turns are available again.
  void resume(any_stop_rule rule, std::string reason, double now_s) {
    parts_.stop = std::move(rule);
    stopped_.reset();
    finish_confirmations_ = true;
    confirmation_.forget_futile();
    std::fill(fruitless_.begin(), fruitless_.end(), 0U);
    for (auto& [id, turn] : in_flight_) turn.withdrawn = false;
    withdrawn_ = 0;
    emit({++sequence_, now_s, search_resumed{std::move(reason)}});
  }

  /// The reason why the search stopped; nothing while it runs.
  const std::optional<std::string>& stopped() const { return stopped_; }
  /// The champion; its `id` is `no_candidate` while there is none.
  const champion& best() const { return confirmation_.best(); }
  /// The first valid candidate found to be the baseline's program; `no_candidate` if none is known. Such a
  /// candidate never becomes champion.
  candidate_id baseline_duplicate() const { return confirmation_.baseline_duplicate(); }
  /// Scores, outcomes and ranks of all candidates.
  const kevo::population& population() const { return population_; }
  /// The lineage of all candidates.
  const search_graph& graph() const { return graph_; }
  /// The archive with the elites.
  const any_archive& archive() const { return parts_.archive; }
  /// What the run has spent. `elapsed_s` is not set here, only in `progress`.
  const kevo::ledger& spent() const { return ledger_; }
  /// The estimates of the portfolio for each operator; may be empty.
  std::vector<operator_credit> credits() const { return parts_.portfolio.credits(); }
  /// The operators, for the driver, which calls `vary` on them.
  std::vector<any_variation>& operators() { return parts_.operators; }
  /// The store of programs and evaluations.
  const candidate_store& store() const { return parts_.store; }
  /// Statistics of the screening of proposals; nothing if there is no screening.
  std::optional<screening_report> screened() const {
    return queue_.screen() ? std::optional(queue_.report()) : std::nullopt;
  }
  /// The sequence number of the latest event; 0 before the first.
  std::uint64_t last_sequence() const { return sequence_; }
  /// Adds a sink, which receives all later events. A sink attached after a replay receives only new events.
  void attach(any_sink listener) { parts_.sinks.push_back(std::move(listener)); }
  /// The number of outstanding jobs, including withdrawn ones.
  std::size_t outstanding() const { return in_flight_.size(); }

  /// What the run has spent and reached, as the stop rule sees it; `now_s` is the run time [s].
  kevo::progress progress(double now_s) const {
    kevo::progress p;
    p.ledger = ledger_;
    p.ledger.elapsed_s = now_s;
    const champion& best = confirmation_.best();
    p.best_speedup = best.speedup;
    p.best_interval = best.speedup_interval;
    p.best_sol_fraction = best.sol_fraction;
    p.best_score = scores_.best;
    if (best) p.champion_score = best.score;
    p.best_undecided = !best.verdict.confirmed();
    p.since_improvement = since_improvement_;
    p.since_kept = since_kept_;
    p.archive_size = parts_.archive.size();
    p.archive_cells = parts_.archive.cells();
    return p;
  }
  /// The share of the stop rule's budget that is used, 0 to 1; nothing if the rule cannot tell.
  std::optional<double> budget_used(double now_s) const { return parts_.stop.used(progress(now_s)); }
  /// The limits of the stop rule, each with the amount spent.
  std::vector<stop_part> budgets(double now_s) const { return parts_.stop.parts(progress(now_s)); }

  /// A snapshot of a candidate, as operators receive it.
  candidate_snapshot snapshot(candidate_id id) const {
    const operator_index op = population_.row(id).made_by;
    return {id,
            parts_.store.program_of(graph_.program_of(id)),
            parts_.store.evaluation_of(id),
            op == seed_operator ? "seed" : parts_.operators[op].name(),
            graph_.parents(id),
            plan_of(id)};
  }
  /// Whether the program belongs to one of the first `known` candidates of the search graph.
  bool seen(const content_id& program_id, candidate_id known) const {
    const auto found = graph_.find(program_id);
    return found && *found < known;
  }

  /// The services for a turn that read this search: `seen`, `program_of`, `lineage`, `siblings` and
  /// `children`. They call `guarded(function)`, which must run the function under the lock that guards this
  /// search (or just run it if there is one thread). The driver fills in the other services. This search must
  /// outlive the services.
  template <class Guarded>
  variation_services services(const variation_job& asked, Guarded guarded) const;

 private:
  /// A turn that made a candidate.
  struct finished_turn {
    double cost_s = 0;
    ticket job = 0;
    std::string summary;  ///< of its proposal; only in `plans_`
  };
  /// An outstanding job.
  struct in_flight {
    bool evaluates = false;
    std::size_t op = 0;
    std::vector<candidate_id> parents;
    candidate_id candidate = no_candidate;
    evaluation_stage wanted = evaluation_stage::timed_full;
    bool fresh = false;
    bool withdrawn = false;
    std::vector<std::uint32_t> samples;  ///< of the further programs that the turn has told
  };

  void emit(const event& happened) const;
  candidate_id join(const content_id& id, std::shared_ptr<const program> source, operator_index op,
                    const std::vector<candidate_id>& parents);
  /// Adds a proposed program to the search graph, or finds it there, and completes the record of it.
  void take_in(proposal made, const in_flight& turn, variation_told& told);
  void halt(std::string reason, double now_s, bool external);
  void check_stop(double now_s);
  job ask_after_stop(capacity free, double now_s);
  /// Whether a candidate that waits for its first evaluation is evaluated even after a stop. True for seeds
  /// and for candidates of operators with `evaluated_after_stop`, such as those that call a paid model; with
  /// `all`, for candidates of all operators that are not replayable.
  bool settled_after_stop(candidate_id who, bool all) const;
  bool operator_available(std::size_t i) const;
  bool may_vary() const;
  /// Whether all candidates are evaluated, and none may yet turn out to be better than the champion.
  bool settled() const;
  std::string dead_end() const;
  /// The description of a candidate that a proposal filter receives.
  unevaluated unevaluated_of(candidate_id who) const;
  /// Whether the batch of the filter is full, or cannot grow until something is evaluated.
  bool filter_due() const;
  /// Adds a proposal to the queue of evaluations.
  void enqueue(candidate_id who);
  job evaluate_next(double now_s);
  evaluation_job evaluate(candidate_id who, evaluation_stage wanted, bool fresh, double now_s);
  job vary_next(capacity free, double now_s);
  job hand_out_held();
  std::string plan_of(candidate_id id) const;
  /// Selects an evaluated candidate while no candidate is valid: draws an id uniformly; if that candidate
  /// is not evaluated yet, takes the evaluated one with the nearest smaller id.
  selection any_failed(rng& random) const;
  /// Replaces the first parent by a ranked candidate, drawn uniformly.
  void take_any_parent(selection& chosen, rng& random) const;
  in_flight take(ticket id, bool evaluates);
  /// The features of a proposal for the screening; empty without a screening.
  std::vector<double> features_of(candidate_id who, const std::vector<candidate_id>& parents) const;
  /// The score that the population keeps. The first confirmation replaces the known score; a re-evaluation or
  /// a further confirmation is averaged with it (POLCA); the known score has the number of earlier
  /// evaluations as its weight.
  static double blended(const population_row& before, const in_flight& turn, const evaluation& e);
  archive_result offer(candidate_id who, const population_row& before, const evaluation& e);
  /// Updates the best score and the number of evaluations since it improved. If a later evaluation lowers the
  /// score of the best candidate, the best score falls to that of the best ranked candidate.
  void count_improvement(const in_flight& turn, candidate_id who);
  /// The reward of the operator for a new candidate: the gain in score as a share of the range of scores, in
  /// [0, 1] (see `score_range::share`).
  double credit(const observation& seen) const;
  void observe(candidate_id who, const in_flight& turn, const population_row& before,
               const std::shared_ptr<const evaluation>& told, const archive_result& archived);
  /// Adds to the results that operators which learn are shown.
  void record_result(candidate_id who, const evaluation& e);
  /// Offers a candidate to the confirmation. Until all seeds are evaluated, nothing is offered, so that no
  /// seed is confirmed that the next seed beats.
  void nominate(candidate_id who, const population_row& before, const evaluation& e, double now_s);
  job confirm_next(double now_s);
  /// Whether no candidate can be evaluated soon: none waits or is being evaluated, and all outstanding
  /// turns are of operators that take long, such as models.
  bool evaluator_idles() const;
  void look_for_contender();
  /// The name of the baseline of the candidate's speedup if the candidate is valid and is that baseline's
  /// program; nothing otherwise.
  std::optional<std::string> baseline_met_by(candidate_id who, const evaluation& e) const;
  /// Whether a candidate is the baseline's program. If so, excludes it from confirmation and records this.
  bool is_baseline(candidate_id who, const evaluation& e, double now_s);
  /// While the contender is the baseline's program, replaces it by the next contender.
  void pass_over_baselines(double now_s);
  void tell_champion(double now_s);

  search_parts parts_;
  search_settings settings_;
  rng root_;
  search_graph graph_;
  kevo::population population_;
  lineage_queries lineage_queries_;
  kevo::ledger ledger_;
  confirmation confirmation_;
  /// The contender that was last found not to be the baseline's program.
  candidate_id no_baseline_ = no_candidate;
  detail::evaluation_queue queue_;
  std::vector<candidate_id> gathered_;  ///< proposals that wait for the proposal filter
  pending_work pending_;
  std::unordered_map<ticket, in_flight> in_flight_;
  std::size_t withdrawn_ = 0;  ///< number of withdrawn jobs in `in_flight_`
  /// A re-evaluation that the selector requested while the driver could not evaluate. It is in `in_flight_`.
  std::optional<evaluation_job> held_;
  /// The turns of candidates that wait for their first evaluation.
  std::unordered_map<candidate_id, finished_turn> turn_;
  /// The turns of the candidates of operators that are not replayable. There are few, because each cost
  /// a call of a language model or similar work.
  std::unordered_map<candidate_id, finished_turn> plans_;
  /// For each operator: fruitless turns since the last new program, and since one was found to be valid.
  std::vector<std::uint32_t> fruitless_;
  std::vector<std::size_t> running_;  ///< for each operator: outstanding turns
  std::vector<std::string> measure_names_;
  std::vector<double> measure_values_;
  bool wants_source_ = false;
  bool learns_ = false;                         ///< whether any operator learns from `results_`
  std::shared_ptr<const told_result> results_;  ///< the latest; empty if no operator learns
  std::optional<std::string> stopped_;
  bool finish_confirmations_ = true;
  std::size_t unevaluated_seeds_ = 0;
  score_range scores_;
  candidate_id best_candidate_ = no_candidate;  ///< the candidate whose score is `scores_.best`
  std::uint64_t since_improvement_ = 0;
  std::uint64_t since_kept_ = 0;
  std::uint64_t sequence_ = 0;
  ticket tickets_ = 0;
};

}  // namespace kevo

#include <kevo/detail/search_jobs.hpp>
#include <kevo/detail/search_steps.hpp>
