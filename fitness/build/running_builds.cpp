#include "fitness/build/running_builds.hpp"

#include <algorithm>

#include <kevo/error.hpp>

#include "fitness/sandbox/sandbox.hpp"

namespace kevo {

running_builds::pause_guard running_builds::pause_all() {
  std::unique_lock lock(mutex_);
  ++pauses_;
  changed_.wait(lock,
                [this] { return launching_ == 0; });  // milliseconds: a launch does not wait for the program
  for (auto* build : builds_) {
    try {
      build->pause();
    } catch (const error&) {
      build->kill();
    }
  }
  return pause_guard(*this);
}

void running_builds::resume_all() {
  const std::lock_guard lock(mutex_);
  --pauses_;
  for (auto* build : builds_) build->resume();
  if (pauses_ == 0) changed_.notify_all();
}

exit_report running_builds::run(const launch_spec& spec, std::stop_token stop) {
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return pauses_ == 0; })) {
      throw error(error_code::interrupted, "interrupted before a build started");
    }
    ++launching_;
  }
  child_process child;
  try {
    child = launch(spec);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --launching_;
    changed_.notify_all();
    throw;
  }
  {
    const std::lock_guard lock(mutex_);
    --launching_;
    builds_.push_back(&child);
    changed_.notify_all();
  }
  auto report = child.wait(std::move(stop));
  const std::lock_guard lock(mutex_);
  builds_.erase(std::find(builds_.begin(), builds_.end(), &child));
  return report;
}

std::size_t running_builds::count() const {
  const std::lock_guard lock(mutex_);
  return builds_.size();
}

}  // namespace kevo
