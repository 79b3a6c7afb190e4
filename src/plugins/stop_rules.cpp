// Stop rules by name: `{evaluations: 400}`, `{any: [{...}, {...}]}`.

#include <kevo/stop/after.hpp>
#include <kevo/stop/all_of.hpp>
#include <kevo/stop/any_of.hpp>
#include <kevo/stop/device_seconds.hpp>
#include <kevo/stop/evaluations.hpp>
#include <kevo/stop/money.hpp>
#include <kevo/stop/proposals.hpp>
#include <kevo/stop/saturation.hpp>
#include <kevo/stop/seconds.hpp>
#include <kevo/stop/sol_fraction.hpp>
#include <kevo/stop/spent.hpp>
#include <kevo/stop/stall.hpp>
#include <kevo/stop/target_score.hpp>
#include <kevo/stop/target_speedup.hpp>
#include <kevo/stop/tokens.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

/// A rule with a counted limit.
template <class Rule>
void add_count(registry& all, const char* name, const char* unit, const char* doc) {
  all.stop_rules.add(
      name,
      [=](settings& from, const build_context&) {
        Rule rule;
        rule.limit =
            static_cast<decltype(rule.limit)>(from.integer(name, {.min = 1, .unit = unit, .doc = doc}));
        return any_stop_rule(rule);
      },
      doc);
}

/// A rule with a measured limit.
template <class Rule>
void add_amount(registry& all, const char* name, const char* unit, const char* doc) {
  all.stop_rules.add(
      name,
      [=](settings& from, const build_context&) {
        Rule rule;
        rule.limit = from.real(name, {.above = 0.0, .unit = unit, .doc = doc});
        return any_stop_rule(rule);
      },
      doc);
}

std::vector<any_stop_rule> rules_in(settings& from, const char* key, const build_context& context) {
  std::vector<any_stop_rule> rules;
  for (settings& one : from.children(key, true, "stop rules")) {
    rules.push_back(context.plugins->make_stop_rule(one, context));
  }
  if (rules.empty() && !from.probing())
    from.fail(key, "the list needs at least one stop rule", "for example, [{evaluations: 400}]");
  return rules;
}

/// Rules about what a run has used: evaluations, proposals, time, money, columns of the ledger.
void add_budgets(registry& all) {
  add_count<stop::evaluations>(all, "evaluations", "evaluations",
                               "stop after this many finished evaluations, not counting confirmations");
  add_count<stop::proposals>(
      all, "proposals", "proposals",
      "stop after this many proposed programs, including those that the run already contained");
  add_count<stop::stall>(all, "stall", "evaluations",
                         "stop after this many evaluations without an improvement of the best score");
  add_count<stop::saturation>(
      all, "saturation", "evaluations",
      "stop after this many consecutive evaluations of which the archive kept no candidate");
  add_count<stop::tokens>(all, "tokens", "tokens",
                          "stop after language models have read and written this many tokens");
  add_amount<stop::seconds>(all, "seconds", "s",
                            "stop after this much run time, summed over all sessions of the run; run time is "
                            "wall time without waits for the measurements of other kevo processes");
  add_amount<stop::device_seconds>(
      all, "device_seconds", "s",
      "stop after the device has been reserved for measuring for this long in total");
  add_amount<stop::money>(
      all, "money", "money",
      "stop after language models have cost this much, in the currency of the configured prices");
  for (const auto& column : stop::ledger_columns) {
    all.stop_rules.add(
        std::string(column.name),
        [column](settings& from, const build_context&) {
          return any_stop_rule(stop::spent{column, from.real(column.name, {.above = 0.0,
                                                                           .unit = std::string(column.unit),
                                                                           .doc = std::string(column.doc)})});
        },
        std::string(column.doc));
  }
}

/// Rules about what a run has reached.
void add_targets(registry& all) {
  constexpr const char* target_score =
      "stop when the confirmed score of the champion reaches this value; for fitness functions that report "
      "no "
      "speedup";
  all.stop_rules.add(
      "target_score",
      [=](settings& from, const build_context&) {
        return any_stop_rule(stop::target_score{from.real("target_score", {.doc = target_score})});
      },
      target_score);
  add_amount<stop::sol_fraction>(
      all, "sol_fraction", "",
      "stop when the champion reaches this fraction of the speed of light, the roofline limit of the device");
  all.stop_rules.add(
      "coverage",
      [](settings& from, const build_context&) {
        return any_stop_rule(stop::coverage{from.real(
            "coverage", {.max = 1.0,
                         .above = 0.0,
                         .doc = "stop when this fraction of the cells of the archive is occupied"})});
      },
      "stop when this fraction of the cells of the archive is occupied");
  all.stop_rules.add(
      "target_speedup",
      [](settings& from, const build_context&) {
        stop::target_speedup rule;
        rule.limit = from.real("target_speedup",
                               {.above = 0.0,
                                .unit = "x",
                                .doc = "stop when the confirmed speedup of the champion reaches this value"});
        rule.certain = from.boolean(
            "certain",
            {.def = true,
             .doc = "whether the whole confidence interval must reach the target, not only the estimate"});
        return any_stop_rule(rule);
      },
      "stop when the confirmed speedup of the champion reaches this value");
}

/// Rules made of other rules.
void add_combinations(registry& all) {
  all.stop_rules.add(
      "after",
      [](settings& from, const build_context& context) {
        const auto rule = [&](const char* key, const char* doc) {
          if (from.probing()) return from.raw(key, doc, "map"), any_stop_rule();
          settings inner = from.child(key, doc);
          return context.plugins->make_stop_rule(inner, context);
        };
        any_stop_rule first = rule("after", "the rule that must be fulfilled first");
        return any_stop_rule(
            stop::after(std::move(first), rule("then",
                                               "the rule that stops the run; it counts only what happens "
                                               "after the first rule is fulfilled")));
      },
      "stop by the rule under then; this rule starts counting when the rule under after is fulfilled");
  all.stop_rules.add(
      "any",
      [](settings& from, const build_context& context) {
        return any_stop_rule(stop::any_of{rules_in(from, "any", context)});
      },
      "stop as soon as one of the rules in the list is fulfilled");
  all.stop_rules.add(
      "all",
      [](settings& from, const build_context& context) {
        return any_stop_rule(stop::all_of{rules_in(from, "all", context)});
      },
      "stop when all rules in the list are fulfilled");
}

}  // namespace

void register_stop_rules(registry& all) {
  add_budgets(all);
  add_targets(all);
  add_combinations(all);
}

}  // namespace kevo
