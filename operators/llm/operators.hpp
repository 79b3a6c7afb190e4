#pragma once
// What the operators of <kevo/operators/llm.hpp> share.

#include <string>
#include <vector>

#include <kevo/operators/llm.hpp>

#include "operators/llm/conversation.hpp"

namespace kevo {

/// Reads a reply as the whole main file of `source`.
draft_reader whole_file(const program& source);
/// Reads a reply as edits of `source`.
draft_reader edits_of(const program& source);
/// Fills in the run's notes and, with the injection rate, pages of knowledge for the task or the parent's
/// failure. @param about words that the pages should be about before all, for instance the kind of a step
void add_memory(std::vector<prompt_section>& sections, const llm_settings& with,
                const variation_request& request, rng& random, const std::string& about = {});
/// What pages have to fit for a request: language, hardware and phase.
knowledge_filter filter_for(const variation_request& request);
/// Pages as a section.
std::string pages_text(const std::vector<knowledge_page>& pages);
/// The section of a prompt with examples of an optimization step; empty for no pages.
std::string examples_text(const std::vector<knowledge_page>& pages);

}  // namespace kevo
