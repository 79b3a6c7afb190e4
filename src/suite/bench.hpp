#pragma once
// Evaluates the solutions of a suite, or evolves its tasks, and keeps every finished evaluation.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

#include "src/suite/bench_file.hpp"
#include "src/suite/perf.hpp"
#include "src/suite/suite_plan.hpp"

namespace kevo {

enum class bench_state : std::uint8_t {
  evaluated,
  pending,      ///< not evaluated yet
  unreadable,   ///< the solution's file cannot be read, or has wrong annotations
  none_found,   ///< the search ended without a confirmed program
  task_failed,  ///< the task cannot be loaded, or the backend refuses it
  environment,  ///< the machine failed; the next start tries again
};
std::string_view to_string(bench_state s);

/// What is known of one solution.
struct bench_solution {
  std::string name;
  std::string file;  ///< empty for an evolved one
  bench_state state = bench_state::pending;
  std::string message;                    ///< why there is no evaluation
  std::shared_ptr<const program> source;  ///< null if it was not loaded
  std::optional<evaluation> result;
  bool reused = false;  ///< from an earlier start
  std::string finished_at;
  std::string evolved_in;  ///< folder of the run that made it
};

/// What is known of one task of the suite.
struct bench_task {
  suite_task entry;
  std::string task_name;  ///< in the task file; empty if it was not loaded
  std::string task_id;
  std::string category;  ///< of the suite file, else the task's op_type
  /// Of the suite file, else of the task's name ("level1_19_relu"), else of its tag "level:NAME".
  std::string level;
  std::string
      problem_name;  ///< of the task's tag "problem:NAME", as the published suite calls it; may be empty
  std::vector<workload_work> work{};  ///< of its visible workloads; empty if it was not loaded
  std::vector<bench_solution> solutions;
  /// The solution that stands for the task: the fastest valid one, else one that is right at the given sizes,
  /// else one that ran, else the first.
  std::optional<std::size_t> best;
  /// The best of several valid solutions, evaluated once more.
  std::optional<evaluation> again;
  std::string again_message;  ///< why that evaluation is missing

  /// The evaluation by which the task counts; null if there is none.
  const evaluation* judged() const;
  /// Why the task enters no figure: its result does not depend on its inputs. Empty if it does, and where no
  /// evaluation could tell.
  std::string fixed_result() const;
};

struct bench_outcome {
  std::vector<bench_task> tasks;  ///< in the order of the suite
  std::size_t evaluations = 0;    ///< made by this start
  std::size_t reused = 0;         ///< made by earlier starts
  std::size_t pending = 0;        ///< solutions that were not evaluated
  std::size_t environment_failures = 0;
  bool interrupted = false;
};

struct bench_request {
  bool evaluate = true;            ///< false: only what was evaluated before, and the file is only read
  bool again = false;              ///< evaluate also what was evaluated before
  std::stop_token graceful_stop;   ///< begin nothing new
  std::stop_token immediate_stop;  ///< cancel what is running
  /// Called after each solution, and with texts for the user; on any thread, one call at a time. May be
  /// empty.
  std::function<void(const bench_task&, const bench_solution&)> told;
  std::function<void(const std::string&)> message;
  std::function<void()> poll;  ///< called several times a second on the thread of the caller; may be empty
  wait_listener waiting{};  ///< told of the processes that evaluations wait for, on any thread; may be empty
};

/// Evaluates what is missing and returns everything. A task that cannot be loaded, and a failure of the
/// machine during one evaluation, are recorded in the outcome and do not stop the others.
/// @throws kevo::error if the results cannot be written or read
bench_outcome run_bench(const suite_plan& plan, const bench_request& request);

/// The content id of all on which the evaluation of a program depends: program, task, fitness settings,
/// stage, round and version of kevo.
std::string bench_key(const suite_plan& plan, const std::string& task_id, const program& p,
                      bench_round round);
/// The same for a task that is evolved: in place of the program, the config and the budget.
std::string evolution_key(const suite_plan& plan, const std::string& task_id, const std::string& task);

/// The chosen solution by its results: see bench_task::best.
std::optional<std::size_t> best_of(const std::vector<bench_solution>& solutions);

/// The scores of all tasks, in their order.
std::vector<task_score> task_scores(const bench_outcome& outcome);

}  // namespace kevo
