// timed
// timeout: 120
// A stop rule as a user sees it: what is cancelled, what is waited for and for how long, and what a resume
// has.

#include <chrono>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/support/llm_project.hpp"

using namespace std::chrono_literals;

namespace {

/// A candidate is one number in 1..400 and its own score. While the file "slow" is there, every evaluation
/// but that of the seed takes a minute; while "stuck" is there, the seed's does, too.
struct sleepy_project {
  shell::scratch folder;

  sleepy_project() {
    shell::write_file(folder / "seed.txt", "N = 3  # kevo: {1..400 step 1}\n");
    shell::write_file(folder / "reference.cpp", "extern \"C\" void reference() {}\n");
    shell::write_file(folder / "score.sh",
                      "#!/bin/sh\nset -- $(sed 's/.*= //; s/ .*//' \"$1\")\n"
                      "if [ -f slow ] && [ \"$1\" != 3 ]; then touch begun; sleep 60; fi\n"
                      "if [ -f stuck ]; then touch begun; sleep 60; fi\n"
                      "echo \"{\\\"score\\\": $1}\"\n");
    shell::write_file(
        folder / "task.yaml",
        "name: toy\nop_type: toy\ndescription: toy\naxes: {K: {type: var}}\n"
        "inputs: {A: {shape: [K], dtype: float32}}\noutputs: {B: {shape: [K], dtype: float32}}\n"
        "reference: {language: cpp, file: reference.cpp}\nworkloads: [{uuid: one, axes: {K: 4}}]\n"
        "tolerance: {max_atol: 1.0e-5, max_rtol: 1.0e-5}\nseeds: [seed.txt]\n");
    shell::write_file(folder / "config.yaml",
                      "run: {name: toy, seed: 3, output: run}\ntask: task.yaml\n"
                      "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off, "
                      "limits: {wall: 100}}\n"
                      "archive: {type: top_k, k: 10}\nselect: {type: power_law}\n"
                      "vary: {operators: [{type: tune}]}\nstop: {seconds: 3}\n");
  }
  void mark(const char* name) const { shell::write_file(folder / name, ""); }
  void unmark(const char* name) const { std::filesystem::remove(folder / name); }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
};

/// How long a run goes on before its stop rule stops it. [s] On a busy machine nothing may be in flight after
/// the first; then the next one is tried.
constexpr int run_times[] = {3, 12, 48};

template <class Work>
double seconds_of(Work work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

TEST_CASE("a stop by time cancels the evaluation in flight, and the resume makes it up") {
  bool in_flight = false;
  for (const int seconds : run_times) {
    const sleepy_project toy;
    toy.mark("slow");
    const std::string time = std::to_string(seconds);
    shell::result ended;
    const double took = seconds_of([&] {
      ended = toy.kevo({"run", "config.yaml", "--plain", "--set", "stop={seconds: " + time + "}"});
    });
    INFO(ended.out, ended.err);
    CHECK(ended.code == 0);
    in_flight = std::filesystem::exists(toy.folder / "begun");
    if (!in_flight) continue;
    CHECK(took < seconds + 30);  // the evaluation takes a minute
    CHECK(ended.out.find("best: candidate 0, score 3, confirmed;") != std::string::npos);
    CHECK(ended.out.find("stopped by " + time + " seconds") != std::string::npos);

    toy.unmark("slow");
    const auto again = toy.kevo({"resume", "run", "--plain", "--set", "stop={evaluations: 6}"});
    INFO(again.out, again.err);
    CHECK(again.code == 0);
    CHECK(again.out.find("stopped by 6 evaluations") != std::string::npos);
    CHECK(toy.kevo({"run", "--replay", "run"}).code == 0);
    break;
  }
  CHECK(in_flight);
}

TEST_CASE("what has to be measured after the stop is said, limited by run.finish, and left to a resume") {
  const sleepy_project toy;
  toy.mark("stuck");
  shell::result ended;
  const double took = seconds_of([&] {
    ended =
        toy.kevo({"run", "config.yaml", "--plain", "--set", "run.finish=12", "--set", "stop={seconds: 1}"});
  });
  INFO(ended.out, ended.err);
  CHECK(ended.code == 0);
  CHECK(took < 40);
  const std::string line = "stopped; waiting for 1 evaluation, at most ";
  const auto first = ended.out.find(line);
  REQUIRE(first != std::string::npos);
  CHECK(ended.out.find(line, first + line.size()) != std::string::npos);  // again after ten seconds
  CHECK(ended.out.find("the time for finishing (run.finish) is over: cancelled 1 evaluation; `kevo resume` "
                       "evaluates what was cancelled") != std::string::npos);

  toy.unmark("stuck");
  const auto again = toy.kevo({"resume", "run", "--plain", "--set", "stop={evaluations: 1}"});
  INFO(again.out, again.err);
  CHECK(again.code == 0);
  CHECK(again.out.find("best: candidate 0, score 3, confirmed; 1 evaluation,") != std::string::npos);
}

TEST_CASE("a server that does not answer holds up the end of a run no longer than run.finish") {
  bool asked = false;
  for (const int seconds : run_times) {
    scripted::server server([](const scripted::request&) { return scripted::answer{.hang = true}; });
    const scripted::project p(
        "  models:\n    - {name: a, url: \"" + server.url() + "\", retries: {tries: 1}}\n",
        "run: {name: models, seed: 5, output: run, finish: 3}\narchive: {type: top_k, k: 20}\n"
        "select: {type: power_law}\nvary: {operators: [{type: llm_rewrite}]}\nstop: {seconds: " +
            std::to_string(seconds) + "}\n");
    shell::result ended;
    const double took = seconds_of([&] { ended = p.kevo({"run", "config.yaml", "--plain"}); });
    INFO(ended.out, ended.err);
    CHECK(ended.code == 0);
    asked = server.requests() > 0;
    if (!asked) continue;
    CHECK(took < seconds + 28);
    // Two turns go on at a time; the second may not have begun.
    const std::string cancelled = "the time for finishing (run.finish) is over: cancelled ";
    const bool one = ended.out.find(cancelled + "1 operator turn\n") != std::string::npos;
    const bool two = ended.out.find(cancelled + "2 operator turns\n") != std::string::npos;
    CHECK((one || two));
    CHECK(ended.out.find(two ? "2 operator turns, at most " : "1 operator turn, at most ") !=
          std::string::npos);
    break;
  }
  CHECK(asked);
}
