#pragma once
// From a recorded run to its report.

#include <string>

#include <kevo/archive.hpp>

#include "src/journal/journal.hpp"
#include "src/report/report_content.hpp"
#include "src/report/show.hpp"

namespace kevo {

/// Gathers what a report shows. `empty_archive` is a container as the run began with; without one the page
/// has no archive map. One pass over the events.
report_content content_of(const journal& run, any_archive empty_archive = {});

/// What `kevo show` says of a candidate, which must exist.
shown_candidate shown_candidate_of(const journal& run, candidate_id id);

/// Writes RUN/report.html (whole, then renamed: a reader never sees half a page) and returns its path. Throws
/// kevo::error (environment) if the folder cannot be written.
std::string write_report(const report_content& content, const std::string& directory);
std::string write_report(const journal& run, any_archive empty_archive = {});

}  // namespace kevo
