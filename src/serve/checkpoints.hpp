#pragma once
// Moves what was committed from SQLite's write-ahead log to its database file, beside the requests.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace kevo::serve {

/// A thread that copies the write-ahead log of a database to its file when many commits were made. It has a
/// connection of its own: a commit that has to copy the log waits for the disk, and so do all requests that
/// wait for the record. What cannot be copied (a full disk) is left to a later time and, in the end, to a
/// commit.
class checkpoints {
 public:
  /// @param file of the database; empty: nothing is done
  /// @param commits after so many the log is copied
  explicit checkpoints(std::string file, std::uint64_t commits = 256);
  checkpoints(const checkpoints&) = delete;
  checkpoints& operator=(const checkpoints&) = delete;
  ~checkpoints() = default;  ///< waits for a copy that is under way

  /// One commit was made. Does not wait.
  void note_commit();
  /// How often the log was copied.
  std::uint64_t made() const { return made_; }

 private:
  void work(std::stop_token stop);
  std::string file_;
  std::uint64_t commits_;
  std::atomic<std::uint64_t> noted_ = 0, made_ = 0;
  std::mutex guard_;
  std::condition_variable_any many_;
  std::jthread thread_;  ///< the last member: it ends first
};

}  // namespace kevo::serve
