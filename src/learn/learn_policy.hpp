#pragma once
// What `kevo learn policy` does, without its command line.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kevo {

struct learn_request {
  std::vector<std::string> runs;      ///< folders
  std::vector<std::string> hold_out;  ///< tasks; empty: every fourth one, if there are several
  bool leave_one_out = false;         ///< train on all, and test on each by a policy of the others
  std::size_t hidden = 0;             ///< units of a network; 0: a linear policy
  std::size_t iterations = 60;
  std::size_t horizon = 6;  ///< steps of an episode
  std::size_t seeds = 20;   ///< searches of each task that are compared
  double share = 0.9;       ///< of the possible gain that these searches have to find
  double explore = 0.2;     ///< share of choices by the operator's own weights in these searches
  std::uint64_t seed = 1;
};

/// A point of a learning curve: mean returns of an episode.
struct learning_point {
  std::size_t iteration = 0;
  double trained_return = 0;   ///< on what is trained on, in this iteration
  double held_out_return = 0;  ///< on the tasks that were held out; 0 if there are none
};

/// A ratio of numbers of evaluations, with 95 % intervals.
struct evaluations_ratio {
  double value = 1;
  double low = 1, high = 1;              ///< the tasks are fixed, the seeds of the searches vary
  double tasks_low = 1, tasks_high = 1;  ///< the tasks are a sample of tasks; the mean of the seeds counts
};

/// How many evaluations a policy needs.
struct policy_comparison {
  std::string policy;
  double evaluations = 0;  ///< geometric mean over tasks and seeds
  evaluations_ratio to_uniform;
  evaluations_ratio to_weights;  ///< to the operator's own weights
  std::size_t better = 0;        ///< number of tasks in which it needs fewer than uniform choice
};

struct learn_report {
  std::string policy_json;
  std::size_t programs = 0;
  std::size_t actions = 0;          ///< recorded pairs of action and program
  std::size_t unknown_actions = 0;  ///< that could not be found in their programs
  std::vector<std::string> tasks;
  std::vector<std::string> held_out;  ///< from training; empty if all were trained on
  std::vector<learning_point> curve;
  double uniform_return = 0;  ///< on the tasks that were held out
  std::vector<policy_comparison>
      compared;                    ///< on tasks that the policy has not seen; empty if there are none
  std::size_t compared_tasks = 0;  ///< those in which there is something to gain
};

/// Reads the runs, trains, and tests on what the policy has not seen. `stopped` is asked now and then. Throws
/// kevo::error (input) if the runs cannot be used, (usage) for an unknown task, (interrupted) if it was
/// stopped.
learn_report learn_policy(const learn_request& asked, const std::function<bool()>& stopped = {});

}  // namespace kevo
