#pragma once
// Variation operators that ask a language model in one or two calls. The prompt of each is in a file of its
// name (operators/llm/prompts), which `models_settings::prompts` can replace. In all of them, `with` holds
// the model and the prompt settings, `vary` does one turn, and `observe` rewards the model. A replay reads
// their results from the journal (`replayable` is false). Compiled: link kevo::kevo.

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

/// The model writes the whole main file anew.
struct llm_rewrite {
  llm_settings with;
  std::string name() const { return "llm_rewrite"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// The model edits the main file: it answers with SEARCH/REPLACE blocks or a unified diff.
struct llm_diff {
  llm_settings with;
  std::string name() const { return "llm_diff"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// The model combines the parent with another selected candidate into one program. If no other candidate was
/// selected, there is no proposal.
struct llm_crossover {
  llm_settings with;
  std::string name() const { return "llm_crossover"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// The model rewrites the main file, and the result is evaluated as a draft. If the draft is not valid, the
/// model is shown the failure and writes another one, at most `depth` times. Only a valid draft is proposed.
/// A parent that is not valid is itself the first draft.
struct llm_repair {
  llm_settings with;
  std::size_t depth = 3;  ///< maximum number of repairs
  std::string name() const { return "llm_repair"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// KernelEvolve's universal operator (arXiv 2512.23236), in two calls: the model names one bottleneck and a
/// query for the knowledge base, then rewrites the main file with the pages that the query found.
struct llm_universal {
  llm_settings with;
  /// Whether the diagnosis is shown the index of the knowledge base and may name pages of it, which come
  /// first.
  bool index = false;
  std::string name() const { return "llm_universal"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// How the exemplars of a contrastive prompt are drawn if the selection contains the parent only. Candidates
/// are sorted into buckets of equal relative width in score; `count` distinct buckets are drawn with softmax
/// probabilities of their mean scores, and one candidate from each (CUDA-L1, arXiv 2507.14111, contrastive
/// exemplars).
struct exemplar_settings {
  std::size_t count = 2;     ///< number of exemplars
  double width = 0.25;       ///< width of a bucket, relative to its scores
  double temperature = 0.3;  ///< temperature of the softmax, relative to the greatest mean score
};

/// The model compares programs of different scores (exemplars) and answers in three sections: Performance
/// Analysis, Algorithm Design, Code Implementation (CUDA-L1). The exemplars are the selected candidates, as
/// `select: bucket_softmax` draws them; if only the parent was selected, they are drawn from its relatives.
/// The proposal is a child of the first parent. If all exemplars have the same score, there is no proposal.
struct llm_contrastive {
  llm_settings with;
  exemplar_settings exemplars;  ///< how exemplars are drawn if only the parent was selected
  std::string name() const { return "llm_contrastive"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// Two calls: the model writes notes on what helped and what failed, which all later prompts of the run show;
/// then it rewrites the main file with them. If the first call fails, the notes stay as they are, and there
/// is no proposal.
struct summarize {
  llm_settings with;
  std::size_t notes_bytes = 4000;  ///< [bytes] maximum size of the notes; longer ones are cut
  std::string name() const { return "summarize"; }
  std::size_t concurrency() const { return 1; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const { kevo::observe(*with.models, seen); }
};

/// How `summarize_rounds` summarizes.
struct round_summary_settings {
  std::size_t every = 5;           ///< number of proposals in a round
  std::size_t candidates = 5;      ///< maximum number of candidates that one summary is shown
  std::size_t notes_bytes = 4000;  ///< [bytes] maximum size of the notes; longer ones are cut
};

/// POLCA's proposals with its summarizer (arXiv 2603.14769). Each turn rewrites the main file as
/// `llm_rewrite` does. The first turn of each round of `every` turns begins with another call, which writes
/// the notes of the run anew. It is shown at most `candidates` candidates that no summary was shown before,
/// oldest first, each with its source, its best result and its worst one or its failure. Turns that begin
/// meanwhile wait for the notes, which the prompts of all operators contain. If the call fails, the notes
/// stay as they are, and the next round shows the same candidates. Only candidates that this operator made
/// are shown; a round without a new one has no such call.
class summarize_rounds {
 public:
  explicit summarize_rounds(llm_settings with, round_summary_settings how = {});
  std::string name() const { return "summarize_rounds"; }
  std::size_t concurrency() const { return with_.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const;

 private:
  struct state;
  void summarize(const variation_request& request, const rng& random) const;

  llm_settings with_;
  round_summary_settings how_;
  std::shared_ptr<state> state_;
};

/// When `paradigm_shift` asks for new strategies, and how long it uses them.
struct paradigm_settings {
  std::size_t window = 10;         ///< number of latest results in which improvements are counted
  double below = 0.12;             ///< the run counts as stalled if a smaller fraction of the window improved
  std::size_t ideas = 3;           ///< number of strategies that one call asks for
  std::size_t uses = 2;            ///< number of proposals that are made with each strategy
  std::size_t remembered = 10;     ///< number of tried strategies that the next call is shown
  std::size_t notes_bytes = 2000;  ///< [bytes] maximum size of a strategy; a longer one is cut
};

/// AdaEvolve's meta-guidance. Each turn edits the parent as `llm_diff` does. If a smaller fraction than
/// `below` of the last `window` results improved on the best score, the model is asked for `ideas` new
/// strategies. They are used one after the other, each for `uses` proposals: the current one is the notes of
/// the run, which the prompts of all operators contain. The model is not asked again before all are used; it
/// is then shown the tried strategies and whether the best score rose. Only results of candidates that this
/// operator made are counted. If the call for strategies fails, the turn gives no proposal; after a reply
/// without a strategy, the next call comes after a whole window at the earliest.
class paradigm_shift {
 public:
  explicit paradigm_shift(llm_settings with, paradigm_settings how = {});
  std::string name() const { return "paradigm_shift"; }
  std::size_t concurrency() const { return with_.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const;

 private:
  struct state;
  llm_settings with_;
  paradigm_settings how_;
  std::shared_ptr<state> state_;
};

/// One optimization step: what to do, and where.
struct macro_action {
  std::string type;    ///< type of the step, such as "tiling"
  std::string region;  ///< place in the program, such as "the loop over k in line 12"
  friend bool operator==(const macro_action&, const macro_action&) = default;
};

/// The choice of a policy that expects no gain from any step. The turn ends without a proposal. A run whose
/// policy chooses this several times in a row ends.
inline constexpr std::size_t macro_stop = static_cast<std::size_t>(-1);

/// A policy that chooses the next step.
struct macro_policy {
  std::string name;  ///< name for transcripts and reports
  /// Returns an index into `actions` (never empty), `macro_stop`, or `actions.size()` if it could not decide.
  /// Called by several threads at the same time.
  std::function<std::size_t(const std::vector<macro_action>& actions, conversation& talk, rng& random)> pick;
  /// Receives the reward of the candidate that an action led to. May be empty.
  std::function<void(const macro_action& action, double reward)> learn;
  /// Called in place of `pick` when a resumed run repeats a recorded turn, with the action that was chosen
  /// then. If empty, `pick` is called again, which is correct for a policy whose choice depends only on the
  /// random stream and on replies of the model.
  std::function<void(const macro_action& action)> recall = {};
  /// The actions that are possible in the parent. If empty, they are those of `actions_of`. An empty answer
  /// means that there is none, so that the turn gives no proposal. Called by several threads at the same
  /// time, once before each `pick`.
  std::function<std::vector<macro_action>(const variation_request& request)> actions = {};
};
/// Chooses at random, all actions with the same probability.
macro_policy uniform_policy();
/// UCB1 (Auer et al., 2002) over the types of actions. The reward is the relative gain over the parent,
/// limited to [0, 1].
macro_policy ucb_policy(double exploration = 1.4142135623730951);
/// Asks the model. It is shown the actions, the parent with its evaluation, and earlier candidates with the
/// steps that led to them, and names one step or says that none promises a gain.
macro_policy model_policy();

/// Every type with every region. Regions are those between `kevo: begin` and `kevo: end` in the source; a
/// source without them has one region for each outermost loop, one without loops for each function.
std::vector<macro_action> actions_of(const program& source, const std::vector<std::string>& types);

/// MTMC's macro thinking and micro coding (QiMeng-Kernel, arXiv 2511.20100): a policy chooses one action, and
/// the model carries out exactly this step, by edits or by writing the whole file.
class macro_micro {
 public:
  /// `types` are the types of steps that are combined with the regions of the parent (`actions_of`); they are
  /// not used if the policy has `actions` of its own.
  macro_micro(llm_settings with, std::vector<std::string> types, macro_policy policy)
      : with_(std::move(with)),
        types_(std::move(types)),
        state_(std::make_shared<state>(std::move(policy))) {}
  std::string name() const { return "macro_micro"; }
  std::size_t concurrency() const { return with_.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& asked, rng& random) const;
  void observe(const observation& seen) const;

 private:
  struct state {
    explicit state(macro_policy chosen) : policy(std::move(chosen)) {}
    macro_policy policy;
    std::mutex guard;
    std::map<std::uint64_t, macro_action> picked;  ///< actions by job, of the latest few thousand jobs
  };
  llm_settings with_;
  std::vector<std::string> types_;
  std::shared_ptr<state> state_;
};

}  // namespace kevo
