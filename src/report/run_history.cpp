#include "src/report/run_history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/report/evaluation_text.hpp"

namespace kevo {

namespace {
// The journal's reader refuses candidates out of order; whoever feeds a history otherwise must not make it
// take memory for candidates that do not exist.
void require_next(candidate_id id, std::size_t known) {
  if (id <= known) return;
  throw error(error_code::input, fmt::format("candidate {} is told of when only {} are known", id, known));
}

}  // namespace

// Rewards are those of the search (search.hpp): the archive's gain, in a new niche the gain over the best
// parent, relative to the best score that stood before.
double run_history::reward_of(const candidate_record& child, const archive_result& archived,
                              double score) const {
  if (archived.status == archive_status::rejected) return 0;
  score_range before = scores_;
  before.best = standing_.empty() ? std::nullopt : std::optional(standing_.greatest());
  if (archived.status == archive_status::improved) return before.share(archived.value, false);
  std::optional<double> parent;
  for (const candidate_id id : child.parents) {
    if (const auto known = standing_.of(id)) parent = std::max(parent.value_or(*known), *known);
  }
  return parent ? before.share(score - *parent, false) : before.share(archived.value, true);
}

operator_record& run_history::record_of(operator_index op) {
  if (op == seed_operator) return seeds_;
  if (operators_.size() <= op) operators_.resize(op + std::size_t{1});
  return operators_[op];
}

void run_history::consume(const event& what) {
  ledger_.elapsed_s = std::max(ledger_.elapsed_s, what.time_s);
  if (const auto* born = std::get_if<seeded>(&what.payload)) {
    require_next(born->candidate, candidates_.size());
    if (candidates_.size() <= born->candidate) candidates_.resize(born->candidate + std::size_t{1});
    candidates_[born->candidate].program = born->program;
    candidates_[born->candidate].born_s = what.time_s;
    ++seeds_.candidates;
  } else if (const auto* asked = std::get_if<variation_asked>(&what.payload)) {
    turns_[asked->job] = {asked->op, asked->selection.parents, asked->selection.inspirations};
  } else if (const auto* varied = std::get_if<variation_told>(&what.payload)) {
    told(*varied, what.time_s);
  } else if (const auto* evaluate = std::get_if<evaluation_asked>(&what.payload)) {
    if (evaluate->fresh) fresh_[evaluate->job] = true;
  } else if (const auto* evaluated = std::get_if<evaluation_told>(&what.payload)) {
    told(*evaluated, what.time_s);
  } else if (const auto* draft = std::get_if<draft_evaluated>(&what.payload)) {
    ++ordinal_;
    ++ledger_.evaluations;
    if (draft->result) {
      ledger_.evaluation += {.wall_s = draft->result->cost.wall_s, .device_s = draft->result->cost.device_s};
      ledger_.waited_s += draft->result->cost.waited_s;
      for (const auto& [name, seconds] : draft->result->cost.parts_s) parts_s_[name] += seconds;
    }
  } else if (const auto* crowned = std::get_if<champion_crowned>(&what.payload)) {
    if (crowned->candidate == no_candidate) {
      has_champion_ = false;
    } else if (crowned->candidate < candidates_.size()) {
      has_champion_ = true;
      if (last_crown_of(crowned->candidate) == nullptr)
        ++record_of(candidates_[crowned->candidate].op).crowned;
      champions_.push_back({ordinal_, what.time_s, crowned->candidate, candidates_[crowned->candidate].score,
                            crowned->speedup, crowned->speedup_interval, crowned->verdict});
    }
  } else if (const auto* met = std::get_if<baseline_met>(&what.payload)) {
    if (met->candidate < candidates_.size()) baseline_duplicates_[met->candidate] = met->baseline;
  } else if (const auto* filtered = std::get_if<proposals_filtered>(&what.payload)) {
    for (const auto& one : filtered->dropped) {
      if (one.candidate >= candidates_.size()) continue;
      candidates_[one.candidate].dropped = one.reason;
      ++record_of(candidates_[one.candidate].op).filtered;
      ++ledger_.filtered;
    }
  } else if (const auto* stop = std::get_if<search_stopped>(&what.payload)) {
    marks_.push_back({ordinal_, what.time_s, true, stop->reason});
  } else if (const auto* on = std::get_if<search_resumed>(&what.payload)) {
    marks_.push_back({ordinal_, what.time_s, false, on->reason});
  }
}

void run_history::told(const variation_told& what, double time_s) {
  turn from;
  if (const auto it = turns_.find(what.job); it != turns_.end()) {
    from = it->second;
    if (!what.further) turns_.erase(it);
  }
  operator_record& record = record_of(from.op);
  record.turns += what.further ? 0U : 1U;
  record.variation += what.cost;
  ledger_.variation += what.cost;
  if (!what.program) {
    ++record.no_proposals;
    ++record.refused_in_a_row;
    record.refusal = what.summary;
    ++ledger_.no_proposals;
    return;
  }
  ++record.proposals;
  record.refused_in_a_row = 0;
  ++ledger_.proposals;
  if (what.duplicate) {
    ++record.duplicates;
    ++ledger_.duplicates;
    return;
  }
  require_next(what.candidate, candidates_.size());
  if (candidates_.size() <= what.candidate) candidates_.resize(what.candidate + std::size_t{1});
  candidate_record& one = candidates_[what.candidate];
  one.program = *what.program;
  one.op = from.op;
  one.parents = std::move(from.parents);
  one.inspirations = std::move(from.inspirations);
  one.born_s = time_s;
  one.summary = what.summary;
  one.cost = what.cost;
  ++record.candidates;
}

void run_history::told(const evaluation_told& what, double time_s) {
  ++ordinal_;
  const bool fresh = fresh_.erase(what.job) > 0;
  if (!what.result || what.candidate >= candidates_.size()) return;
  const evaluation& e = *what.result;
  candidate_record& one = candidates_[what.candidate];
  operator_record& record = record_of(one.op);
  const spending cost{.wall_s = e.cost.wall_s, .device_s = e.cost.device_s};
  (what.wanted == evaluation_stage::confirmed ? ledger_.confirmations : ledger_.evaluations) += 1;
  ledger_.evaluation += cost;
  ledger_.waited_s += e.cost.waited_s;
  for (const auto& [name, seconds] : e.cost.parts_s) parts_s_[name] += seconds;
  devices_.see(what.candidate, e);

  if (one.op == seed_operator) {
    failed_seeds_.erase(what.candidate);
    if (!e.valid())
      failed_seeds_[what.candidate] = fmt::format("{}: {}", to_string(e.outcome), failure_text(e));
  }
  const bool first = !one.evaluated();
  if (!first) --outcomes_[static_cast<std::size_t>(one.evaluations.back().outcome)];
  ++outcomes_[static_cast<std::size_t>(e.outcome)];
  ledger_.valid += e.valid() ? 1U : 0U;
  ledger_.valid -= !first && one.evaluations.back().outcome == outcome::valid ? 1U : 0U;

  double score = e.valid() ? e.score : 0;
  if (e.valid() && fresh && one.ranked()) {
    score = one.score + (e.score - one.score) / (static_cast<double>(one.evaluations.size()) + 1);
  }
  const bool ranked = e.valid() && std::isfinite(score);
  if (ranked) scores_.include(score);
  if (archive_) {
    if (!ranked) {
      if (!first) archive_.remove(what.candidate);
    } else {
      std::vector<double> values;
      for (const auto& name : measures_) {
        const auto it = e.measures.find(name);
        values.push_back(it == e.measures.end() ? std::numeric_limits<double>::quiet_NaN() : it->second);
      }
      archive_entry entry{what.candidate, score, values, one.parents};
      if (programs_ && archive_.wants_source()) entry.source = programs_(one.program);
      first ? archive_.add(entry) : archive_.update(entry);
    }
  }
  if (first) {
    ++record.outcomes[static_cast<std::size_t>(e.outcome)];
    record.valid += e.valid() ? 1U : 0U;
    record.improved += what.archived.status == archive_status::improved ? 1U : 0U;
    record.new_cells += what.archived.status == archive_status::new_cell ? 1U : 0U;
    record.reward += reward_of(one, what.archived, score);
    record.evaluation += cost;
  }
  one.score = score;
  standing_.set(what.candidate, ranked ? std::optional(score) : std::nullopt);
  scores_are_speedups_ =
      scores_are_speedups_ &&
      (!e.valid() || (e.score == e.speedup && (e.speedup > 0 || e.stage < evaluation_stage::timed_short)));
  one.evaluations.push_back({ordinal_, time_s, e.outcome, what.wanted, e.stage, e.cached,
                             what.archived.status, e.score, e.speedup, e.speedup_interval});
  if (ranked && improves(score, scores_.best, 0)) {
    scores_.best = score;
    best_.push_back({ordinal_, time_s, what.candidate, score});
  }
}

std::optional<std::string> run_history::stopped_by() const {
  if (marks_.empty() || !marks_.back().stopped) return std::nullopt;
  return marks_.back().reason;
}

std::optional<candidate_id> run_history::best() const {
  if (has_champion_) return champions_.back().candidate;
  std::optional<candidate_id> best;
  for (candidate_id id = 0; id < candidates_.size(); ++id) {
    if (candidates_[id].ranked() && (!best || candidates_[id].score > candidates_[*best].score)) best = id;
  }
  return best;
}

std::optional<candidate_id> run_history::better_undecided() const {
  const champion_record* reigning = champion();
  if (reigning == nullptr || !(reigning->speedup_interval.high > 0)) return std::nullopt;
  std::optional<candidate_id> best;
  double highest = reigning->speedup_interval.high;
  for (candidate_id id = 0; id < candidates_.size(); ++id) {
    if (id == reigning->candidate || !candidates_[id].ranked() || baseline_duplicates_.contains(id)) continue;
    const evaluation_record& latest = *candidates_[id].latest();
    if (latest.stage != evaluation_stage::confirmed || !(latest.speedup_interval.low > highest)) continue;
    highest = latest.speedup_interval.low;
    best = id;
  }
  return best;
}

const champion_record* run_history::crown_of(candidate_id id) const {
  const champion_record* crown = last_crown_of(id);
  if (crown == nullptr) return nullptr;
  if (crown == champion() && crown->verdict.reason == verdict_reason::failed) return crown;
  const evaluation_record* latest = candidates_[id].latest();
  return latest == nullptr || latest->outcome == outcome::valid ? crown : nullptr;
}

const champion_record* run_history::last_crown_of(candidate_id id) const {
  const auto it = std::find_if(champions_.rbegin(), champions_.rend(),
                               [id](const champion_record& c) { return c.candidate == id; });
  return it == champions_.rend() ? nullptr : &*it;
}

std::vector<candidate_id> run_history::lineage(candidate_id id, std::size_t limit) const {
  std::vector<candidate_id> found;
  if (id >= candidates_.size()) return found;
  std::unordered_set<candidate_id> seen = {id};
  std::queue<candidate_id> next;
  next.push(id);
  while (!next.empty() && found.size() < limit) {
    const candidate_id one = next.front();
    next.pop();
    found.push_back(one);
    for (const candidate_id parent : candidates_[one].parents) {
      if (parent < one && seen.insert(parent).second) next.push(parent);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<candidate_id> run_history::main_line(candidate_id id) const {
  std::vector<candidate_id> line;
  while (id < candidates_.size()) {
    line.push_back(id);
    candidate_id best = no_candidate;
    for (const candidate_id parent : candidates_[id].parents) {
      if (parent >= id) continue;
      if (best == no_candidate || candidates_[parent].score > candidates_[best].score) best = parent;
    }
    if (best == no_candidate) break;
    id = best;
  }
  std::reverse(line.begin(), line.end());
  return line;
}

}  // namespace kevo
