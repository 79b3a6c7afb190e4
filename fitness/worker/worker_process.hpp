#pragma once
// The process of a worker, whoever forked it: the parent of one object's workers, or a warm process that
// serves many.

#include <functional>
#include <optional>
#include <sys/types.h>
#include <utility>
#include <variant>

#include "fitness/process/forked_process.hpp"
#include "fitness/worker/worker_parent.hpp"

namespace kevo {

/// Move-only; the destructor ends the process. One thread at a time.
class worker_process {
 public:
  worker_process() = default;
  worker_process(forked_worker started)  // NOLINT(google-explicit-constructor)
      : process_(std::move(started)) {}
  worker_process(forked_process forked)  // NOLINT(google-explicit-constructor)
      : process_(std::move(forked)) {}

  /// What is to be done as soon as the program is loaded, before any call.
  void when_loaded(std::function<void()> then) { loaded_ = std::move(then); }
  void loaded() {
    if (loaded_) std::exchange(loaded_, nullptr)();
  }

  /// Whether it is known that the process has begun; from then on its id is known.
  bool begun() {
    const auto* own = std::get_if<forked_worker>(&process_);
    return own == nullptr || (*own)->begun();
  }
  pid_t pid() const {
    const auto* own = std::get_if<forked_worker>(&process_);
    return own != nullptr ? (*own)->pid() : std::get<forked_process>(process_).inner_pid();
  }
  freezer worker_freezer() const {
    const auto* own = std::get_if<forked_worker>(&process_);
    return own != nullptr ? (*own)->worker_freezer() : std::get<forked_process>(process_).inner_freezer();
  }
  void kill() {
    if (const auto* own = std::get_if<forked_worker>(&process_)) return (*own)->kill();
    std::get<forked_process>(process_).kill();
  }
  std::optional<exit_report> try_wait() {
    if (const auto* own = std::get_if<forked_worker>(&process_)) return (*own)->try_wait();
    return std::get<forked_process>(process_).try_wait();
  }
  exit_report wait() {
    if (const auto* own = std::get_if<forked_worker>(&process_)) return (*own)->wait();
    return std::get<forked_process>(process_).wait();
  }

 private:
  std::variant<forked_worker, forked_process> process_;
  std::function<void()> loaded_;
};

}  // namespace kevo
