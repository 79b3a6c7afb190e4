#pragma once
// A policy picks a semantic step, a model realizes it (MTMC, arXiv 2511.20100).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <kevo/vary.hpp>

#include "operators/llm/conversation.hpp"

namespace kevo {

/// "tiling" of "the loop over k in line 12".
struct macro_action {
  std::string type;
  std::string region;
  friend bool operator==(const macro_action&, const macro_action&) = default;
};

/// The policy's role. `pick` may be called by several threads at once: it gives an index into `actions`,
/// which is never empty, or their number where it has no answer. `learn` is told how an action's candidate
/// did.
struct macro_policy {
  std::string name;
  std::function<std::size_t(const std::vector<macro_action>& actions, conversation& talk, rng& random)> pick;
  std::function<void(const macro_action& action, double reward)> learn;  ///< may be empty
  /// Told instead of `pick`, when a resumed run repeats a turn, which action that turn had picked. Empty:
  /// `pick` is asked again, which is right for a policy whose picks follow from its stream and its model's
  /// replies.
  std::function<void(const macro_action& action)> recall = {};
};
macro_policy uniform_policy();
/// UCB1 over action types; the reward is the relative gain over the parent, cut to [0, 1].
macro_policy ucb_policy(double exploration = 1.4142135623730951);
/// The model is shown the actions and names one.
macro_policy model_policy();

/// All types times all regions. Regions are the source's `kevo: begin` regions, or else its loops by line.
std::vector<macro_action> actions_of(const program& source, const std::vector<std::string>& types);

/// Picks one action and asks for exactly this step, as edits or as a whole file.
class macro_micro {
 public:
  macro_micro(llm_settings with, std::vector<std::string> types, macro_policy policy)
      : with_(std::move(with)),
        types_(std::move(types)),
        state_(std::make_shared<state>(std::move(policy))) {}
  std::string name() const { return "macro_micro"; }
  std::size_t concurrency() const { return with_.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const;

 private:
  struct state {
    explicit state(macro_policy chosen) : policy(std::move(chosen)) {}
    macro_policy policy;
    std::mutex guard;
    std::map<std::uint64_t, macro_action> picked;  ///< by job, of the latest few thousand
  };
  llm_settings with_;
  std::vector<std::string> types_;
  std::shared_ptr<state> state_;
};

}  // namespace kevo
