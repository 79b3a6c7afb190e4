#pragma once
// The evaluations that wait for another process at present.

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <kevo/evaluate.hpp>
#include <kevo/job.hpp>

namespace kevo {

/// A wait that has not ended.
struct present_wait {
  device_holder holder;
  std::chrono::steady_clock::time_point since;
};

/// Used by all threads of a driver at once.
class present_waits {
 public:
  /// @param changed told of the begin (true) and the end (false) of every wait; may be empty
  explicit present_waits(std::function<void(bool begins)> changed) : changed_(std::move(changed)) {}

  /// What the evaluations of a job tell of their waits. The listener must not outlive this object.
  wait_listener listener(ticket id) {
    return [this, id](const std::optional<device_holder>& holder) { tell(id, holder); };
  }

  /// The wait that began first; nothing if nobody waits.
  std::optional<present_wait> first() const {
    const std::scoped_lock lock(guard_);
    std::optional<present_wait> found;
    for (const auto& [number, wait] : waits_) {
      if (!found || wait.since < found->since) found = wait;
    }
    return found;
  }

 private:
  void tell(ticket id, const std::optional<device_holder>& holder) {
    const std::scoped_lock lock(guard_);
    const auto known = waits_.find(id);
    if (holder && known != waits_.end()) {
      known->second.holder = *holder;
    } else if (holder) {
      waits_[id] = {*holder, std::chrono::steady_clock::now()};
      if (changed_) changed_(true);
    } else if (known != waits_.end()) {
      waits_.erase(known);
      if (changed_) changed_(false);
    }
  }

  std::function<void(bool)> changed_;
  mutable std::mutex guard_;
  std::map<ticket, present_wait> waits_;
};

}  // namespace kevo
