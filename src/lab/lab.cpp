#include "src/lab/lab.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "src/lab/cell_file.hpp"

namespace kevo {
namespace {

/// A cell that is still to be run.
struct missing_cell {
  const lab_policy* policy = nullptr;
  std::uint64_t seed = 0;
};

/// Runs cells on threads; results come out one by one on the thread that asks.
class cell_pool {
 public:
  cell_pool(const lab_plan& plan, std::vector<missing_cell> todo) : plan_(plan), todo_(std::move(todo)) {
    const std::size_t threads = std::min(plan.parallel, todo_.size());
    running_ = threads;
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ~cell_pool() { stop(); }

  void stop() { stop_.request_stop(); }

  /// The next finished cells, after at most a fifth of a second; nothing left and `ended()` is the end.
  std::vector<cell_result> take() {
    std::unique_lock lock(guard_);
    changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return !done_.empty() || running_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
    return std::exchange(done_, {});
  }
  bool ended() {
    const std::scoped_lock lock(guard_);
    return running_ == 0 && done_.empty();
  }

 private:
  void work() {
    try {
      for (std::size_t i = next_++; i < todo_.size() && !stop_.stop_requested(); i = next_++) {
        auto cell = run_cell(plan_, *todo_[i].policy, todo_[i].seed, stop_.get_token());
        if (!cell) break;
        const std::scoped_lock lock(guard_);
        done_.push_back(std::move(*cell));
        changed_.notify_one();
      }
    } catch (...) {
      const std::scoped_lock lock(guard_);
      failure_ = std::current_exception();
      stop_.request_stop();
    }
    const std::scoped_lock lock(guard_);
    --running_;
    changed_.notify_one();
  }

  const lab_plan& plan_;
  std::vector<missing_cell> todo_;
  std::atomic<std::size_t> next_{0};
  std::stop_source stop_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<cell_result> done_;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  // last: they use all that stands above
};

}  // namespace

lab_outcome run_lab(const lab_plan& plan,
                    const std::function<void(std::size_t finished, std::size_t cells)>& progress,
                    const std::stop_token& stop) {
  cell_file kept(plan.output);
  lab_outcome ended{.folder = plan.output, .cells = plan.policies.size() * plan.seeds};
  std::vector<missing_cell> todo;
  // Seed by seed, so that a lab that is stopped early has all policies on the same seeds.
  for (std::size_t s = 0; s < plan.seeds; ++s) {
    for (const auto& policy : plan.policies) {
      const std::uint64_t seed = plan.first_seed + s;
      if (!kept.cells().contains(cell_key(plan, policy, seed))) todo.push_back({&policy, seed});
    }
  }
  ended.reused = ended.finished = ended.cells - todo.size();
  {
    cell_pool pool(plan, std::move(todo));
    while (!pool.ended()) {
      if (stop.stop_requested()) pool.stop();
      for (auto& cell : pool.take()) {
        kept.append(std::move(cell));
        ++ended.finished;
      }
      if (progress) progress(ended.finished, ended.cells);
    }
  }
  ended.interrupted = ended.finished < ended.cells;
  if (ended.interrupted) return ended;
  std::vector<std::vector<cell_result>> cells;
  for (const auto& policy : plan.policies) {
    cells.emplace_back();
    for (std::size_t s = 0; s < plan.seeds; ++s) {
      cells.back().push_back(kept.cells().at(cell_key(plan, policy, plan.first_seed + s)));
      cells.back().back().policy = policy.name;  // the name may have changed since, the policy has not
    }
  }
  ended.results = summarize(plan, cells);
  ended.files = write_lab(plan, cells, ended.results);
  return ended;
}

}  // namespace kevo
