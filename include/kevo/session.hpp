#pragma once
// A session: a search that worker threads run and a journal records, so that it can be resumed and replayed.
// `kevo run` reads a config into a session_plan and calls these functions; a program of your own fills in the
// plan itself. Not header-only: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/job.hpp>
#include <kevo/ledger.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/program.hpp>
#include <kevo/screen.hpp>
#include <kevo/search.hpp>

namespace kevo {

class language_models;  // kevo/llm/client.hpp

/// The state of a running session, for displays. Valid only during the call that passes it.
struct session_status {
  kevo::progress progress;               ///< what the run has spent and reached
  std::vector<operator_credit> credits;  ///< the portfolio's estimates for each operator; may be empty
  std::size_t varying = 0;               ///< turns of operators that are running
  std::size_t evaluating = 0;            ///< evaluations that are running, measuring or not
  std::size_t measuring = 0;             ///< those of `evaluating` that have exclusive use of their device
  std::size_t confirming = 0;            ///< those of `evaluating` that confirm a possible champion
  std::vector<stop_part> budgets;        ///< the limits of the stop rule, each with the amount spent
  std::optional<double> budget_used;     ///< share of the stop rule's budget, 0 to 1; nothing if unknown
  const any_archive* archive = nullptr;  ///< the archive of the search
  double elapsed_s = 0;                  ///< [s] run time, summed over all sessions: `ledger::elapsed_s`
  /// Another process that measures now and that the run therefore waits for; nothing if there is none.
  std::optional<device_holder> waits_for{};
  double waits_s = 0;     ///< [s] duration of the present wait
  bool stopping = false;  ///< `session_plan::graceful_stop` was requested
  bool stopped = false;   ///< the search has stopped, and the session waits for running work
  bool cut_off = false;   ///< `session_plan::finish_s` has passed: running work was asked to end
};

/// Callbacks of a session. They are called on the thread that started it. Each may be empty.
struct session_hooks {
  /// Called about ten times a second with the state of the session.
  std::function<void(const session_status&)> status;
  /// Called by a resumed session with each event of the earlier sessions, in order, before any new event.
  /// Sinks receive new events only.
  std::function<void(const event&)> past;
  /// Called many times a second between two steps, for instance to turn signals into stop requests.
  std::function<void()> poll;
  /// Called with a message for the user that is not an event, such as a warning.
  std::function<void(const std::string&)> message;
};

/// The texts and paths of the files from which a run was started, for its journal. A program that fills in
/// the plan itself leaves it empty; `kevo resume` and `kevo run --replay` then tell the user to use that
/// program.
struct session_origin {
  std::string config;                       ///< YAML, with every default
  std::string config_path;                  ///< absolute path of the config
  std::string config_directory;             ///< absolute; base of relative paths in the config
  std::map<std::string, std::string> more;  ///< further texts for the header of the journal
};

/// The complete description of a run. To resume or replay a run, fill in the plan as it was when the run
/// began; `resume_session` lists the members that may change.
struct session_plan {
  std::string name = "run";  ///< for reports and displays
  std::string folder;        ///< folder of the run; it is created if it does not exist
  /// Task, selector, operators, portfolio, archive, stop rule, filter, screening, sinks. The task may be
  /// null; an empty portfolio means ucb1; an empty stop rule never stops. `store` is ignored: the store of
  /// the journal is used.
  search_parts parts;
  search_settings search;
  any_fitness fitness;          ///< must not be empty, except for a replay
  std::vector<program> seeds;   ///< evaluated first, after the task's seeds
  std::size_t variations = 2;   ///< number of threads that run operators
  std::size_t evaluations = 2;  ///< number of threads that run the fitness function
  /// [s] Time limit for finishing after a stop rule has ended the run. It holds for confirmations of possible
  /// champions, for first evaluations of seeds and of programs written by models, and for model requests in
  /// progress. All other work gets 1 s. Unfinished work is then cancelled. A resumed session first runs the
  /// cancelled jobs, except turns that ask models: these end without a proposal, and their cost is booked.
  double finish_s = 120;
  std::shared_ptr<language_models> models;  ///< the models that operators use; null if none does
  /// Request it to end the session early: nothing new is started, and running work is finished, except
  /// evaluations that have not begun to measure. A resumed session runs those first.
  std::stop_token graceful_stop;
  /// Request it after `graceful_stop` to cancel running work, too.
  std::stop_token immediate_stop;
  session_hooks hooks;
  session_origin origin;
};

/// The result of a session.
struct run_outcome {
  std::string directory;                        ///< folder of the run
  champion best;                                ///< `best.id` is no_candidate if there is no champion
  std::shared_ptr<const program> best_program;  ///< null if there is no champion
  std::string best_file;                        ///< path of the champion's source; empty if there is none
  std::string stopped_by;    ///< the reason of the stop rule, or another reason why the search ended
  kevo::ledger ledger;       ///< the totals of the run, over all its sessions
  bool interrupted = false;  ///< `session_plan::graceful_stop` was requested
  std::string baseline;      ///< name of the baseline to which the champion's speedup is relative
  std::optional<screening_report> screened;  ///< statistics of the screening; nothing if there is none
  std::vector<std::string> setbacks;         ///< sentences that explain why nothing or little was found
  any_archive archive;                       ///< the archive at the end; empty after a replay that diverged
  /// A valid candidate that is the program of `baseline`, and therefore never becomes champion;
  /// `no_candidate` if none is known.
  candidate_id baseline_duplicate = no_candidate;
};

/// Starts a new run in `plan.folder`. Returns when the stop rule has stopped the search, when nothing is left
/// to do, or when it is interrupted. Results are committed to the journal (FOLDER/journal.sqlite) as they
/// arrive, in small groups, so that the process may be killed at any time. At the end the champion's source
/// and an HTML report are written into the folder.
/// @throws kevo::error: usage (the folder holds a run already; a part of the plan is missing), input,
/// environment. A fault of the machine ends the session after all finished work has been recorded.
run_outcome start_session(session_plan plan);

/// Continues a run that was stopped or killed. The recorded decisions are repeated from the journal without
/// any evaluation; then the jobs that were running when the process ended are run first. The plan must be the
/// one with which the run began. Only these members may differ: `parts.stop`, `parts.sinks`, `fitness`,
/// `variations`, `evaluations`, the stop tokens and the hooks. The new stop rule observes all recorded
/// results, but it is first asked whether to stop when the run continues.
/// @throws kevo::error (input) that names the difference if the plan is not the same
run_outcome resume_session(session_plan plan);

/// Calls `resume_session` if there is a run in `plan.folder`, else `start_session`. For programs that may be
/// killed and started again.
run_outcome start_or_resume_session(session_plan plan);

/// Which operators a replay runs again. `pure`: only those whose result depends on nothing but the request
/// and the random numbers (`replayable`). `with_models`: also those that ask language models, with the
/// recorded replies.
enum class replayed_operators : std::uint8_t { pure, with_models };

/// The result of a replay.
struct replay_outcome {
  run_outcome run;
  std::uint64_t events = 0;               ///< number of events that were repeated
  std::optional<std::string> divergence;  ///< the first decision that differs; nothing if none does
  std::uint64_t replies = 0;              ///< number of recorded replies of language models that were used
  std::uint64_t changed_requests = 0;     ///< number of these replies whose request is not the recorded one
};

/// Recomputes every decision of a recorded run, including that of the stop rule, and compares it with the
/// journal. Stops after the first resume are taken from the record, because the stop rule may have changed
/// then. Evaluates nothing, asks no model and writes nothing. `plan.fitness` may be empty.
replay_outcome replay_session(session_plan plan, replayed_operators which = replayed_operators::pure);

}  // namespace kevo
