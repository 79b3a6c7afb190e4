#pragma once
// What language models wrote in a run, and what came of it: the common part of the formats for training.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include <kevo/journal.hpp>
#include <kevo/model_call.hpp>
#include <kevo/reward.hpp>

namespace kevo {

/// One turn of a conversation with a model.
struct model_turn {
  model_call call;
  boost::json::array messages;  ///< as sent
  std::string reply;            ///< text of the reply
};

/// What a model took part in to make one program: a variation, or one reply of a variation that asked for
/// several replies to one prompt. The result is that of the program that the variation proposed,
/// also where the run knew the program already.
struct model_sample {
  std::uint64_t step = 0;  ///< number of the event that told the program, or that ended the variation
  std::string operator_name;
  std::vector<candidate_id> parents;
  candidate_id candidate = no_candidate;
  std::string ended;              ///< candidate, known or nothing
  std::vector<model_turn> turns;  ///< calls that have a reply, in order; not empty
  /// Whether it is one of several replies and had no program: it has no result, but its terms count.
  bool unread = false;
  std::optional<evaluation> result;
  std::optional<evaluation> parent;  ///< the best valid parent, as it was known when the variation began
  /// The speedup that the program had in its last valid evaluation before `result`, if `result` was measured
  /// in new processes (stage `confirmed`).
  std::optional<double> measured_before;
  reward_terms terms;

  const model_turn& last() const { return turns.back(); }
  bool judged() const { return result || unread; }
};

/// How many variations were left out, and why.
struct samples_left_out {
  std::size_t without_reply = 0;  ///< no model was asked, or none answered
  std::size_t unfinished = 0;     ///< the variation had not ended
};

struct model_samples {
  std::vector<model_sample> samples;  ///< in the order of their ends
  samples_left_out left_out;
};

/// Reads the journal. Holds all prompts and replies of the run in memory.
model_samples read_model_samples(const journal& record, const std::vector<reward_rule>& rules = {});

}  // namespace kevo
