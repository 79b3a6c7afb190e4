#pragma once
// Includes all of the core, in the order in which a search uses it:
//
//   config -> task -> search graph -> select -> vary -> evaluate -> archive -> stop? -> report
//                          ^                                           |
//                          +-------------------------------------------+
//
// Learned models are in kevo/learn/, which needs Eigen and is not included here.

// clang-format off: the order says how a search works
#include <kevo/error.hpp>
#include <kevo/fwd.hpp>
#include <kevo/random.hpp>
#include <kevo/version.hpp>
// config: makes plug-ins from names and settings
#include <kevo/registry.hpp>
#include <kevo/services.hpp>
#include <kevo/settings.hpp>
// task: what is optimized, and the languages of its sources, annotations and expressions
#include <kevo/annotation.hpp>
#include <kevo/content_id.hpp>
#include <kevo/dtype.hpp>
#include <kevo/expression.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>
// search graph: candidates, their scores and their lineage
#include <kevo/candidate.hpp>
#include <kevo/memory_store.hpp>
#include <kevo/population.hpp>
#include <kevo/score.hpp>
#include <kevo/search_graph.hpp>
// select: chooses parents
#include <kevo/select.hpp>
#include <kevo/select/adaptive_intensity.hpp>
#include <kevo/select/bucket_softmax.hpp>
#include <kevo/select/curiosity.hpp>
#include <kevo/select/explore_exploit.hpp>
#include <kevo/select/fitness_proportional.hpp>
#include <kevo/select/greedy.hpp>
#include <kevo/select/inspirations.hpp>
#include <kevo/select/island_mix.hpp>
#include <kevo/select/lineage.hpp>
#include <kevo/select/on_islands.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/select/priority_queue.hpp>
#include <kevo/select/tournament.hpp>
#include <kevo/select/uct.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/select/weighted.hpp>
// vary: operators, and the portfolios that choose among them
#include <kevo/portfolio.hpp>
#include <kevo/vary.hpp>
#include <kevo/vary/adaptive_pursuit.hpp>
#include <kevo/vary/exp3.hpp>
#include <kevo/vary/fixed.hpp>
#include <kevo/vary/thompson.hpp>
#include <kevo/vary/ucb1.hpp>
#include <kevo/vary/uniform.hpp>
// filter: decides which proposals are evaluated
#include <kevo/filter.hpp>
#include <kevo/filter/proposal_net.hpp>
// evaluate: fitness functions and their results
#include <kevo/evaluate.hpp>
#include <kevo/evaluate/pooled.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/evaluation.hpp>
// archive: keeps elites
#include <kevo/archive.hpp>
#include <kevo/archive/cvt.hpp>
#include <kevo/archive/epsilon_net.hpp>
#include <kevo/archive/feature_map.hpp>
#include <kevo/archive/grid.hpp>
#include <kevo/archive/islands.hpp>
#include <kevo/archive/measure_range.hpp>
#include <kevo/archive/novelty.hpp>
#include <kevo/archive/pareto.hpp>
#include <kevo/archive/sliding.hpp>
#include <kevo/archive/soft_threshold.hpp>
#include <kevo/archive/top_k.hpp>
#include <kevo/archive/topology.hpp>
#include <kevo/embedding.hpp>
// stop: budgets and stop rules
#include <kevo/ledger.hpp>
#include <kevo/stop.hpp>
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
// report: events and their sinks
#include <kevo/event.hpp>
// search: the loop that connects all of these
#include <kevo/confirm.hpp>
#include <kevo/job.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/screen.hpp>
#include <kevo/search.hpp>
#include <kevo/verdict.hpp>
// clang-format on
