#include "src/lab/cell.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include <kevo/run_to_end.hpp>

namespace kevo {
namespace {

/// Changes whenever results change for a reason that a config does not show.
constexpr std::uint64_t lab_version = 3;

std::array<double, 3> spent_of(const ledger& l) {
  return {static_cast<double>(l.evaluations), static_cast<double>(l.proposals),
          l.variation.wall_s + l.evaluation.wall_s};
}

/// Ends a search at the budget, or when the user wants to stop (its cell is then thrown away). A policy that
/// spends on nothing that the budget counts ends by its variations.
struct budget_rule_of_lab {
  lab_axis unit = lab_axis::evaluations;
  double budget = 0;
  std::stop_token user;

  std::optional<std::string> stop(const progress& now) {
    if (user.stop_requested()) return "interrupted";
    if (spent_of(now.ledger)[static_cast<std::size_t>(unit)] >= budget) return "budget";
    const auto turns = static_cast<double>(now.ledger.proposals + now.ledger.no_proposals);
    if (turns >= 1000 + 100 * budget) return "the search made too many proposals for its budget";
    return std::nullopt;
  }
};

/// Follows what the search believes best.
class tracer {
 public:
  tracer(believed_program which, const lab_instance& instance, cell_result& into)
      : which_(which), instance_(instance), into_(into) {}

  void watch(const search& engine) { engine_ = &engine; }
  void consume(const event& e) {
    if (which_ == believed_program::champion) {
      if (const auto* crowned = std::get_if<champion_crowned>(&e.payload)) believe(crowned->candidate);
    } else if (std::holds_alternative<evaluation_told>(e.payload) && engine_->population().ranked() > 0) {
      believe(engine_->population().nth_best(0));
    }
  }

 private:
  void believe(candidate_id who) {
    if (who == believed_) return;
    believed_ = who;
    if (who == no_candidate) return;  // the champion was disqualified; a next one follows
    const double value = instance_.true_value(*engine_->store().program_of(engine_->graph().program_of(who)));
    if (!into_.trace.empty() && into_.trace.back().value == value) return;
    into_.trace.push_back({spent_of(engine_->spent()), value});
  }

  believed_program which_;
  const lab_instance& instance_;
  cell_result& into_;
  const search* engine_ = nullptr;
  candidate_id believed_ = no_candidate;
};

}  // namespace

content_id cell_key(const lab_plan& plan, const lab_policy& policy, std::uint64_t seed) {
  content_hasher hash;
  hash.text("kevo lab cell").number(lab_version).text(plan.problem.identity).text(policy.identity);
  hash.number(seed).text(to_string(plan.unit)).text(real_text(plan.budgets.back()));
  hash.number(static_cast<std::uint64_t>(plan.believed));
  return hash.finish();
}

std::optional<cell_result> run_cell(const lab_plan& plan, const lab_policy& policy, std::uint64_t seed,
                                    const std::stop_token& stop) {
  const lab_instance instance = plan.problem.instance(seed);
  cell_result cell{.key = cell_key(plan, policy, seed), .policy = policy.name, .seed = seed};
  cell.optimum = instance.optimum;
  search_parts parts = policy.parts;
  parts.task = instance.task ? instance.task : std::make_shared<const task>();
  parts.store = memory_store();
  parts.stop = budget_rule_of_lab{plan.unit, plan.budgets.back(), stop};
  const auto trace = std::make_shared<tracer>(plan.believed, instance, cell);
  search_settings settings = policy.search;
  settings.confirm.decides = false;  // policies are compared at one confirmation a candidate
  settings.seed = seed;
  search engine(std::move(parts), settings);
  trace->watch(engine);
  engine.attach(any_sink(trace));
  for (const program& source : instance.seeds) engine.add_seed(source, 0);
  run_to_end(engine, instance.fitness,
             [&engine] { return engine.spent().variation.wall_s + engine.spent().evaluation.wall_s; });
  if (stop.stop_requested()) return std::nullopt;
  cell.spent = spent_of(engine.spent());
  cell.confirmations = engine.spent().confirmations;
  cell.duplicates = engine.spent().duplicates;
  cell.filtered = engine.spent().filtered;
  cell.tokens =
      static_cast<std::uint64_t>(engine.spent().variation.tokens_in + engine.spent().variation.tokens_out);
  cell.no_proposals = engine.spent().no_proposals;
  cell.stopped_by = engine.stopped().value_or("");
  return cell;
}

double value_at(const cell_result& cell, lab_axis axis, double spent) {
  double value = 0;
  for (const auto& point : cell.trace) {
    if (point.spent[static_cast<std::size_t>(axis)] > spent) break;
    value = point.value;
  }
  return value;
}

double share_of_optimum(double value, double optimum) {
  if (!(value > 0)) return 0;
  return optimum > 1 ? std::log(value) / std::log(optimum) : 1;
}

}  // namespace kevo
