#pragma once
// The tables and views of a journal. Documented, column by column, in docs/journal.md.

#include <string_view>

namespace kevo::detail {

/// Kept in `PRAGMA user_version`. A program reads journals of its own version and older ones.
inline constexpr int journal_schema_version = 1;
/// Kept in `PRAGMA application_id`: "kevo".
inline constexpr int journal_application_id = 0x6b65766f;

/// The statements that make an empty database a journal.
std::string_view journal_schema();
/// The statements that make the indexes that a database lacks. Queries give the same answers without them,
/// only later, so that a journal of an earlier version can be read as it is.
std::string_view journal_indexes();

}  // namespace kevo::detail
