#pragma once
// The database file of a run: where it is, whose it is, its header and programs, and SQLite's failures in
// kevo's words.

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>
#include <kevo/program.hpp>

#include "src/base/sqlite/sqlite.hpp"
#include "src/journal/journal.hpp"

namespace kevo::detail {

/// DIRECTORY/journal.sqlite.
std::string database_path(const std::string& directory);
/// The version of this kevo.
std::string program_version();

/// What SQLite refused, as an error of kevo's.
error as_error(const sqlite::failure& failure, const std::string& path);

/// What is wrong with a text of the database that cannot be decoded, as an error of kevo's.
error as_unreadable(const std::exception& broken, const std::string& path);

/// Runs `work`; failures of SQLite, and of decoding what it holds, come out as errors of kevo's.
template <class Work>
decltype(auto) translated(const std::string& path, Work work) {
  try {
    return work();
  } catch (const sqlite::failure& failure) {
    throw as_error(failure, path);
  } catch (const error& known) {
    if (!known.place().file.empty() || known.code() != error_code::input) throw;
    error_place place = known.place();
    place.file = path;
    throw error(known.code(), known.message(), place, known.hint());
  } catch (const std::system_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& broken) {
    throw as_unreadable(broken, path);
  }
}

/// Whether a run was begun in it.
bool has_header(sqlite::connection& database);
/// @throws kevo::error (input) unless it is a journal that this kevo reads
void check_version(sqlite::connection& database, const std::string& path);
void write_header(sqlite::connection& database, const journal_header& header);
/// @throws kevo::error (input) for what is no header of kevo's
journal_header read_header(sqlite::connection& database, const std::string& path);
/// Selects the files of the program with the bound content id.
sqlite::statement select_program(sqlite::connection& database);
/// Reads a program with `select_program`; null if there is no such program.
std::shared_ptr<const program> read_program(sqlite::statement& rows, const content_id& id);

}  // namespace kevo::detail
