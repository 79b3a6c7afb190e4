#pragma once
// Variation by one conversation with a language model. Each is a plain struct on the one concept; what they
// share is in conversation.hpp, what they say is in prompt files of their names.

#include <cstddef>
#include <string>

#include <kevo/vary.hpp>

#include "operators/llm/conversation.hpp"

namespace kevo {

/// The model answers with the whole main file.
struct llm_rewrite {
  llm_settings with;
  std::string name() const { return "llm_rewrite"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { with.models->observe(seen); }
};

/// The model answers with edits: SEARCH/REPLACE blocks or a unified diff.
struct llm_diff {
  llm_settings with;
  std::string name() const { return "llm_diff"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { with.models->observe(seen); }
};

/// The model joins the strengths of the parent and another selected candidate; without one there is no
/// proposal.
struct llm_crossover {
  llm_settings with;
  std::string name() const { return "llm_crossover"; }
  std::size_t concurrency() const { return with.concurrency; }
  bool replayable() const { return false; }
  variation_result vary(const variation_request& request, rng& random) const;
  void observe(const observation& seen) const { with.models->observe(seen); }
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
  void observe(const observation& seen) const { with.models->observe(seen); }
};

/// Reads a reply as the whole main file of `source`.
draft_reader whole_file(const program& source);
/// Reads a reply as edits of `source`.
draft_reader edits_of(const program& source);
/// Fills in the run's notes and, with the injection rate, pages of knowledge for the task or the parent's
/// failure.
void add_memory(std::vector<prompt_section>& sections, const llm_settings& with,
                const variation_request& request, rng& random);
/// What pages have to fit for a request: language, hardware and phase.
knowledge_filter filter_for(const variation_request& request);
/// Pages as a section.
std::string pages_text(const std::vector<knowledge_page>& pages);

}  // namespace kevo
