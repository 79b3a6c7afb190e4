#include "src/remote/remote_fitness.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_id.hpp>

#include "src/base/text/text_file.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/llm/http.hpp"

namespace kevo::remote {
namespace {

using steady = std::chrono::steady_clock;

/// Sleeps; false if stopped before the end.
bool pause(double seconds, const std::stop_token& stop) {
  std::mutex guard;
  std::condition_variable_any never;
  std::unique_lock lock(guard);
  never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [&] { return stop.stop_requested(); });
  return !stop.stop_requested();
}

std::string random_text() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", source(), source(), source(), source());
}

/// The texts of the task file and of the sources that it names.
void add_files(const task& from, submission& to) {
  const std::filesystem::path file(from.file);
  if (from.file.empty())
    throw error(error_code::input, "a task that was made in code cannot be sent to a server", {},
                "give the server a folder with the task and leave send_task out");
  for (const auto& workload : from.workloads) {
    for (const auto& [name, input] : workload.inputs) {
      if (input.contents)
        throw error(error_code::input, "a task with contents from files cannot be sent to a server",
                    {from.file}, "give the server a folder with the task and leave send_task out");
    }
  }
  to.task_file = file.filename().string();
  to.task_files[to.task_file] = read_text_file(from.file);
  for (const auto& [id, path] : from.source_files)
    to.task_files[path] = read_text_file(path_beside(from.file, path));
}

enum class reply : std::uint8_t { final, pending, away, refused, machine_failed };

}  // namespace

/// One evaluation on its way through the servers.
struct remote_fitness::attempt {
  const remote_fitness& owner;
  const evaluation_request& asked;
  std::string body;
  std::size_t server = 0;
  steady::time_point began = steady::now();
  steady::time_point last_answer = began;
  double away_s = 0;
  std::size_t interruptions = 0;
  std::size_t machine_failures = 0;
  std::string trouble;
  bool waiting = false;

  reply ask(state& said) {
    http_request request;
    request.to = owner.addresses_[server];
    request.to.path += fmt::format("/v1/evaluations?wait={}", owner.settings_.wait_s);
    request.proxy = proxy_from_environment(request.to);
    request.headers = {{"Content-Type", "application/json"}};
    if (!owner.settings_.token.empty())
      request.headers.emplace_back("Authorization", "Bearer " + owner.settings_.token);
    request.body = body;
    request.ca_file = owner.settings_.ca_file;
    request.limits = {.connect_s = 10,
                      .first_s = owner.settings_.wait_s + 30,
                      .total_s = owner.settings_.wait_s + 120,
                      .body_bytes = std::size_t{256} << 20U};
    request.stop = asked.stop;
    const http_response answer = post(request);
    if (asked.stop.stop_requested())
      throw error(error_code::interrupted, "interrupted while a server was evaluating");
    if (answer.failure == http_failure::tls) {
      trouble = answer.detail;
      return reply::refused;
    }
    if (answer.failure != http_failure::none) {
      trouble = answer.detail;
      return reply::away;
    }
    return judge(answer, said);
  }

  reply judge(const http_response& answer, state& said) {
    std::string why;
    try {
      said = state_from_json(answer.body);
      why = said.error;
    } catch (const error& unreadable) {
      why = unreadable.what();
    }
    if (answer.status == 200 || answer.status == 202) {
      if (said.id.empty()) {
        trouble = "its answer is none of kevo's: " + why;
        return reply::away;
      }
      if (!is_final(said.progress)) return reply::pending;
      if (said.progress == progress::done) return reply::final;
      trouble = said.error;
      // What is wrong with the task or the settings will be wrong everywhere and always.
      return said.error_code == "input" || said.error_code == "usage" ? reply::refused
                                                                      : reply::machine_failed;
    }
    trouble = fmt::format("it answered {}{}{}", answer.status, why.empty() ? "" : ": ", why);
    const bool passes = answer.status == 429 || answer.status == 408 || answer.status / 100 == 5;
    return passes ? reply::away : reply::refused;
  }

  /// Goes to the next server, after a rest if all have been tried.
  void go_on(double& rest_s, std::size_t& in_a_row) {
    ++interruptions;
    ++in_a_row;
    server = (server + 1) % owner.addresses_.size();
    const double patience = owner.settings_.give_up_s;
    if (patience > 0 && seconds_since(last_answer) > patience)
      throw error(error_code::environment,
                  fmt::format("no server has answered for {:.0f} s; the last one: {}", patience, trouble), {},
                  "start the server again and continue with: kevo resume RUN");
    if (in_a_row % owner.addresses_.size() != 0) return;
    if (!waiting && asked.waiting) asked.waiting(device_holder{0, "an evaluation server: " + trouble});
    waiting = true;
    const auto from = steady::now();
    if (!pause(rest_s, asked.stop))
      throw error(error_code::interrupted, "interrupted while waiting for a server");
    away_s += seconds_since(from);
    rest_s = std::min(rest_s * 1.5, 10.0);
  }

  void back() {
    last_answer = steady::now();
    if (waiting && asked.waiting) asked.waiting(std::nullopt);
    waiting = false;
  }
};

remote_fitness::remote_fitness(std::shared_ptr<const task> task, remote_settings settings)
    : task_(std::move(task)), settings_(std::move(settings)) {
  if (settings_.urls.empty())
    throw error(error_code::input, "name at least one server", {"", 0, 0, "fitness.url"});
  for (const auto& each : settings_.urls) {
    addresses_.push_back(parse_url(each));
    while (addresses_.back().path.ends_with('/')) addresses_.back().path.pop_back();
  }
  prototype_.task_id = to_string(id_of(*task_));
  prototype_.priority = settings_.priority;
  if (settings_.send_task) {
    add_files(*task_, prototype_);
  } else {
    prototype_.task = task_->name;
  }
}

submission remote_fitness::submission_of(const evaluation_request& request) const {
  submission made = prototype_;
  made.program = *request.program;
  made.stage = request.wanted;
  made.best_speedup = std::isfinite(request.best_speedup) ? std::max(request.best_speedup, 0.0) : 0.0;
  // A new measurement is asked for: not one that was made for somebody else, nor one for an earlier call.
  if (request.fresh || request.wanted == evaluation_stage::confirmed) made.attempt = random_text();
  return made;
}

evaluation remote_fitness::evaluate(const evaluation_request& request) const {
  constexpr std::size_t most_machine_failures = 4;
  attempt now{*this, request, to_json(submission_of(request))};
  now.server = id_of(*request.program).low % addresses_.size();
  double rest_s = 0.2;
  std::size_t in_a_row = 0;
  for (;;) {
    state said;
    switch (now.ask(said)) {
      case reply::final: {
        now.back();
        evaluation made = std::move(*said.evaluation);
        const double wall_s = seconds_since(now.began);
        // Begun before it was asked for: an earlier measurement, which takes no part in choosing a champion.
        if (said.age_s > wall_s + 0.5) made.cached = true;
        if (made.cached) made.cost = {};
        made.cost.wall_s = wall_s;
        made.cost.waited_s += now.away_s;
        made.context["remote"] = settings_.urls[now.server];
        if (now.interruptions > 0)
          made.context["remote_interruptions"] = fmt::format(
              "{}, {:.1f} s without a server; the last one: {}", now.interruptions, now.away_s, now.trouble);
        return made;
      }
      case reply::pending:
        now.back();
        in_a_row = 0;
        rest_s = 0.2;
        break;
      case reply::refused:
        throw error(error_code::input,
                    fmt::format("{} refuses an evaluation: {}", settings_.urls[now.server], now.trouble),
                    {"", 0, 0, "fitness.url"});
      case reply::machine_failed:
        if (++now.machine_failures >= most_machine_failures)
          throw error(error_code::environment,
                      fmt::format("{} cannot evaluate: {}", settings_.urls[now.server], now.trouble), {},
                      "mend the machine of the server, then continue with: kevo resume RUN");
        now.back();
        [[fallthrough]];
      case reply::away:
        now.go_on(rest_s, in_a_row);
        break;
    }
  }
}

std::string remote_fitness::describe() const {
  std::string text = "remote:";
  for (const auto& each : settings_.urls) text += ' ' + each;
  return text;
}

}  // namespace kevo::remote
