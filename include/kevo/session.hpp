#pragma once
// A session: a search that is run by worker threads and recorded in a journal, so that it can be resumed and
// replayed. `kevo run` reads a config into a session_plan and calls these functions; a program of your own
// fills in the plan itself. Compiled: link kevo::kevo.

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

/// Where a running session stands. A snapshot for displays: valid during the call that passes it.
struct session_status {
  kevo::progress progress;
  std::vector<operator_credit> credits;  ///< what the portfolio thinks of each operator; may be empty
  std::size_t varying = 0;               ///< variations that are running
  std::size_t evaluating = 0;            ///< evaluations that are running, including those that measure
  std::size_t measuring = 0;             ///< evaluations, of `evaluating`, that hold their device
  std::size_t confirming = 0;            ///< evaluations, of `evaluating`, that confirm a possible champion
  std::vector<stop_part> budgets;        ///< the limits of the stop rule one by one
  std::optional<double> budget_used;     ///< share of the stop rule's budget, 0 to 1; nothing if unknown
  const any_archive* archive = nullptr;
  double elapsed_s = 0;  ///< [s] run time, over all sessions: `ledger::elapsed_s`
  /// The process that the run waits for at present because it measures; nothing if there is none
  std::optional<device_holder> waits_for{};
  double waits_s = 0;     ///< [s] for how long the present wait has lasted
  bool stopping = false;  ///< `session_plan::wind_down` was requested
  bool stopped = false;   ///< the search has stopped; what is running is still waited for
  bool cut_off = false;   ///< `session_plan::finish_s` is over: what is running was asked to end
};

/// Functions that a session calls on the thread that started it. Each may be empty.
struct session_hooks {
  /// Called about ten times a second.
  std::function<void(const session_status&)> status;
  /// Called by a resumed session with each event of the earlier sessions, in order, before anything new
  /// happens. Sinks see new events only.
  std::function<void(const event&)> past;
  /// Called between two steps, many times a second: for instance to turn signals into stop requests.
  std::function<void()> poll;
  /// Called with a sentence for the user that is not an event: a warning.
  std::function<void(const std::string&)> message;
};

/// What a run that was started from files keeps of them in its journal. Programs that fill in a plan
/// themselves leave it empty; `kevo resume` and `kevo run --replay` then refer to that program.
struct session_origin {
  std::string config;                       ///< YAML, with every default
  std::string config_path;                  ///< absolute
  std::string config_directory;             ///< absolute; relative paths in the config start here
  std::map<std::string, std::string> more;  ///< further texts that are kept in the journal's header
};

/// Everything that a run is made of. To resume or replay a run, fill in the plan as it was when the run
/// began; which members may change is said at `resume_session`.
struct session_plan {
  std::string name = "run";  ///< for reports and displays
  std::string folder;        ///< folder of the run; it is created if it does not exist
  /// Task, selector, operators, portfolio, archive, stop rule, screening, sinks. The task may be null; an
  /// empty portfolio means ucb1. `store` is replaced by the journal's.
  search_parts parts;
  search_settings search;
  any_fitness fitness;
  std::vector<program> seeds;   ///< evaluated first, after the task's seeds
  std::size_t variations = 2;   ///< number of threads that run operators
  std::size_t evaluations = 2;  ///< number of threads that run the fitness function
  /// [s] After a stop rule has ended the run: time for confirming possible champions, for measuring seeds and
  /// what models made, and for turns of models. Other work has one second. What is not done then is
  /// cancelled, and a resumed session does it first.
  double finish_s = 120;
  std::shared_ptr<language_models> models;  ///< the models that operators ask; null if none does
  std::stop_token wind_down;  ///< when requested, nothing new is started and what is running is finished
  std::stop_token at_once;    ///< when requested after `wind_down`, what is running is cancelled
  session_hooks hooks;
  session_origin origin;
};

/// How a session ended.
struct run_outcome {
  std::string directory;                        ///< folder of the run
  champion best;                                ///< `best.id` is no_candidate if no candidate was confirmed
  std::shared_ptr<const program> best_program;  ///< null if there is no champion
  std::string best_file;                        ///< path of the champion's source; empty if there is none
  std::string stopped_by;                       ///< the stop rule's reason
  kevo::ledger ledger;
  bool interrupted = false;
  std::string baseline;                      ///< name of the baseline of the champion's speedup
  std::optional<screening_report> screened;  ///< nothing without a screening
  std::vector<std::string> setbacks;         ///< sentences that say why nothing or little was found
  any_archive archive;                       ///< the archive at the end; empty after a replay that diverged
  /// A valid candidate that is the program of `baseline`, which is never champion; `no_candidate`: none is
  /// known
  candidate_id baseline_twin = no_candidate;
};

/// Starts a new run in `plan.folder` and returns when its stop rule says so or when it is interrupted.
/// Everything that was evaluated is in the journal (FOLDER/journal.sqlite) at any moment, so that the process
/// may be killed. At the end the champion's source and an HTML report are written into the folder.
/// @throws kevo::error: usage (a run is there already; a part of the plan is missing), input, environment;
/// faults of the machine end the session after everything that was finished has been recorded
run_outcome start_session(session_plan plan);

/// Continues a run that was stopped or killed. The past is repeated from the journal without evaluating
/// anything; jobs that were running when the process died are run first. The plan must be the one that the
/// run began with, except for: `parts.stop`, `parts.sinks`, `fitness`, `variations`, `evaluations`, the stop
/// tokens and the hooks, which may be new. The new stop rule observes the whole past, and is first asked when
/// the run goes on.
/// @throws kevo::error (input) that names the difference where the plan is another one
run_outcome resume_session(session_plan plan);

/// `resume_session` if there is a run in `plan.folder`, else `start_session`: what a program calls that may
/// be killed and started again.
run_outcome start_or_resume_session(session_plan plan);

/// Which operators a replay runs again: those whose result follows from request and random numbers alone
/// (`replayable`), or also those that ask language models, with the replies of the journal.
enum class replayed_operators : std::uint8_t { pure, with_models };

struct replay_outcome {
  run_outcome run;
  std::uint64_t events = 0;               ///< how many events were repeated
  std::optional<std::string> divergence;  ///< the first decision that differs; nothing if none does
  std::uint64_t replies = 0;              ///< replies of language models that were taken from the record
  std::uint64_t changed_requests = 0;     ///< of these: the request was not the recorded one
};

/// Recomputes every decision of a recorded run, the stop rule's included, and compares it with the journal.
/// Evaluates nothing, asks no model, writes nothing. `plan.fitness` may be empty.
replay_outcome replay_session(session_plan plan, replayed_operators which = replayed_operators::pure);

}  // namespace kevo
