#pragma once
// The member functions of search.hpp that decide which job is next. Include <kevo/search.hpp> instead.

#include <kevo/detail/same_source.hpp>
#include <kevo/search.hpp>

namespace kevo {

inline job search::ask_after_stop(capacity free, double now_s) {
  if (held_) withdraw(held_->id);
  if (finish_confirmations_ && free.settle) {
    if (free.evaluate) filter_gathered(now_s);
    const auto settles = [&](candidate_id who) { return settled_after_stop(who, free.settle_all); };
    if (queue_.holds(settles)) {
      if (!free.evaluate) return wait_job{};
      return evaluate(queue_.take_oldest(settles), evaluation_stage::timed_full, false, now_s);
    }
  }
  if (in_flight_.size() > withdrawn_) return wait_job{};
  // Contenders are confirmed in the order of their scores. After three in a row that only looked better, the
  // next one is unlikely to be better.
  constexpr int most_futile = 3;
  if (!finish_confirmations_ || confirmation_.contender() == no_candidate ||
      confirmation_.futile() >= most_futile)
    return stop_job{};
  return free.evaluate ? confirm_next(now_s) : job(wait_job{});
}

inline bool search::settled_after_stop(candidate_id who, bool all) const {
  const operator_index op = population_.row(who).made_by;
  if (op == seed_operator || parts_.operators[op].evaluated_after_stop()) return true;
  return all && !parts_.operators[op].replayable();
}

inline bool search::operator_available(std::size_t i) const {
  return running_[i] < parts_.operators[i].concurrency() && fruitless_[i] < settings_.patience &&
         (population_.ranked() > 0 || parts_.operators[i].repairs());
}

inline bool search::settled() const {
  return pending_.proposals == 0 && !confirmation_.holds_contender() &&
         std::none_of(in_flight_.begin(), in_flight_.end(), [this](const auto& one) {
           const in_flight& work = one.second;
           const bool refines =
               work.wanted == evaluation_stage::confirmed && work.candidate == confirmation_.best().id;
           return work.evaluates && !work.withdrawn && !refines;
         });
}

inline bool search::may_vary() const {
  if (population_.size() == 0 || unevaluated_seeds_ > 0) return false;
  if (settings_.proposals_ahead == 0 ? !settled() : queue_.size() >= settings_.proposals_ahead) return false;
  if (population_.ranked() > 0 && !pending_.none() && !parts_.select.ready(pending_)) return false;
  for (std::size_t i = 0; i < parts_.operators.size(); ++i) {
    if (operator_available(i)) return true;
  }
  return false;
}

inline std::string search::dead_end() const {
  if (population_.size() == 0) return "no seeds";
  if (population_.ranked() > 0) return "operators exhausted";
  const bool repaired = std::any_of(parts_.operators.begin(), parts_.operators.end(),
                                    [](const any_variation& op) { return op.repairs(); });
  return repaired ? "no seed is valid, and the operators that repair are exhausted" : "no seed is valid";
}

inline unevaluated search::unevaluated_of(candidate_id who) const {
  return {who, parts_.store.program_of(graph_.program_of(who))};
}

inline bool search::filter_due() const {
  if (gathered_.empty()) return false;
  if (gathered_.size() >= parts_.filter->batch) return true;
  return pending_.variations == 0 && queue_.empty() && !may_vary();
}

inline void search::filter_gathered(double now_s) {
  if (gathered_.empty()) return;
  std::vector<unevaluated> batch;
  for (const candidate_id one : gathered_) batch.push_back(unevaluated_of(one));
  filter_verdict verdict = parts_.filter->filter.filter(batch);
  std::vector<candidate_id> judged = verdict.passed;
  for (const auto& one : verdict.dropped) judged.push_back(one.candidate);
  std::sort(judged.begin(), judged.end());
  std::sort(gathered_.begin(), gathered_.end());
  if (judged != gathered_)
    throw error(error_code::internal, "the proposal filter did not name each proposal of its batch once");
  gathered_.clear();
  for (const auto& one : verdict.dropped) {
    const operator_index op = population_.row(one.candidate).made_by;
    ++fruitless_[op];  // an operator that makes only near duplicates is exhausted at last
    parts_.portfolio.observe({.index = op, .reward = 0, .cost_s = turn_[one.candidate].cost_s});
    turn_.erase(one.candidate);
    --pending_.proposals;
    ++ledger_.filtered;
  }
  for (const candidate_id one : verdict.passed) enqueue(one);
  emit({++sequence_, now_s, proposals_filtered{std::move(verdict.passed), std::move(verdict.dropped)}});
}

inline void search::enqueue(candidate_id who) {
  std::fill(fruitless_.begin(), fruitless_.end(), 0U);
  queue_.push_back({.candidate = who, .features = features_of(who, graph_.parents(who))});
}

inline job search::evaluate_next(double now_s) {
  std::vector<candidate_id> dropped;
  const auto next = queue_.take(root_.split("screen").split(tickets_ + 1), dropped);
  for (const candidate_id one : dropped) {  // no reward for their operators
    parts_.portfolio.observe(
        {.index = population_.row(one).made_by, .reward = 0, .cost_s = turn_[one].cost_s});
    turn_.erase(one);
    --pending_.proposals;
  }
  return evaluate(next.candidate, evaluation_stage::timed_full, false, now_s);
}

inline evaluation_job search::evaluate(candidate_id who, evaluation_stage wanted, bool fresh, double now_s) {
  const ticket id = ++tickets_;
  in_flight_[id] = {.evaluates = true, .candidate = who, .wanted = wanted, .fresh = fresh};
  if (wanted != evaluation_stage::confirmed && fresh) ++pending_.measurements;
  evaluation_job made{.id = id, .candidate = who};
  made.request.program = parts_.store.program_of(graph_.program_of(who));
  made.request.wanted = wanted;
  made.request.best_speedup = confirmation_.best().sure_speedup();
  made.request.fresh = fresh;
  emit({++sequence_, now_s, evaluation_asked{id, who, wanted, fresh}});
  return made;
}

inline job search::hand_out_held() {
  evaluation_job held = *std::move(held_);
  held_.reset();
  return held;
}

// The decision of a selector is recorded when it is made, because the selector may remember it. If the driver
// cannot evaluate at that time, the job is held until it can. While a job is held, no other decision is made:
// otherwise a selector that always wants to measure again would be asked without end.
inline job search::vary_next(capacity free, double now_s) {
  const ticket id = tickets_ + 1;
  rng select_stream = root_.split("select").split(id);
  const population_view view(population_, parts_.archive, lineage_queries_);
  selection chosen =
      population_.ranked() > 0 ? parts_.select.select(view, select_stream) : any_failed(select_stream);
  if (chosen.parents.empty()) throw error(error_code::internal, "the selector chose no parent");
  if (chosen.reevaluate) {
    evaluation_job again = evaluate(chosen.parents.front(), evaluation_stage::timed_full, true, now_s);
    if (free.evaluate) return again;
    held_ = std::move(again);
    return wait_job{};
  }

  ++tickets_;
  const auto available = std::make_unique<bool[]>(parts_.operators.size());
  const bool broken = !population_.row(chosen.parents.front()).ranked();
  bool any = false;
  for (std::size_t i = 0; i < parts_.operators.size(); ++i) {
    available[i] = operator_available(i) && (!broken || parts_.operators[i].repairs());
    any = any || available[i];
  }
  if (!any) {  // no available operator can repair the parent
    take_any_parent(chosen, select_stream);
    for (std::size_t i = 0; i < parts_.operators.size(); ++i) available[i] = operator_available(i);
  }
  rng pick_stream = root_.split("portfolio").split(id);
  const std::size_t op = parts_.portfolio.pick({available.get(), parts_.operators.size()}, pick_stream);
  if (2 * fruitless_[op] >= settings_.patience && population_.ranked() > 0)
    take_any_parent(chosen, select_stream);
  ++running_[op];
  ++pending_.variations;
  in_flight_[id] = {.op = op, .parents = chosen.parents};

  variation_job made{.id = id,
                     .op = static_cast<operator_index>(op),
                     .random = root_.split("vary").split(id),
                     .known = static_cast<candidate_id>(population_.size())};
  made.request.job = id;
  made.request.known = made.known;
  if (parts_.operators[op].learns()) made.request.results = results_;
  made.request.task = parts_.task;
  made.request.scope = chosen.scope;
  for (const candidate_id one : chosen.parents) {
    made.request.parents.push_back(std::make_shared<const candidate_snapshot>(snapshot(one)));
  }
  for (const candidate_id one : chosen.inspirations) {
    made.request.inspirations.push_back(std::make_shared<const candidate_snapshot>(snapshot(one)));
  }
  emit({++sequence_, now_s, variation_asked{id, std::move(chosen), made.op}});
  return made;
}

// The parent that the selector prefers may leave an operator without work. For example, the only elite may be
// a seed without tunables that displaced the tunable seed from its cell.
inline void search::take_any_parent(selection& chosen, rng& random) const {
  const candidate_id any = population_.nth_best(random.below(population_.ranked()));
  chosen.parents.erase(chosen.parents.begin());
  std::erase(chosen.parents, any);
  chosen.parents.insert(chosen.parents.begin(), any);
}

inline selection search::any_failed(rng& random) const {
  auto one = static_cast<candidate_id>(random.below(population_.size()));
  while (!population_.row(one).evaluated) --one;  // ends: seeds have the first ids and are all evaluated
  return {.parents = {one}};
}

}  // namespace kevo
