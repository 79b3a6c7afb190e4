#pragma once
// What was judged again of a run: RUN/rejudged.sqlite. A file of its own, so that the journal stays what the
// run wrote and a resume or a replay is not concerned. The schema is documented in docs/journal.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>

namespace kevo {

/// Under which rules something was judged: the same key, the same rules.
struct rejudge_rules {
  std::string task_id;   ///< content id of the task
  std::string protocol;  ///< version of the measuring protocol
  std::string device;
  std::string fitness;  ///< the settings of the fitness function, YAML
  friend bool operator==(const rejudge_rules&, const rejudge_rules&) = default;
};

/// One row: a candidate that was judged again.
struct rejudged_row {
  std::string judged_at;  ///< UTC, ISO 8601
  std::string kevo_version;
  candidate_id candidate = no_candidate;
  std::string program;  ///< content id
  rejudge_rules rules;
  std::string verdict;
  std::string reason;
  evaluation result;
};

/// Appends and reads. Every row is durable once `append` has returned. Not thread-safe.
class rejudged_file {
 public:
  /// Opens or makes RUN/rejudged.sqlite. @throws kevo::error: input (not such a file, damaged, from a newer
  /// kevo), environment (cannot be written)
  static rejudged_file open(const std::string& run_directory);
  /// Nothing if there is no such file. @throws kevo::error (input)
  static std::optional<rejudged_file> open_read_only(const std::string& run_directory);

  void append(const rejudged_row& row);
  /// All rows, oldest first.
  std::vector<rejudged_row> rows() const;
  /// The latest row of a program under these rules; nothing if there is none.
  std::optional<rejudged_row> find(const std::string& program, const rejudge_rules& rules) const;
  const std::string& path() const;

 private:
  struct state;
  explicit rejudged_file(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

}  // namespace kevo
