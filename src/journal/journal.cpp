#include "src/journal/journal.hpp"

#include <chrono>
#include <filesystem>
#include <limits>
#include <mutex>
#include <unordered_map>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/version.hpp>

#include "src/journal/event_rows.hpp"
#include "src/journal/lru_cache.hpp"
#include "src/journal/run_folder.hpp"
#include "src/journal/schema.hpp"
#include "src/journal/sqlite.hpp"
#include "src/json/evaluation_json.hpp"

namespace kevo {
namespace {

using sqlite::access;
using steady = std::chrono::steady_clock;

std::string path_of(const std::string& directory) {
  return directory + "/journal.sqlite";
}

std::string program_version() {
  return fmt::format("{}.{}.{}", KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH);
}

/// What SQLite refused, as an error of kevo's.
error as_error(const sqlite::failure& failure, const std::string& path) {
  const error_place place{.file = path, .key = {}};
  if (failure.damaged()) {
    return {error_code::input, std::string("damaged, or not a journal of kevo: ") + failure.what(), place,
            "`sqlite3 FILE .recover` may save what is left"};
  }
  if (failure.no_space()) {
    return {error_code::environment,
            fmt::format("{}; {} bytes are free", failure.what(), detail::free_bytes(path)), place,
            "look at the disk"};
  }
  if (failure.busy()) {
    return {error_code::environment, "another program holds the database", place,
            "close other programs that write it, `sqlite3` for instance"};
  }
  return {error_code::environment, failure.what(), place};
}

/// Runs `work`; failures of SQLite come out as errors of kevo's.
template <class Work>
decltype(auto) translated(const std::string& path, Work work) {
  try {
    return work();
  } catch (const sqlite::failure& failure) {
    throw as_error(failure, path);
  }
}

bool has_header(sqlite::connection& database) {
  return database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'header'") > 0;
}

void check_version(sqlite::connection& database, const std::string& path) {
  const error_place place{.file = path, .key = {}};
  if (!has_header(database)) {
    throw error(error_code::input, "holds no run: its creation was interrupted", place,
                "start it with `kevo run`");
  }
  if (database.integer("PRAGMA application_id") != detail::journal_application_id) {
    throw error(error_code::input, "is a database, but not a journal of kevo", place);
  }
  const auto version = database.integer("PRAGMA user_version");
  if (version <= detail::journal_schema_version) return;
  auto writer = database.prepare("SELECT value FROM header WHERE key = 'kevo_version'");
  const std::string by = writer.step() ? writer.text(0) : "a newer kevo";
  throw error(error_code::input,
              fmt::format("was written with schema {} by kevo {}; this kevo ({}) reads up to schema {}",
                          version, by, program_version(), detail::journal_schema_version),
              place, "use a kevo that is at least as new");
}

void write_header(sqlite::connection& database, const journal_header& h) {
  auto put = database.prepare("INSERT INTO header VALUES (?, ?)");
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  put.run(std::string_view("schema_version"), std::to_string(detail::journal_schema_version));
  put.run(std::string_view("created_at"), fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now)));
  put.run(std::string_view("run_name"), h.run_name);
  put.run(std::string_view("kevo_version"), h.kevo_version);
  put.run(std::string_view("config"), h.config_yaml);
  put.run(std::string_view("config_path"), h.config_path);
  put.run(std::string_view("task_path"), h.task_path);
  put.run(std::string_view("task"), h.task_json_or_text);
  put.run(std::string_view("task_id"), h.task_id);
  put.run(std::string_view("seed"), std::to_string(h.seed));
  for (const auto& [key, value] : h.more) put.run("more." + key, value);
  auto name = database.prepare("INSERT INTO operator_names VALUES (?, ?)");
  for (std::size_t i = 0; i < h.operators.size(); ++i) name.run(i, h.operators[i]);
}

journal_header read_header(sqlite::connection& database) {
  journal_header h;
  const std::map<std::string, std::string*, std::less<>> fields = {
      {"run_name", &h.run_name},       {"kevo_version", &h.kevo_version}, {"config", &h.config_yaml},
      {"config_path", &h.config_path}, {"task_path", &h.task_path},       {"task", &h.task_json_or_text},
      {"task_id", &h.task_id}};
  auto rows = database.prepare("SELECT key, value FROM header");
  while (rows.step()) {
    const std::string key = rows.text(0);
    if (const auto field = fields.find(key); field != fields.end()) *field->second = rows.text(1);
    if (key == "seed") h.seed = std::stoull(rows.text(1));
    if (key.starts_with("more.")) h.more[key.substr(5)] = rows.text(1);
  }
  auto names = database.prepare("SELECT name FROM operator_names ORDER BY number");
  while (names.step()) h.operators.push_back(names.text(0));
  return h;
}

std::shared_ptr<const program> read_program(sqlite::connection& database, const content_id& id) {
  auto rows = database.prepare(
      "SELECT p.language, f.path, f.text FROM programs p LEFT JOIN program_files f ON f.program = p.number"
      " WHERE p.id = ? ORDER BY f.position");
  const std::string name = to_string(id);
  rows.bind_all(name);
  auto found = std::make_shared<program>();
  bool any = false;
  while (rows.step()) {
    any = true;
    found->language = rows.text(0);
    if (!rows.is_null(1)) found->files.push_back({rows.text(1), rows.text(2)});
  }
  if (!any) return nullptr;
  return found;
}

}  // namespace

struct journal::implementation {
  std::string directory;
  std::string path;
  journal_options options;
  journal_header header;
  bool read_only = false;

  // The coordinator's: the group in memory, and what writes it. Members are destroyed in reverse: statements
  // first.
  detail::folder_lock lock;
  detail::disk_reserve reserve;
  sqlite::connection writer;
  std::unique_ptr<detail::row_writer> rows;
  struct pending_event {
    event what;
    std::optional<detail::variation_origin> origin;
  };
  std::vector<pending_event> events;
  std::vector<std::pair<std::uint64_t, ledger>> ledgers;
  struct pending_call {
    ticket job = 0;
    double time_s = 0;
    model_call call;
  };
  std::vector<pending_call> calls;
  std::vector<std::pair<content_id, std::shared_ptr<const program>>> new_programs;
  std::unordered_map<ticket, detail::variation_origin> asked;  // variations that are out
  std::size_t group_bytes = 0;
  std::optional<steady::time_point> group_began;
  std::uint64_t last_sequence = 0;
  double last_time = 0;

  // Everybody's, under the guard.
  mutable std::mutex guard;
  sqlite::connection reader;
  sqlite::statement find_program;
  detail::lru_cache<content_id, program> programs;
  detail::lru_cache<candidate_id, evaluation> evaluations;
  std::unordered_map<content_id, std::shared_ptr<const program>> pinned_programs;  // not durable yet
  std::unordered_map<candidate_id, std::shared_ptr<const evaluation>> pinned_evaluations;

  implementation(std::string where, const journal_options& chosen)
      : directory(std::move(where)),
        path(path_of(directory)),
        options(chosen),
        programs(chosen.program_cache_bytes),
        evaluations(chosen.evaluation_cache_bytes) {}
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation() {
    if (read_only || !rows) return;
    try {
      commit();
    } catch (const std::exception&) {  // a destructor has nobody to tell; whoever must know calls close()
      return;
    }
  }

  void must_write() const {
    if (!read_only) return;
    throw error(error_code::usage, "the journal was opened for reading", {.file = path, .key = {}});
  }
  std::string operator_name(operator_index op) const {
    if (op == seed_operator) return "seed";
    return op < header.operators.size() ? header.operators[op] : "operator " + std::to_string(op);
  }

  void connect() {
    writer = sqlite::connection(path, access::create);
    // A log of up to 32 MB: index pages that many groups touch are folded in once.
    writer.execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;"
        "PRAGMA wal_autocheckpoint = 8192;");
  }
  void begin_session() {
    header = read_header(writer);
    last_sequence = static_cast<std::uint64_t>(writer.integer("SELECT max(sequence) FROM events"));
    if (last_sequence > 0) last_time = time_of_last(writer);
    const auto now = std::chrono::system_clock::now();
    const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(now);
    writer.prepare("INSERT INTO sessions VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)")
        .run(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds)),
             std::chrono::duration<double>(now.time_since_epoch()).count(), last_sequence, last_time,
             program_version(), detail::host_name(), detail::process_number());
  }
  void begin_writing() {
    rows = std::make_unique<detail::row_writer>(writer);
    connect_reader();
    detail::sync_folder(directory);
  }
  void connect_reader() {
    reader = sqlite::connection(path, access::read);
    find_program = reader.prepare("SELECT 1 FROM programs WHERE id = ?");
  }
  static double time_of_last(sqlite::connection& database) {
    auto last = database.prepare("SELECT time_s FROM events ORDER BY sequence DESC LIMIT 1");
    return last.step() ? last.real(0) : 0;
  }
  // Variations that an earlier process left open may still be told.
  void find_open_variations() {
    auto rest = writer.prepare(
        "SELECT sequence FROM events e WHERE kind = 'variation_asked' AND NOT EXISTS"
        " (SELECT 1 FROM variations v WHERE v.asked = e.sequence)");
    std::vector<std::uint64_t> open;
    while (rest.step()) open.push_back(static_cast<std::uint64_t>(rest.integer(0)));
    for (const std::uint64_t sequence : open) {
      auto row = detail::select_event(writer);
      row.bind_all(sequence);
      if (row.step()) note_job(detail::read_event(row));
    }
  }
  void take_snapshot() {
    if (reader.in_transaction()) reader.execute("COMMIT");
    reader.execute("BEGIN");
    check_version(reader, path);  // the first read fixes the moment
    header = read_header(reader);
    last_sequence = static_cast<std::uint64_t>(reader.integer("SELECT max(sequence) FROM events"));
    last_time = last_sequence > 0 ? time_of_last(reader) : 0;
  }

  // A variation's end speaks only of its job, so what was asked is remembered until then.
  std::optional<detail::variation_origin> note_job(const event& what) {
    if (const auto* begun = std::get_if<variation_asked>(&what.what)) {
      asked[begun->job] = {what.sequence, operator_name(begun->op), begun->selection};
    } else if (const auto* ended = std::get_if<variation_told>(&what.what)) {
      if (auto node = asked.extract(ended->job)) return std::move(node.mapped());
    }
    return std::nullopt;
  }

  void begin_group() {
    if (!group_began) group_began = steady::now();
  }

  void consume(const event& what) {
    must_write();
    if (what.sequence != last_sequence + 1) {
      throw error(error_code::internal,
                  fmt::format("event {} cannot follow event {}", what.sequence, last_sequence),
                  {.file = path, .key = {}});
    }
    const auto* told = std::get_if<evaluation_told>(&what.what);
    const auto* draft = std::get_if<draft_evaluated>(&what.what);
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
    group_bytes += 256 + (result != nullptr ? detail::weight_of(*result) : 0);
    last_sequence = what.sequence;
    last_time = what.time_s;
  }

  void put_program(const content_id& id, std::shared_ptr<const program> source) {
    const std::scoped_lock hold(guard);
    if (pinned_programs.contains(id) || programs.find(id) || is_stored(id)) return;
    pinned_programs.emplace(id, source);
    if (read_only) return;
    begin_group();
    group_bytes += detail::weight_of(*source);
    new_programs.emplace_back(id, std::move(source));
  }
  bool is_stored(const content_id& id) {
    return translated(path, [&] {
      const std::string name = to_string(id);
      find_program.bind_all(name);
      const bool found = find_program.step();
      find_program.reset();
      return found;
    });
  }

  std::shared_ptr<const program> program_of(const content_id& id) {
    const std::scoped_lock hold(guard);
    if (const auto pinned = pinned_programs.find(id); pinned != pinned_programs.end()) return pinned->second;
    if (auto cached = programs.find(id)) return cached;
    auto found = translated(path, [&] { return read_program(reader, id); });
    if (found) programs.put(id, found, detail::weight_of(*found));
    return found;
  }

  std::shared_ptr<const evaluation> evaluation_of(candidate_id id) {
    const std::scoped_lock hold(guard);
    if (const auto pinned = pinned_evaluations.find(id); pinned != pinned_evaluations.end())
      return pinned->second;
    if (auto cached = evaluations.find(id)) return cached;
    auto found = translated(path, [&]() -> std::shared_ptr<const evaluation> {
      auto row = reader.prepare(
          "SELECT evaluation FROM evaluations WHERE candidate = ? ORDER BY sequence DESC LIMIT 1");
      row.bind_all(id);
      if (!row.step()) return nullptr;
      return std::make_shared<const evaluation>(evaluation_from_json(row.text(0)));
    });
    if (found) evaluations.put(id, found, detail::weight_of(*found));
    return found;
  }
  void put_evaluation(candidate_id id, std::shared_ptr<const evaluation> result) {
    const std::scoped_lock hold(guard);
    const std::size_t bytes = detail::weight_of(*result);
    evaluations.put(id, std::move(result), bytes);
  }

  void write_group() {
    writer.execute("BEGIN IMMEDIATE");
    for (const auto& [id, source] : new_programs) rows->write(id, *source);
    for (const auto& [what, origin] : events) rows->write(what, origin);
    for (const auto& [sequence, now] : ledgers) rows->write(now, sequence);
    for (const auto& [job, time_s, call] : calls) rows->write(job, time_s, call);
    writer.execute("COMMIT");
  }
  void roll_back() noexcept {
    try {
      if (writer.in_transaction()) writer.execute("ROLLBACK");
    } catch (const sqlite::failure&) {
      return;  // a failed transaction that cannot be rolled back by hand is rolled back by the next one
    }
  }
  void forget_group() {
    {
      const std::scoped_lock hold(guard);
      for (auto& [id, source] : new_programs) {
        pinned_programs.erase(id);
        const std::size_t bytes = detail::weight_of(*source);
        programs.put(id, std::move(source), bytes);
      }
      for (const auto& [id, result] : pinned_evaluations)
        evaluations.put(id, result, detail::weight_of(*result));
      pinned_evaluations.clear();
    }
    new_programs.clear();
    events.clear();
    ledgers.clear();
    calls.clear();
    group_bytes = 0;
    group_began.reset();
  }

  void commit() {
    must_write();
    if (!group_began) return;
    try {
      write_group();
    } catch (const sqlite::failure& failure) {
      roll_back();
      if (!failure.no_space()) throw as_error(failure, path);
      commit_on_full_disk(failure);
    } catch (...) {
      roll_back();
      throw;
    }
    forget_group();
  }

  [[noreturn]] void commit_on_full_disk(const sqlite::failure& first) {
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
                            written ? "everything that was finished is recorded"
                                    : fmt::format("{} events are not recorded yet", waiting)),
                {.file = path, .key = {}}, fmt::format("free some space, then `kevo resume {}`", directory));
  }

  double due_in() const {
    if (!group_began) return std::numeric_limits<double>::infinity();
    if (group_bytes >= options.group_bytes) return 0;
    const double age = std::chrono::duration<double>(steady::now() - *group_began).count();
    return std::max(0.0, options.group_s - age);
  }

  /// Runs a query on a connection that sees what is committed; read-only handles see their moment.
  template <class Work>
  auto query(Work work) const {
    const std::scoped_lock hold(guard);
    return translated(path, [&] { return work(const_cast<sqlite::connection&>(reader)); });
  }
};

journal journal::create(const std::string& directory, const journal_header& header,
                        const journal_options& options) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    throw error(error_code::environment, "cannot make the folder: " + failed.message(),
                {.file = directory, .key = {}});
  }
  auto state = std::make_shared<implementation>(directory, options);
  state->lock = detail::folder_lock(directory);
  if (exists(directory)) {
    throw error(error_code::usage, "there is a run here already", {.file = directory, .key = {}},
                "continue it with `kevo resume " + directory +
                    "`, or choose another folder with --set run.output=DIR");
  }
  state->reserve = detail::disk_reserve(directory, options.reserve_bytes);
  translated(state->path, [&] {
    state->connect();
    state->writer.execute("BEGIN IMMEDIATE");
    state->writer.execute(std::string(detail::journal_schema()));
    write_header(state->writer, header);
    state->writer.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                      detail::journal_application_id, detail::journal_schema_version));
    state->begin_session();
    state->writer.execute("COMMIT");
    state->begin_writing();
  });
  return journal(std::move(state));
}

journal journal::open(const std::string& directory, const journal_options& options) {
  if (!std::filesystem::exists(path_of(directory))) {
    throw error(error_code::input, "there is no run here (no journal.sqlite)",
                {.file = directory, .key = {}});
  }
  auto state = std::make_shared<implementation>(directory, options);
  state->lock = detail::folder_lock(directory);
  state->reserve = detail::disk_reserve(directory, options.reserve_bytes);
  translated(state->path, [&] {
    {
      sqlite::connection probe(state->path,
                               access::read);  // a foreign file is refused before anything is written
      check_version(probe, state->path);
    }
    state->connect();
    state->begin_session();
    state->find_open_variations();
    state->begin_writing();
  });
  return journal(std::move(state));
}

journal journal::open_read_only(const std::string& directory, const journal_options& options) {
  if (!std::filesystem::exists(path_of(directory))) {
    throw error(error_code::input, "there is no run here (no journal.sqlite)",
                {.file = directory, .key = {}});
  }
  auto state = std::make_shared<implementation>(directory, options);
  state->read_only = true;
  translated(state->path, [&] {
    {
      sqlite::connection probe(state->path, access::read);
      check_version(probe, state->path);
    }
    state->connect_reader();
    state->take_snapshot();
  });
  return journal(std::move(state));
}

bool journal::exists(const std::string& directory) {
  const std::string path = path_of(directory);
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) || std::filesystem::file_size(path, failed) == 0) return false;
  try {
    sqlite::connection probe(path, access::read);
    return has_header(probe) || probe.integer("SELECT count(*) FROM sqlite_master") > 0;
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

std::vector<journal_session> journal::sessions() const {
  return state_->query([](sqlite::connection& database) {
    std::vector<journal_session> all;
    auto rows =
        database.prepare("SELECT opened_unix_s, after_sequence, after_time_s FROM sessions ORDER BY number");
    while (rows.step()) {
      all.push_back({rows.real(0), static_cast<std::uint64_t>(rows.integer(1)), rows.real(2)});
    }
    return all;
  });
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
  state_->group_bytes += detail::weight_of(call);
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
  translated(state_->path, [&] { state_->take_snapshot(); });
  state_->evaluations = detail::lru_cache<candidate_id, evaluation>(state_->options.evaluation_cache_bytes);
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

void journal::for_each_event(const std::function<void(const event&)>& visit) const {
  // A writer reads through a connection of its own, so that a long visit does not hold back what others see.
  sqlite::connection own;
  if (!state_->read_only)
    own = translated(state_->path, [&] { return sqlite::connection(state_->path, access::read); });
  sqlite::connection& database = state_->read_only ? state_->reader : own;
  auto rows = state_->query([&](sqlite::connection&) { return detail::select_events(database); });
  std::uint64_t expected = 1;
  while (true) {
    std::optional<event> next = state_->query([&](sqlite::connection&) -> std::optional<event> {
      if (!rows.step()) return std::nullopt;
      try {
        return detail::read_event(rows);
      } catch (const std::exception& broken) {
        throw error(error_code::input, fmt::format("event {} cannot be read: {}", expected, broken.what()),
                    {.file = state_->path, .key = {}});
      }
    });
    if (!next) break;
    if (next->sequence != expected) {
      throw error(error_code::input, fmt::format("event {} is missing", expected),
                  {.file = state_->path, .key = {}});
    }
    ++expected;
    visit(*next);
  }
  const auto waiting = state_->events;  // `visit` may consume
  for (const auto& one : waiting) visit(one.what);
}

candidate_id journal::candidate_count() const {
  return state_->query([](sqlite::connection& database) {
    return static_cast<candidate_id>(database.integer("SELECT count(*) FROM candidates"));
  });
}

std::optional<recorded_candidate> journal::candidate(candidate_id id) const {
  return state_->query([id](sqlite::connection& database) -> std::optional<recorded_candidate> {
    auto row = database.prepare(
        "SELECT c.program, c.operator, c.sequence, e.time_s, v.summary, v.transcript, v.wall_s, v.device_s, "
        "v.money,"
        " v.tokens_in, v.tokens_out FROM candidates c JOIN events e ON e.sequence = c.sequence"
        " LEFT JOIN variations v ON v.sequence = c.sequence WHERE c.id = ?");
    row.bind_all(id);
    if (!row.step()) return std::nullopt;
    recorded_candidate c;
    c.id = id;
    c.program = parse_content_id(row.text(0)).value_or(content_id{});
    c.operator_name = row.text(1);
    c.sequence = static_cast<std::uint64_t>(row.integer(2));
    c.born_s = row.real(3);
    if (!row.is_null(4)) {
      c.summary = row.text(4);
      c.transcript = row.text(5);
      c.cost = {row.real(6), row.real(7), row.real(8), row.integer(9), row.integer(10)};
    }
    auto edges = database.prepare("SELECT role, parent FROM edges WHERE child = ? ORDER BY role, position");
    edges.bind_all(id);
    while (edges.step()) {
      (edges.text(0) == "parent" ? c.parents : c.inspirations)
          .push_back(static_cast<candidate_id>(edges.integer(1)));
    }
    return c;
  });
}

std::vector<model_call> journal::model_calls(candidate_id id) const {
  return state_->query([id](sqlite::connection& database) {
    auto rows = database.prepare(
        "SELECT m.operator, m.model, m.group_id, m.turn, m.messages, m.response, m.prompt_token_ids, "
        "m.token_ids,"
        " m.log_probabilities, m.sampling, m.policy_version, m.reward_terms, m.request_key, m.tokens_in,"
        " m.tokens_out, m.money, m.wall_s FROM candidates c JOIN events e ON e.sequence = c.sequence"
        " JOIN model_calls m ON m.job = e.job WHERE c.id = ? ORDER BY m.number");
    rows.bind_all(id);
    std::vector<model_call> calls;
    while (rows.step()) {
      calls.push_back({rows.text(0), rows.text(1), rows.text(2), rows.integer(3), rows.text(4), rows.text(5),
                       rows.text(6), rows.text(7), rows.text(8), rows.text(9), rows.text(10), rows.text(11),
                       rows.text(12), rows.integer(13), rows.integer(14), rows.real(15), rows.real(16)});
    }
    return calls;
  });
}

double journal::model_spending() const {
  return state_->query([](sqlite::connection& database) {
    auto row = database.prepare("SELECT coalesce(sum(money), 0) FROM model_calls");
    return row.step() ? row.real(0) : 0.0;
  });
}

std::vector<std::string> journal::model_call_keys() const {
  return state_->query([](sqlite::connection& database) {
    auto rows = database.prepare("SELECT request_key FROM model_calls WHERE request_key IS NOT NULL");
    std::vector<std::string> keys;
    while (rows.step()) keys.push_back(rows.text(0));
    return keys;
  });
}

std::vector<recorded_evaluation> journal::evaluations(candidate_id id) const {
  return state_->query([id](sqlite::connection& database) {
    std::vector<recorded_evaluation> all;
    auto rows = database.prepare(
        "SELECT x.sequence, e.time_s, x.wanted, x.archive_status, x.archive_value, x.evaluation FROM "
        "evaluations x"
        " JOIN events e ON e.sequence = x.sequence WHERE x.candidate = ? ORDER BY x.sequence");
    rows.bind_all(id);
    while (rows.step()) {
      recorded_evaluation one;
      one.sequence = static_cast<std::uint64_t>(rows.integer(0));
      one.time_s = rows.real(1);
      one.wanted = parse_evaluation_stage(rows.text(2)).value_or(evaluation_stage::timed_full);
      for (std::size_t i = 0; i < archive_status_names.size(); ++i) {
        if (archive_status_names[i] == rows.text(3)) one.archived.status = static_cast<archive_status>(i);
      }
      one.archived.value = rows.real(4);
      one.result = std::make_shared<const evaluation>(evaluation_from_json(rows.text(5)));
      all.push_back(std::move(one));
    }
    return all;
  });
}

std::optional<candidate_id> journal::best() const {
  return state_->query([](sqlite::connection& database) -> std::optional<candidate_id> {
    // The view would rank every candidate before it finds the champion.
    auto champion = database.prepare(
        "SELECT candidate FROM events WHERE kind = 'champion_crowned' ORDER BY sequence DESC LIMIT 1");
    if (champion.step()) {
      auto valid = database.prepare("SELECT outcome = 'valid' FROM results WHERE candidate = ?");
      const auto id = champion.integer(0);
      valid.bind_all(id);
      if (valid.step() && valid.integer(0) != 0) return static_cast<candidate_id>(id);
    }
    auto row = database.prepare("SELECT candidate FROM best LIMIT 1");
    return row.step() ? std::optional(static_cast<candidate_id>(row.integer(0))) : std::nullopt;
  });
}

std::uint64_t journal::last_sequence() const {
  return state_->last_sequence;
}
double journal::last_time() const {
  return state_->last_time;
}

}  // namespace kevo
