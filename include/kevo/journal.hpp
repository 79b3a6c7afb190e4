#pragma once
// The journal: the durable record of a run in the file RUN/journal.sqlite. A session writes it; programs that
// analyze a run read it. The search graph, the archive and the state of the policies are rebuilt from its
// events. The schema is documented in docs/journal.md. Compiled: link kevo::kevo.
//
//   const auto run = kevo::journal::open_read_only("runs/matmul");
//   for (const kevo::recorded_candidate& c : run.candidates())
//     for (const kevo::recorded_evaluation& e : run.evaluations(c.id)) ...

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/event.hpp>
#include <kevo/ledger.hpp>
#include <kevo/model_call.hpp>

namespace kevo {

/// Data that is fixed when a run begins: everything that `kevo resume` and a replay need besides the events.
struct journal_header {
  std::string run_name;                     ///< `session_plan::name`
  std::string kevo_version;                 ///< version of kevo that began the run
  std::string config_yaml;                  ///< the complete config, including defaults
  std::string config_path;                  ///< absolute path of the config; empty if there was none
  std::string task_path;                    ///< path of the task file; empty if there was none
  std::string task_json_or_text;            ///< contents of the task file
  std::string task_id;                      ///< content id of the task
  std::uint64_t seed = 0;                   ///< seed of all random numbers
  std::vector<std::string> operators;       ///< names of the operators, indexed by operator_index
  std::map<std::string, std::string> more;  ///< further entries of the calling program, by key
};

/// Cache sizes and commit intervals of a journal.
struct journal_options {
  std::size_t program_cache_bytes = std::size_t{64} << 20U;     ///< maximum memory for recent programs
  std::size_t evaluation_cache_bytes = std::size_t{64} << 20U;  ///< maximum memory for recent evaluations
  std::size_t reserve_bytes = std::size_t{4} << 20U;  ///< size of RUN/.reserve, deleted when the disk is full
  std::size_t group_bytes = std::size_t{1} << 20U;    ///< size from which a group is due for commit
  double group_s = 0.010;                             ///< [s] age from which a group is due for commit
};

/// One session of a run: the time from a call of `create` or `open` on.
struct journal_session {
  double opened_unix_s = 0;          ///< [s] since 1970-01-01 UTC
  std::uint64_t after_sequence = 0;  ///< number of the last event before the session; 0 if there is none
  double after_time_s = 0;           ///< [s] run time of that event
};

/// A recorded evaluation of a candidate.
struct recorded_evaluation {
  std::uint64_t sequence = 0;  ///< number of its event
  double time_s = 0;           ///< [s] run time at which the search received the result
  evaluation_stage wanted = evaluation_stage::timed_full;  ///< stage that the search asked for
  archive_result archived;                                 ///< answer of the archive
  std::shared_ptr<const evaluation> result;                ///< never null
  candidate_id candidate = no_candidate;
};

/// A recorded candidate, with the turn that made it.
struct recorded_candidate {
  candidate_id id = no_candidate;
  content_id program;
  std::string operator_name;  ///< "seed" for seeds
  std::vector<candidate_id> parents;
  std::vector<candidate_id> inspirations;
  std::uint64_t sequence = 0;  ///< number of the event that created it
  double born_s = 0;           ///< [s] run time of that event
  std::string summary;         ///< one line: what the operator changed; empty for seeds
  std::string transcript;      ///< what the operator noted while it worked
  spending cost;               ///< cost of the turn
};

/// Records of one kind, in order. Each record is read from the journal when an iterator is dereferenced, so
/// that a loop over a million candidates holds one of them in memory. The range keeps the journal open; its
/// iterators point to the range and must not outlive it.
template <class T>
class journal_range {
 public:
  /// Reads the record with an index.
  using reader = std::function<T(std::size_t)>;

  /// Reads one record at each dereference.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;

    iterator() = default;
    iterator(const journal_range* range, std::size_t at) : range_(range), at_(at) {}
    T operator*() const { return (*range_)[at_]; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

   private:
    const journal_range* range_ = nullptr;
    std::size_t at_ = 0;
  };

  /// A range of `size` records, each of which `read` reads by its index.
  journal_range(std::size_t size, reader read) : size_(size), read_(std::move(read)) {}
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Reads one record; `i` is less than size().
  T operator[](std::size_t i) const { return read_(i); }
  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, size_}; }

 private:
  std::size_t size_;
  reader read_;
};

/// A handle to the journal of a run; also a sink. Copies of a handle share one journal. Events collect in
/// memory, in a group, and are durable once `commit` has returned: before that, nothing may treat an
/// evaluation as finished. Only the coordinator's thread may call these functions, except
/// `store().program_of`, which is thread-safe. The last handle of a writable journal commits when it is
/// destroyed, but ignores errors; call `close` to see them.
///
/// Errors are thrown as kevo::error. `usage`: the folder contains a run already, another kevo process writes
/// it, or the handle is read-only. `input`: there is no run, it is damaged, or a newer kevo wrote it.
/// `environment`: the disk is full or failed (see `commit`), the folder cannot be written, or another program
/// locks the database. `internal`: a consumed event is out of order or incomplete.
class journal {
 public:
  /// Begins a run in `directory`, which is created if it does not exist.
  static journal create(const std::string& directory, const journal_header& header,
                        const journal_options& options = {});
  /// Opens a run to append events. Like `create`, it holds a lock on the folder until the last handle is
  /// destroyed, so that two processes cannot write the same run.
  static journal open(const std::string& directory, const journal_options& options = {});
  /// Opens a run for reading, also while another process writes it. All answers are a consistent snapshot,
  /// taken when the journal was opened or at the latest `refresh`.
  static journal open_read_only(const std::string& directory, const journal_options& options = {});
  /// Whether `directory` contains a run.
  static bool exists(const std::string& directory);

  /// The data with which the run began.
  const journal_header& header() const;
  /// The folder of the run, as it was given to `create` or `open`.
  const std::string& directory() const;
  /// The name of an operator; "seed" for seed_operator.
  std::string operator_name(operator_index op) const;
  /// All committed sessions, oldest first.
  std::vector<journal_session> sessions() const;

  /// Adds an event to the group in memory. Its number must be one more than that of the last event.
  void consume(const event& what);
  /// Adds a snapshot of the ledger to the group in memory.
  void append_ledger(const ledger& now);
  /// Adds a language-model call of the turn `job` to the group in memory. `time_s` is the run time [s].
  void append_model_call(ticket job, double time_s, const model_call& call);
  /// Writes the group; it is durable when the function returns. If the disk is full or fails, the reserve
  /// file is deleted and the group is written once more. The function then throws `environment` even if this
  /// succeeds; the message says whether the group was written, and names the path, the free bytes and what to
  /// do. A group that was not written stays in memory, and each later commit tries it again. After such an
  /// error the driver starts no new work; results that still arrive may be consumed and committed.
  void commit();
  /// Commits if the group is due by age or size.
  void commit_if_due();
  /// [s] Time until the group is due: 0 if it is due, infinity if there is no group.
  double due_in() const;
  /// The number of events, programs, ledger snapshots and model calls that are not durable yet.
  std::size_t uncommitted() const;
  /// Commits, and merges the write-ahead log into journal.sqlite. Later events may still be consumed. Does
  /// nothing on a read-only handle.
  void close();
  /// Moves the snapshot of a read-only handle to everything that is committed now. Does nothing on a writable
  /// handle.
  void refresh();

  /// A store for programs and evaluations. It reads recent ones from memory and the others from the database.
  /// `put_program` adds the program to the group; `put_evaluation` only fills the cache, because evaluations
  /// are recorded with their events. The store keeps the journal open.
  candidate_store store() const;
  /// Makes `evaluation_of` of all stores ignore evaluations that were recorded after event `sequence`: those
  /// are not read from the database, even if the cache has dropped the earlier ones. Evaluations that are in
  /// the cache already are still returned. A replay calls it before each event. Without a value, all
  /// evaluations are read again.
  void see_until(std::optional<std::uint64_t> sequence) const;
  /// Calls `visit` with every event in order of sequence. Each field is equal to that of the consumed event;
  /// doubles are equal bit for bit. `visit` may call the store.
  void for_each_event(const std::function<void(const event&)>& visit) const;
  /// The number of committed candidates. They are numbered from 0.
  candidate_id candidate_count() const;
  /// A committed candidate; nothing if there is none with this number.
  std::optional<recorded_candidate> candidate(candidate_id id) const;
  /// All committed candidates, in order of their numbers.
  journal_range<recorded_candidate> candidates() const;
  /// A candidate, its first parent, the first parent of that, and so on to a seed; empty if there is no such
  /// candidate.
  std::vector<recorded_candidate> lineage(candidate_id id) const;
  /// The source of a program; null if the journal does not hold it.
  std::shared_ptr<const program> source(const content_id& program) const;
  /// The committed model calls of the turn that made a candidate, in order; empty for seeds.
  std::vector<model_call> model_calls(candidate_id id) const;
  /// The committed model calls with these numbers, in the order of the argument; unknown numbers are left
  /// out.
  std::vector<model_call> model_calls(const std::vector<std::int64_t>& numbers) const;
  /// Calls `visit` with the turn (`job`) and the number of every committed model call, in order of number.
  /// `visit` may read the journal.
  void for_each_model_call(const std::function<void(ticket job, std::int64_t number)>& visit) const;
  /// The total money that all committed model calls cost, in the currency of the configured prices.
  double model_spending() const;
  /// The request keys of all committed model calls.
  std::vector<std::string> model_call_keys() const;
  /// All committed evaluations of a candidate, oldest first.
  std::vector<recorded_evaluation> evaluations(candidate_id id) const;
  /// All committed evaluations of candidates, in order of their events.
  journal_range<recorded_evaluation> evaluations() const;
  /// The champion, if there is one and its latest evaluation is valid; otherwise the valid candidate with the
  /// best score; nothing if no candidate is valid.
  std::optional<candidate_id> best() const;
  std::uint64_t last_sequence() const;  ///< 0 if there is no event
  double last_time() const;             ///< [s] run time of the last event

  struct implementation;  // keeps sqlite3.h out of this header

 private:
  explicit journal(std::shared_ptr<implementation> state) : state_(std::move(state)) {}
  std::shared_ptr<implementation> state_;
};

}  // namespace kevo
