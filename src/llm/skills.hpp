#pragma once
// Skills: what a run has learnt, on the way from a proposal to a page of knowledge. A change that made a
// candidate clearly faster waits for the candidate's confirmation; then it is due to be distilled by a model;
// the page is withdrawn when the candidate is found to fail.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <kevo/event.hpp>
#include <kevo/program.hpp>
#include <kevo/select.hpp>

#include "src/llm/knowledge.hpp"

namespace kevo {

/// What a turn proposed.
struct skill_attempt {
  std::string summary;
  std::shared_ptr<const program> before;  ///< the parent
  std::shared_ptr<const program> after;
};

/// A confirmed success, to be distilled.
struct skill_case {
  skill_attempt attempt;
  candidate_id candidate = no_candidate;
  double score = 0;         ///< when it was evaluated first
  double parent_score = 0;  ///< of its best parent
  double speedup = 0;       ///< confirmed; 0 for a task without speedups
  std::string device;
};

/// How a prompt names the candidate of a case, so that a repeated turn finds it again: "Candidate #12 ".
std::string name_of(const skill_case& one);

/// Thread-safe. Nothing is kept unless `pages` is there and writes skills.
class skill_tracker {
 public:
  explicit skill_tracker(std::shared_ptr<knowledge_base> pages = {}) : pages_(std::move(pages)) {}
  /// The pages, if they were not known when this was made.
  void use(std::shared_ptr<knowledge_base> pages);

  /// Remembers what turn `job` proposed, until its candidate is observed.
  void attempt(std::uint64_t job, skill_attempt what);
  /// Keeps the attempt if its candidate is at least `skill_gain` times as fast as its parent.
  void observe(const observation& seen);
  /// Sees every event of the run, in order: confirmations make cases due, failures withdraw pages.
  void observe_event(const event& each);
  /// The oldest case that is due, or the one that `prompt` names if that is not empty; it is due no more,
  /// whether or not `learn` follows.
  std::optional<skill_case> take_due(std::string_view prompt = {});
  /// Adds the page of a case, unless its candidate was found to fail meanwhile.
  void learn(const skill_case& from, knowledge_page page);

  static constexpr double skill_gain = 1.10;

 private:
  void withdraw(candidate_id who);

  std::shared_ptr<knowledge_base> pages_;
  mutable std::mutex guard_;
  std::map<std::uint64_t, skill_attempt> attempts_;
  std::map<candidate_id, skill_case> waiting_;  ///< for a confirmation
  std::deque<skill_case> due_;
  std::map<candidate_id, std::string> learned_;  ///< page ids
  std::set<candidate_id> taken_;                 ///< handed out by take_due, and not withdrawn since
};

}  // namespace kevo
