#pragma once
// The sections of a prompt that speak of a request: task, device, parent, its evaluation, memory,
// inspirations.

#include <string>
#include <vector>

#include <kevo/vary.hpp>

#include "operators/llm/prompt.hpp"

namespace kevo {

/// What is optimized: signature, shapes, tolerance, cost model, the visible workloads.
std::string task_section(const task& t, const std::string& language);
/// Where it runs and how near the parent is to what the machine can do.
std::string device_section(const candidate_snapshot& parent);
/// The source of the candidate that is varied.
std::string parent_section(const candidate_snapshot& parent);
/// What is known of a candidate: outcome, feedback, timings by workload, measures. Hidden workloads do not
/// show.
std::string evaluation_section(const candidate_snapshot& one);
/// Ancestors, siblings, both or nothing, as the selection's memory scope says.
std::string memory_section(const variation_request& request, std::size_t limit);
/// Sources and scores of the further parents and the inspirations.
std::string inspirations_section(const variation_request& request);

/// One line: "#12 by tune: valid, 3.41 times as fast".
std::string headline(const candidate_snapshot& one);

/// All of the above with their usual priorities, and empty ones for `notes`, `knowledge`, `contrast`,
/// `diagnosis`, `action`, `draft`, which operators fill.
std::vector<prompt_section> sections_of(const variation_request& request);
/// Replaces the text of a section.
void set_section(std::vector<prompt_section>& sections, const std::string& name, std::string text);

}  // namespace kevo
