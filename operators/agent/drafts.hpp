#pragma once
// The drafts of one turn of an agent: what the fitness function said of each, which is the best, and when
// going on like this leads nowhere.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/operators/agent.hpp>
#include <kevo/program.hpp>
#include <kevo/vary.hpp>

namespace kevo {

/// What was tried in one turn. The request and the limits must outlive it.
class agent_drafts {
 public:
  agent_drafts(const variation_request& request, const agent_limits& limits);

  /// What a tool that has a draft compiled, tested or timed tells the model.
  struct answer {
    std::string said;
    double spent_s = 0;  ///< [s] that the evaluation took; 0 if there was none
    /// The same in a line, for when it is old: "draft 3: valid, 91.3 times as fast as naive; large 87 us".
    std::string brief = {};
  };
  /// Asks the run's fitness function, unless the limits are used up or the answer is known. `plan`: what the
  /// model said that it is doing.
  answer evaluate(const program& draft, evaluation_stage wanted, const std::string& plan);
  /// All that is known of the draft that was evaluated last; empty if there is none.
  std::string profile() const;
  /// How many times as fast one draft is as another, or as the parent if `other` is empty, for each workload;
  /// from their pairs with the baseline. An error if one of them was not timed.
  std::string comparison(const std::string& one, const std::string& other) const;
  /// Why a draft may not be submitted, without "refused: "; empty if it may.
  std::string refusal(const program& draft) const;
  /// That an earlier draft was faster than this one, and which; empty if none was.
  std::string faster_than(const program& draft) const;
  /// The draft with this number; nothing if there is none.
  std::optional<program> numbered(const std::string& number) const;
  /// The best draft, if it is better than the parent, with the plan of the model; taken from here.
  std::optional<proposal> take_best();
  bool has_best() const { return best_.has_value(); }

  /// What a supervisor should be told: that there was no gain, no valid draft, or one draft again and again.
  /// Empty as long as there is progress.
  std::string standstill() const;
  /// Counts for `standstill` anew, after an intervention.
  void begin_anew();
  /// A line for each draft, numbered from 1 in the order in which they were first tried.
  std::string list() const;

 private:
  void note(const program& draft, const std::string& plan);
  const evaluation* timed(const std::string& number) const;
  /// The number by which the model is told of a draft, from 1.
  std::size_t number_of(const content_id& draft) const;
  std::string verdict() const;

  const variation_request& request_;
  const agent_limits& limits_;
  std::optional<double> parent_score_;  ///< nothing if the parent is not valid
  double best_score_ = 0;
  std::optional<proposal> best_;
  struct best_before {
    double score = 0;
    std::size_t number = 0;
  };
  std::optional<best_before> before_;  ///< the best draft when the latest was evaluated
  std::optional<evaluation> latest_;
  std::size_t latest_number_ = 0;
  std::map<content_id, evaluation> verdicts_;
  std::map<content_id, program> programs_;  ///< those of `verdicts_`
  std::vector<content_id> tried_;  ///< the drafts of `verdicts_`, in the order in which they were first tried
  /// By program and stage: to compile, test and time one draft is the way to work, not a repetition.
  std::map<std::pair<content_id, evaluation_stage>, std::int64_t> repeats_;
  std::int64_t evaluations_ = 0;
  std::int64_t compilations_ = 0;
  std::int64_t stalled_ = 0;
  std::int64_t failing_ = 0;
};

}  // namespace kevo
