#pragma once
// A complete search, in the order in which it works:
//
//   task -> search graph -> select -> vary -> evaluate -> archive -> stop? -> report
//                 ^                                           |
//                 +-------------------------------------------+
//
// Included: all roles, what passes between them, the loop that connects them, the simple selectors and
// portfolios, one archive (top_k), all stop rules and the statistics of timings. Not included, because they
// would double the compile time of a translation unit that does not use them:
//   kevo/models.hpp               this header and all other models (archives with cells, UCT, filters, ...)
//   kevo/archive/grid.hpp, ...    one model each
//   kevo/registry.hpp             plug-ins: makes models from the names and settings in a config
//   kevo/annotation.hpp           annotations in sources
//   kevo/expression.hpp           integer expressions in tasks and annotations
//   kevo/task_extents.hpp         the sizes of a task for one workload
//   kevo/task_id.hpp              the content id of a task
//   kevo/learn/                   models that learn, which need Eigen

// clang-format off: the order says how a search works
#include <kevo/error.hpp>
#include <kevo/fwd.hpp>
#include <kevo/random.hpp>
#include <kevo/version.hpp>
// task: what is optimized
#include <kevo/content_id.hpp>
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
#include <kevo/select/explore_exploit.hpp>
#include <kevo/select/fitness_proportional.hpp>
#include <kevo/select/greedy.hpp>
#include <kevo/select/inspirations.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/select/tournament.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/select/weighted.hpp>
// vary: operators, and the portfolios that choose among them
#include <kevo/portfolio.hpp>
#include <kevo/vary.hpp>
#include <kevo/vary/fixed.hpp>
#include <kevo/vary/ucb1.hpp>
#include <kevo/vary/uniform.hpp>
// filter: decides which proposals are evaluated
#include <kevo/filter.hpp>
#include <kevo/screen.hpp>
// evaluate: fitness functions and their results
#include <kevo/evaluate.hpp>
#include <kevo/evaluate/pooled.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/evaluation.hpp>
// archive: keeps elites
#include <kevo/archive.hpp>
#include <kevo/archive/top_k.hpp>
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
#include <kevo/search.hpp>
#include <kevo/verdict.hpp>
// clang-format on
