#pragma once
// A run as data for trainers of language models. docs/export.md describes each format.

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/journal.hpp>
#include <kevo/reward.hpp>

namespace kevo {

struct training_options {
  std::string recipe = "dr_kernel";  ///< name of the reward (reward_recipes)
  bool confirmed = false;            ///< leave out valid programs that were not confirmed in new processes
  std::vector<reward_rule> rules;    ///< programs that break one of them earn nothing
  bool best_steps = false;  ///< leave out prompts whose replies gave no program faster than all before it
};

/// What was written, and what was left out for which reason.
struct training_summary {
  std::size_t rows = 0;
  std::map<std::string, std::size_t> left_out;
};

/// One line a variation: its turns as sent and received, its result, the terms of the rewards and the rewards
/// of all recipes.
training_summary export_trajectories(const journal& record, const training_options& options,
                                     std::ostream& out);

/// Supervised fine-tuning, one line a reply: `messages` with the reply as the last one. Kept are replies
/// whose program is correct and, where there is a valid parent, faster than it (Kernel-Smith, arXiv
/// 2603.28342).
training_summary export_sft(const journal& record, const training_options& options, std::ostream& out);

/// Pairs for direct preference optimization: `prompt`, `chosen`, `rejected`, of replies to the same prompt
/// whose results differ by more than their uncertainty.
training_summary export_dpo(const journal& record, const training_options& options, std::ostream& out);

/// One line a reply with its reward, and its advantages in the group of replies to the same prompt.
training_summary export_grpo(const journal& record, const training_options& options, std::ostream& out);

/// The text of the card that stands beside the data: what it holds, what was left out and why (Markdown).
std::string training_card(const journal& record, std::string_view format, const training_options& options,
                          const training_summary& summary);

}  // namespace kevo
