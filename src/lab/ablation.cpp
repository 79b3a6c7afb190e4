#include "src/lab/ablation.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kevo/content_id.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/journal/database_file.hpp"
#include "src/lab/ablation_file.hpp"
#include "src/report/evaluation_text.hpp"

namespace kevo {
namespace {

/// The evaluations of each variant, oldest first.
using ablation_evaluations = std::vector<std::vector<std::shared_ptr<const evaluation>>>;

any_fitness fitness_for(const ablation_plan& plan, std::shared_ptr<const task> t) {
  settings reader(plan.fitness);
  any_fitness made = plan.plugins->fitness.make(reader,
                                                {.task = std::move(t),
                                                 .directory = plan.directory,
                                                 .run_directory = plan.output,
                                                 .builds = plan.parallel,
                                                 .plugins = plan.plugins.get()},
                                                "backend");
  reader.finish();
  return made;
}

/// A task, its fitness function, and the part of a key that is common to its evaluations. The function is
/// made when it is needed: a lab that has all its results needs neither compiler nor device.
class ablation_bench {
 public:
  ablation_bench(const ablation_plan& plan, std::shared_ptr<const task> t)
      : plan_(plan), task_(std::move(t)) {}

  std::string key(const program& p, evaluation_stage stage, std::size_t repeat) const {
    content_hasher hash;
    hash.text("kevo ablation 1").text(to_string(id_of(*task_))).text(to_string(id_of(p)));
    hash.text(to_string(stage)).number(repeat);
    hash.text(detail::program_version()).text(dump_yaml(plan_.fitness));
    return to_string(hash.finish());
  }
  const any_fitness& fitness() {
    const std::scoped_lock lock(guard_);
    if (!fitness_) fitness_ = fitness_for(plan_, task_);
    return fitness_;
  }

 private:
  const ablation_plan& plan_;
  std::shared_ptr<const task> task_;
  std::mutex guard_;
  any_fitness fitness_;
};

/// The task with the full program in the place of its baselines.
std::shared_ptr<const task> task_against(const ablation_plan& plan) {
  auto changed = std::make_shared<task>(*plan.subject);
  changed->baselines = {
      baseline{.name = plan.variants.front().name, .source = *plan.variants.front().source}};
  return changed;
}

class ablation_run {
 public:
  ablation_run(const ablation_plan& plan, const ablation_request& request)
      : plan_(plan),
        request_(request),
        file_(plan.output),
        own_(plan, plan.subject),
        against_(plan, task_against(plan)),
        found_(plan.variants.size()),
        all_(1 + plan.variants.size() * plan.repeats) {}

  ablation_outcome run() {
    if (check_full()) {
      for (std::size_t repeat = 0; repeat < plan_.repeats && !stops(); ++repeat) do_round(repeat);
    }
    ablation_outcome ended{.folder = plan_.output, .evaluations = made_, .reused = reused_};
    ended.pending = all_ - done_;
    ended.interrupted = ended.pending > 0;
    if (ended.interrupted) return ended;
    for (std::size_t i = 0; i < plan_.variants.size(); ++i)
      ended.rows.push_back(ablation_row_of(plan_.variants[i], found_[i]));
    ended.files = write_ablation(plan_, ended);
    return ended;
  }

 private:
  bool stops() const {
    return request_.graceful_stop.stop_requested() || request_.immediate_stop.stop_requested();
  }

  /// The full program is a trusted baseline of what follows: it has to pass as a candidate first. False if
  /// the lab is stopped before that.
  bool check_full() {
    std::shared_ptr<const evaluation> result;
    on_threads(1, 1, [&](std::size_t) {
      result = evaluate(own_, plan_.variants.front(), evaluation_stage::checked, 0);
    });
    if (!result) return false;
    if (!result->valid()) {
      throw error(error_code::input,
                  fmt::format("the full program is not valid, so nothing can be compared with it: {}: {}",
                              to_string(result->outcome), failure_text(*result)),
                  plan_.program_place, "kevo eval shows all that was found");
    }
    return true;
  }

  void do_round(std::size_t repeat) {
    std::vector<std::size_t> todo;
    for (std::size_t i = 0; i < plan_.variants.size(); ++i) {
      const auto& known = found_[i];
      if (known.empty() || known.back()->valid()) todo.push_back(i);
    }
    on_threads(plan_.parallel, todo.size(), [&](std::size_t k) {
      const std::size_t i = todo[k];
      auto result = evaluate(against_, plan_.variants[i], plan_.stage, repeat);
      if (!result) return;
      check_baseline(*result);
      const std::scoped_lock lock(guard_);
      // What failed is not evaluated again.
      if (!result->valid()) all_ -= plan_.repeats - repeat - 1;
      found_[i].push_back(std::move(result));
    });
  }

  void check_baseline(const evaluation& e) const {
    if (!e.valid() || (e.speedup > 0 && e.baseline == plan_.variants.front().name)) return;
    throw error(error_code::input,
                "this backend does not compare programs with a baseline of the task, which an ablation needs",
                plan_.fitness.find("backend")->place, "use the backend cpu, cuda or torch");
  }

  /// Null if the lab is stopped before the evaluation ends.
  std::shared_ptr<const evaluation> evaluate(ablation_bench& bench, const ablation_variant& variant,
                                             evaluation_stage stage, std::size_t repeat) {
    const std::string key = bench.key(*variant.source, stage, repeat);
    {
      const std::scoped_lock lock(guard_);
      if (auto known = file_.find(key)) {
        ++reused_;
        ++done_;
        return known;
      }
    }
    try {
      evaluation made = bench.fitness().evaluate({.program = variant.source,
                                                  .wanted = stage,
                                                  .fresh = true,
                                                  .stop = request_.immediate_stop,
                                                  .waiting = request_.waiting});
      const std::scoped_lock lock(guard_);
      const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
      file_.append({.key = key,
                    .finished_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now)),
                    .variant = variant.name,
                    .repeat = repeat,
                    .result = std::move(made)});
      ++made_;
      ++done_;
      auto kept = file_.find(key);
      if (request_.told) request_.told(variant, *kept, done_, all_);
      return kept;
    } catch (const error& wrong) {
      if (wrong.code() == error_code::interrupted) return nullptr;
      throw;
    }
  }

  /// Calls `work` with 0 to `jobs` - 1, while this thread polls. @throws what the first `work` threw
  template <class Work>
  void on_threads(std::size_t threads, std::size_t jobs, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::mutex guard;
    std::condition_variable changed;
    std::exception_ptr broken;
    std::size_t running = std::min(threads, jobs);
    const auto take = [&] {
      try {
        for (std::size_t k = next++; k < jobs && !stops(); k = next++) work(k);
      } catch (...) {
        const std::scoped_lock lock(guard);
        if (!broken) broken = std::current_exception();
        next = jobs;
      }
      const std::scoped_lock lock(guard);
      --running;
      changed.notify_all();
    };
    {
      std::vector<std::jthread> all;
      for (std::size_t i = std::min(threads, jobs); i > 0; --i) all.emplace_back(take);
      std::unique_lock lock(guard);
      while (!changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; })) {
        lock.unlock();
        if (request_.poll) request_.poll();
        lock.lock();
      }
    }
    if (broken) std::rethrow_exception(broken);
  }

  const ablation_plan& plan_;
  const ablation_request& request_;
  ablation_file file_;
  ablation_bench own_;      // the task as it is
  ablation_bench against_;  // the task with the full program as its baseline
  std::mutex guard_;        // of all that follows, and of the file
  ablation_evaluations found_;
  std::size_t all_;
  std::size_t done_ = 0;
  std::size_t made_ = 0;
  std::size_t reused_ = 0;
};

}  // namespace

ablation_outcome run_ablation(const ablation_plan& plan, const ablation_request& request) {
  return ablation_run(plan, request).run();
}

}  // namespace kevo
