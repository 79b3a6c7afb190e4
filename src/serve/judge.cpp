#include "src/serve/judge.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>
#include <kevo/program.hpp>

#include "src/base/time/wait_unless_stopped.hpp"

namespace kevo::serve {
namespace {

/// Requests a stop after some time, or when the service ends.
class limited_stop {
 public:
  limited_stop(const std::stop_token& outer, double seconds)
      : forward_(outer, [this] { inner_.request_stop(); }) {
    if (seconds <= 0) return;
    watch_ = std::jthread([this, seconds](const std::stop_token& ended) {
      if (!wait_unless_stopped(seconds, ended)) return;
      late_ = true;
      inner_.request_stop();
    });
  }
  std::stop_token token() const { return inner_.get_token(); }
  bool late() const { return late_; }

 private:
  std::stop_source inner_;
  std::atomic<bool> late_{false};
  std::stop_callback<std::function<void()>> forward_;
  std::jthread watch_;
};

judged evaluate_here(task_catalog& tasks, const remote::submission& what, const std::stop_token& stop) {
  const limited_stop limit(stop, what.limit_s);
  try {
    const any_fitness fitness = tasks.fitness_for(what);
    // Jobs of one content are one job: what is asked for is always a measurement of its own.
    return {.made = fitness.evaluate({.program = std::make_shared<const program>(what.program),
                                      .wanted = what.stage,
                                      .best_speedup = what.best_speedup,
                                      .fresh = !what.attempt.empty(),
                                      .stop = limit.token(),
                                      .second_try = what.second_try})};
  } catch (const error& failed) {
    if (failed.code() == error_code::interrupted && !stop.stop_requested() && limit.late())
      return {.error_code = "timeout", .error = "the evaluation took longer than limit_s"};
    throw;
  }
}

/// Tells in a line when no server answers and when one does again, however many evaluations wait.
class outage {
 public:
  explicit outage(std::function<void(const std::string&)> log) : log_(std::move(log)) {}
  void operator()(const std::optional<device_holder>& whom) {
    const std::scoped_lock lock(guard_);
    if (whom && waiting_++ == 0) log_("evaluations wait for " + whom->command);
    if (!whom && --waiting_ == 0) log_("a server answers again");
  }

 private:
  std::mutex guard_;
  std::function<void(const std::string&)> log_;
  int waiting_ = 0;
};

judged evaluate_elsewhere(task_catalog& tasks, const remote::client& servers, remote::submission what,
                          const std::stop_token& stop, const wait_listener& waiting) {
  // Who has the whole task gets the whole result, of which this service gives each tenant its part.
  if (what.task_id.empty()) what.task_id = tasks.id_of_task(what);
  what.priority = 0;
  what.deadline_s = 0;
  auto answer = servers.evaluate(what, id_of(what.program).low, stop, waiting);
  judged made{.made = std::move(answer.said.evaluation),
              .error_code = answer.said.error_code,
              .error = answer.said.error};
  if (answer.said.age_s > answer.wall_s) made.age_s = answer.said.age_s;
  if (answer.said.progress != remote::progress::done) {
    made.made.reset();
    made.error = answer.url + ": " + made.error;
  }
  return made;
}

}  // namespace

judge judge_here(task_catalog& tasks) {
  return [&tasks](const remote::submission& what, const std::stop_token& stop) {
    return evaluate_here(tasks, what, stop);
  };
}

judge judge_elsewhere(task_catalog& tasks, remote::client_settings servers,
                      std::function<void(const std::string&)> log) {
  const auto shared = std::make_shared<const remote::client>(std::move(servers));
  const auto out = std::make_shared<outage>(std::move(log));
  return [&tasks, shared, out](const remote::submission& what, const std::stop_token& stop) {
    return evaluate_elsewhere(tasks, *shared, what, stop, [&out](const auto& whom) { (*out)(whom); });
  };
}

}  // namespace kevo::serve
