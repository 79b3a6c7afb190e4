// timed
// Evaluations by servers that go away and come back.

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/fitness/remote.hpp>
#include <kevo/load_task.hpp>

#include "tests/serve/played_service.hpp"

namespace {

using kevo::evaluation_stage;

std::shared_ptr<const kevo::task> first_task(const played::service& of) {
  return std::make_shared<const kevo::task>(
      kevo::load_task((of.folder() / "tasks/first/task.yaml").string()));
}

kevo::evaluation_request asking(const std::string& text,
                                evaluation_stage wanted = evaluation_stage::timed_full) {
  return {
      .program = std::make_shared<const kevo::program>(kevo::single_file_program("text", "kernel.txt", text)),
      .wanted = wanted};
}

}  // namespace

TEST_CASE(
    "a server's evaluation is the fitness function's; earlier ones are marked, fresh ones are measured "
    "again") {
  const played::service it;
  const kevo::remote_fitness fitness(first_task(it), {.urls = {it.url()}});
  const auto made = fitness.evaluate(asking("abc"));
  CHECK(made.valid());
  CHECK(made.score == 3);
  CHECK(made.feedback == "length 3");
  CHECK(!made.cached);
  CHECK(made.workloads.at(0).uuid == "secret size");  // who has the task knows its hidden workloads
  CHECK(made.context.at("remote") == it.url());
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  const auto again = fitness.evaluate(asking("abc"));
  CHECK(again.cached);
  CHECK(it.it->evaluations == 1);
  CHECK(!fitness.evaluate(asking("abc", evaluation_stage::confirmed)).cached);
  CHECK(!fitness.evaluate(asking("abc", evaluation_stage::confirmed)).cached);
  CHECK(it.it->evaluations == 3);
}

TEST_CASE("a server that goes away costs nothing but time, and the evaluation says so") {
  played::service it;
  const auto port = static_cast<std::uint16_t>(it.port());
  const kevo::remote_fitness fitness(first_task(it), {.urls = {it.url()}});
  std::atomic<bool> held{true};
  it.it->before = [&](const kevo::evaluation_request& request) {
    while (held && !request.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (request.stop.stop_requested()) throw kevo::error(kevo::error_code::interrupted, "interrupted");
  };
  kevo::evaluation made;
  std::jthread asks([&] { made = fitness.evaluate(asking("abc")); });
  while (it.it->evaluations == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  it.stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  held = false;
  it.start(port);
  asks.join();
  CHECK(made.score == 3);
  CHECK(!made.cached);
  CHECK(made.cost.waited_s > 0.1);
  CHECK(made.context.at("remote_interruptions").find("without a server") != std::string::npos);
}

TEST_CASE("the next server is asked where one does not answer; without any, patience ends if it may") {
  const played::service it;
  const auto task = first_task(it);
  const std::string nobody = "http://127.0.0.1:1";
  for (const char* text : {"a", "ab", "abc", "abcd"}) {
    const kevo::remote_fitness fitness(task, {.urls = {nobody, it.url()}});
    CHECK(fitness.evaluate(asking(text)).context.at("remote") == it.url());
  }
  const kevo::remote_fitness alone(task, {.urls = {nobody}, .give_up_s = 0.3});
  CHECK_THROWS_WITH_AS(alone.evaluate(asking("a")), doctest::Contains("no server has answered"), kevo::error);
  const kevo::remote_fitness patient(task, {.urls = {nobody}});
  std::stop_source stop;
  auto request = asking("a");
  request.stop = stop.get_token();
  const std::jthread stops([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  CHECK_THROWS_WITH_AS(patient.evaluate(request), doctest::Contains("interrupted"), kevo::error);
}

TEST_CASE("what will be refused for ever ends the run with its reason; a task can be sent instead of named") {
  const played::service it;
  const shell::scratch folder;
  shell::write_file(folder / "task.yaml",
                    "name: first\nseeds: [seed.txt]\nbaselines: [{name: b, file: b.txt}]\n");
  shell::write_file(folder / "seed.txt", "two\n");
  shell::write_file(folder / "b.txt", "baseline\n");
  const auto other = std::make_shared<const kevo::task>(kevo::load_task((folder / "task.yaml").string()));
  const kevo::remote_fitness named(other, {.urls = {it.url()}});
  CHECK_THROWS_WITH_AS(named.evaluate(asking("a")), doctest::Contains("differs from the task of the request"),
                       kevo::error);
  const kevo::remote_fitness sent(other, {.urls = {it.url()}, .send_task = true});
  CHECK_THROWS_WITH_AS(sent.evaluate(asking("a")), doctest::Contains("does not take tasks"), kevo::error);
  const played::service open([](auto& settings) { settings.allow_tasks = true; });
  const kevo::remote_fitness taken(other, {.urls = {open.url()}, .send_task = true});
  CHECK(taken.evaluate(asking("abcd")).score == 4);
}
