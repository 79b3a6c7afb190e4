#pragma once
// The member functions of search.hpp that take in results. Include <kevo/search.hpp> instead.

#include <kevo/detail/same_source.hpp>
#include <kevo/search.hpp>

namespace kevo {

inline void search::emit(const event& happened) const {
  for (const auto& listener : parts_.sinks) listener.consume(happened);
}

inline candidate_id search::join(const content_id& id, std::shared_ptr<const program> source,
                                 operator_index op, const std::vector<candidate_id>& parents) {
  parts_.store.put_program(id, std::move(source));
  graph_.add(id, op, parents);
  return population_.add(op, parents);
}

// An operator that learns by the number of a job gets one result for each job: that of the program that ends
// the turn. A further program of the turn is therefore not reported under this number. It has no cost of its
// own, because the cost of the turn is recorded with the program that ends it.
inline void search::take_in(proposal made, const in_flight& turn, variation_told& told) {
  const auto op = static_cast<operator_index>(turn.op);
  ++ledger_.proposals;
  told.program = id_of(made.program);
  told.summary = std::move(made.summary);
  told.sample = made.sample;
  if (const auto known = graph_.find(*told.program)) {
    told.candidate = *known;
    told.duplicate = true;
    ++ledger_.duplicates;
    return;
  }
  told.candidate =
      join(*told.program, std::make_shared<const program>(std::move(made.program)), op, turn.parents);
  const ticket learnt = told.further ? 0 : told.job;
  turn_[told.candidate] = {told.cost.wall_s, learnt, {}};
  if (!parts_.operators[op].replayable()) plans_[told.candidate] = {told.cost.wall_s, told.job, told.summary};
  ++pending_.proposals;
  if (parts_.filter) {
    gathered_.push_back(told.candidate);
  } else {
    enqueue(told.candidate);
  }
}

inline void search::tell_further(ticket id, proposal made, double now_s) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end() || found->second.evaluates)
    throw error(error_code::internal,
                "a further program was reported for job " + std::to_string(id) + ", which is not running");
  in_flight& turn = found->second;
  if (made.program.files.empty() ||
      std::find(turn.samples.begin(), turn.samples.end(), made.sample) != turn.samples.end())
    return;
  turn.samples.push_back(made.sample);
  variation_told told{.job = id};
  told.further = true;
  take_in(std::move(made), turn, told);
  emit({++sequence_, now_s, std::move(told)});
  parts_.stop.observe(progress(now_s));
}

inline void search::halt(std::string reason, double now_s, bool external) {
  stopped_ = reason;
  confirmation_.forget_futile();
  emit({++sequence_, now_s, search_stopped{std::move(reason), external}});
  if (confirmation_.settle()) tell_champion(now_s);
}

inline void search::check_stop(double now_s) {
  if (stopped_) return;
  if (auto reason = parts_.stop.stop(progress(now_s))) halt(std::move(*reason), now_s, false);
}

inline search::in_flight search::take(ticket id, bool evaluates) {
  const auto it = in_flight_.find(id);
  if (it == in_flight_.end() || it->second.evaluates != evaluates) {
    throw error(error_code::internal,
                "a result was reported for job " + std::to_string(id) + ", which is not running");
  }
  in_flight turn = std::move(it->second);
  if (turn.withdrawn) --withdrawn_;
  in_flight_.erase(it);
  return turn;
}

inline double search::blended(const population_row& before, const in_flight& turn, const evaluation& e) {
  if (!turn.fresh || !before.ranked()) return e.score;
  return before.score + (e.score - before.score) / (before.evaluations + 1.0);
}

inline archive_result search::offer(candidate_id who, const population_row& before, const evaluation& e) {
  const population_row& now = population_.row(who);
  if (!now.ranked()) {
    if (before.evaluated) parts_.archive.remove(who);
    return {};
  }
  measure_values_.clear();
  for (const auto& name : measure_names_) {
    const auto it = e.measures.find(name);
    measure_values_.push_back(it == e.measures.end() ? std::numeric_limits<double>::quiet_NaN() : it->second);
  }
  const auto parents = graph_.parents(who);
  archive_entry entry{who, now.score, measure_values_, parents};
  if (wants_source_) entry.source = parts_.store.program_of(graph_.program_of(who));
  return before.evaluated ? parts_.archive.update(entry) : parts_.archive.add(entry);
}

inline void search::count_improvement(const in_flight& turn, candidate_id who) {
  const population_row& now = population_.row(who);
  if (who == best_candidate_ && !(now.ranked() && now.score >= *scores_.best)) {
    best_candidate_ = population_.ranked() > 0 ? population_.nth_best(0) : no_candidate;
    scores_.best.reset();
    if (best_candidate_ != no_candidate) scores_.best = population_.row(best_candidate_).score;
  }
  if (now.ranked() && improves(now.score, scores_.best, settings_.improvement_margin)) {
    since_improvement_ = 0;
    scores_.best = now.score;
    best_candidate_ = who;
  } else if (turn.wanted != evaluation_stage::confirmed) {
    ++since_improvement_;
  }
}

// The reward for a new niche is the gain over the parent, because an archive that is not full yet keeps every
// candidate.
inline double search::credit(const observation& seen) const {
  if (seen.archived.status == archive_status::rejected) return 0;
  if (seen.archived.status == archive_status::improved) return scores_.share(seen.archived.value, false);
  if (seen.parent_score) return scores_.share(seen.score - *seen.parent_score, false);
  return scores_.share(seen.archived.value, true);
}

inline void search::observe(candidate_id who, const in_flight& turn, const population_row& before,
                            const std::shared_ptr<const evaluation>& told, const archive_result& archived) {
  const evaluation& e = *told;
  observation seen{.candidate = who,
                   .parents = graph_.parents(who),
                   .made_by = before.made_by,
                   .outcome = e.outcome,
                   .score = population_.row(who).score,
                   .archived = archived,
                   .cost_s = e.cost.wall_s,
                   .measured = e.valid() ? e.score : 0,
                   .confirmed = turn.wanted == evaluation_stage::confirmed,
                   .result = told};
  for (const candidate_id parent : seen.parents) {
    const population_row& row = population_.row(parent);
    if (row.ranked()) seen.parent_score = std::max(seen.parent_score.value_or(row.score), row.score);
  }
  if (const auto it = turn_.find(who); it != turn_.end()) {
    seen.cost_s += it->second.cost_s;
    seen.job = it->second.job;
    parts_.portfolio.observe({.index = before.made_by, .reward = credit(seen), .cost_s = seen.cost_s});
    turn_.erase(it);
  }
  parts_.select.observe(seen, population_view(population_, parts_.archive, lineage_queries_));
  if (before.made_by != seed_operator && turn.wanted != evaluation_stage::confirmed) {
    parts_.operators[before.made_by].observe(seen);
  }
}

inline void search::record_result(candidate_id who, const evaluation& e) {
  const auto made = std::make_shared<told_result>();
  made->candidate = who;
  made->outcome = e.outcome;
  if (population_.row(who).ranked()) made->score = population_.row(who).score;
  const auto [low, high] = e.speedup_interval;
  constexpr double deviations = 2 * 1.959964;  // the width of an interval of 95 %
  if (e.valid() && low > 0 && high > low) made->log_error = std::log(high / low) / deviations;
  made->cost_s = e.cost.wall_s;
  if (const auto parents = graph_.parents(who); !parents.empty()) made->parent = parents.front();
  made->summary = plan_of(who);
  made->count = results_ ? results_->count + 1 : 1;
  made->before = std::move(results_);
  results_ = made;
}

inline void search::nominate(candidate_id who, const population_row& before, const evaluation& e,
                             double now_s) {
  const bool first_of_seed = before.made_by == seed_operator && !before.evaluated;
  if (first_of_seed) is_baseline(who, e, now_s);
  if (unevaluated_seeds_ > 0) return;
  if (first_of_seed && population_.ranked() > 0) {
    if (settings_.confirm.decides) return look_for_contender();  // the best may be the baseline's program
    who = population_.nth_best(0);
  }
  const auto latest = parts_.store.evaluation_of(who);
  if (latest) confirmation_.offer(who, *latest, population_);
}

inline job search::confirm_next(double now_s) {
  const bool again = confirmation_.asked_before(stopped_ ? confirmation_.contender() : confirmation_.next());
  return evaluate(confirmation_.begin(stopped_.has_value()), evaluation_stage::confirmed, again, now_s);
}

inline bool search::evaluator_idles() const {
  return queue_.empty() && gathered_.empty() &&
         std::all_of(in_flight_.begin(), in_flight_.end(), [this](const auto& one) {
           const in_flight& turn = one.second;
           return turn.withdrawn || (!turn.evaluates && !parts_.operators[turn.op].replayable());
         });
}

inline void search::look_for_contender() {
  confirmation_.look_for_contender(population_,
                                   [this](candidate_id one) { return parts_.store.evaluation_of(one); });
}

inline std::optional<std::string> search::baseline_met_by(candidate_id who, const evaluation& e) const {
  if (!settings_.confirm.decides || !e.valid() || !(e.speedup > 0)) return std::nullopt;
  const auto found = e.context.find("identical_to");  // set by fitness functions that compare builds
  if (found != e.context.end() && found->second == e.baseline) return e.baseline;
  if (!parts_.task) return std::nullopt;
  for (const baseline& one : parts_.task->baselines) {
    if (!e.baseline.empty() && one.name != e.baseline) continue;
    const auto source = parts_.store.program_of(graph_.program_of(who));
    return source && detail::same_source(*source, one.source) ? std::optional(one.name) : std::nullopt;
  }
  return std::nullopt;
}

inline bool search::is_baseline(candidate_id who, const evaluation& e, double now_s) {
  auto name = baseline_met_by(who, e);
  if (!name) return false;
  confirmation_.exclude_baseline(who, e.score == e.speedup);
  emit({++sequence_, now_s, baseline_met{who, std::move(*name)}});
  return true;
}

inline void search::pass_over_baselines(double now_s) {
  while (true) {
    const candidate_id who = confirmation_.contender();
    if (who == no_candidate || who == no_baseline_) return;
    const auto known = parts_.store.evaluation_of(who);
    if (!known || !is_baseline(who, *known, now_s)) {
      no_baseline_ = who;
      return;
    }
    look_for_contender();
  }
}

inline void search::tell_champion(double now_s) {
  const champion& best = confirmation_.best();
  emit({++sequence_, now_s, champion_crowned{best.id, best.speedup, best.speedup_interval, best.verdict}});
}

inline std::vector<double> search::features_of(candidate_id who,
                                               const std::vector<candidate_id>& parents) const {
  const screening* screen = queue_.screen();
  if (screen == nullptr) return {};
  const auto source = parts_.store.program_of(graph_.program_of(who));
  const auto known = parents.empty() ? nullptr : parts_.store.evaluation_of(parents.front());
  std::optional<double> parent_score;
  if (!parents.empty() && population_.row(parents.front()).ranked())
    parent_score = population_.row(parents.front()).score;
  return screen->features(*source, parent_score, known ? known->measures : std::map<std::string, double>());
}

template <class Guarded>
variation_services search::services(const variation_job& asked, Guarded guarded) const {
  variation_services s;
  s.seen = [this, guarded, known = asked.known](const content_id& id) {
    bool answer = false;
    guarded([&] { answer = seen(id, known); });
    return answer;
  };
  s.program_of = [this, guarded, known = asked.known](candidate_id id) {
    std::shared_ptr<const program> found;
    guarded([&] {
      if (id < known) found = parts_.store.program_of(graph_.program_of(id));
    });
    return found;
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
  s.children = [this, guarded](candidate_id id, std::size_t limit) {
    std::vector<candidate_snapshot> all;
    guarded([&] {
      for (const candidate_id one : graph_.newest_children(id, limit)) all.push_back(snapshot(one));
    });
    return all;
  };
  return s;
}

inline std::string search::plan_of(candidate_id id) const {
  const auto found = plans_.find(id);
  return found == plans_.end() ? std::string() : found->second.summary;
}

}  // namespace kevo
