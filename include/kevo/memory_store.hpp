#pragma once
// A candidate_store that keeps everything in memory, for searches inside another program and for tests.

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kevo/candidate.hpp>

namespace kevo {

/// Makes a store with a hash map of programs and a list of evaluations. Copies of the store share them. All
/// four functions are thread-safe: a mutex guards them, because operators may read programs on other threads.
inline candidate_store memory_store() {
  struct maps {
    std::mutex guard;
    std::unordered_map<content_id, std::shared_ptr<const program>> programs;
    std::vector<std::shared_ptr<const evaluation>> evaluations;  // by candidate: their ids have no gaps
  };
  const auto all = std::make_shared<maps>();
  candidate_store store;
  store.put_program = [all](const content_id& id, std::shared_ptr<const program> p) {
    const std::scoped_lock lock(all->guard);
    all->programs[id] = std::move(p);
  };
  store.program_of = [all](const content_id& id) -> std::shared_ptr<const program> {
    const std::scoped_lock lock(all->guard);
    const auto it = all->programs.find(id);
    return it == all->programs.end() ? nullptr : it->second;
  };
  store.put_evaluation = [all](candidate_id id, std::shared_ptr<const evaluation> e) {
    const std::scoped_lock lock(all->guard);
    while (all->evaluations.size() <= id) all->evaluations.push_back(nullptr);
    all->evaluations[id] = std::move(e);
  };
  store.evaluation_of = [all](candidate_id id) -> std::shared_ptr<const evaluation> {
    const std::scoped_lock lock(all->guard);
    return id < all->evaluations.size() ? all->evaluations[id] : nullptr;
  };
  return store;
}

}  // namespace kevo
