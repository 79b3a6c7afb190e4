#pragma once
// Events as rows of the journal's tables and back, field by field. Internal to src/journal.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/event.hpp>
#include <kevo/model_call.hpp>
#include <kevo/program.hpp>

#include "src/base/sqlite/sqlite.hpp"

namespace kevo::detail {

/// What a variation was asked to do; it is known when the variation ends.
struct variation_origin {
  std::uint64_t asked = 0;
  std::string operator_name;
  kevo::selection selection;
};

/// The prepared statements of a journal that is written.
class row_writer {
 public:
  explicit row_writer(sqlite::connection& database);

  /// Does nothing if the program is there.
  void write(const content_id& id, const program& source);
  /// `origin` is of a variation that ends.
  void write(const event& what, const std::optional<variation_origin>& origin);
  void write(const ledger& now, std::uint64_t sequence);
  void write(ticket job, double time_s, const model_call& call);

 private:
  void write_told(const event& at, const variation_told& told, const variation_origin& origin);
  void write_evaluation(const event& at, const evaluation& result, std::optional<candidate_id> candidate,
                        evaluation_stage wanted, const std::optional<archive_result>& archived);

  sqlite::connection* database_;
  sqlite::statement program_, file_, event_, candidate_, edge_, variation_, evaluation_, ledger_, call_;
};

/// Selects every event in order, with its row in variations or evaluations.
sqlite::statement select_events(sqlite::connection& database);
/// Selects the event in which the variation of a bound job was asked for.
sqlite::statement select_asked_variation(sqlite::connection& database);
/// The event of the row on which `row`, of one of these, stands.
event read_event(const sqlite::statement& row);

}  // namespace kevo::detail
