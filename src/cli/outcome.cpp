#include "src/cli/outcome.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <fmt/format.h>

#include "src/base/json/finite.hpp"
#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/verdict_text.hpp"
#include "src/cli/command.hpp"
#include "src/report/evaluation_text.hpp"

namespace kevo::cli {
namespace {

namespace json = boost::json;

json::object ledger_object(const ledger& l) {
  return {{"proposals", l.proposals},
          {"duplicates", l.duplicates},
          {"no_proposals", l.no_proposals},
          {"filtered", l.filtered},
          {"evaluations", l.evaluations},
          {"confirmations", l.confirmations},
          {"valid", l.valid},
          {"elapsed_s", l.elapsed_s},
          {"waited_s", l.waited_s},
          {"variation_s", l.variation.wall_s},
          {"evaluation_s", l.evaluation.wall_s},
          {"device_s", l.evaluation.device_s},
          {"tokens_in", l.variation.tokens_in},
          {"tokens_out", l.variation.tokens_out},
          {"money", l.variation.money}};
}

/// Null without a screening; a hit rate that does not exist is null, too.
json::value screening_object(const std::optional<screening_report>& screened) {
  if (!screened) return nullptr;
  const screening_report& s = *screened;
  return json::object{{"hit_rate", s.pairs > 0 ? json::value(s.hit_rate()) : json::value(nullptr)},
                      {"pairs", s.pairs},
                      {"ranked", s.ranked},
                      {"ranked_kept", s.ranked_kept},
                      {"explored", s.explored},
                      {"explored_kept", s.explored_kept},
                      {"dropped", s.dropped}};
}

std::string why_undecided(const champion& best) {
  return format::why_undecided(best.verdict, best.speedup, best.speedup_interval, best.disturbed);
}

/// Whether something was found, and if not, why: the verdict of the whole run.
struct run_verdict {
  std::string_view word = "confirmed";
  std::string reason;
};
run_verdict verdict_of(const run_outcome& ended) {
  const champion& best = ended.best;
  if (best && !best.verdict.confirmed()) return {"undecided", why_undecided(best)};
  if (best && best.speedup > 0 && best.speedup_interval.high < 1)
    return {"nothing_faster", format::nothing_faster(ended.baseline)};
  if (best) return {};
  if (ended.baseline_duplicate != no_candidate)
    return {"nothing_faster", fmt::format("{}; candidate {} is the baseline itself",
                                          format::nothing_faster(ended.baseline), ended.baseline_duplicate)};
  return {"none", "no candidate was confirmed"};
}

json::value best_object(const run_outcome& ended) {
  if (ended.best.id == no_candidate) return nullptr;
  const bool compared = ended.best.speedup > 0;
  return json::object{
      {"id", ended.best.id},
      {"score", finite_or_null(ended.best.score)},
      {"speedup", compared ? finite_or_null(ended.best.speedup) : json::value(nullptr)},
      {"speedup_interval", compared ? json::value{finite_or_null(ended.best.speedup_interval.low),
                                                  finite_or_null(ended.best.speedup_interval.high)}
                                    : json::value(nullptr)},
      {"verdict", to_string(ended.best.verdict.word())},
      {"reason",
       ended.best.verdict.confirmed() ? json::value(nullptr) : json::value(why_undecided(ended.best))},
      {"file", ended.best_file.empty() ? json::value(nullptr) : json::value(ended.best_file)}};
}

void print_json(const run_outcome& ended) {
  const run_verdict verdict = verdict_of(ended);
  const json::object all{
      {"run", ended.directory},
      {"best", best_object(ended)},
      {"verdict", verdict.word},
      {"reason", verdict.reason.empty() ? json::value(nullptr) : json::value(verdict.reason)},
      {"evaluations", ended.ledger.evaluations},
      {"valid", ended.ledger.valid},
      {"stopped_by", ended.stopped_by},
      {"setbacks", json::value_from(ended.setbacks)},
      {"screening", screening_object(ended.screened)},
      {"ledger", ledger_object(ended.ledger)}};
  fmt::print("{}\n", json::serialize(all));
}

std::string words_of(const run_outcome& ended) {
  std::string text;
  const std::string spent =
      fmt::format("{} {}, {} valid", ended.ledger.evaluations,
                  format::noun(ended.ledger.evaluations, "evaluation"), ended.ledger.valid);
  if (ended.best.id == no_candidate) {
    text += fmt::format("{}; {}; stopped by {}\n", verdict_of(ended).reason, spent, ended.stopped_by);
  } else {
    text += fmt::format(
        "best: candidate {}, {}, {}; {}; stopped by {}\n", ended.best.id,
        finding(ended.best.speedup, ended.best.speedup_interval, ended.best.score, ended.baseline, 2),
        to_string(ended.best.verdict.word()), spent, ended.stopped_by);
    if (!ended.best.verdict.confirmed()) text += fmt::format("undecided: {}\n", why_undecided(ended.best));
    if (!ended.best_file.empty()) text += fmt::format("source: {}\n", ended.best_file);
  }
  if (ended.ledger.filtered > 0) {
    text += fmt::format("proposal filter: {} of {} proposals were dropped without an evaluation\n",
                        ended.ledger.filtered, ended.ledger.proposals);
  }
  if (ended.screened && ended.screened->pairs > 0) {
    const screening_report& s = *ended.screened;
    text += fmt::format(
        "screening: {:.0f} % of {} pairs were ranked correctly (50 % by chance); the archive kept {} of {} "
        "highest-ranked and {} of {} randomly chosen proposals; {} were never evaluated\n",
        100 * s.hit_rate(), s.pairs, s.ranked_kept, s.ranked, s.explored_kept, s.explored, s.dropped);
  }
  const std::string said = verdict_of(ended).reason;
  for (const auto& setback : ended.setbacks) {
    if (setback != said || ended.best) text += fmt::format("{}\n", setback);
  }
  text += fmt::format("run: {}\n", ended.directory);
  return text;
}

void set_exit_code(const run_outcome& ended, invocation& shared, bool require_confirmed) {
  // Seeds that do not pass, an operator without a program: what the user gave cannot work.
  const bool goes_on = ended.stopped_by == "a model is asked";
  if (ended.ledger.valid == 0 && !ended.setbacks.empty() && !goes_on) shared.exit_code = 2;
  const bool sure = ended.best && ended.best.verdict.confirmed();
  if (shared.exit_code == 0 && require_confirmed && !sure) shared.exit_code = 3;
  if (ended.interrupted) shared.exit_code = 130;
}

}  // namespace

void print_outcome(const run_outcome& ended, invocation& shared, const std::string& note,
                   bool require_confirmed) {
  set_exit_code(ended, shared, require_confirmed);  // first: printing may fail
  if (shared.json) {
    print_json(ended);
  } else {
    // Names of operators, reasons and folders are whoever's who wrote the config.
    fmt::print("{}{}", note.empty() ? "" : format::printable(note) + "\n",
               format::printable(words_of(ended)));
  }
}

}  // namespace kevo::cli
