#pragma once
// Whether a session_plan is the one that a recorded run began with.

#include <map>
#include <string>

#include <kevo/journal.hpp>
#include <kevo/session.hpp>

namespace kevo {

/// The names of a plan's operators, by operator_index.
std::vector<std::string> operator_names_of(const session_plan& plan);

/// The settings of a search that decide what it does, as texts for the journal's header.
std::map<std::string, std::string> decisive_settings(const search_settings& given);

/// The confirmation rules by which a recorded run is repeated: `given`, or none for a journal of a version
/// that had none.
confirmation_rules rules_of(const journal& record, confirmation_rules given);

/// Throws kevo::error (input) if the task is not the one that the run began with.
void require_same_task(const journal& record, const task& now);

/// Throws kevo::error (input) that names the first difference that can be seen: task, seed, operators or a
/// setting of the search. Selectors, portfolios and archives have no names; that they are others shows when
/// the past is repeated.
void require_same_plan(const journal& record, const session_plan& plan);

}  // namespace kevo
