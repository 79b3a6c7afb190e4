// timed
// A service that hands evaluations on to other servers: it keeps the record, they may go away and come back.

#include <atomic>
#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/load_task.hpp>
#include <kevo/task_id.hpp>

#include "tests/serve/played_service.hpp"
#include "tests/support/llm_server.hpp"

namespace {

using played::object;
using played::submission;
using played::text_in;

/// A service in front of `url`.
played::service front_of(const std::string& url, std::size_t most_losses = 5) {
  return played::service([url, most_losses](auto& settings) {
    settings.forward.urls = {url};
    settings.forward.most_losses = most_losses;
    settings.forward.through_proxy = true;
    settings.at_once = 2;
  });
}

std::string task_id_of(const played::service& of) {
  return kevo::to_string(kevo::id_of(kevo::load_task((of.folder() / "tasks/first/task.yaml").string())));
}

}  // namespace

TEST_CASE("evaluations are made elsewhere and recorded here, once for each content") {
  const played::service behind;
  const auto front = front_of(behind.url());
  const auto first = front.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  REQUIRE(first.status == 200);
  CHECK(object(first).at("evaluation").at("score").to_number<double>() == 3);
  CHECK(front.ask("POST", "/v1/evaluations?wait=20", submission("abc")).body.find("\"done\"") !=
        std::string::npos);
  CHECK(front.ask("GET", "/v1/evaluations/" + text_in(first, "id")).status == 200);
  CHECK(front.it->evaluations == 0);
  CHECK(behind.it->evaluations == 1);
  // What a tenant may see of hidden workloads is decided here, whatever the server behind answers.
  CHECK(first.body.find("secret size") == std::string::npos);
  const auto knows = front.ask("POST", "/v1/evaluations?wait=20",
                               submission("abc", R"("task_id":")" + task_id_of(front) + '"'));
  CHECK(knows.body.find("secret size") != std::string::npos);
  CHECK(behind.it->evaluations == 1);
}

TEST_CASE("a front that ends while a server is at work gets the result of that work after its next start") {
  const played::service behind;
  std::atomic<bool> held{true};
  behind.it->before = [&](const kevo::evaluation_request& request) {
    while (held && !request.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  auto front = front_of(behind.url());
  const auto taken = front.ask("POST", "/v1/evaluations", submission("abc"));
  CHECK(taken.status == 202);
  while (behind.it->evaluations == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  front.stop();
  held = false;
  front.start();
  const auto ended = front.ask("GET", "/v1/evaluations/" + text_in(taken, "id") + "?wait=20");
  CHECK(text_in(ended, "status") == "done");
  CHECK(behind.it->evaluations == 1);
}

TEST_CASE("while no server answers, submissions are taken and wait, and the log says so") {
  played::service behind;
  const auto port = static_cast<std::uint16_t>(behind.port());
  behind.stop();
  const auto front = front_of("http://127.0.0.1:" + std::to_string(port));
  const auto taken = front.ask("POST", "/v1/evaluations", submission("abc"));
  CHECK(taken.status == 202);
  for (int i = 0; i < 1000 && front.log().find("evaluations wait for") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(front.log().find("evaluations wait for an evaluation server") != std::string::npos);
  behind.start(port);
  const auto ended = front.ask("GET", "/v1/evaluations/" + text_in(taken, "id") + "?wait=20");
  CHECK(text_in(ended, "status") == "done");
  CHECK(front.log().find("a server answers again") != std::string::npos);
}

TEST_CASE("what will fail everywhere is asked once: a time limit, a task that the servers do not have") {
  const played::service behind;
  behind.it->before = [](const kevo::evaluation_request& request) {
    while (!request.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    throw kevo::error(kevo::error_code::interrupted, "interrupted");
  };
  const auto front = front_of(behind.url());
  const auto late = front.ask("POST", "/v1/evaluations?wait=20", submission("abc", R"("limit_s":0.2)"));
  CHECK(text_in(late, "status") == "failed");
  CHECK(object(late).at("error").at("code").as_string() == "timeout");
  CHECK(behind.it->evaluations == 1);
  const played::service others([](auto& settings) { settings.tasks.front() += "/second.yaml"; });
  const auto wrong = front_of(others.url());
  const auto refused = wrong.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  CHECK(text_in(refused, "status") == "failed");
  CHECK(refused.body.find("has no task 'first'") != std::string::npos);
}

TEST_CASE("a program during whose evaluation server after server ends is given up") {
  // A proxy answers so in the name of a server that is gone.
  scripted::server proxy([](const scripted::request&) { return scripted::answer{.status = 500}; });
  const auto front = front_of("http://127.0.0.1:" + std::to_string(proxy.port()), 3);
  const auto said = front.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  CHECK(text_in(said, "status") == "failed");
  CHECK(object(said).at("error").at("code").as_string() == "environment");
  CHECK(said.body.find("3 servers ended while they evaluated this program") != std::string::npos);
}

TEST_CASE("a proxy that knows no server yet does not speak for the servers") {
  scripted::server proxy([](const scripted::request& asked) {
    if (asked.number < 2)
      return scripted::answer{.status = 404, .content_type = "text/plain", .body = "Path '/' not found."};
    return scripted::answer{
        .body = R"({"id":"1","status":"failed","error":{"code":"timeout","message":"too late"}})"};
  });
  const auto front = front_of("http://127.0.0.1:" + std::to_string(proxy.port()));
  const auto said = front.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  CHECK(object(said).at("error").at("code").as_string() == "timeout");
}
