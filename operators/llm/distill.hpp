#pragma once
// Distilling skills: what a confirmed success teaches, written by a model as a page of knowledge
// (KernelEvolve, arXiv 2512.23236: strategies that worked become skills).

#include <kevo/operators/conversation.hpp>

namespace kevo {

/// Remembers what a turn proposes, so that it can become a skill.
void remember_attempt(const llm_settings& with, const variation_request& request, const proposal& made);

/// If a success is due to be distilled, asks a model once for technique, when it applies, evidence and
/// hardware, and adds the page. To be called at the end of a turn: the call is booked with that turn. A reply
/// that lacks any of these makes no page.
void distill_due(const llm_settings& with, const variation_request& request, const rng& random);

}  // namespace kevo
