// timeout: 600
// one processor
// The cascade on a small task made by hand: verdicts and feedback. What is timed is in cache.test.cpp and
// timing.test.cpp.
#include "fitness/cpu/cpu_fitness.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/fitness/cpu/line_task.hpp"
#include "tests/support/shell.hpp"

using namespace line_task;

TEST_CASE("each kind of failure has its outcome") {
  fixture f;
  const auto outcome = [&](const std::string& body) {
    const auto e = f.run(body);
    INFO(e.feedback);
    CHECK((e.valid() || !e.reasons.empty()));
    CHECK(e.speedup == 0);
    // A workload that was not run to its end is no success.
    for (const auto& w : e.workloads)
      CHECK((e.valid() ? w.outcome == kevo::outcome::valid : !w.hidden || !w.outcome));
    if (e.outcome == kevo::outcome::build_failed) CHECK_FALSE(e.workloads.front().outcome);
    return std::string(kevo::to_string(e.outcome));
  };
  CHECK(outcome(right) == "valid");
  CHECK(outcome("this is not C++") == "build_failed");
  CHECK(outcome("extern int nowhere(); y[0] = nowhere();") == "launch_failed");
  CHECK(outcome("*(volatile int*)nullptr = 1;") == "crashed");
  CHECK(outcome("std::abort();") == "crashed");
  CHECK(outcome(right + "_exit(0);") == "crashed");
  CHECK(outcome("for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i];") == "incorrect");
  CHECK(outcome("") == "incorrect");  // the poison of the output is no result
  CHECK(outcome(right + "y[N - 1] = 0.0f / 0.0f;") == "incorrect");
  CHECK(outcome(right + "y[N] = 0;") == "rejected");
  CHECK(outcome(right + "const_cast<float*>(x)[3] = 0;") == "rejected");
  CHECK(outcome(right + "if (fork() == 0) _exit(0);") == "rejected");
}

TEST_CASE("an evaluation says what machine it was made on, whatever became of the program") {
  fixture f;
  for (const char* body : {"this is not C++", "y[0] = 0;"}) {
    const auto e = f.run(body);
    for (const char* key : {"peaks", "compiler_version", "threads"})
      CHECK_MESSAGE(e.context.contains(key), key);
    CHECK(e.context.at("peaks").find("GFLOP/s in float32; copies:") != std::string::npos);
    CHECK(e.context.at("threads") == "1");
    CHECK_FALSE(e.context.contains("bounds"));  // of a task without a cost nothing is known
    CHECK(e.context.contains("instruction_sets"));
  }
}

TEST_CASE("a hang is timed out, tried once more if that is wanted, and does not wait for long") {
  const shell::scratch folder;
  fixture f(60000, (folder / "cache").string());
  int tries = 0;
  kevo::evaluation_request request;
  request.program = candidate("for (volatile bool forever = true; forever;) {}");
  request.wanted = kevo::evaluation_stage::checked;
  request.measuring = [&](bool begins) { tries += begins ? 1 : 0; };
  request.second_try = false;
  CHECK(f.fitness.evaluate(request).outcome == kevo::outcome::timed_out);
  CHECK(tries == 1);
  // That is no answer for who wants two tries.
  request.second_try = true;
  const auto e = f.fitness.evaluate(request);
  CHECK(e.outcome == kevo::outcome::timed_out);
  CHECK(tries == 3);
  CHECK(e.cost.wall_s < 60);
  CHECK(e.feedback.find("timed out: ") != std::string::npos);
  CHECK(e.feedback.find(" may take ") != std::string::npos);
  CHECK(f.fitness.evaluate(request).outcome == kevo::outcome::timed_out);
  CHECK(tries == 3);  // known
}

TEST_CASE("a wrong signature is a build failure that names what is expected") {
  fixture f;
  kevo::evaluation_request request;
  request.program = std::make_shared<kevo::program>(kevo::single_file_program(
      "cpp", "kernel.cpp", "extern \"C\" void run(float* x, int n) { x[0] = (float)n; }"));
  const auto e = f.fitness.evaluate(request);
  CHECK(e.outcome == kevo::outcome::build_failed);
  CHECK(e.feedback.find("const float*") != std::string::npos);
  CHECK(f.fitness.prototype() == "extern \"C\" void run(const float* x, float* y, int64_t N)");
}

TEST_CASE("feedback tells places of visible failures and nothing of hidden ones") {
  fixture f;
  const auto visible = f.run(right + "y[5] = 1e9f;");
  CHECK(visible.feedback.find("[5]") != std::string::npos);
  const auto hidden = f.run(right + "if (N == 777) y[5] = 1e9f;");
  CHECK(hidden.outcome == kevo::outcome::incorrect);
  CHECK(hidden.feedback == "a hidden workload failed: its result is wrong");
  REQUIRE(hidden.reasons.size() == 1);
  CHECK(hidden.reasons[0] == hidden.feedback);
  const auto outside = f.run(right + "y[N] = 1e9f;");
  CHECK(outside.feedback.find("wrote outside of its outputs: the first byte that was changed lies ") !=
        std::string::npos);
  CHECK(outside.feedback.find(" behind the end of ") != std::string::npos);
  const auto crashed = f.run(right + "if (N == 777) __builtin_trap();");
  CHECK(crashed.outcome == kevo::outcome::crashed);
  CHECK(crashed.feedback == "a hidden workload failed: the program crashed");
}

TEST_CASE("a wrong reference or baseline is the user's error, not the candidate's") {
  kevo::evaluation_request request;
  request.program = candidate(right);
  auto t = example();
  t->baselines[0].source = *candidate("y[0] = 0;");
  kevo::cpu_fitness wrong(t, fixture::settings({}));
  CHECK_THROWS_WITH_AS(wrong.evaluate(request), doctest::Contains("baseline 'seed'"), kevo::error);
  t = example();
  t->reference->source = kevo::single_file_program("cpp", "reference.cpp", "nonsense");
  kevo::cpu_fitness broken(t, fixture::settings({}));
  CHECK_THROWS_WITH_AS(broken.evaluate(request), doctest::Contains("reference does not build"), kevo::error);
  t = example();
  t->reference.reset();
  CHECK_THROWS_AS(kevo::cpu_fitness(t, fixture::settings({})), kevo::error);
}

TEST_CASE("an evaluation that is stopped throws") {
  fixture f;
  std::stop_source source;
  source.request_stop();
  kevo::evaluation_request request;
  request.program = candidate(right);
  request.stop = source.get_token();
  CHECK_THROWS_AS(f.fitness.evaluate(request), kevo::error);
}

TEST_CASE("whoever stops after an evaluation does not stop the contents that later evaluations need") {
  auto settings = fixture::settings({});
  settings.pool_s = 30;  // never complete here, so that every third evaluation makes some
  settings.pool_bytes = std::size_t{1} << 30U;
  kevo::cpu_fitness fitness(example(200000), settings);
  std::stop_source first;
  kevo::evaluation_request request;
  request.program = candidate(right);
  request.wanted = kevo::evaluation_stage::checked;
  request.stop = first.get_token();
  CHECK(fitness.evaluate(request).valid());
  first.request_stop();
  request.stop = {};
  double made_s = 0;
  for (const char* other : {"// a second one\n", "// a third one\n", "// a fourth one\n"}) {
    request.program = candidate(right + other);
    const auto later = fitness.evaluate(request);
    CHECK(later.valid());
    made_s += later.cost.parts_s.at("preparation of the task");
  }
  CHECK(made_s > 0.05);
}
