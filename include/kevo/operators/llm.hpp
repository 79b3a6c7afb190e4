#pragma once
// Operators that ask a language model in one or two calls. Each is a plain struct; what they say is in prompt
// files of their names. Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <kevo/operators/conversation.hpp>
#include <kevo/vary.hpp>

namespace kevo {

/// The model answers with the whole main file.
struct llm_rewrite {
  llm_settings with;
  std::string name() const { return "llm_rewrite"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// The model answers with edits: SEARCH/REPLACE blocks or a unified diff.
struct llm_diff {
  llm_settings with;
  std::string name() const { return "llm_diff"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// The model joins the strengths of the parent and another selected candidate; without one there is no
/// proposal.
struct llm_crossover {
  llm_settings with;
  std::string name() const { return "llm_crossover"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// A rewrite that is evaluated as a draft; while it fails, the model is shown the failure, at most `depth`
/// times. Only a valid draft becomes a proposal. A parent that is not valid is repaired itself.
struct llm_repair {
  llm_settings with;
  std::size_t depth = 3;
  std::string name() const { return "llm_repair"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// Two calls: a diagnosis that names one bottleneck and what to look up, then a rewrite with the pages that
/// were found (KernelEvolve's universal operator, arXiv 2512.23236).
struct llm_universal {
  llm_settings with;
  std::string name() const { return "llm_universal"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// How exemplars are drawn: buckets of equal width in score, a softmax over their means, one exemplar from
/// each of `count` distinct buckets (CUDA-L1, arXiv 2507.14111, section on contrastive exemplars).
struct exemplar_settings {
  std::size_t count = 2;
  double width = 0.25;
  double temperature = 1.0;
};

/// The model compares scored programs and answers in three sections: Performance Analysis, Algorithm Design,
/// Code Implementation. Exemplars come from all candidates of the request; fewer than two different scores:
/// no proposal.
struct llm_contrastive {
  llm_settings with;
  exemplar_settings exemplars;
  std::string name() const { return "llm_contrastive"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// Two calls: notes on what helped and what failed, which all later prompts of the run show, then a rewrite
/// with them. A failed first call leaves the notes as they are and the turn without a proposal.
struct summarize {
  llm_settings with;
  std::size_t notes_bytes = 4000;  ///< longer notes are cut
  std::string name() const { return "summarize"; }
  std::size_t concurrency() const { return 1; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

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
