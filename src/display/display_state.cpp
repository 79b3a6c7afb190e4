#include "src/display/display_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

namespace kevo {

namespace {
constexpr std::uint8_t not_evaluated = 255;
constexpr double rate_window_s = 30;
constexpr double pace_window_s = 60;
constexpr std::size_t summaries_kept = 4096;
}  // namespace

std::string display_state::operator_name(operator_index op) const {
  if (op == seed_operator) return "seed";
  if (op < status.operator_names.size()) return status.operator_names[op];
  return "operator " + std::to_string(op);
}

void display_state::remember_maker(candidate_id candidate, operator_index op, const std::string& summary) {
  if (operators_.size() <= candidate) operators_.resize(candidate + std::size_t{1}, seed_operator);
  operators_[candidate] = op;
  if (summary.empty()) return;
  summaries_[candidate] = summary;
  if (summaries_.size() > summaries_kept) summaries_.erase(summaries_.begin());
}

void display_state::describe(improvement& entry) const {
  if (entry.candidate < operators_.size()) entry.op = operators_[entry.candidate];
  if (const auto known = summaries_.find(entry.candidate); known != summaries_.end())
    entry.summary = known->second;
}

void display_state::consume(const event& what) {
  if (const auto* asked = std::get_if<variation_asked>(&what.payload)) {
    asked_[asked->job] = {asked->op};
  } else if (const auto* told = std::get_if<variation_told>(&what.payload)) {
    const auto it = asked_.find(told->job);
    const operator_index op = it == asked_.end() ? seed_operator : it->second.op;
    if (it != asked_.end() && !told->further) asked_.erase(it);
    if (told->candidate != no_candidate && !told->duplicate)
      remember_maker(told->candidate, op, told->summary);
  } else if (const auto* evaluation = std::get_if<evaluation_asked>(&what.payload)) {
    if (evaluation->fresh) fresh_.insert(evaluation->job);
  } else if (const auto* evaluated = std::get_if<evaluation_told>(&what.payload)) {
    consume_evaluation(*evaluated, what.time_s);
  } else if (const auto* crowned = std::get_if<champion_crowned>(&what.payload)) {
    consume_crown(*crowned, what.time_s);
  } else if (const auto* met = std::get_if<baseline_met>(&what.payload)) {
    baseline_duplicates.insert(met->candidate);
  } else if (const auto* stop = std::get_if<search_stopped>(&what.payload)) {
    stopped = stop->reason;
  } else if (std::holds_alternative<search_resumed>(what.payload)) {
    stopped.clear();
    times_.clear();  // the pace of an earlier session says nothing
    paces_.clear();
    asked_.clear();
  }
  while (improvements.size() > improvements_kept) improvements.pop_front();
}

void display_state::consume_crown(const champion_crowned& crowned, double time_s) {
  if (crowned.candidate == no_candidate) {
    if (champion)
      std::erase_if(improvements, [&](const auto& i) { return i.candidate == champion->candidate; });
    champion.reset();
    champion_result = nullptr;
    return;
  }
  // Its confirmation was told just before, unless an earlier champion is back in its place.
  const bool known = last_candidate_ == crowned.candidate && last_result_;
  auto it = std::find_if(improvements.rbegin(), improvements.rend(),
                         [&](const auto& i) { return i.candidate == crowned.candidate; });
  if (it == improvements.rend()) {
    improvement entry;
    entry.candidate = crowned.candidate;
    describe(entry);
    entry.score = std::numeric_limits<double>::quiet_NaN();
    entry.time_s = time_s;
    improvements.push_back(std::move(entry));
    it = improvements.rbegin();
  }
  if (known) it->score = last_result_->score;
  if (!champion) {
    it->before = 0;
  } else if (champion->candidate != crowned.candidate) {
    it->before = shown_figure(*champion);
  }
  it->confirmed = it->measured_again = true;
  it->speedup = crowned.speedup;
  it->speedup_interval = crowned.speedup_interval;
  it->verdict = crowned.verdict;
  champion = *it;
  champion_result = known ? last_result_ : nullptr;
}

void display_state::consume_evaluation(const evaluation_told& told, double time_s) {
  ++(told.wanted == evaluation_stage::confirmed ? confirmations : evaluations);
  const bool fresh = fresh_.erase(told.job) > 0;
  times_.push_back(time_s);
  while (times_.size() > 2 && times_.front() < time_s - rate_window_s) times_.pop_front();
  if (!told.result || told.candidate == no_candidate) return;
  const evaluation& e = *told.result;
  last_result_ = told.result;
  last_candidate_ = told.candidate;
  if (latest_.size() <= told.candidate) latest_.resize(told.candidate + std::size_t{1}, not_evaluated);
  std::uint8_t& latest = latest_[told.candidate];
  if (latest != not_evaluated) --outcomes[latest];
  latest = static_cast<std::uint8_t>(e.outcome);
  ++outcomes[latest];

  scores_are_speedups =
      scores_are_speedups &&
      (!e.valid() || (e.score == e.speedup && (e.speedup > 0 || e.stage < evaluation_stage::timed_short)));
  standings_.tell(told.candidate, e, fresh);
  // A further evaluation of a known improvement is not another one.
  const bool listed = std::any_of(improvements.begin(), improvements.end(),
                                  [&](const improvement& i) { return i.candidate == told.candidate; });
  if (listed) correct(told.candidate, e);
  if (e.valid() && std::isfinite(e.score) && (!best_seen || e.score > *best_seen)) {
    if (!listed) {
      improvements.push_back(seen(told.candidate));
      improvements.back().before = best_seen.value_or(0);
      improvements.back().time_s = time_s;
      ++improved;
    }
    best_seen = e.score;
  }
  // A valid candidate can become champion after any number of other evaluations; an invalid one is described
  // no more.
  if (!e.valid()) summaries_.erase(told.candidate);
  if (champion && champion->candidate == told.candidate && told.wanted == evaluation_stage::confirmed &&
      e.valid())
    champion_result = told.result;

  if ((evaluations + confirmations) % curve_step == 0) curve.push_back(best_seen.value_or(0));
  if (curve.size() >= curve_kept) {  // every second point goes, so that memory stays bounded
    for (std::size_t i = 0; i < curve.size() / 2; ++i) curve[i] = curve[2 * i + 1];
    curve.resize(curve.size() / 2);
    curve_step *= 2;
  }
}

improvement display_state::seen(candidate_id candidate) const {
  const candidate_standing& now = standings_.of(candidate);
  improvement entry;
  entry.candidate = candidate;
  describe(entry);
  entry.score = now.score;
  entry.speedup = now.speedup;
  entry.speedup_interval = now.speedup_interval;
  entry.measured_again = now.measured_again;
  if (now.measured_again) entry.verdict = verdict_on(now.speedup, now.speedup_interval, {});
  return entry;
}

/// The row of a candidate that is not champion says what was measured last; an invalid one has no row.
void display_state::correct(candidate_id candidate, const evaluation& e) {
  const auto row = std::find_if(improvements.begin(), improvements.end(),
                                [candidate](const improvement& i) { return i.candidate == candidate; });
  if (row->confirmed) return;  // a crown tells the figures of all confirmations together
  if (!e.valid() || !std::isfinite(e.score)) {
    improvements.erase(row);
    return;
  }
  improvement now = seen(candidate);
  now.before = row->before;
  now.time_s = row->time_s;
  *row = std::move(now);
}

std::optional<improvement> display_state::best() const {
  if (champion) return champion;
  const auto first = standings_.first([](candidate_id, const candidate_standing&) { return true; });
  return first ? std::optional(seen(*first)) : std::nullopt;
}

std::optional<improvement> display_state::rival() const {
  if (!champion) return std::nullopt;
  const auto first = standings_.first([this](candidate_id who, const candidate_standing& one) {
    return who != champion->candidate && !one.measured_again && !baseline_duplicates.contains(who);
  });
  if (!first) return std::nullopt;
  improvement found = seen(*first);
  const bool faster = found.speedup > 0 && champion->speedup > 0 ? found.speedup > champion->speedup
                                                                 : found.score > champion->score;
  return faster ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<improvement> display_state::better_undecided() const {
  if (!champion || !(champion->speedup_interval.high > 0)) return std::nullopt;
  const auto first = standings_.first([this](candidate_id who, const candidate_standing& one) {
    return who != champion->candidate && one.measured_again && !baseline_duplicates.contains(who) &&
           one.speedup_interval.low > champion->speedup_interval.high;
  });
  return first ? std::optional(seen(*first)) : std::nullopt;
}

void display_state::refresh(const run_status& now) {
  status = now;
  if (now.archive != nullptr && *now.archive) archive = map_of(*now.archive);
  status.archive = nullptr;
  pace latest{now.elapsed_s, {}};
  for (const auto& b : now.budgets) latest.used.push_back(b.used);
  if (latest.used.empty() && now.budget_used) latest.used.push_back(*now.budget_used);
  if (latest.used.empty()) return;
  if (!paces_.empty() && paces_.back().used.size() != latest.used.size()) paces_.clear();
  paces_.push_back(std::move(latest));
  while (paces_.size() > 2 && paces_.front().time_s < now.elapsed_s - pace_window_s) paces_.pop_front();
}

double display_state::rate() const {
  if (times_.empty()) return 0;
  const double now = std::max(status.elapsed_s, times_.back());
  const double from = std::max(now - rate_window_s, std::min(times_.front(), now - 1));
  const auto recent = std::count_if(times_.begin(), times_.end(), [from](double t) { return t >= from; });
  // A run that is younger than the window counts from its start, not from its first result.
  const double span = std::min(rate_window_s, std::max(now, 1.0));
  return static_cast<double>(recent) / (now - from > span ? now - from : span);
}

std::optional<double> display_state::remaining_s() const {
  if (paces_.empty()) return std::nullopt;
  const pace& first = paces_.front();
  const pace& last = paces_.back();
  std::optional<double> least;
  for (std::size_t i = 0; i < last.used.size(); ++i) {
    const double used = last.used[i];
    double left = 0;
    if (used < 1) {
      double slope = 0;
      if (last.time_s > first.time_s + 5) {
        slope = (used - first.used[i]) / (last.time_s - first.time_s);
        if (slope < 0) continue;
      }
      if (!(slope > 0) && last.time_s > 1) slope = used / last.time_s;
      if (!(slope > 0)) continue;
      left = (1 - used) / slope;
    }
    least = least ? std::min(*least, left) : left;
  }
  return least;
}

}  // namespace kevo
