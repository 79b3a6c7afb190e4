#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/fitness/remote.hpp>
#include <kevo/task_id.hpp>

#include "src/base/text/text_file.hpp"
#include "src/remote/client.hpp"
#include "src/remote/protocol.hpp"

namespace kevo {
namespace {

using remote::submission;

std::string random_text() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", source(), source(), source(), source());
}

/// The texts of the task file and of the sources that it names.
void add_files(const task& from, submission& to) {
  const std::filesystem::path file(from.file);
  if (from.file.empty())
    throw error(error_code::input, "a task that was made in code cannot be sent to a server", {},
                "give the server a folder with the task, and remove send_task");
  for (const auto& workload : from.workloads) {
    for (const auto& [name, input] : workload.inputs) {
      if (input.contents)
        throw error(error_code::input, "a task with inputs from files cannot be sent to a server",
                    {from.file}, "give the server a folder with the task, and remove send_task");
    }
  }
  to.task_file = file.filename().string();
  to.task_files[to.task_file] = read_text_file(from.file);
  for (const auto& [id, path] : from.source_files)
    to.task_files[path] = read_text_file(path_beside(from.file, path));
}

remote::client_settings client_settings_from(const remote_settings& settings) {
  if (settings.urls.empty())
    throw error(error_code::input, "the list of servers is empty", {"", 0, 0, "fitness.url"},
                "name at least one server, for example url: [http://127.0.0.1:8750]");
  remote::client_settings made;
  made.urls = settings.urls;
  made.token = settings.token;
  made.ca_file = settings.ca_file;
  made.wait_s = settings.wait_s;
  made.give_up_s = settings.give_up_s;
  return made;
}

// The part of a submission that is the same for all programs.
submission prototype_of(const task& subject, const remote_settings& settings) {
  submission made;
  made.task_id = to_string(id_of(subject));
  made.priority = settings.priority;
  if (settings.send_task) {
    add_files(subject, made);
  } else {
    made.task = subject.name;
  }
  return made;
}

submission submission_of(submission prototype, const evaluation_request& request) {
  submission made = std::move(prototype);
  made.program = *request.program;
  made.stage = request.wanted;
  made.best_speedup = std::isfinite(request.best_speedup) ? std::max(request.best_speedup, 0.0) : 0.0;
  made.second_try = request.second_try;
  // A new measurement is asked for: not one that was made for somebody else, nor one for an earlier call.
  if (request.fresh || request.wanted == evaluation_stage::confirmed) made.attempt = random_text();
  return made;
}

}  // namespace

struct remote_fitness::state {
  remote::client client;
  submission prototype;
};

remote_fitness::remote_fitness(const std::shared_ptr<const task>& task, const remote_settings& settings)
    : state_(std::make_shared<const state>(
          state{remote::client(client_settings_from(settings)), prototype_of(*task, settings)})) {}

evaluation remote_fitness::evaluate(const evaluation_request& request) const {
  remote::answered answer = state_->client.evaluate(
      submission_of(state_->prototype, request), id_of(*request.program).low, request.stop, request.waiting);
  const remote::state& said = answer.said;
  if (said.progress != remote::progress::done) {
    if (said.error_code == "input" || said.error_code == "usage")
      throw error(error_code::input, fmt::format("{} refuses an evaluation: {}", answer.url, said.error),
                  {"", 0, 0, "fitness.url"});
    throw error(error_code::environment, fmt::format("{} cannot evaluate: {}", answer.url, said.error), {},
                "repair the machine of the server, then continue with: kevo resume RUN");
  }
  evaluation made = std::move(*answer.said.evaluation);
  // Begun before it was asked for: an earlier measurement, which takes no part in choosing a champion.
  if (said.age_s > answer.wall_s + 0.5) made.cached = true;
  if (made.cached) made.cost = {};
  made.cost.wall_s = answer.wall_s;
  made.cost.waited_s += answer.away_s;
  made.context["remote"] = answer.url;
  if (answer.interruptions > 0)
    made.context["remote_interruptions"] = fmt::format("{}, {:.1f} s without a server; the last failure: {}",
                                                       answer.interruptions, answer.away_s, answer.trouble);
  return made;
}

std::string remote_fitness::describe() const {
  std::string text = "remote:";
  for (const auto& each : state_->client.settings().urls) text += ' ' + each;
  return text;
}

}  // namespace kevo
