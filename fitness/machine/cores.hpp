#pragma once
// That a thread keeps its processor while a time is taken, and that only one time is taken at once on a
// processor.

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>

#include "src/base/process/descriptor.hpp"

namespace kevo {

/// Binds the calling thread to one processor while it lives; -1 does nothing.
class pinned_thread {
 public:
  explicit pinned_thread(int cpu);
  pinned_thread(const pinned_thread&) = delete;
  pinned_thread& operator=(const pinned_thread&) = delete;
  ~pinned_thread();

 private:
  std::vector<unsigned long> before_;
};

/// Exclusive use of a set of processors, or of another device, for measuring, among all threads and kevo
/// processes of this machine. Sets that share a processor exclude each other, too. Whoever waits is served
/// before anyone who has had it meanwhile, so that a run that measures all the time cannot starve another
/// one.
class measuring_lock {
 public:
  /// Waits for it. @param listener told of the processes that are waited for; may be empty
  /// @throws kevo::error (interrupted) if `stop` comes first
  explicit measuring_lock(const std::vector<int>& cpus, const std::stop_token& stop = {},
                          const wait_listener& listener = {});
  /// The same for one other device. @param device a name that all processes use for it, as part of a file's
  /// name
  explicit measuring_lock(const std::string& device, const std::stop_token& stop = {},
                          const wait_listener& listener = {})
      : measuring_lock(std::vector<std::string>{device}, stop, listener) {}
  measuring_lock(const measuring_lock&) = delete;
  measuring_lock& operator=(const measuring_lock&) = delete;
  ~measuring_lock();

  /// For how long it waited for other processes. [s]
  double waited_s() const { return waited_s_; }
  /// The process that it waited for last; nothing if it waited for none.
  const std::optional<device_holder>& waited_for() const { return waited_for_; }

 private:
  measuring_lock(const std::vector<std::string>& names, const std::stop_token& stop,
                 const wait_listener& listener);
  void give_back();
  void take(const std::string& name, const std::stop_token& stop, const wait_listener& listener);
  void wait(const detail::descriptor& file, const std::stop_token& stop, const wait_listener& listener);
  void look(const wait_listener& listener);
  void end_wait(const wait_listener& listener);

  std::vector<detail::descriptor> files_;  // of what it has, and last of what it waits for
  double waited_s_ = 0;
  std::optional<device_holder> waited_for_;
  std::optional<std::chrono::steady_clock::time_point> waits_since_;  // for another process
};

/// The start of a process's command line as one line of printable ASCII: "kevo run configs/softmax.yaml".
/// Empty if there is no such process or if it may not be read.
std::string command_of(int process);

/// The processor's name and how many processors may be used: "AMD EPYC 9355 (2 processors)".
std::string device_name();

}  // namespace kevo
