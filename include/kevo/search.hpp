#pragma once
// The search: a synchronous state machine without threads, clock, files or network. `ask` gives the next job,
// `tell` takes its result in any order. Whoever drives it (src/run, an RL trainer, a test) owns time and
// concurrency.

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <kevo/error.hpp>
#include <kevo/job.hpp>
#include <kevo/report.hpp>
#include <kevo/search_graph.hpp>

namespace kevo {

/// Not thread-safe: one thread drives it. A wait answer changes nothing, so a replay need not know of it.
class search {
 public:
  search(search_parts parts, search_settings settings)
      : parts_(std::move(parts)),
        settings_(settings),
        root_(settings.seed),
        fruitless_(parts_.operators.size(), 0),
        running_(parts_.operators.size(), 0),
        measure_names_(parts_.archive.measures()) {
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

  /// The next job; `now_s` is the run time and never falls.
  job ask(capacity free, double now_s) {
    check_stop(now_s);
    if (stopped_) return ask_after_stop(free, now_s);
    if (free.evaluate && !queue_.empty()) return evaluate_next(now_s);
    if (free.vary && may_vary()) return vary_next(now_s);
    if (in_flight_.empty() && queue_.empty() && free.vary) {
      halt(dead_end(), now_s, false);
      return stop_job{};
    }
    return wait_job{};
  }

  /// Takes the end of a variation.
  void tell(ticket id, variation_result result, const spending& cost, std::string transcript, double now_s) {
    const in_flight turn = take(id, false);
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
        queue_.push_back({.candidate = told.candidate});
        turn_cost_[told.candidate] = cost.wall_s;
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
  }

  /// Takes the end of an evaluation.
  void tell(ticket id, evaluation result, double now_s) {
    const in_flight turn = take(id, true);
    const candidate_id who = turn.candidate;
    const population_row before = population_.row(who);
    const auto kept = std::make_shared<const evaluation>(std::move(result));
    const evaluation& e = *kept;
    parts_.store.put_evaluation(who, kept);
    (turn.wanted == evaluation_stage::confirmed ? ledger_.confirmations : ledger_.evaluations) += 1;
    ledger_.evaluation += {.wall_s = e.cost.wall_s, .device_s = e.cost.device_s};
    if (before.made_by == seed_operator && !before.evaluated) --unevaluated_seeds_;

    const double score = e.valid() ? blended(before, turn, e) : 0;
    population_.evaluate(who, e.outcome, score);
    ledger_.valid += (e.valid() ? 1U : 0U);
    ledger_.valid -= (before.evaluated && before.outcome == outcome::valid ? 1U : 0U);
    const archive_result archived = offer(who, before, e, score);
    observe(who, turn, before, e, score, archived);
    count_improvement(turn, score);
    emit(now_s, evaluation_told{id, who, turn.wanted, kept, archived});
    if (turn.wanted == evaluation_stage::confirmed) {
      crown(who, e, score, now_s);
    } else {
      nominate(who, before);
    }
  }

  /// Records an evaluation that an operator made of a draft while its variation `id` is out.
  void tell_draft(ticket id, const program& draft, evaluation result, double now_s) {
    ++ledger_.evaluations;
    ledger_.evaluation += {.wall_s = result.cost.wall_s, .device_s = result.cost.device_s};
    const content_id program_id = id_of(draft);
    parts_.store.put_program(program_id, std::make_shared<const program>(draft));
    emit(now_s, draft_evaluated{id, program_id, std::make_shared<const evaluation>(std::move(result))});
  }

  /// Stops handing out work. `finish_confirmations`: would-be champions are still confirmed.
  void stop(std::string reason, double now_s, bool finish_confirmations = true) {
    finish_confirmations_ = finish_confirmations;
    if (!stopped_) halt(std::move(reason), now_s, true);
  }
  /// Goes on after a stop, with another stop rule; or notes that a new process took over.
  void resume(any_stop_rule rule, std::string reason, double now_s) {
    parts_.stop = std::move(rule);
    stopped_.reset();
    finish_confirmations_ = true;
    std::fill(fruitless_.begin(), fruitless_.end(), 0U);
    emit(now_s, search_resumed{std::move(reason)});
  }

  /// Why the search stopped; nothing while it goes on.
  const std::optional<std::string>& stopped() const { return stopped_; }
  const champion& best() const { return champion_; }
  const kevo::population& population() const { return population_; }
  const search_graph& graph() const { return graph_; }
  const any_archive& archive() const { return parts_.archive; }
  const kevo::ledger& spent() const { return ledger_; }
  std::vector<operator_credit> credits() const { return parts_.portfolio.credits(); }
  std::vector<any_variation>& operators() { return parts_.operators; }
  const candidate_store& store() const { return parts_.store; }
  std::uint64_t last_sequence() const { return sequence_; }
  /// Sinks may be attached after a replay, so that they see only what is new.
  void attach(any_sink listener) { parts_.sinks.push_back(std::move(listener)); }
  /// How many jobs are out.
  std::size_t outstanding() const { return in_flight_.size(); }

  kevo::progress progress(double now_s) const {
    kevo::progress p;
    p.ledger = ledger_;
    p.ledger.elapsed_s = now_s;
    p.best_speedup = champion_.speedup;
    p.best_interval = champion_.speedup_interval;
    p.best_sol_fraction = champion_.sol_fraction;
    p.best_score = best_score_;
    p.since_improvement = since_improvement_;
    p.archive_size = parts_.archive.size();
    p.archive_cells = parts_.archive.cells();
    return p;
  }
  std::optional<double> budget_used(double now_s) const { return parts_.stop.used(progress(now_s)); }

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
  variation_services services(const variation_job& asked, Guarded guarded) const {
    variation_services s;
    s.seen = [this, guarded, known = asked.known](const content_id& id) {
      bool answer = false;
      guarded([&] { answer = seen(id, known); });
      return answer;
    };
    s.lineage = [this, guarded](candidate_id id, std::size_t limit) {
      std::vector<candidate_snapshot> line;
      guarded([&] {
        for (const candidate_id one : graph_.lineage(id, limit)) line.push_back(snapshot(one));
      });
      return line;
    };
    s.siblings = [this, guarded](candidate_id id, std::size_t limit) {
      std::vector<candidate_snapshot> all;
      guarded([&] {
        for (const candidate_id one : graph_.siblings(id, limit)) {
          all.push_back(snapshot(one));
        }
      });
      return all;
    };
    return s;
  }

 private:
  struct queued {
    candidate_id candidate = no_candidate;
    evaluation_stage wanted = evaluation_stage::timed_full;
  };
  struct in_flight {
    bool evaluates = false;
    std::size_t op = 0;
    std::vector<candidate_id> parents;
    candidate_id candidate = no_candidate;
    evaluation_stage wanted = evaluation_stage::timed_full;
    bool fresh = false;
  };

  void emit(double now_s, decltype(event::what) what) {
    const event e{++sequence_, now_s, std::move(what)};
    for (const auto& listener : parts_.sinks) listener.consume(e);
  }

  candidate_id join(const content_id& id, std::shared_ptr<const program> source, operator_index op,
                    const std::vector<candidate_id>& parents) {
    parts_.store.put_program(id, std::move(source));
    graph_.add(id, op, parents);
    std::fill(fruitless_.begin(), fruitless_.end(), 0U);
    return population_.add(op, parents);
  }

  void halt(std::string reason, double now_s, bool external) {
    stopped_ = reason;
    emit(now_s, search_stopped{std::move(reason), external});
  }
  void check_stop(double now_s) {
    if (stopped_) return;
    if (auto reason = parts_.stop.stop(progress(now_s))) halt(std::move(*reason), now_s, false);
  }

  job ask_after_stop(capacity free, double now_s) {
    if (finish_confirmations_ && !queue_.empty() && queue_.front().wanted == evaluation_stage::confirmed) {
      return free.evaluate ? evaluate_next(now_s) : job(wait_job{});
    }
    return in_flight_.empty() ? job(stop_job{}) : job(wait_job{});
  }

  bool operator_available(std::size_t i) const {
    return running_[i] < parts_.operators[i].concurrency() && fruitless_[i] < settings_.patience;
  }
  bool may_vary() const {
    if (population_.ranked() == 0 || queue_.size() >= settings_.proposals_ahead || unevaluated_seeds_ > 0)
      return false;
    for (std::size_t i = 0; i < parts_.operators.size(); ++i) {
      if (operator_available(i)) return true;
    }
    return false;
  }
  std::string dead_end() const {
    if (population_.size() == 0) return "no seeds";
    if (population_.ranked() == 0) return "no seed is valid";
    return "operators exhausted";
  }

  job evaluate_next(double now_s) {
    const queued next = queue_.front();
    queue_.pop_front();
    return evaluate(next.candidate, next.wanted, false, now_s);
  }
  job evaluate(candidate_id who, evaluation_stage wanted, bool fresh, double now_s) {
    const ticket id = ++tickets_;
    in_flight_[id] = {.evaluates = true, .candidate = who, .wanted = wanted, .fresh = fresh};
    evaluation_job made{.id = id, .candidate = who};
    made.request.program = parts_.store.program_of(graph_.program_of(who));
    made.request.wanted = wanted;
    made.request.best_speedup = champion_.speedup;
    made.request.fresh = fresh;
    emit(now_s, evaluation_asked{id, who, wanted, fresh});
    return made;
  }

  job vary_next(double now_s) {
    const ticket id = tickets_ + 1;
    rng select_stream = root_.split("select").split(id);
    const population_view view(population_, parts_.archive, kinship_);
    selection chosen = parts_.select.select(view, select_stream);
    if (chosen.parents.empty()) throw error(error_code::internal, "the selector chose no parent");
    if (chosen.reevaluate) return evaluate(chosen.parents.front(), evaluation_stage::timed_full, true, now_s);

    ++tickets_;
    const auto available = std::make_unique<bool[]>(parts_.operators.size());
    for (std::size_t i = 0; i < parts_.operators.size(); ++i) available[i] = operator_available(i);
    rng pick_stream = root_.split("portfolio").split(id);
    const std::size_t op = parts_.portfolio.pick({available.get(), parts_.operators.size()}, pick_stream);
    ++running_[op];
    in_flight_[id] = {.op = op, .parents = chosen.parents};

    variation_job made{.id = id,
                       .op = static_cast<operator_index>(op),
                       .random = root_.split("vary").split(id),
                       .known = static_cast<candidate_id>(population_.size())};
    made.request.task = parts_.task;
    made.request.scope = chosen.scope;
    for (const candidate_id one : chosen.parents) {
      made.request.parents.push_back(std::make_shared<const candidate_snapshot>(snapshot(one)));
    }
    for (const candidate_id one : chosen.inspirations) {
      made.request.inspirations.push_back(std::make_shared<const candidate_snapshot>(snapshot(one)));
    }
    emit(now_s, variation_asked{id, std::move(chosen), made.op});
    return made;
  }

  in_flight take(ticket id, bool evaluates) {
    const auto it = in_flight_.find(id);
    if (it == in_flight_.end() || it->second.evaluates != evaluates) {
      throw error(error_code::internal,
                  "told the result of job " + std::to_string(id) + ", which is not out");
    }
    in_flight turn = std::move(it->second);
    in_flight_.erase(it);
    return turn;
  }

  /// A confirmation replaces what is known; a re-evaluation is averaged with it (POLCA).
  static double blended(const population_row& before, const in_flight& turn, const evaluation& e) {
    if (!turn.fresh || !(before.score > 0)) return e.score;
    return before.score + (e.score - before.score) / (before.evaluations + 1.0);
  }

  archive_result offer(candidate_id who, const population_row& before, const evaluation& e, double score) {
    if (!e.valid() || !(score > 0)) {
      if (before.evaluated) parts_.archive.remove(who);
      return {};
    }
    measure_values_.clear();
    for (const auto& name : measure_names_) {
      const auto it = e.measures.find(name);
      measure_values_.push_back(it == e.measures.end() ? std::numeric_limits<double>::quiet_NaN()
                                                       : it->second);
    }
    const archive_entry entry{who, score, measure_values_};
    return before.evaluated ? parts_.archive.update(entry) : parts_.archive.add(entry);
  }

  void count_improvement(const in_flight& turn, double score) {
    if (score > best_score_ * (1 + settings_.improvement_margin)) {
      since_improvement_ = 0;
      best_score_ = score;
    } else if (turn.wanted != evaluation_stage::confirmed) {
      ++since_improvement_;
    }
  }

  void observe(candidate_id who, const in_flight& turn, const population_row& before, const evaluation& e,
               double score, const archive_result& archived) {
    observation seen{.candidate = who,
                     .parents = graph_.parents(who),
                     .made_by = before.made_by,
                     .outcome = e.outcome,
                     .score = score,
                     .archived = archived,
                     .cost_s = e.cost.wall_s};
    for (const candidate_id parent : seen.parents) {
      seen.parent_score = std::max(seen.parent_score, population_.row(parent).score);
    }
    if (const auto it = turn_cost_.find(who); it != turn_cost_.end()) {
      seen.cost_s += it->second;
      const double gain =
          archived.status == archive_status::rejected ? 0 : archived.value / std::max(best_score_, 1e-300);
      parts_.portfolio.observe(
          {.index = before.made_by, .reward = std::clamp(gain, 0.0, 1.0), .cost_s = seen.cost_s});
      turn_cost_.erase(it);
    }
    parts_.select.observe(seen);
    if (before.made_by != seed_operator && turn.wanted != evaluation_stage::confirmed) {
      parts_.operators[before.made_by].observe(seen);
    }
  }

  /// Asks for the confirmation of a would-be champion. While seeds are out, their best waits for the others:
  /// a run need not confirm what the next seed beats.
  void nominate(candidate_id who, const population_row& before) {
    if (unevaluated_seeds_ > 0) return;
    if (before.made_by == seed_operator && !before.evaluated && population_.ranked() > 0)
      who = population_.nth_best(0);
    const auto latest = parts_.store.evaluation_of(who);
    if (!latest || !worth_confirming(who, *latest)) return;
    queue_.push_front({.candidate = who, .wanted = evaluation_stage::confirmed});
    confirming_.insert(who);
  }
  bool worth_confirming(candidate_id who, const evaluation& e) const {
    return e.valid() && e.score > champion_.score && e.stage >= evaluation_stage::timed_full &&
           who != champion_.id && !confirming_.contains(who);
  }
  /// Selection by noisy maxima flatters: a champion falls only to a confirmed interval that lies above its
  /// figure.
  void crown(candidate_id who, const evaluation& e, double score, double now_s) {
    if (!e.valid()) return;
    const bool higher =
        champion_.id == no_candidate ||
        (e.speedup_interval.high > 0 ? e.speedup_interval.low > champion_.speedup : score > champion_.score);
    if (!higher) return;
    champion_ = {who, score, e.speedup, e.speedup_interval, e.sol_fraction};
    emit(now_s, champion_crowned{who, e.speedup, e.speedup_interval});
  }

  search_parts parts_;
  search_settings settings_;
  rng root_;
  search_graph graph_;
  kevo::population population_;
  kinship kinship_;
  kevo::ledger ledger_;
  champion champion_;
  std::deque<queued> queue_;
  boost::unordered_flat_map<ticket, in_flight> in_flight_;
  boost::unordered_flat_map<candidate_id, double>
      turn_cost_;  ///< of candidates that wait for their first evaluation
  boost::unordered_flat_set<candidate_id> confirming_;  ///< candidates whose confirmation was asked
  std::vector<std::uint32_t> fruitless_;
  std::vector<std::size_t> running_;
  std::vector<std::string> measure_names_;
  std::vector<double> measure_values_;
  std::optional<std::string> stopped_;
  bool finish_confirmations_ = true;
  std::size_t unevaluated_seeds_ = 0;
  double best_score_ = 0;
  std::uint64_t since_improvement_ = 0;
  std::uint64_t sequence_ = 0;
  ticket tickets_ = 0;
};

}  // namespace kevo
