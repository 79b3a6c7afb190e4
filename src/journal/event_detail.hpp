#pragma once
// The column `detail` of the table `events`: what an event says besides its job, candidate and program, as
// one JSON object. Internal to src/journal.

#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include <kevo/candidate.hpp>
#include <kevo/event.hpp>

namespace kevo::detail {

/// The ids as a JSON array.
std::string ids_text(const std::vector<candidate_id>& ids);

/// The object of an event; nothing if the other columns and tables have all of it.
std::optional<std::string> detail_text(const seeded& e);
std::optional<std::string> detail_text(const variation_asked& e);
std::optional<std::string> detail_text(const variation_told& e);
std::optional<std::string> detail_text(const evaluation_asked& e);
std::optional<std::string> detail_text(const evaluation_told& e);
std::optional<std::string> detail_text(const draft_evaluated& e);
std::optional<std::string> detail_text(const champion_crowned& e);
std::optional<std::string> detail_text(const search_stopped& e);
std::optional<std::string> detail_text(const search_resumed& e);
std::optional<std::string> detail_text(const baseline_met& e);
std::optional<std::string> detail_text(const proposals_filtered& e);

/// Write what the object says into an event. Throw an exception of Boost.JSON or kevo::error (input) if a key
/// is missing or a value is not of its type.
void read_detail(const boost::json::object& detail, variation_asked& e);
void read_detail(const boost::json::object& detail, variation_told& e);
void read_detail(const boost::json::object& detail, evaluation_asked& e);
void read_detail(const boost::json::object& detail, champion_crowned& e);
void read_detail(const boost::json::object& detail, search_stopped& e);
void read_detail(const boost::json::object& detail, search_resumed& e);
void read_detail(const boost::json::object& detail, baseline_met& e);
void read_detail(const boost::json::object& detail, proposals_filtered& e);

/// Throws kevo::error (input) for a name that is none of a stage.
evaluation_stage parse_stage(const std::string& name);

}  // namespace kevo::detail
