#include <cmath>
#include <string_view>

#include <boost/json.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/finite.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/two_times.hpp"
#include "src/base/text/utf8.hpp"
#include "src/base/text/verdict_text.hpp"
#include "src/report/action_shares.hpp"
#include "src/report/show.hpp"

namespace kevo {

namespace {

namespace json = boost::json;

json::value number(double x) {
  return finite_or_null(x);
}
json::value measured(double x) {
  return x > 0 ? number(x) : json::value(nullptr);
}
/// A score may be any number, so that null says that there is none.
json::value score_if(outcome found, evaluation_stage stage, double score) {
  return format::has_score(found, stage, score) ? number(score) : json::value(nullptr);
}
json::value pair(const interval& x) {
  if (x.low == 0 && x.high == 0) return nullptr;
  return json::array{number(x.low), number(x.high)};
}
json::object counts(const outcome_counts& all) {
  json::object o;
  for (std::size_t i = 0; i < all.size(); ++i) o[outcome_names[i]] = all[i];
  return o;
}
json::object spent(const spending& s) {
  return {{"wall_s", number(s.wall_s)},
          {"device_s", number(s.device_s)},
          {"money", number(s.money)},
          {"tokens_in", s.tokens_in},
          {"tokens_out", s.tokens_out}};
}
json::array list(const std::vector<candidate_id>& ids) {
  json::array a;
  for (const candidate_id id : ids) a.emplace_back(id);
  return a;
}

/// null where the candidate was not judged again.
json::value judgement(const judged_again* one) {
  if (one == nullptr) return nullptr;
  return json::object{{"at", as_utf8(one->judged_at)},
                      {"kevo", as_utf8(one->kevo_version)},
                      {"protocol", as_utf8(one->protocol)},
                      {"verdict", as_utf8(one->verdict)},
                      {"reason", as_utf8(one->reason)},
                      {"outcome", to_string(one->outcome)},
                      {"score", score_if(one->outcome, evaluation_stage::confirmed, one->score)},
                      {"speedup", measured(one->speedup)},
                      {"speedup_interval", pair(one->speedup_interval)}};
}
/// Of the whole run: null where nothing was judged again.
json::value judgements_json(const judgements& all) {
  if (!all.problem.empty()) return json::object{{"problem", as_utf8(all.problem)}};
  if (all.latest.empty()) return nullptr;
  json::object verdicts;
  for (const auto& [verdict, count] : all.counts()) verdicts[as_utf8(verdict)] = count;
  json::array candidates;
  for (const auto& [id, one] : all.latest) {
    json::object row = judgement(&one).as_object();
    row["id"] = id;
    candidates.push_back(std::move(row));
  }
  return json::object{{"verdicts", std::move(verdicts)}, {"candidates", std::move(candidates)}};
}

/// null where the evaluations do not say on which of several devices they were made.
json::value devices_json(const device_use& use) {
  if (use.evaluations.empty() && use.losses.empty()) return nullptr;
  json::object evaluations;
  for (const auto& [device, count] : use.evaluations) evaluations[as_utf8(device)] = count;
  json::array lost;
  for (const std::string& one : use.losses) lost.emplace_back(as_utf8(one));
  json::array disagreements;
  for (const auto& [who, said] : use.disagreements)
    disagreements.push_back(json::object{{"id", who}, {"said", as_utf8(said)}});
  return json::object{{"evaluations", std::move(evaluations)},
                      {"lost", std::move(lost)},
                      {"disagreements", std::move(disagreements)}};
}

/// Nothing where the candidate was never confirmed.
std::optional<champion_verdict> verdict_of(const champion_record* crown, const evaluation_record* latest) {
  if (crown != nullptr) return crown->verdict;
  if (latest == nullptr || latest->outcome != outcome::valid || latest->stage != evaluation_stage::confirmed)
    return std::nullopt;
  return verdict_on(latest->speedup, latest->speedup_interval, {});
}

json::object brief(const report_content& content, candidate_id id) {
  const auto& c = content.history.candidates()[id];
  const auto* crown = content.history.crown_of(id);
  const auto* latest = c.latest();
  json::object o;
  o["id"] = id;
  o["operator"] = as_utf8(content.operator_name(c.op));
  o["program"] = to_string(c.program);
  o["outcome"] = latest == nullptr ? json::value(nullptr) : json::value(to_string(latest->outcome));
  o["score"] = latest == nullptr ? json::value(nullptr) : score_if(latest->outcome, latest->stage, c.score);
  o["speedup"] = crown != nullptr    ? measured(crown->speedup)
                 : latest != nullptr ? measured(latest->speedup)
                                     : json::value(nullptr);
  o["speedup_interval"] = crown != nullptr    ? pair(crown->speedup_interval)
                          : latest != nullptr ? pair(latest->speedup_interval)
                                              : json::value(nullptr);
  const auto verdict = verdict_of(crown, latest);
  const double c_speedup = crown != nullptr ? crown->speedup : latest != nullptr ? latest->speedup : 0;
  const interval c_range = crown != nullptr    ? crown->speedup_interval
                           : latest != nullptr ? latest->speedup_interval
                                               : interval();
  o["confirmed"] = verdict && verdict->confirmed();
  o["verdict"] = verdict ? json::value(to_string(verdict->word())) : json::value(nullptr);
  const bool of_best = crown != nullptr && content.best == id;
  const std::string reason = of_best   ? why_undecided(content)
                             : verdict ? format::why_undecided(*verdict, c_speedup, c_range)
                                       : std::string();
  o["reason"] = verdict && !verdict->confirmed() ? json::value(as_utf8(reason)) : json::value(nullptr);
  const auto& twins = content.history.baseline_duplicates();
  const auto twin = twins.find(id);
  o["baseline_program"] = twin == twins.end() ? json::value(nullptr) : json::value(as_utf8(twin->second));
  o["rejudged"] = judgement(content.judged.of(id));
  return o;
}

}  // namespace

std::string run_json(const report_content& content) {
  const run_history& h = content.history;
  const auto& l = h.spent();
  json::object o;
  o["run"] = as_utf8(content.folder);
  o["name"] = as_utf8(content.run);
  o["task"] = as_utf8(content.task);
  o["device"] = as_utf8(content.device);
  o["devices"] = devices_json(h.devices());
  o["best"] = content.best ? json::value(brief(content, *content.best)) : json::value(nullptr);
  if (content.best && content.best_evaluation && has_two_times(*content.best_evaluation)) {
    const evaluation& e = *content.best_evaluation;
    auto& best = o["best"].as_object();
    best["device_speedup"] = measured(e.device_speedup);
    best["device_speedup_interval"] = pair(e.device_speedup_interval);
    best["host_speedup"] = measured(e.host_speedup);
    best["host_speedup_interval"] = pair(e.host_speedup_interval);
  }
  const auto other = h.better_undecided();
  o["better_undecided"] = other ? json::value(brief(content, *other)) : json::value(nullptr);
  o["rejudged"] = judgements_json(content.judged);
  o["candidates"] = h.candidates().size();
  o["valid"] = l.valid;
  o["evaluations"] = l.evaluations;
  o["outcomes"] = counts(h.outcomes());
  o["stopped_by"] = h.stopped_by() ? json::value(as_utf8(*h.stopped_by())) : json::value(nullptr);
  o["ledger"] = json::object{{"proposals", l.proposals},
                             {"duplicates", l.duplicates},
                             {"no_proposals", l.no_proposals},
                             {"filtered", l.filtered},
                             {"evaluations", l.evaluations},
                             {"confirmations", l.confirmations},
                             {"valid", l.valid},
                             {"elapsed_s", number(l.elapsed_s)},
                             {"waited_s", number(l.waited_s)},
                             {"variation", spent(l.variation)},
                             {"evaluation", spent(l.evaluation)}};
  json::array operators;
  for (std::size_t i = 0; i < h.operators().size(); ++i) {
    const auto& op = h.operators()[i];
    operators.push_back(json::object{{"name", as_utf8(content.operator_name(static_cast<operator_index>(i)))},
                                     {"turns", op.turns},
                                     {"proposals", op.proposals},
                                     {"duplicates", op.duplicates},
                                     {"no_proposals", op.no_proposals},
                                     {"filtered", op.filtered},
                                     {"candidates", op.candidates},
                                     {"valid", op.valid},
                                     {"improved", op.improved},
                                     {"new_cells", op.new_cells},
                                     {"champions", op.crowned},
                                     {"mean_reward", number(op.mean_reward())},
                                     {"variation", spent(op.variation)},
                                     {"evaluation", spent(op.evaluation)},
                                     {"outcomes", counts(op.outcomes)}});
  }
  o["operators"] = std::move(operators);
  json::array actions;
  for (const action_share& one : action_shares(content)) {
    actions.push_back(
        json::object{{"name", one.action},
                     {"proposed", one.proposed},
                     {"evaluated", one.evaluated},
                     {"valid", one.valid},
                     {"valid_share", one.evaluated == 0 ? json::value(nullptr) : number(one.valid_share())},
                     {"incorrect", one.incorrect},
                     {"build_failed", one.build_failed},
                     {"failed_otherwise", one.failed_otherwise},
                     {"better_than_parents", one.better_than_parents}});
  }
  o["rewrite_actions"] = std::move(actions);
  json::array elites;
  for (const auto& e : content.archive.kept) {
    json::object one = brief(content, e.candidate);
    one["score"] = number(e.score);
    one["niche"] = as_utf8(e.niche);
    elites.push_back(std::move(one));
  }
  o["archive_cells"] = content.archive.cells > 0 ? json::value(content.archive.cells) : json::value(nullptr);
  o["elites"] = std::move(elites);
  return json::serialize(o);
}

std::string candidate_json(const report_content& content, const shown_candidate& one, bool source) {
  const run_history& h = content.history;
  const auto& c = h.candidates()[one.id];
  json::object o = brief(content, one.id);
  o["champion"] = content.best == one.id && h.crown_of(one.id) != nullptr;
  o["parents"] = list(c.parents);
  o["inspirations"] = list(c.inspirations);
  o["lineage"] = list(h.main_line(one.id));
  o["summary"] = as_utf8(c.summary);
  o["dropped"] = c.dropped.empty() ? json::value(nullptr) : json::value(as_utf8(c.dropped));
  o["born_s"] = number(c.born_s);
  o["cost"] = spent(c.cost);
  json::array evaluations;
  for (const auto& e : c.evaluations) {
    evaluations.push_back(json::object{{"time_s", number(e.time_s)},
                                       {"outcome", to_string(e.outcome)},
                                       {"confirmation", e.wanted == evaluation_stage::confirmed},
                                       {"cached", e.cached},
                                       {"score", score_if(e.outcome, e.stage, e.score)},
                                       {"speedup", measured(e.speedup)},
                                       {"speedup_interval", pair(e.speedup_interval)},
                                       {"archive", to_string(e.archived)}});
  }
  o["evaluations"] = std::move(evaluations);
  o["evaluation"] = nullptr;
  if (one.evaluation) {
    evaluation_json_options options;
    options.raw_samples = false;
    o["evaluation"] = json::parse(to_json(*one.evaluation, options));
  }
  if (!one.transcript.empty()) o["transcript"] = as_utf8(one.transcript);
  if (source && one.program) {
    json::array files;
    for (const auto& f : one.program->files)
      files.push_back(json::object{{"path", as_utf8(f.path)}, {"text", as_utf8(f.text)}});
    o["language"] = as_utf8(one.program->language);
    o["files"] = std::move(files);
  }
  return json::serialize(o);
}

std::string report_json(const std::string& folder, const std::string& path) {
  return json::serialize(json::object{{"run", as_utf8(folder)}, {"report", as_utf8(path)}});
}

}  // namespace kevo
