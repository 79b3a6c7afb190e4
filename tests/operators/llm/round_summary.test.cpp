// timed
// timeout: 60
// summarize_rounds: when notes are written, what they are written from, and who waits for them.

#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "operators/llm/operators.hpp"
#include "tests/operators/llm/bench.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace llm_test;

namespace {

/// Writes notes or programs; a program of turn n multiplies by 100 + n.
struct author {
  std::mutex guard;
  std::vector<std::string> summaries;  ///< prompts
  std::vector<std::string> programs;   ///< prompts
  scripted::answer notes = scripted::says("<summary>NOTES_1</summary>");

  scripted::answer operator()(const scripted::request& r) {
    const std::scoped_lock lock(guard);
    if (has(r.body, "<summary>")) {
      summaries.push_back(r.body);
      return notes;
    }
    programs.push_back(r.body);
    const auto number = std::to_string(99 + programs.size());
    return scripted::says("Summary: times " + number +
                          "\n\n```cpp\n#include <cstdint>\nextern \"C\" void run(const float* X, float* Y, "
                          "int64_t N) {\n  Y[N] = " +
                          number + " * X[N];\n}\n```");
  }
};

observation result_of_job(std::uint64_t job, double score, const std::string& feedback = {}) {
  const auto what = score > 0 ? outcome::valid : outcome::incorrect;
  return {.candidate = static_cast<candidate_id>(10 + job),
          .outcome = what,
          .score = score,
          .job = job,
          .result = candidate(0, "", score, what, feedback)->evaluation};
}
observation again(std::uint64_t job, double score) {
  auto seen = result_of_job(job, score);
  seen.job = 0;
  return seen;
}

/// A run of the operator, turn by turn.
struct turns {
  author asked;
  scripted::server server{[this](const scripted::request& r) { return asked(r); }};
  bench b{server};
  summarize_rounds op;
  std::uint64_t job = 0;

  explicit turns(round_summary_settings how) : op(b.settings(), how) {}
  variation_result take() {
    b.request.job = ++job;
    return b.vary(op);
  }
};

}  // namespace

TEST_CASE("once a round, notes are written from candidates that no summary was shown before") {
  turns run({.every = 2, .candidates = 2});
  run.take();
  run.take();
  CHECK(run.asked.summaries.empty());
  run.take();  // a round is over, but no result is known
  CHECK(run.asked.summaries.empty());
  run.op.observe(result_of_job(1, 1.5));
  run.op.observe(result_of_job(2, 0, "note: x\nkernel.cpp:3: error: wrong at [7]"));
  run.op.observe(result_of_job(3, 2.5));
  run.op.observe(again(1, 1.25));
  run.take();
  REQUIRE(run.asked.summaries.size() == 1);
  const std::string first = run.asked.summaries[0];
  CHECK(has(first, "Candidate #11, whose author says: times 100"));
  CHECK(has(first, "Y[N] = 100 * X[N]"));
  CHECK(has(first, "Best result: valid, 1.5 times as fast as seed"));
  CHECK(has(first, "Worst result: valid, 1.25 times as fast as seed"));
  CHECK(has(first, "Candidate #12, whose author says: times 101"));
  CHECK(has(first, "Failure: incorrect. kernel.cpp:3: error: wrong at [7]"));
  CHECK_FALSE(has(first, "Candidate #13"));
  CHECK(has(run.asked.programs.back(), "NOTES_1"));

  run.asked.notes = scripted::says("<summary>NOTES_2</summary>");
  run.take();
  CHECK(run.asked.summaries.size() == 1);  // in the same round
  CHECK(has(run.asked.programs.back(), "NOTES_1"));
  run.take();
  REQUIRE(run.asked.summaries.size() == 2);
  CHECK(has(run.asked.summaries[1], "Candidate #13"));
  CHECK_FALSE(has(run.asked.summaries[1], "Candidate #11"));
  CHECK(has(run.asked.summaries[1], "NOTES_1"));
  CHECK(has(run.asked.programs.back(), "NOTES_2"));
  CHECK_FALSE(has(run.asked.programs.back(), "NOTES_1"));
}

TEST_CASE("a call that fails keeps the notes, costs no proposal, and its candidates come again") {
  turns run({.every = 1, .candidates = 5});
  run.take();
  run.op.observe(result_of_job(1, 1.5));
  run.take();
  CHECK(has(run.asked.programs.back(), "NOTES_1"));
  run.op.observe(result_of_job(2, 2));
  for (const auto& reply : {scripted::says("I have none"), scripted::answer{.status = 400, .body = "{}"}}) {
    run.asked.notes = reply;
    const auto made = run.take();
    CHECK(std::holds_alternative<proposal>(made));
    CHECK(has(run.asked.programs.back(), "NOTES_1"));
    CHECK(has(run.asked.summaries.back(), "Candidate #12"));
    CHECK_FALSE(has(run.asked.summaries.back(), "Candidate #11"));
  }
  CHECK(run.asked.summaries.size() == 3);
  CHECK(has(run.b.notes, "[notes] no summary"));
}

TEST_CASE("turns that begin while the notes are written wait for them") {
  turns run({.every = 2, .candidates = 5});
  run.take();
  run.take();
  run.op.observe(result_of_job(1, 1.5));
  run.asked.notes.delay = std::chrono::milliseconds(400);
  {
    std::vector<std::jthread> all;
    for (std::uint64_t job = 3; job < 6; ++job) {
      all.emplace_back([&, job] {
        auto request = run.b.request;
        request.job = job;
        rng random(job);
        static_cast<void>(run.op.vary(request, random));
      });
    }
  }
  CHECK(run.asked.summaries.size() == 1);
  REQUIRE(run.asked.programs.size() == 5);
  for (std::size_t i = 2; i < 5; ++i) CHECK(has(run.asked.programs[i], "NOTES_1"));
}

TEST_CASE("a turn that waits for notes ends when it is stopped") {
  turns run({.every = 1, .candidates = 5});
  run.take();
  run.op.observe(result_of_job(1, 1.5));
  run.asked.notes.delay = std::chrono::seconds(3);
  std::jthread writes([&] {
    auto request = run.b.request;
    request.job = 2;
    rng random(2);
    static_cast<void>(run.op.vary(request, random));
  });
  while (run.asked.summaries.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::stop_source stop;
  auto request = run.b.request;
  request.job = 3;
  request.stop = stop.get_token();
  const auto start = std::chrono::steady_clock::now();
  std::jthread stops([&] { stop.request_stop(); });
  rng random(3);
  CHECK(std::holds_alternative<no_proposal>(run.op.vary(request, random)));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}
