#include "src/serve/deferred_answer.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace kevo;

/// Keeps what it is told, and calls nothing by itself.
class kept_exchange final : public serve::http_exchange {
 public:
  void answer(serve::http_answer what) override { answers.push_back(std::move(what)); }
  void begin_stream(std::string) override {}
  void send(std::string) override {}
  void after(double, std::function<void()> then) override { timer = std::move(then); }
  void when_over(std::function<void()> then) override { over = std::move(then); }

  std::vector<serve::http_answer> answers;
  std::function<void()> timer, over;
};

remote::submission any_submission() {
  remote::submission made;
  made.task = "double_it";
  made.program.language = "text";
  made.program.files = {{"kernel.txt", "scale = 1\n"}};
  return made;
}

TEST_CASE("an answer that fails tells the client, whoever calls it, and the other clients get theirs") {
  serve::metrics counts;
  serve::broker jobs("", 10, counts);
  const auto seen = jobs.submit("anybody", any_submission(), "task");
  const auto broken = std::make_shared<kept_exchange>();
  const auto whole = std::make_shared<kept_exchange>();
  serve::answer_when_ended(jobs, seen.work.key, 5, broken,
                           [] { throw std::runtime_error("cannot be read"); });
  serve::answer_when_ended(jobs, seen.work.key, 5, whole, [whole] { whole->answer({.body = "{}"}); });
  auto work = jobs.take({});
  REQUIRE(work);
  work->progress = remote::progress::done;
  work->result = work->public_result = "{}";
  jobs.end(*work);
  REQUIRE(broken->answers.size() == 1);
  CHECK(broken->answers.front().status == 503);
  CHECK(broken->answers.front().body.find("cannot be read") != std::string::npos);
  REQUIRE(whole->answers.size() == 1);
  CHECK(whole->answers.front().status == 200);
  CHECK_NOTHROW(broken->timer());
  for (const auto& each : {broken, whole})
    each->timer = nullptr;  // what it would call keeps the exchange itself
}

}  // namespace
