#pragma once
// What was evaluated of a suite: OUTPUT/bench.sqlite. The schema is documented in docs/bench.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Which evaluation of a solution this is. The best of several solutions is measured once more, because the
/// maximum of noisy measurements flatters.
enum class bench_round : std::uint8_t { first = 0, again = 1 };

/// One finished evaluation.
struct bench_row {
  std::string key;          ///< of everything on which the result depends; see `bench_key`
  std::string finished_at;  ///< UTC, ISO 8601
  std::string kevo_version;
  std::string task;      ///< name within the suite
  std::string solution;  ///< name within the task
  std::string task_id;
  bench_round round = bench_round::first;
  std::string evolved_in;  ///< folder of the run that made the program; empty for a solution that was given
  kevo::program program;
  evaluation result;
};

/// Appends and reads. A row is durable once `append` has returned: a process that is killed loses nothing
/// that it has finished. Not thread-safe.
class bench_file {
 public:
  /// Opens or makes FOLDER/bench.sqlite, for this process alone.
  /// @throws kevo::error: input (the folder holds other files; the file is not of `kevo bench`), environment
  /// (cannot be written; another process uses it)
  static bench_file open(const std::string& folder);
  /// @throws kevo::error (input) if there is none
  static bench_file open_read_only(const std::string& folder);

  void append(const bench_row& row);
  /// The latest row with this key; nothing if there is none.
  std::optional<bench_row> find(const std::string& key) const;
  const std::string& path() const;

 private:
  struct state;
  explicit bench_file(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::shared_ptr<state> state_;
};

}  // namespace kevo
