#pragma once
// The search: a synchronous state machine without threads, clock, files or network. `ask` gives the next job,
// `tell` takes its result in any order. Whoever drives it (src/run, an RL trainer, a test) owns time and
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

/// Not thread-safe: one thread drives it. An answer to wait changes nothing that is not recorded, so a replay
/// need not know of it.
class search {
 public:
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
    kinship_.parents = [this](candidate_id id) { return graph_.parents(id); };
    kinship_.children = [this](candidate_id id) { return graph_.children(id); };
  }
  search(const search&) = delete;
  search& operator=(const search&) = delete;

  /// Makes a program of the user's a candidate, to be evaluated first. Known programs are ignored.
  void add_seed(const program& source, double now_s) {
    const content_id id = id_of(source);
    if (graph_.find(id)) return;
    const candidate_id born = join(id, std::make_shared<const program>(source), seed_operator, {});
    queue_.push_back({.candidate = born});
    ++unevaluated_seeds_;
    emit(now_s, seeded{born, id});
  }

  /// The next job, of a kind that is free; `now_s` is the run time and never falls.
  job ask(capacity free, double now_s) {
    check_stop(now_s);
    if (stopped_) return ask_after_stop(free, now_s);
    if (free.evaluate && held_) return hand_out_held();
    if (free.evaluate && confirmation_.due()) return confirm_next(now_s);
    const bool choosy = free.vary && queue_.wants_more() && may_vary();
    if (free.evaluate && !queue_.empty() && !choosy) return evaluate_next(now_s);
    if (free.vary && !held_ && may_vary()) return vary_next(free, now_s);
    if (in_flight_.empty() && queue_.empty() && confirmation_.next() == no_candidate && free.vary) {
      halt(dead_end(), now_s, false);
      return stop_job{};
    }
    return wait_job{};
  }

  /// Takes the end of a variation. A proposal whose program has no files counts as none.
  void tell(ticket id, variation_result result, const spending& cost, std::string transcript, double now_s) {
    const in_flight turn = take(id, false);
    if (const auto* made = std::get_if<proposal>(&result); made != nullptr && made->program.files.empty())
      result = no_proposal{"the operator proposed a program without files"};
    const std::size_t op = turn.op;
    --running_[op];
    ledger_.variation += cost;
    variation_told told{.job = id, .cost = cost, .transcript = std::move(transcript)};
    if (auto* made = std::get_if<proposal>(&result)) {
      ++ledger_.proposals;
      told.program = id_of(made->program);
      told.summary = std::move(made->summary);
      if (const auto known = graph_.find(*told.program)) {
        told.candidate = *known;
        told.duplicate = true;
        ++ledger_.duplicates;
      } else {
        told.candidate = join(*told.program, std::make_shared<const program>(std::move(made->program)),
                              static_cast<operator_index>(op), turn.parents);
        queue_.push_back(
            {.candidate = told.candidate, .features = features_of(told.candidate, turn.parents)});
        turn_[told.candidate] = {cost.wall_s, id};
      }
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
    emit(now_s, std::move(told));
    parts_.stop.observe(progress(now_s));
  }

  /// Takes the end of an evaluation. A valid one without a stage counts as what was asked for.
  void tell(ticket id, evaluation result, double now_s) {
    const in_flight turn = take(id, true);
    const candidate_id who = turn.candidate;
    const population_row before = population_.row(who);
    const auto kept = std::make_shared<const evaluation>(with_stage(std::move(result), turn.wanted));
    const evaluation& e = *kept;
    parts_.store.put_evaluation(who, kept);
    (turn.wanted == evaluation_stage::confirmed ? ledger_.confirmations : ledger_.evaluations) += 1;
    ledger_.evaluation += {.wall_s = e.cost.wall_s, .device_s = e.cost.device_s};
    ledger_.waited_s += e.cost.waited_s;
    if (before.made_by == seed_operator && !before.evaluated) --unevaluated_seeds_;

    population_.evaluate(who, e.outcome, e.valid() ? blended(before, turn, e) : 0);
    const population_row& now = population_.row(who);
    if (now.ranked()) scores_.include(now.score);
    ledger_.valid += (e.valid() ? 1U : 0U);
    ledger_.valid -= (before.evaluated && before.outcome == outcome::valid ? 1U : 0U);
    const archive_result archived = offer(who, before, e);
    observe(who, turn, before, e, archived);
    queue_.learn(who, now.ranked() ? std::optional(now.score) : std::nullopt, archived);
    count_improvement(turn, now);
    since_kept_ = archived.status == archive_status::rejected ? since_kept_ + 1 : 0;
    emit(now_s, evaluation_told{id, who, turn.wanted, kept, archived});
    if (turn.wanted == evaluation_stage::confirmed) {
      if (confirmation_.finish(who, kept, stopped_.has_value())) tell_champion(now_s);
      look_for_contender();
    } else {
      nominate(who, before, e, now_s);
    }
    pass_over_baselines(now_s);
    parts_.stop.observe(progress(now_s));
  }

  /// Records an evaluation that an operator made of a draft while its variation `id` is out.
  void tell_draft(ticket id, const program& draft, evaluation result, double now_s) {
    ++ledger_.evaluations;
    ledger_.evaluation += {.wall_s = result.cost.wall_s, .device_s = result.cost.device_s};
    ledger_.waited_s += result.cost.waited_s;
    const content_id program_id = id_of(draft);
    parts_.store.put_program(program_id, std::make_shared<const program>(draft));
    emit(now_s, draft_evaluated{id, program_id, std::make_shared<const evaluation>(std::move(result))});
  }

  /// Takes a job back that is out: after a stop nobody waits for it. Nothing is recorded of this, and whoever
  /// resumes the search runs the job first; it may also be told after all.
  void withdraw(ticket id) {
    const auto found = in_flight_.find(id);
    if (found == in_flight_.end() || found->second.withdrawn) return;
    found->second.withdrawn = true;
    ++withdrawn_;
  }

  /// Stops handing out work. `finish_confirmations`: would-be champions are still confirmed, best
  /// first, until three in a row are none.
  void stop(std::string reason, double now_s, bool finish_confirmations = true) {
    finish_confirmations_ = finish_confirmations;
    if (!stopped_) halt(std::move(reason), now_s, true);
  }
  /// Goes on after a stop, with another stop rule; or notes that a new process took over.
  void resume(any_stop_rule rule, std::string reason, double now_s) {
    parts_.stop = std::move(rule);
    stopped_.reset();
    finish_confirmations_ = true;
    confirmation_.forget_futile();
    std::fill(fruitless_.begin(), fruitless_.end(), 0U);
    for (auto& [id, turn] : in_flight_) turn.withdrawn = false;
    withdrawn_ = 0;
    emit(now_s, search_resumed{std::move(reason)});
  }

  /// Why the search stopped; nothing while it goes on.
  const std::optional<std::string>& stopped() const { return stopped_; }
  const champion& best() const { return confirmation_.best(); }
  /// A valid candidate that is the baseline's program, which is never champion; `no_candidate` if none is
  /// known.
  candidate_id baseline_twin() const { return confirmation_.baseline_twin(); }
  const kevo::population& population() const { return population_; }
  const search_graph& graph() const { return graph_; }
  const any_archive& archive() const { return parts_.archive; }
  const kevo::ledger& spent() const { return ledger_; }
  std::vector<operator_credit> credits() const { return parts_.portfolio.credits(); }
  std::vector<any_variation>& operators() { return parts_.operators; }
  const candidate_store& store() const { return parts_.store; }
  /// What the screening of proposals has been worth; nothing without one.
  std::optional<screening_report> screened() const {
    return queue_.screen() ? std::optional(queue_.report()) : std::nullopt;
  }
  std::uint64_t last_sequence() const { return sequence_; }
  /// Sinks may be attached after a replay, so that they see only what is new.
  void attach(any_sink listener) { parts_.sinks.push_back(std::move(listener)); }
  /// How many jobs are out.
  std::size_t outstanding() const { return in_flight_.size(); }

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
  std::optional<double> budget_used(double now_s) const { return parts_.stop.used(progress(now_s)); }
  /// What is spent of each limit that the stop rule has.
  std::vector<stop_part> budgets(double now_s) const { return parts_.stop.parts(progress(now_s)); }

  /// A candidate as operators see it.
  candidate_snapshot snapshot(candidate_id id) const {
    const operator_index op = population_.row(id).made_by;
    return {id, parts_.store.program_of(graph_.program_of(id)), parts_.store.evaluation_of(id),
            op == seed_operator ? "seed" : parts_.operators[op].name(), graph_.parents(id)};
  }
  /// Whether a program was in the graph when it had `known` candidates.
  bool seen(const content_id& program_id, candidate_id known) const {
    const auto found = graph_.find(program_id);
    return found && *found < known;
  }

  /// The services of a variation, for a driver that calls them through `guarded` (which runs its argument
  /// under the lock that guards this search; the identity if there is one thread). `evaluate`, `book`, `note`
  /// are the driver's.
  template <class Guarded>
  variation_services services(const variation_job& asked, Guarded guarded) const;

 private:
  struct finished_turn {
    double cost_s = 0;
    ticket job = 0;
  };
  struct in_flight {
    bool evaluates = false;
    std::size_t op = 0;
    std::vector<candidate_id> parents;
    candidate_id candidate = no_candidate;
    evaluation_stage wanted = evaluation_stage::timed_full;
    bool fresh = false;
    bool withdrawn = false;
  };

  void emit(double now_s, decltype(event::what) what);
  candidate_id join(const content_id& id, std::shared_ptr<const program> source, operator_index op,
                    const std::vector<candidate_id>& parents);
  void halt(std::string reason, double now_s, bool external);
  void check_stop(double now_s);
  job ask_after_stop(capacity free, double now_s);
  /// Whether a candidate that waits for its first evaluation gets it after a stop rule, too: a seed, or the
  /// work of an operator that cannot simply be run again, such as a model that was paid.
  bool settled_after_stop(candidate_id who) const;
  bool operator_available(std::size_t i) const;
  bool may_vary() const;
  std::string dead_end() const;
  job evaluate_next(double now_s);
  job evaluate(candidate_id who, evaluation_stage wanted, bool fresh, double now_s);
  job vary_next(capacity free, double now_s);
  job hand_out_held();
  /// While no candidate is valid: one that was evaluated, all with the same chance.
  selection any_failed(rng& random) const;
  /// Puts any valid candidate in the place of the first parent.
  void take_any_parent(selection& chosen, rng& random) const;
  in_flight take(ticket id, bool evaluates);
  /// What a screening knows of a proposal; nothing without a screening.
  std::vector<double> features_of(candidate_id who, const std::vector<candidate_id>& parents) const;
  /// A confirmation replaces what is known; a re-evaluation is averaged with it (POLCA).
  static double blended(const population_row& before, const in_flight& turn, const evaluation& e);
  archive_result offer(candidate_id who, const population_row& before, const evaluation& e);
  void count_improvement(const in_flight& turn, const population_row& now);
  void observe(candidate_id who, const in_flight& turn, const population_row& before, const evaluation& e,
               const archive_result& archived);
  /// Offers a candidate to the confirmation. While seeds are out, their best waits for the others: a run need
  /// not confirm what the next seed beats.
  void nominate(candidate_id who, const population_row& before, const evaluation& e, double now_s);
  job confirm_next(double now_s);
  void look_for_contender();
  /// The name of the baseline of a valid candidate's speedup if the candidate is that baseline's program.
  std::optional<std::string> baseline_met_by(candidate_id who, const evaluation& e) const;
  /// Whether a candidate is the baseline's program; then it is excluded and recorded.
  bool is_baseline(candidate_id who, const evaluation& e, double now_s);
  /// Takes the place of the contender from those that are the baseline's program.
  void pass_over_baselines(double now_s);
  void tell_champion(double now_s);

  search_parts parts_;
  search_settings settings_;
  rng root_;
  search_graph graph_;
  kevo::population population_;
  kinship kinship_;
  kevo::ledger ledger_;
  confirmation confirmation_;
  candidate_id no_baseline_ =
      no_candidate;  ///< the contender that was found not to be the baseline's program
  detail::evaluation_queue queue_;
  std::unordered_map<ticket, in_flight> in_flight_;
  std::size_t withdrawn_ = 0;  ///< of those in flight
  std::optional<evaluation_job>
      held_;  ///< asked for by the selector while the driver could not evaluate; in flight
  std::unordered_map<candidate_id, finished_turn>
      turn_;  ///< of candidates that wait for their first evaluation
  std::vector<std::uint32_t> fruitless_;
  std::vector<std::size_t> running_;
  std::vector<std::string> measure_names_;
  std::vector<double> measure_values_;
  bool wants_source_ = false;
  std::optional<std::string> stopped_;
  bool finish_confirmations_ = true;
  std::size_t unevaluated_seeds_ = 0;
  score_range scores_;
  std::uint64_t since_improvement_ = 0;
  std::uint64_t since_kept_ = 0;
  std::uint64_t sequence_ = 0;
  ticket tickets_ = 0;
};

}  // namespace kevo

#include <kevo/detail/search_steps.hpp>
