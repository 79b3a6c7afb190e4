#pragma once
// Operators that look before they act: diagnose and look up (KernelEvolve), compare scored exemplars
// (CUDA-L1), take notes (POLCA, ShinkaEvolve).

#include <cstddef>
#include <string>
#include <vector>

#include <kevo/vary.hpp>

#include "operators/llm/conversation.hpp"

namespace kevo {

/// Two calls: a diagnosis that names one bottleneck and what to look up, then a rewrite with the pages that
/// were found (KernelEvolve's universal operator, arXiv 2512.23236).
struct llm_universal {
  llm_settings with;
  std::string name() const { return "llm_universal"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { with.models->observe(seen); }
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
  void observe(const observation& seen) const { with.models->observe(seen); }
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
  void observe(const observation& seen) const { with.models->observe(seen); }
};

/// Draws exemplars with a score out of `pool`, worst first; fewer if there are fewer buckets.
std::vector<candidate_snapshot> draw_exemplars(std::vector<candidate_snapshot> pool,
                                               const exemplar_settings& how, rng& random);
/// The text after `label` on its line, without white space at the ends; empty if there is no such line.
std::string labelled(std::string_view reply, std::string_view label);

}  // namespace kevo
