#pragma once
// The elites of recorded runs, evaluated again under today's rules.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>

#include "src/rejudge/verdict.hpp"

namespace kevo {

/// One candidate of a run, then and now.
struct rejudged_elite {
  candidate_id id = no_candidate;
  std::string program;  ///< content id
  bool champion = false;
  std::shared_ptr<const evaluation> old;  ///< the widest and latest that the run recorded
  std::shared_ptr<const evaluation> now;
  rejudge_verdict verdict;
  bool known = false;  ///< was judged under the same rules before, and not evaluated again
};

struct rejudge_report {
  std::string run;  ///< its folder
  std::string task;
  bool task_changed = false;  ///< since the run: its results speak of another task
  std::string protocol;       ///< of today; empty where nothing was judged
  std::string file;           ///< where the results are
  std::vector<rejudged_elite> elites;
  std::size_t count(rejudge_word word) const;
};

struct rejudge_request {
  std::string run;
  std::string task;     ///< file; empty: where it was
  std::size_t top = 0;  ///< the champion and so many of the best; 0: the champion, the archive and the best 5
  bool all = false;     ///< every valid candidate
  bool again = false;   ///< also what was judged under the same rules
  /// A journal may be a stranger's. Only a trusted one's config chooses the sandbox and the folder of caches,
  /// and names plug-ins to load and programs to run.
  bool trust = false;
  std::vector<std::string> overrides;               ///< "fitness.key=value", of the recorded config
  std::function<void(const rejudged_elite&)> told;  ///< each one as it is judged; may be empty
  wait_listener waiting{};  ///< told of the processes that evaluations wait for; may be empty
};

/// Evaluates by the full protocol in fresh processes and appends each result to RUN/rejudged.sqlite before
/// the next one begins: after a kill, the same request goes on. The journal is only read.
/// @throws kevo::error: usage (overrides; a config that needs trust), input (no run, no task), environment
rejudge_report rejudge_run(const rejudge_request& request);

}  // namespace kevo
