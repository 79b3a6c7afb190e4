#pragma once
// The verdict on a champion in words: the live display, `kevo show`, the report and the end of a run say it
// alike.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <kevo/evaluation.hpp>
#include <kevo/verdict.hpp>

namespace kevo::format {

/// Why a figure is undecided, without a full stop: "the interval contains 1: neither faster nor slower is
/// shown", and what else used the machine, if that is known; empty if it is confirmed.
/// @param disturbed a sentence of the fitness function's about other processes; untrusted text, may be empty
std::string why_undecided(const champion_verdict& verdict, double speedup, const kevo::interval& range,
                          std::string_view disturbed = {});

/// That a candidate that is not champion may be faster than the champion, without a full stop.
/// @param candidate its number @param value, range its speedup in its latest confirmation
std::string better_undecided(std::uint64_t candidate, double value, const kevo::interval& range,
                             bool unicode);

/// What a fitness function says in an evaluation's context of other processes that used the machine while it
/// was timed; empty if it says nothing.
std::string disturbance_in(const std::map<std::string, std::string>& context);

/// Whether an evaluation has a score: one that was only checked has none, and 0 is one like others.
bool has_score(outcome found, evaluation_stage stage, double score);

/// That nothing found is faster than the baseline. @param baseline its name; untrusted text, may be empty
std::string nothing_faster(std::string_view baseline);

}  // namespace kevo::format
