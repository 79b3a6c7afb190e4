#include "src/remote/client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/time/seconds_since.hpp"
#include "src/base/time/wait_unless_stopped.hpp"
#include "src/llm/http.hpp"

namespace kevo::remote {
namespace {

using steady = std::chrono::steady_clock;

enum class reply : std::uint8_t { final, pending, away, lost, refused, machine_failed };

}  // namespace

/// One submission on its way through the servers.
struct client::attempt {
  const client& owner;
  const std::stop_token& stop;
  const wait_listener& listener;
  std::string body;
  std::size_t server = 0;
  steady::time_point began = steady::now();
  steady::time_point last_answer = began;
  answered result;
  std::size_t machine_failures = 0;
  std::size_t losses = 0;
  bool waiting = false;
  double rest_s = 0.2;
  std::size_t in_a_row = 0;

  reply ask() {
    const auto& settings = owner.settings_;
    http_request request;
    request.to = owner.addresses_[server];
    request.to.path += fmt::format("/v1/evaluations?wait={}", settings.wait_s);
    request.proxy = proxy_from_environment(request.to);
    request.headers = {{"Content-Type", "application/json"}};
    if (!settings.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + settings.token);
    request.body = body;
    request.ca_file = settings.ca_file;
    request.limits = {.connect_s = 10,
                      .first_s = settings.wait_s + 30,
                      .total_s = settings.wait_s + 120,
                      .body_bytes = std::size_t{256} << 20U};
    request.stop = stop;
    const http_response answer = post(request);
    if (stop.stop_requested())
      throw error(error_code::interrupted, "interrupted while a server was evaluating");
    if (answer.failure == http_failure::tls) {
      result.trouble = answer.detail;
      return reply::refused;
    }
    if (answer.failure != http_failure::none) {
      result.trouble = answer.detail;
      return answer.sent ? reply::lost : reply::away;
    }
    return judge(answer);
  }

  reply judge(const http_response& answer) {
    std::string why;
    state& said = result.said;
    bool in_our_words = true;
    try {
      said = state_from_json(answer.body);
      why = said.error;
    } catch (const error& unreadable) {
      why = unreadable.what();
      in_our_words = false;
    }
    if (answer.status == 200 || answer.status == 202) {
      if (said.id.empty()) {
        result.trouble = "its answer is not that of a kevo server: " + why;
        return reply::away;
      }
      if (!is_final(said.progress)) return reply::pending;
      if (said.progress == progress::done) return reply::final;
      result.trouble = said.error;
      // What is wrong with the task, the settings or the time limit of the submission will be wrong
      // everywhere and always.
      const bool for_ever =
          said.error_code == "input" || said.error_code == "usage" || said.error_code == "timeout";
      return for_ever ? reply::final : reply::machine_failed;
    }
    result.trouble = fmt::format("it answered {}{}{}", answer.status, why.empty() ? "" : ": ", why);
    // A proxy answers so in the name of a server that ended while it was at work.
    if (answer.status == 500 || answer.status == 502 || answer.status == 504) return reply::lost;
    const bool passes = answer.status == 429 || answer.status == 408 || answer.status / 100 == 5 ||
                        (owner.settings_.through_proxy && !in_our_words);
    return passes ? reply::away : reply::refused;
  }

  /// Goes to the next server, after a rest if all have been tried.
  void go_on() {
    ++result.interruptions;
    ++in_a_row;
    server = (server + 1) % owner.addresses_.size();
    const double patience = owner.settings_.give_up_s;
    if (patience > 0 && seconds_since(last_answer) > patience)
      throw error(
          error_code::environment,
          fmt::format("no server has answered for {:.0f} s; the last failure: {}", patience, result.trouble),
          {}, "start the server again and continue with: kevo resume RUN");
    if (in_a_row % owner.addresses_.size() != 0) return;
    if (!waiting && listener) listener(device_holder{0, "an evaluation server: " + result.trouble});
    waiting = true;
    const auto from = steady::now();
    if (!wait_unless_stopped(rest_s, stop))
      throw error(error_code::interrupted, "interrupted while waiting for a server");
    result.away_s += seconds_since(from);
    rest_s = std::min(rest_s * 1.5, 10.0);
  }

  void back() {
    last_answer = steady::now();
    if (waiting && listener) listener(std::nullopt);
    waiting = false;
  }

  answered end() {
    back();
    result.url = owner.settings_.urls[server];
    result.wall_s = seconds_since(began);
    return std::move(result);
  }

  answered fail(error_code code, std::string why) {
    result.said = {};
    result.said.progress = progress::failed;
    result.said.error_code = to_string(code);
    result.said.error = std::move(why);
    return end();
  }
};

client::client(client_settings settings) : settings_(std::move(settings)) {
  for (const auto& each : settings_.urls) {
    addresses_.push_back(parse_url(each));
    while (addresses_.back().path.ends_with('/')) addresses_.back().path.pop_back();
  }
}

answered client::evaluate(const submission& what, std::size_t first, const std::stop_token& stop,
                          const wait_listener& waiting) const {
  constexpr std::size_t most_machine_failures = 4;
  attempt now{*this, stop, waiting, to_json(what), first % addresses_.size()};
  for (;;) {
    switch (now.ask()) {
      case reply::final:
        return now.end();
      case reply::pending:
        now.back();
        now.in_a_row = 0;
        now.rest_s = 0.2;
        break;
      case reply::refused:
        return now.fail(error_code::input, now.result.trouble);
      case reply::machine_failed:
        if (++now.machine_failures >= most_machine_failures) return now.end();
        now.back();
        now.go_on();
        break;
      case reply::lost:
        if (++now.losses == settings_.most_losses) {
          return now.fail(
              error_code::environment,
              fmt::format("{} servers ended while they evaluated this program; the last failure: {}",
                          now.losses, now.result.trouble));
        }
        now.go_on();
        break;
      case reply::away:
        now.go_on();
        break;
    }
  }
}

}  // namespace kevo::remote
