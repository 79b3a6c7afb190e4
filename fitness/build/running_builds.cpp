#include "fitness/build/running_builds.hpp"

#include <algorithm>

#include <kevo/error.hpp>

#include "fitness/sandbox/sandbox.hpp"

namespace kevo {

void running_builds::await_launches(std::unique_lock<std::mutex>& lock) {
  // Milliseconds: a launch does not wait for the program.
  changed_.wait(lock, [this] { return launching_ == 0; });
}

running_builds::pause_guard running_builds::pause_all() {
  std::unique_lock lock(mutex_);
  ++pauses_;
  await_launches(lock);
  back_.reset();
  for (auto* build : builds_) {
    try {
      build->pause();
    } catch (const error&) {
      build->kill();
    }
  }
  return pause_guard(*this);
}

running_builds::pause_guard running_builds::stand_back(int cpu) {
  {
    std::unique_lock lock(mutex_);
    if (pauses_ == 0) {
      ++pauses_;
      await_launches(lock);
      back_ = cpu;
      for (auto* build : builds_) stand_back(*build);
      changed_.notify_all();
      return pause_guard(*this);
    }
  }
  return pause_all();
}

void running_builds::stand_back(child_process& build) {
  try {
    build.stand_back(*back_);
  } catch (const error&) {
    build.kill();
  }
}

void running_builds::resume_all() {
  const std::lock_guard lock(mutex_);
  --pauses_;
  back_.reset();
  for (auto* build : builds_) build->resume();
  if (pauses_ == 0) changed_.notify_all();
}

exit_report running_builds::run(const launch_spec& spec, std::stop_token stop) {
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return pauses_ == 0 || back_; })) {
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
    if (back_) stand_back(child);
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
