#pragma once
// The durable record of a run, RUN/journal.sqlite: written by a session, read for analysis. Graph, archive
// and policies are rebuilt from its events. The schema is documented in docs/journal.md. Compiled: link
// kevo::kevo.
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

/// What is fixed when a run begins: everything that `kevo resume` and a replay need besides the events.
struct journal_header {
  std::string run_name;
  std::string kevo_version;
  std::string config_yaml;  ///< resolved, with every default
  std::string config_path;
  std::string task_path;
  std::string task_json_or_text;
  std::string task_id;  ///< content id of the task
  std::uint64_t seed = 0;
  std::vector<std::string> operators;       ///< names, by operator_index
  std::map<std::string, std::string> more;  ///< whatever else the program wants to find again
};

/// Sizes and times of a journal.
struct journal_options {
  std::size_t program_cache_bytes = std::size_t{64} << 20U;
  std::size_t evaluation_cache_bytes = std::size_t{64} << 20U;
  std::size_t reserve_bytes = std::size_t{4} << 20U;  ///< RUN/.reserve: given up when the disk is full
  std::size_t group_bytes = std::size_t{1} << 20U;    ///< a group of about this size is due at once
  double group_s = 0.010;                             ///< [s] age at which a group is due
};

/// One session of a run: from `create` or `open` on.
struct journal_session {
  double opened_unix_s = 0;          ///< [s] since 1970-01-01 UTC
  std::uint64_t after_sequence = 0;  ///< the last event before it
  double after_time_s = 0;           ///< [s] run time of that event
};

/// One evaluation of a candidate, as recorded.
struct recorded_evaluation {
  std::uint64_t sequence = 0;
  double time_s = 0;  ///< [s] run time at which it was told
  evaluation_stage wanted = evaluation_stage::timed_full;
  archive_result archived;
  std::shared_ptr<const evaluation> result;
  candidate_id candidate = no_candidate;
};

/// How a candidate came to be, as recorded.
struct recorded_candidate {
  candidate_id id = no_candidate;
  content_id program;
  std::string operator_name;  ///< "seed" for seeds
  std::vector<candidate_id> parents;
  std::vector<candidate_id> inspirations;
  std::uint64_t sequence = 0;
  double born_s = 0;  ///< [s] run time
  std::string summary;
  std::string transcript;
  spending cost;
};

/// Records of one kind, in order. Each is read from the journal when an iterator is dereferenced, so that a
/// loop over a million candidates holds one of them in memory. Valid for as long as a handle of the journal.
template <class T>
class journal_range {
 public:
  using reader = std::function<T(std::size_t)>;

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

/// A shared handle to a run's journal; a sink. Events collect in a group in memory and are durable once
/// `commit` has returned: nothing may act as if an evaluation were finished before that. All functions are
/// for the coordinator's thread, except `store().program_of`, which any thread may call.
///
/// Errors: kevo::error. `usage`: a run is there already, another kevo writes it, or the handle is read-only.
/// `input`: there is no run, it is damaged, or a newer kevo wrote it. `environment`: the disk is full or
/// failed; see `commit`.
class journal {
 public:
  /// Begins a run in `directory`, which is made if needed.
  static journal create(const std::string& directory, const journal_header& header,
                        const journal_options& options = {});
  /// Continues a run: appends. Holds a lock on the folder for as long as a handle lives, so that two programs
  /// cannot write one run.
  static journal open(const std::string& directory, const journal_options& options = {});
  /// Reads a run, also while another process writes it. Everything it answers is of one moment: that of the
  /// opening or of the latest `refresh`.
  static journal open_read_only(const std::string& directory, const journal_options& options = {});
  /// Whether there is a run in `directory`.
  static bool exists(const std::string& directory);

  const journal_header& header() const;
  const std::string& directory() const;
  /// The name of an operator; "seed" for seed_operator.
  std::string operator_name(operator_index op) const;
  std::vector<journal_session> sessions() const;

  /// Adds an event to the group in memory. Its sequence must be the next one.
  void consume(const event& what);
  /// Adds a snapshot of the ledger to the group in memory.
  void append_ledger(const ledger& now);
  /// Adds a call that a variation made of a language model to the group in memory.
  void append_model_call(ticket job, double time_s, const model_call& call);
  /// Writes the group; durable when it returns. On a full or failing disk the group stays in memory, the
  /// reserve file is given up for it, and once it is written (or not: the message says which) the function
  /// throws `environment` with path, free bytes and what to do. The driver then starts no new work; results
  /// that still arrive may be consumed and committed, and what was not written is tried again each time.
  void commit();
  /// Commits if the group is due by age or size.
  void commit_if_due();
  /// [s] until the group is due: 0 if it is, infinity if there is none.
  double due_in() const;
  /// Events and programs that are not durable yet.
  std::size_t uncommitted() const;
  /// Commits and folds the log into the one file. Later events may still be consumed.
  void close();
  /// Moves a read-only handle on to what is committed now.
  void refresh();

  /// Programs and evaluations: from memory if recent, else from the database. `put_program` joins the group;
  /// `put_evaluation` only warms the cache, since evaluations arrive with their events. It shares ownership.
  candidate_store store() const;
  /// Makes `evaluation_of` of all stores answer as when event `sequence` had just been recorded: what was
  /// evaluated later is not seen, whether caches have forgotten what was known then or not. For replays,
  /// which call it before each event. Nothing: everything is seen again.
  void see_until(std::optional<std::uint64_t> sequence) const;
  /// Calls `visit` with every event in order of sequence, equal field by field to what was consumed; doubles
  /// bit for bit. Whoever visits may call the store meanwhile.
  void for_each_event(const std::function<void(const event&)>& visit) const;
  /// How many candidates are committed. They are numbered from 0.
  candidate_id candidate_count() const;
  /// A committed candidate; nothing if there is none of this number.
  std::optional<recorded_candidate> candidate(candidate_id id) const;
  /// All committed candidates, in order of their numbers.
  journal_range<recorded_candidate> candidates() const;
  /// A candidate and its ancestors along first parents, the candidate first, a seed last; empty if there is
  /// no such candidate.
  std::vector<recorded_candidate> lineage(candidate_id id) const;
  /// The source of a program; null if the journal does not hold it.
  std::shared_ptr<const program> source(const content_id& program) const;
  /// The committed model calls of the variation that made a candidate, in order; of a seed none.
  std::vector<model_call> model_calls(candidate_id id) const;
  /// The committed model calls of these numbers, in this order.
  std::vector<model_call> model_calls(const std::vector<std::int64_t>& numbers) const;
  /// Calls `visit` with the variation and the number of every committed model call, in order of number.
  /// Whoever visits may read the journal meanwhile.
  void for_each_model_call(const std::function<void(ticket job, std::int64_t number)>& visit) const;
  /// What all committed model calls cost together, and their request keys.
  double model_spending() const;
  std::vector<std::string> model_call_keys() const;
  /// All committed evaluations of a candidate, oldest first.
  std::vector<recorded_evaluation> evaluations(candidate_id id) const;
  /// All committed evaluations of candidates, in the order in which they were told.
  journal_range<recorded_evaluation> evaluations() const;
  /// The candidate that was crowned last, else the best valid one by score; nothing while none is valid.
  std::optional<candidate_id> best() const;
  std::uint64_t last_sequence() const;  ///< 0 if there is no event
  double last_time() const;             ///< [s] run time of the last event

  struct implementation;  // sqlite3.h stays out of this header

 private:
  explicit journal(std::shared_ptr<implementation> state) : state_(std::move(state)) {}
  std::shared_ptr<implementation> state_;
};

}  // namespace kevo
