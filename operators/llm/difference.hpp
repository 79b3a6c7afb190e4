#pragma once
// Programs that are shown beside another one: by what differs, where that is shorter.

#include <string>
#include <string_view>

#include <kevo/candidate.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// The lines that differ, with three around them, as a unified difference has them: '-' of `before`, '+' of
/// `after`. Empty if the texts are the same.
std::string difference_text(std::string_view before, std::string_view after);

/// The files of `one`, fenced: each as its difference to the file of the same path in `other`, or whole where
/// that is shorter than twice the difference. Files that are the same are left out.
std::string shown_beside(const program& one, const program& other, const std::string& name_of_other);

/// A candidate in the words of `headline`, with its times by workload and its plan.
std::string described_with_times(const candidate_snapshot& one);

}  // namespace kevo
