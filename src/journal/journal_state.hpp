#pragma once
// What the handles of one journal share: the group in memory, the connections and the caches. Internal to
// src/journal.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/base/sqlite/sqlite.hpp"
#include "src/journal/database_file.hpp"
#include "src/journal/event_rows.hpp"
#include "src/journal/journal.hpp"
#include "src/journal/lru_cache.hpp"
#include "src/journal/run_folder.hpp"

namespace kevo {

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
  std::optional<std::chrono::steady_clock::time_point> group_began;
  std::uint64_t last_sequence = 0;
  double last_time = 0;

  // Everybody's, under the guard.
  mutable std::mutex guard;
  sqlite::connection reader;
  sqlite::statement program_row;     // prepared once: resuming a long run asks for every program
  sqlite::statement evaluation_row;  // the latest one of a candidate up to an event
  static constexpr std::uint64_t everything = std::numeric_limits<std::int64_t>::max();  // as SQLite counts
  std::uint64_t seen_until = everything;
  detail::lru_cache<content_id, program> programs;
  detail::lru_cache<candidate_id, evaluation> evaluations;
  std::unordered_map<content_id, std::shared_ptr<const program>> pinned_programs;  // not durable yet
  std::unordered_map<candidate_id, std::shared_ptr<const evaluation>> pinned_evaluations;

  implementation(std::string where, const journal_options& chosen)
      : directory(std::move(where)),
        path(detail::database_path(directory)),
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

  void must_write() const;
  std::string operator_name(operator_index op) const;

  void connect();
  void begin_session();
  void begin_writing();
  void connect_reader();
  static double time_of_last(sqlite::connection& database);
  /// What a variation was asked to do, from what is committed; nothing if the journal does not hold it.
  std::optional<detail::variation_origin> find_origin(ticket job);
  void take_snapshot();

  /// A variation's end speaks only of its job, so what was asked is remembered until then.
  std::optional<detail::variation_origin> note_job(const event& what);

  void begin_group();
  void consume(const event& what);

  void put_program(const content_id& id, std::shared_ptr<const program> source);
  std::shared_ptr<const program> program_of(const content_id& id);
  std::shared_ptr<const evaluation> evaluation_of(candidate_id id);
  void put_evaluation(candidate_id id, std::shared_ptr<const evaluation> result);

  void write_group();
  void roll_back() noexcept;
  void forget_group();
  void commit();
  [[noreturn]] void commit_on_full_disk(const sqlite::failure& first);
  double due_in() const;

  /// Runs a query on a connection that sees what is committed; read-only handles see their moment.
  template <class Work>
  auto query(Work work) const {
    const std::scoped_lock hold(guard);
    return detail::translated(path, [&] { return work(const_cast<sqlite::connection&>(reader)); });
  }
};

}  // namespace kevo
