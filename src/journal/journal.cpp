#include "src/journal/journal.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/journal/journal_state.hpp"
#include "src/journal/memory_size.hpp"
#include "src/journal/schema.hpp"

namespace kevo {

journal journal::create(const std::string& directory, const journal_header& header,
                        const journal_options& options) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    throw error(error_code::environment, "cannot make the folder: " + failed.message(),
                {.file = directory, .key = {}}, "choose another folder with --set run.output=DIR");
  }
  auto state = std::make_shared<implementation>(directory, options);
  state->lock = detail::folder_lock(directory);
  if (exists(directory)) {
    throw error(error_code::usage, "this folder already contains a run", {.file = directory, .key = {}},
                "continue it with `kevo resume " + directory +
                    "`, or choose another folder with --set run.output=DIR");
  }
  state->reserve = detail::disk_reserve(directory, options.reserve_bytes);
  detail::translated(state->path, [&] {
    state->connect();
    state->writer.execute("BEGIN IMMEDIATE");
    state->writer.execute(std::string(detail::journal_schema()));
    state->writer.execute(std::string(detail::journal_indexes()));
    detail::write_header(state->writer, header);
    state->writer.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                      detail::journal_application_id, detail::journal_schema_version));
    state->begin_session();
    state->writer.execute("COMMIT");
    state->begin_writing();
  });
  return journal(std::move(state));
}

journal journal::open(const std::string& directory, const journal_options& options) {
  if (!std::filesystem::exists(detail::database_path(directory))) {
    throw error(error_code::input, "this folder contains no run (there is no journal.sqlite)",
                {.file = directory, .key = {}}, "name the folder of a run");
  }
  detail::refuse_links(directory);
  auto state = std::make_shared<implementation>(directory, options);
  state->lock = detail::folder_lock(directory);
  state->reserve = detail::disk_reserve(directory, options.reserve_bytes);
  detail::translated(state->path, [&] {
    {
      sqlite::connection probe(state->path,
                               sqlite::access::read);  // a foreign file is refused before anything is written
      detail::check_version(probe, state->path);
    }
    state->connect();
    // Journals of earlier versions lack some of them.
    state->writer.execute(std::string(detail::journal_indexes()));
    state->begin_session();
    state->begin_writing();
  });
  return journal(std::move(state));
}

journal journal::open_read_only(const std::string& directory, const journal_options& options) {
  if (!std::filesystem::exists(detail::database_path(directory))) {
    throw error(error_code::input, "this folder contains no run (there is no journal.sqlite)",
                {.file = directory, .key = {}}, "name the folder of a run");
  }
  auto state = std::make_shared<implementation>(directory, options);
  state->read_only = true;
  detail::translated(state->path, [&] {
    {
      sqlite::connection probe(state->path, sqlite::access::read);
      detail::check_version(probe, state->path);
    }
    state->connect_reader();
    state->take_snapshot();
  });
  return journal(std::move(state));
}

bool journal::exists(const std::string& directory) {
  const std::string path = detail::database_path(directory);
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) || std::filesystem::file_size(path, failed) == 0) return false;
  try {
    sqlite::connection probe(path, sqlite::access::read);
    return detail::has_header(probe) || probe.integer("SELECT count(*) FROM sqlite_master") > 0;
  } catch (const sqlite::failure&) {
    return true;  // something is there, and it is not ours to overwrite
  }
}

const journal_header& journal::header() const {
  return state_->header;
}
const std::string& journal::directory() const {
  return state_->directory;
}
std::string journal::operator_name(operator_index op) const {
  return state_->operator_name(op);
}

void journal::consume(const event& what) {
  state_->consume(what);
}
void journal::append_ledger(const ledger& now) {
  state_->must_write();
  state_->begin_group();
  state_->ledgers.emplace_back(state_->last_sequence, now);
}
void journal::append_model_call(ticket job, double time_s, const model_call& call) {
  state_->must_write();
  state_->begin_group();
  state_->calls.push_back({job, time_s, call});
  state_->group_bytes += detail::memory_size_of(call);
}
void journal::commit() {
  state_->commit();
}
void journal::commit_if_due() {
  if (state_->due_in() <= 0) state_->commit();
}
double journal::due_in() const {
  return state_->due_in();
}
std::size_t journal::uncommitted() const {
  return state_->events.size() + state_->new_programs.size() + state_->ledgers.size() + state_->calls.size();
}
void journal::close() {
  if (state_->read_only) return;
  state_->commit();
  try {
    state_->writer.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (const sqlite::failure&) {
    return;  // the log is as durable as the file; the next one to open it folds it in
  }
}
void journal::refresh() {
  if (!state_->read_only) return;
  const std::scoped_lock hold(state_->guard);
  detail::translated(state_->path, [&] { state_->take_snapshot(); });
  state_->evaluations = detail::lru_cache<candidate_id, evaluation>(state_->options.evaluation_cache_bytes);
}

void journal::see_until(std::optional<std::uint64_t> sequence) const {
  const std::scoped_lock hold(state_->guard);
  state_->seen_until = sequence.value_or(implementation::everything);
}

candidate_store journal::store() const {
  candidate_store store;
  store.put_program = [state = state_](const content_id& id, std::shared_ptr<const program> source) {
    state->put_program(id, std::move(source));
  };
  store.program_of = [state = state_](const content_id& id) { return state->program_of(id); };
  store.put_evaluation = [state = state_](candidate_id id, std::shared_ptr<const evaluation> result) {
    state->put_evaluation(id, std::move(result));
  };
  store.evaluation_of = [state = state_](candidate_id id) { return state->evaluation_of(id); };
  return store;
}

}  // namespace kevo
