#pragma once
// The figures of a suite: shares of tasks and means of speedups, each with what it leaves out. Pure functions
// of the results; docs/bench.md has the formulas and their sources.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <kevo/evaluate/statistics.hpp>
#include <kevo/evaluation.hpp>

namespace kevo {

/// The result of one solution, as far as the figures need it.
struct solution_score {
  bool called = false;   ///< it was built and ran to its end
  bool correct = false;  ///< its outputs were right, and nothing else was wrong with it
  /// Correct, or refused for the results of hidden workloads alone: right at the sizes that programs are
  /// told.
  bool given_size = false;
  double speedup = 0;               ///< over the first baseline; 0 if it was not compared
  interval range;                   ///< of the speedup; {0, 0} if nothing is known of its uncertainty
  double sol_fraction = 0;          ///< speed-of-light time over measured time; 0 if unknown
  std::optional<double> sol_score;  ///< see sol_score_of
};

/// The result of a task: of its best solution, and of each of them.
struct task_score {
  std::string level;
  std::string category;
  solution_score best;  ///< all defaults if there was no solution, or the task could not be loaded
  std::vector<solution_score> solutions;
  bool fixed_result = false;  ///< its result does not depend on its inputs: it enters no figure
};

/// Whether a solution is faster than `p` times the baseline.
enum class faster_than : std::uint8_t { no, undecided, yes };

/// `yes` if the solution is correct and the whole interval of its speedup is above `p`; `undecided` if `p`
/// lies within the interval. A speedup without an interval is decided by its value. For p = 0, a correct
/// solution is always faster (fast_0 is the share of correct ones), also one that has a score and no speedup.
faster_than is_faster(const solution_score& s, double p);

/// A share of all tasks of a group. `counted` of `tasks` have the property by their measured value, `decided`
/// of them beyond doubt; for `undecided` tasks the interval of the measurement does not tell.
struct task_share {
  std::size_t tasks = 0;
  std::size_t counted = 0;
  std::size_t decided = 0;
  std::size_t undecided = 0;
  /// Confidence interval of the share, for tasks drawn from a larger population: its lower end is that of
  /// `decided`, its upper end that of `decided + undecided` (Clopper and Pearson 1934).
  interval range;

  double value() const;  ///< counted / tasks; 0 without tasks
  double low() const;    ///< decided / tasks
  double high() const;   ///< (decided + undecided) / tasks
};

/// fast_p for one p.
struct fast_share {
  double p = 0;
  task_share share;
  /// The mean over tasks of the share of a task's solutions that are faster: what one solution, chosen at
  /// random, is worth. Equal to `share.value()` where each task has one.
  double of_one = 0;
};

/// A mean with its confidence interval, if there are enough values for one.
struct mean_figure {
  double value = 0;
  std::optional<interval> range;
  std::size_t values = 0;  ///< how many entered it
};

/// The figures of all tasks, of a level or of a category.
struct group_scores {
  std::string kind;  ///< "all", "level" or "category"
  std::string name;  ///< empty for "all"
  std::size_t tasks = 0;
  task_share call;        ///< built, and ran to its end
  task_share exe;         ///< correct
  task_share given_size;  ///< correct at the sizes that programs are told
  std::vector<fast_share> fast;
  mean_figure geometric_mean;  ///< of the speedups of correct solutions alone: tasks that failed are left out
  mean_figure median;          ///< of the same speedups
  mean_figure amsr;            ///< mean over all tasks of the speedup, where slower and failed ones count 0
  mean_figure mean;            ///< mean over all tasks of the speedup, where failed ones count 0
  double sol_fraction = 0;     ///< median over correct solutions with a known one; 0 if there are none
  std::optional<double> sol_score;  ///< mean over all tasks with a known speed-of-light time; failed ones 0
};

struct score_settings {
  std::vector<double> thresholds = {0, 0.5, 0.8, 1, 1.5, 2, 4};
  double confidence = 0.95;
};

/// Tasks with a fixed result are left out, as what ignores its inputs is right there and as fast as can be.
/// All tasks first, then each level and each category in order of their names. Groups that would hold all
/// tasks under one empty name are left out.
std::vector<group_scores> score_groups(const std::vector<task_score>& tasks, const score_settings& settings);

/// The interval of Clopper and Pearson (1934) for a share of `hits` in `trials`, with error probability
/// `alpha`: exact, hence never too narrow. {0, 1} without trials.
interval clopper_pearson(std::size_t hits, std::size_t trials, double alpha);

/// SOL-ExecBench's score of a workload, 1 / (1 + (T - T_sol) / (T_baseline - T_sol)): 0.5 is as fast as the
/// baseline, 1 is the speed of light. Nothing if a time is unknown or the baseline is not slower than the
/// speed of light. A time below the speed of light counts as the speed of light.
std::optional<double> sol_score_of(const workload_result& w);

/// The mean of the scores over the visible workloads; nothing unless all have one.
std::optional<double> sol_score_of(const evaluation& e);

/// Whether the outputs of all visible workloads were right, and nothing but results of hidden ones was wrong.
bool correct_at_given_size(const evaluation& e);

/// What an evaluation means for the figures. Called are solutions that ran to their end, right or wrong;
/// one that was caught cheating or whose time is impossible is called and not correct.
solution_score score_of(const evaluation& e);

}  // namespace kevo
