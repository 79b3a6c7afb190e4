#include "src/journal/journal_state.hpp"

#include <algorithm>
#include <limits>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/journal/memory_size.hpp"

namespace kevo {

void journal::implementation::must_write() const {
  if (!read_only) return;
  throw error(error_code::usage, "the journal was opened read-only, so nothing can be written to it",
              {.file = path, .key = {}});
}

std::string journal::implementation::operator_name(operator_index op) const {
  if (op == seed_operator) return "seed";
  return op < header.operators.size() ? header.operators[op] : "operator " + std::to_string(op);
}

void journal::implementation::connect() {
  writer = sqlite::connection(path, sqlite::access::create);
  // A log of up to 128 MB: index pages that many groups touch are folded in once.
  writer.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;"
      "PRAGMA wal_autocheckpoint = 32768;");
}

void journal::implementation::begin_session() {
  header = detail::read_header(writer, path);
  last_sequence = static_cast<std::uint64_t>(writer.integer("SELECT max(sequence) FROM events"));
  if (last_sequence > 0) last_time = time_of_last(writer);
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(now);
  writer.prepare("INSERT INTO sessions VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)")
      .run(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds)),
           std::chrono::duration<double>(now.time_since_epoch()).count(), last_sequence, last_time,
           detail::program_version(), detail::host_name(), detail::process_number());
}

void journal::implementation::begin_writing() {
  rows = std::make_unique<detail::row_writer>(writer);
  connect_reader();
  detail::sync_folder(directory);
}

void journal::implementation::connect_reader() {
  reader = sqlite::connection(path, sqlite::access::read);
  program_row = detail::select_program(reader);
  evaluation_row = reader.prepare(
      "SELECT evaluation FROM evaluations WHERE candidate = ? AND sequence <= ? ORDER BY sequence DESC LIMIT "
      "1");
}

double journal::implementation::time_of_last(sqlite::connection& database) {
  auto last = database.prepare("SELECT time_s FROM events ORDER BY sequence DESC LIMIT 1");
  return last.step() ? last.real(0) : 0;
}

std::optional<detail::variation_origin> journal::implementation::find_origin(ticket job) {
  return detail::translated(path, [&]() -> std::optional<detail::variation_origin> {
    auto row = detail::select_asked_variation(writer);
    row.bind_all(job);
    if (!row.step()) return std::nullopt;
    const event found = detail::read_event(row);
    const auto& begun = std::get<variation_asked>(found.payload);
    return detail::variation_origin{found.sequence, operator_name(begun.op), begun.selection};
  });
}

void journal::implementation::take_snapshot() {
  if (reader.in_transaction()) reader.execute("COMMIT");
  reader.execute("BEGIN");
  detail::check_version(reader, path);  // the first read fixes the moment
  header = detail::read_header(reader, path);
  last_sequence = static_cast<std::uint64_t>(reader.integer("SELECT max(sequence) FROM events"));
  last_time = last_sequence > 0 ? time_of_last(reader) : 0;
}

std::optional<detail::variation_origin> journal::implementation::note_job(const event& what) {
  if (const auto* begun = std::get_if<variation_asked>(&what.payload)) {
    asked[begun->job] = {what.sequence, operator_name(begun->op), begun->selection};
  } else if (const auto* ended = std::get_if<variation_told>(&what.payload)) {
    const auto known = asked.find(ended->job);
    if (ended->further && known != asked.end()) return known->second;
    if (auto node = asked.extract(ended->job)) return std::move(node.mapped());
    return find_origin(ended->job);  // an earlier process may have left it open
  }
  return std::nullopt;
}

void journal::implementation::begin_group() {
  if (!group_began) group_began = std::chrono::steady_clock::now();
}

void journal::implementation::consume(const event& what) {
  must_write();
  if (what.sequence != last_sequence + 1) {
    throw error(error_code::internal,
                fmt::format("event {} cannot follow event {}", what.sequence, last_sequence),
                {.file = path, .key = {}});
  }
  const auto* told = std::get_if<evaluation_told>(&what.payload);
  const auto* draft = std::get_if<draft_evaluated>(&what.payload);
  const evaluation* result = told != nullptr    ? told->result.get()
                             : draft != nullptr ? draft->result.get()
                                                : nullptr;
  if ((told != nullptr || draft != nullptr) && result == nullptr) {
    throw error(error_code::internal, fmt::format("event {} has no evaluation", what.sequence));
  }
  if (told != nullptr) {
    const std::scoped_lock hold(guard);
    pinned_evaluations[told->candidate] = told->result;
  }
  begin_group();
  events.push_back({what, note_job(what)});
  group_bytes += 256 + (result != nullptr ? detail::memory_size_of(*result) : 0);
  last_sequence = what.sequence;
  last_time = what.time_s;
}

void journal::implementation::put_program(const content_id& id, std::shared_ptr<const program> source) {
  const std::scoped_lock hold(guard);
  if (pinned_programs.contains(id) || programs.find(id))
    return;  // what only the database knows is ignored there
  pinned_programs.emplace(id, source);
  if (read_only) return;
  begin_group();
  group_bytes += detail::memory_size_of(*source);
  new_programs.emplace_back(id, std::move(source));
}

std::shared_ptr<const program> journal::implementation::program_of(const content_id& id) {
  const std::scoped_lock hold(guard);
  if (const auto pinned = pinned_programs.find(id); pinned != pinned_programs.end()) return pinned->second;
  if (auto cached = programs.find(id)) return cached;
  auto found = detail::translated(path, [&] { return detail::read_program(program_row, id); });
  if (found) programs.put(id, found, detail::memory_size_of(*found));
  return found;
}

std::shared_ptr<const evaluation> journal::implementation::evaluation_of(candidate_id id) {
  const std::scoped_lock hold(guard);
  if (const auto pinned = pinned_evaluations.find(id); pinned != pinned_evaluations.end())
    return pinned->second;
  if (auto cached = evaluations.find(id)) return cached;
  auto found = detail::translated(path, [&]() -> std::shared_ptr<const evaluation> {
    evaluation_row.bind_all(id, seen_until);
    const sqlite::statement_reset done(evaluation_row);
    if (!evaluation_row.step()) return nullptr;
    return std::make_shared<const evaluation>(evaluation_from_json(evaluation_row.text(0)));
  });
  if (found) evaluations.put(id, found, detail::memory_size_of(*found));
  return found;
}

void journal::implementation::put_evaluation(candidate_id id, std::shared_ptr<const evaluation> result) {
  const std::scoped_lock hold(guard);
  const std::size_t bytes = detail::memory_size_of(*result);
  evaluations.put(id, std::move(result), bytes);
}

void journal::implementation::write_group() {
  writer.execute("BEGIN IMMEDIATE");
  for (const auto& [id, source] : new_programs) rows->write(id, *source);
  for (const auto& [what, origin] : events) rows->write(what, origin);
  for (const auto& [sequence, now] : ledgers) rows->write(now, sequence);
  for (const auto& [job, time_s, call] : calls) rows->write(job, time_s, call);
  writer.execute("COMMIT");
}

void journal::implementation::roll_back() noexcept {
  try {
    if (writer.in_transaction()) writer.execute("ROLLBACK");
  } catch (const sqlite::failure&) {
    return;  // a failed transaction that cannot be rolled back by hand is rolled back by the next one
  }
}

void journal::implementation::forget_group() {
  {
    const std::scoped_lock hold(guard);
    for (auto& [id, source] : new_programs) {
      pinned_programs.erase(id);
      const std::size_t bytes = detail::memory_size_of(*source);
      programs.put(id, std::move(source), bytes);
    }
    for (const auto& [id, result] : pinned_evaluations)
      evaluations.put(id, result, detail::memory_size_of(*result));
    pinned_evaluations.clear();
  }
  new_programs.clear();
  events.clear();
  ledgers.clear();
  calls.clear();
  group_bytes = 0;
  group_began.reset();
}

void journal::implementation::commit() {
  must_write();
  if (!group_began) return;
  try {
    write_group();
  } catch (const sqlite::failure& failure) {
    roll_back();
    if (!failure.no_space()) throw detail::as_error(failure, path);
    commit_on_full_disk(failure);
  } catch (...) {
    roll_back();
    throw;
  }
  forget_group();
}

void journal::implementation::commit_on_full_disk(const sqlite::failure& first) {
  const std::uintmax_t free = detail::free_bytes(directory);
  const std::size_t waiting = events.size();
  bool written = false;
  if (reserve.release()) {
    try {
      write_group();
      written = true;
    } catch (const sqlite::failure&) {
      roll_back();
    }
  }
  if (written) forget_group();
  throw error(error_code::environment,
              fmt::format("{}; {} bytes were free; {}", first.what(), free,
                          written ? "all finished work is recorded"
                                  : fmt::format("the last {} events are not recorded", waiting)),
              {.file = path, .key = {}},
              fmt::format("free some disk space, then continue with `kevo resume {}`", directory));
}

double journal::implementation::due_in() const {
  if (!group_began) return std::numeric_limits<double>::infinity();
  if (group_bytes >= options.group_bytes) return 0;
  const double age = std::chrono::duration<double>(std::chrono::steady_clock::now() - *group_began).count();
  return std::max(0.0, options.group_s - age);
}

}  // namespace kevo
