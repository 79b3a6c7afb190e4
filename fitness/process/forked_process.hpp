#pragma once
// A process that another one, in a sandbox of its own, has forked for us.

#include <optional>
#include <sys/types.h>

#include "fitness/process/freezer.hpp"
#include "fitness/process/process.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo {

/// The forked process, watched and ended by its id on this side. Its parent, which alone may wait for it,
/// writes how it ended (the status of waitpid, four bytes) into a pipe. Move-only; the destructor ends the
/// process and returns once it is gone. One thread at a time.
class forked_process {
 public:
  forked_process() = default;
  /// @param process its id on this side
  /// @param status the pipe's end to read from
  /// @throws kevo::error (environment) if there is no such process
  forked_process(pid_t process, detail::descriptor status);
  forked_process(forked_process&&) noexcept = default;
  forked_process& operator=(forked_process&& other) noexcept;
  forked_process(const forked_process&) = delete;
  forked_process& operator=(const forked_process&) = delete;
  ~forked_process();

  pid_t inner_pid() const { return watch_->pid(); }
  freezer inner_freezer() const { return freezer(watch_->pid()); }
  void kill();
  /// The report if it has ended.
  std::optional<exit_report> try_wait();
  /// Waits for the end.
  exit_report wait();

 private:
  void end() noexcept;

  std::optional<freezer> watch_;
  detail::descriptor status_;
  std::optional<exit_report> report_;
};

}  // namespace kevo
