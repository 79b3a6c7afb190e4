#include "src/suite/bench.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kevo/annotation.hpp>
#include <kevo/content_id.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/yaml.hpp"
#include "src/base/text/renamed_file.hpp"
#include "src/journal/database_file.hpp"
#include "src/suite/evolve.hpp"
#include "src/suite/suite_files.hpp"
#include "src/task/misspelt.hpp"

namespace kevo {
namespace {

std::string utc_now() {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

/// The part of a task's tag "KIND:NAME" behind the colon; empty without such a tag.
std::string tag_of(const task& t, std::string_view kind) {
  for (const auto& tag : t.tags) {
    if (tag.starts_with(kind)) return tag.substr(kind.size());
  }
  return {};
}

/// The tasks of a suite at work on several threads. Only `file_`, `request_.told` and the counts are shared.
class bench_pool {
 public:
  bench_pool(const suite_plan& plan, const bench_request& request, bench_file& file, bench_outcome& outcome)
      : plan_(plan), request_(request), file_(file), outcome_(outcome) {
    // A search uses the processors by itself.
    const std::size_t each = plan.evolve || !request.evaluate ? 1 : plan.parallel;
    const std::size_t devices = std::max<std::size_t>(1, plan.devices.size());
    const std::size_t threads = std::min(each * devices, outcome.tasks.size());
    running_ = threads;
    for (std::size_t i = 0; i < threads; ++i) {
      std::optional<std::int64_t> device;
      if (!plan.devices.empty()) device = plan.devices[i % devices];
      threads_.emplace_back([this, device] { work(device); });
    }
  }

  /// Waits for the end. @throws what made it impossible to go on
  void wait() {
    std::unique_lock lock(guard_);
    while (running_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return running_ == 0; });
      lock.unlock();
      if (request_.poll) request_.poll();
      lock.lock();
    }
    if (broken_) std::rethrow_exception(broken_);
  }

 private:
  bool stops() const { return request_.graceful_stop.stop_requested() || gives_up_; }

  void work(std::optional<std::int64_t> device) {
    try {
      for (std::size_t i = next_++; i < outcome_.tasks.size(); i = next_++)
        do_task(outcome_.tasks[i], device);
    } catch (...) {  // the results cannot be kept: nothing more is begun
      const std::scoped_lock lock(guard_);
      if (!broken_) broken_ = std::current_exception();
      gives_up_ = true;
    }
    const std::scoped_lock lock(guard_);
    --running_;
    changed_.notify_all();
  }

  /// Turns what went wrong with one task into a state of its solutions. Errors of the results' file go on.
  template <class Work>
  void guarded(bench_task& one, bench_solution* solution, Work work) {
    try {
      work();
    } catch (const cannot_keep&) {
      throw;
    } catch (const error& wrong) {
      if (wrong.code() == error_code::interrupted) return;
      const bool input = wrong.code() == error_code::input || wrong.code() == error_code::usage;
      fail(one, solution, input ? bench_state::task_failed : bench_state::environment, wrong.what());
    } catch (const std::exception& wrong) {
      fail(one, solution, bench_state::environment, wrong.what());
    }
  }

  void fail(bench_task& one, bench_solution* solution, bench_state state, const std::string& message) {
    for (auto& each : one.solutions) {
      if (solution != nullptr ? &each != solution : each.state != bench_state::pending) continue;
      each.state = state;
      each.message = message;
      tell(one, each);
    }
  }

  void do_task(bench_task& one, std::optional<std::int64_t> device) {
    if (stops()) return;
    std::shared_ptr<const task> subject;
    guarded(one, nullptr, [&] {
      subject = std::make_shared<const task>(load_task(one.entry.file));
      one.task_name = subject->name;
      one.task_id = to_string(id_of(*subject));
      if (one.category.empty()) one.category = subject->op_type;
      if (one.level.empty()) one.level = tag_of(*subject, "level:");
      one.problem_name = tag_of(*subject, "problem:");
      one.work = work_of(*subject);
    });
    if (!subject) return;
    any_fitness fitness;  // made when it is needed; the best of a task is measured by the same
    const auto evaluator = [&]() -> const any_fitness& {
      if (!fitness) fitness = make_fitness(plan_, subject, device);
      return fitness;
    };
    for (auto& solution : one.solutions) {
      if (stops()) return;
      guarded(one, &solution, [&] { do_solution(one, solution, evaluator, device); });
    }
    one.best = best_of(one.solutions);
    const auto valid = std::count_if(one.solutions.begin(), one.solutions.end(),
                                     [](const bench_solution& s) { return s.result && s.result->valid(); });
    if (valid >= 2 && !stops()) measure_again(one, evaluator);
  }

  template <class Evaluator>
  void do_solution(bench_task& one, bench_solution& solution, const Evaluator& evaluator,
                   std::optional<std::int64_t> device) {
    std::string key;
    if (plan_.evolve) {
      key = evolution_key(plan_, one.task_id, one.entry.name);
      if (take_known(key, solution)) return tell(one, solution);
      if (!request_.evaluate || !evolve(one, solution, key, device)) return;
    } else {
      if (!load(one, solution)) return;
      key = bench_key(plan_, one.task_id, *solution.source, bench_round::first);
      if (take_known(key, solution)) return tell(one, solution);
      if (!request_.evaluate) return;
    }
    evaluation result = evaluate(evaluator(), *solution.source);
    keep(row_of(one, solution, key, bench_round::first, result));
    solution.result = std::move(result);
    solution.state = bench_state::evaluated;
    solution.finished_at = utc_now();
    tell(one, solution);
  }

  bool load(bench_task& one, bench_solution& solution) {
    try {
      auto source = load_program(solution.file);
      if (!one.entry.tunables.empty()) source = set_tunables(source, one.entry.tunables);
      solution.source = std::make_shared<const program>(std::move(source));
    } catch (const error& wrong) {
      if (wrong.code() != error_code::input) throw;
      fail(one, &solution, bench_state::unreadable, wrong.what());
      return false;
    }
    for (const auto& each : misspelt_annotations(*solution.source, solution.file)) say("warning: " + each);
    return true;
  }

  /// Whether there is a program now.
  bool evolve(bench_task& one, bench_solution& solution, const std::string& key,
              std::optional<std::int64_t> device) {
    const evolved_program made = evolve_task(
        plan_, {.task = &one.entry,
                .folder = run_folder_of(plan_, one.entry.name, key),
                .device = device,
                .graceful_stop = request_.graceful_stop,
                .immediate_stop = request_.immediate_stop,
                .message = [this, &one](const std::string& text) { say(one.entry.name + ": " + text); }});
    solution.evolved_in = made.folder;
    if (made.interrupted) return false;
    if (!made.best) {
      fail(one, &solution, bench_state::none_found, made.reason);
      return false;
    }
    solution.source = made.best;
    return true;
  }

  template <class Evaluator>
  void measure_again(bench_task& one, const Evaluator& evaluator) {
    bench_solution& best = one.solutions[*one.best];
    const std::string key = bench_key(plan_, one.task_id, *best.source, bench_round::again);
    bench_solution second = best;
    second.result.reset();
    if (take_known(key, second)) {
      one.again = std::move(second.result);
      return;
    }
    if (!request_.evaluate) return;
    try {
      evaluation result = evaluate(evaluator(), *best.source);
      keep(row_of(one, best, key, bench_round::again, result));
      one.again = std::move(result);
    } catch (const cannot_keep&) {
      throw;
    } catch (const std::exception& wrong) {
      const auto* known = dynamic_cast<const error*>(&wrong);
      if (known != nullptr && known->code() == error_code::interrupted) return;
      one.again_message = wrong.what();
    }
  }

  evaluation evaluate(const any_fitness& fitness, const program& source) const {
    return fitness.evaluate({.program = std::make_shared<const program>(source),
                             .wanted = plan_.stage,
                             .fresh = true,
                             .stop = request_.immediate_stop,
                             .waiting = request_.waiting});
  }

  bench_row row_of(const bench_task& one, const bench_solution& solution, const std::string& key,
                   bench_round round, const evaluation& result) const {
    return {.key = key,
            .finished_at = utc_now(),
            .kevo_version = detail::program_version(),
            .task = one.entry.name,
            .solution = solution.name,
            .task_id = one.task_id,
            .round = round,
            .evolved_in = solution.evolved_in,
            .program = *solution.source,
            .result = result};
  }

  /// Why nothing more can be evaluated.
  struct cannot_keep : error {
    explicit cannot_keep(const error& why) : error(why) {}
  };

  void keep(const bench_row& row) {
    const std::scoped_lock lock(file_guard_);
    try {
      file_.append(row);
    } catch (const error& wrong) {
      throw cannot_keep(wrong);
    }
    ++outcome_.evaluations;
  }

  bool take_known(const std::string& key, bench_solution& solution) {
    if (request_.again && request_.evaluate) return false;
    const std::scoped_lock lock(file_guard_);
    auto found = file_.find(key);
    if (!found) return false;
    ++outcome_.reused;
    solution.reused = true;
    solution.state = bench_state::evaluated;
    solution.finished_at = found->finished_at;
    solution.evolved_in = found->evolved_in;
    solution.source = std::make_shared<const program>(std::move(found->program));
    solution.result = std::move(found->result);
    return true;
  }

  void tell(const bench_task& one, const bench_solution& solution) {
    const std::scoped_lock lock(talk_);
    if (request_.told) request_.told(one, solution);
  }
  void say(const std::string& text) {
    const std::scoped_lock lock(talk_);
    if (request_.message) request_.message(text);
  }

  const suite_plan& plan_;
  const bench_request& request_;
  bench_file& file_;
  bench_outcome& outcome_;
  std::mutex file_guard_;
  std::mutex talk_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> gives_up_{false};
  std::size_t running_ = 0;
  std::exception_ptr broken_;
  std::vector<std::jthread> threads_;  // last: they use all that stands above
};

content_hasher hash_of_rules(const suite_plan& plan, const std::string& task_id, const char* kind) {
  content_hasher hash;
  hash.text("kevo bench 1").text(kind).text(task_id).text(to_string(plan.stage));
  hash.text(detail::program_version()).text(dump_yaml(plan.fitness));
  return hash;
}

}  // namespace

std::string_view to_string(bench_state s) {
  constexpr std::array<std::string_view, 6> names = {"evaluated",  "pending",     "unreadable",
                                                     "none_found", "task_failed", "environment"};
  return names[static_cast<std::size_t>(s)];
}

const evaluation* bench_task::judged() const {
  if (again) return &*again;
  return best && solutions[*best].result ? &*solutions[*best].result : nullptr;
}

std::string bench_task::fixed_result() const {
  for (const auto& one : solutions) {
    if (!one.result) continue;
    const auto found = one.result->context.find("fixed_result");
    if (found != one.result->context.end()) return found->second;
  }
  return {};
}

std::string bench_key(const suite_plan& plan, const std::string& task_id, const program& p,
                      bench_round round) {
  return to_string(hash_of_rules(plan, task_id, "solution")
                       .text(to_string(id_of(p)))
                       .number(static_cast<std::uint64_t>(round))
                       .finish());
}

std::string evolution_key(const suite_plan& plan, const std::string& task_id, const std::string& task) {
  auto hash = hash_of_rules(plan, task_id, "evolved");
  hash.text(task).text(dump_yaml(plan.evolve->config.tree)).text(plan.evolve->config.directory);
  hash.text(plan.evolve->budget ? dump_yaml(*plan.evolve->budget) : std::string());
  return to_string(hash.finish());
}

std::optional<std::size_t> best_of(const std::vector<bench_solution>& solutions) {
  const auto worth = [](const bench_solution& s) {
    if (!s.result) return std::pair(0, 0.0);
    if (s.result->valid()) return std::pair(4, s.result->speedup > 0 ? s.result->speedup : s.result->score);
    const auto score = score_of(*s.result);
    return std::pair(score.given_size ? 3 : score.called ? 2 : 1, 0.0);
  };
  const auto found = std::max_element(solutions.begin(), solutions.end(),
                                      [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
  if (found == solutions.end()) return std::nullopt;
  return static_cast<std::size_t>(found - solutions.begin());
}

std::vector<task_score> task_scores(const bench_outcome& outcome) {
  std::vector<task_score> all;
  for (const auto& one : outcome.tasks) {
    task_score t{.level = one.level, .category = one.category, .best = {}, .solutions = {}};
    if (const auto* e = one.judged()) t.best = score_of(*e);
    for (const auto& s : one.solutions)
      t.solutions.push_back(s.result ? score_of(*s.result) : solution_score());
    t.fixed_result = !one.fixed_result().empty();
    all.push_back(std::move(t));
  }
  return all;
}

bench_outcome run_bench(const suite_plan& plan, const bench_request& request) {
  bench_file file =
      request.evaluate ? bench_file::open(plan.output) : bench_file::open_read_only(plan.output);
  bench_outcome outcome;
  for (const auto& entry : plan.tasks) {
    bench_task one{.entry = entry,
                   .task_name = {},
                   .task_id = {},
                   .category = entry.category,
                   .level = entry.level,
                   .problem_name = {}};
    if (one.level.empty()) one.level = place_in_name(entry.name).level;
    if (plan.evolve) one.solutions.push_back({.name = "evolved", .file = {}});
    for (const auto& s : entry.solutions) one.solutions.push_back({.name = s.name, .file = s.file});
    outcome.tasks.push_back(std::move(one));
  }
  {
    bench_pool pool(plan, request, file, outcome);
    pool.wait();
  }
  for (auto& one : outcome.tasks) {
    if (!one.best) one.best = best_of(one.solutions);
    for (const auto& s : one.solutions) {
      outcome.pending += s.state == bench_state::pending ? 1 : 0;
      outcome.environment_failures += s.state == bench_state::environment ? 1 : 0;
    }
    outcome.environment_failures += one.again_message.empty() ? 0 : 1;
  }
  outcome.interrupted = request.graceful_stop.stop_requested() && outcome.pending > 0;
  return outcome;
}

}  // namespace kevo
