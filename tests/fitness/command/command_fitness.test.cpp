// timed
// timeout: 120
#include "fitness/command/command_fitness.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "tests/fitness/support/sandboxed.hpp"

using namespace kevo;

namespace {

// Runs a shell script; the candidate's path is $0's first argument.
evaluation judge(const std::string& script, const std::string& text = "candidate text\n",
                 command_settings settings = {}) {
  settings.command = {"bash", "-c", script, "judge"};
  return run_command_fitness(settings, single_file_program("text", "candidate.txt", text));
}

bool mentions(const evaluation& e, const std::string& what) {
  for (const auto& reason : e.reasons) {
    if (reason.find(what) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("metrics become an evaluation") {
  const auto e = judge(
      "read line < \"$1\"; echo \"progress\"; echo '{\"score\": 2.5, \"valid\": true, \"feedback\": "
      "\"'$line'\", "
      "\"registers\": 32, \"fits\": true, \"note\": \"x\"}'");
  CHECK(e.outcome == outcome::valid);
  CHECK(e.score == 2.5);
  CHECK(e.speedup == 0);  // a score is no speedup
  CHECK(e.speedup_interval == interval{});
  CHECK(e.baseline.empty());
  CHECK(e.feedback == "candidate text");
  CHECK(e.measures.at("registers") == 32);
  CHECK(e.measures.at("fits") == 1);
  CHECK(e.measures.count("note") == 0);
  CHECK(e.cost.wall_s > 0);
  CHECK(e.backend == "command");
  CHECK(!e.context.at("sandbox").empty());
  const auto both = judge("echo '{\"score\": 7, \"speedup\": 1.5}'");
  CHECK(both.score == 7);
  CHECK(both.speedup == 1.5);
  CHECK(both.speedup_interval == interval{1.5, 1.5});
  CHECK(both.baseline == "the program's own baseline");
  const auto ratio = judge("echo '{\"speedup\": 1.5, \"baseline\": \"numpy\"}'");
  CHECK(ratio.score == 1.5);
  CHECK(ratio.baseline == "numpy");
  // Over several lines, too.
  CHECK(judge("printf '{\\n\"score\":\\n 3}\\n'").score == 3);
}

TEST_CASE("the placeholder is replaced") {
  command_settings settings;
  settings.command = {"/usr/bin/bash", "-c", "test -f {candidate} && test $# = 0 && echo '{\"score\": 1}'"};
  CHECK(run_command_fitness(settings, single_file_program("text", "a/b.txt", "x")).valid());
}

TEST_CASE("every way to fail has its outcome and reason") {
  auto e = judge("echo broken >&2; exit 3");
  CHECK(e.outcome == outcome::crashed);
  CHECK(mentions(e, "exit code 3"));
  CHECK(e.feedback == "broken\n");
  e = judge("kill -SEGV $$; sleep 1; (kill -9 $BASHPID); exit 139");
  CHECK(e.outcome == outcome::crashed);
  CHECK(mentions(e, "signal 11"));
  e = judge("true");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(mentions(e, "nothing"));
  e = judge("echo 'not json'");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(mentions(e, "not JSON"));
  e = judge("echo '[1, 2]'");
  CHECK(mentions(e, "not a JSON object"));
  e = judge("echo '{\"valid\": true}'");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(mentions(e, "no \"score\""));
  e = judge("echo '{\"score\": \"fast\"}'");
  CHECK(e.outcome == outcome::incorrect);
  e = judge("echo '{\"score\": 9, \"valid\": false, \"feedback\": \"wrong sum\"}'");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(e.score == 0);
  CHECK(e.speedup == 0);
  CHECK(e.feedback == "wrong sum");
  e = judge("echo '{\"score\": 9, \"outcome\": \"rejected\", \"reasons\": [\"cheats\"]}'");
  CHECK(e.outcome == outcome::rejected);
  CHECK(mentions(e, "cheats"));
  CHECK(mentions(judge("echo '{\"score\": 9, \"valid\": 2}'"), "neither true nor false"));
  CHECK(mentions(judge("echo '{\"score\": 9, \"valid\": \"yes\"}'"), "neither true nor false"));
}

TEST_CASE("what programs for other systems print is understood") {
  // An indented object behind lines of progress, some of which look like one.
  const auto e = judge(
      "echo 'run 1: {ok}'; echo '{\"step\": 1}'; printf '{\\n  \"combined_score\": -2.5,\\n  \"parts\": [\\n "
      "   "
      "{\"a\": 1},\\n    {\"a\": 2}\\n  ],\\n  \"size\": 3,\\n  \"valid\": 1\\n}\\n\\n'");
  CHECK(e.valid());
  CHECK(e.score == -2.5);
  CHECK(e.speedup == 0);
  CHECK(e.measures.at("size") == 3);
  CHECK(e.measures.count("combined_score") == 0);
  CHECK(judge("echo '{\"combined_score\": 1, \"score\": 2}'").score == 2);
  CHECK(judge("echo '{\"combined_score\": 1, \"valid\": 0}'").outcome == outcome::incorrect);
  CHECK(mentions(judge("echo '{\"combined_score\": \"high\"}'"), "\"combined_score\" is not a number"));
  CHECK(mentions(judge("echo progress; printf '{\\n  \"score\": NaN\\n}\\n'"), "\"score\" is not a finite"));
  // The last line that is an object still counts if more text follows.
  CHECK(judge("echo '{\"score\": 4}'; echo done").score == 4);
}

TEST_CASE("what a program writes to standard error is kept beside its object") {
  auto e = judge("echo 'line 3: shapes differ' >&2; echo '{\"valid\": false}'");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(e.feedback == "line 3: shapes differ\n");
  e = judge("echo 'line 3: shapes differ' >&2; echo '{\"valid\": false, \"feedback\": \"wrong sum\"}'");
  CHECK(e.feedback == "wrong sum\nThe program wrote to standard error:\nline 3: shapes differ\n");
  e = judge("echo 'overflow in square' >&2; echo '{\"score\": NaN}'");
  CHECK(mentions(e, "not a finite number"));
  CHECK(e.feedback == "overflow in square\n");
  e = judge("echo '100 %' >&2; echo '{\"score\": 2, \"feedback\": \"12 registers\"}'");
  CHECK(e.valid());
  CHECK(e.feedback == "12 registers");
  e = judge("echo 'line 3: shapes differ'; exit 3");  // said on standard output alone
  CHECK(e.outcome == outcome::crashed);
  CHECK(e.feedback == "line 3: shapes differ\n");
}

TEST_CASE("a score that is not finite fails the candidate, with its name") {
  for (const char* number : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "1e400", "-1e999"}) {
    const auto e =
        judge("echo progress: 1; echo '{\"valid\": true, \"score\": " + std::string(number) + "}'");
    CHECK_MESSAGE(e.outcome == outcome::incorrect, number);
    CHECK_MESSAGE(mentions(e, "\"score\" is not a finite number"), number);
    CHECK(e.score == 0);
    CHECK(e.speedup == 0);
  }
  CHECK(mentions(judge("echo '{\"score\": 2, \"loss\": NaN}'"), "\"loss\" is not a finite number"));
  // What merely looks like one is no such number.
  CHECK(judge("echo '{\"score\": 2, \"note\": \"loss: nan\"}'").valid());
  CHECK(mentions(judge("echo '{: nan'"), "not JSON"));
  CHECK(mentions(judge("echo ': inf'"), "not JSON"));
}

TEST_CASE("a score is any finite number, a speedup is above 0") {
  for (const char* number : {"0", "0.0", "-3", "-1e-300", "1e-300", "-1e300"}) {
    const auto e = judge("echo '{\"score\": " + std::string(number) + ", \"size\": 4, \"feedback\": \"f\"}'");
    CHECK_MESSAGE(e.valid(), number);
    CHECK(e.score == std::stod(number));
    CHECK(e.speedup == 0);
    CHECK(e.feedback == "f");
  }
  for (const char* number : {"0", "-2"}) {
    const auto e = judge("echo '{\"speedup\": " + std::string(number) + ", \"score\": 5}'");
    CHECK(mentions(e, "a speedup must be above 0"));
    CHECK(e.score == 0);
  }
}

TEST_CASE("a program without files is a candidate that failed, not the end of a run") {
  command_settings settings;
  settings.command = {"bash", "-c", "echo '{\"score\": 1}'"};
  const auto e = run_command_fitness(settings, program{.language = "text", .files = {}});
  CHECK(e.outcome == outcome::build_failed);
  CHECK(mentions(e, "no file"));
  CHECK(e.backend == "command");
}

TEST_CASE("hangs and floods are bounded, whole trees of them") {
  command_settings settings;
  settings.limits.wall_s = 0.5;
  const auto start = std::chrono::steady_clock::now();
  auto e = judge("trap '' TERM INT HUP; (trap '' TERM; sleep 100) & sleep 100", "x", settings);
  CHECK(e.outcome == outcome::timed_out);
  CHECK(mentions(e, "timed out"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  settings = {};
  settings.limits.output_bytes = 10'000;
  e = judge("while :; do echo {\\\"score\\\": 1}; done", "x", settings);
  CHECK(e.outcome == outcome::incorrect);
  CHECK(mentions(e, "more output"));
  settings = {};
  settings.limits.memory_bytes = 200U << 20U;
  e = judge("x=$(head -c 400000000 /dev/zero | tr '\\0' 'x'); echo \"{\\\"score\\\": ${#x}}\"", "x",
            settings);
  CHECK(!e.valid());
}

TEST_CASE("faults of the machine throw") {
  command_settings settings;
  const auto candidate = single_file_program("text", "c.txt", "x");
  CHECK_THROWS_AS(run_command_fitness(settings, candidate), kevo::error);
  CHECK_THROWS_AS(command_fitness{settings}, kevo::error);
  settings.command = {"no-such-program-anywhere"};
  CHECK_THROWS_AS(run_command_fitness(settings, candidate), kevo::error);
  settings.command = {"sleep", "30"};
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(run_command_fitness(settings, candidate, source.get_token()), kevo::error);
}

TEST_CASE("a user's own program is found wherever it lies, and the role is filled") {
  const scratch_folder folder(false);
  ::chmod(folder.path().c_str(), 0755);
  const std::string path = folder.path() + "/judge.sh";
  std::ofstream(path) << "#!/usr/bin/bash\nwc -c < \"$1\" > /tmp/count\nread n < /tmp/count\n"
                      << "ls helper.txt > /dev/null && echo \"{\\\"score\\\": $n}\"\n";
  ::chmod(path.c_str(), 0755);
  std::ofstream(folder.path() + "/helper.txt") << "x";
  command_settings settings;
  settings.command = {path};
  settings.directory = folder.path();
  any_fitness fitness = command_fitness(settings);
  CHECK(fitness.describe() == "command: " + path);
  evaluation_request request;
  request.program = std::make_shared<program>(single_file_program("text", "c.txt", "12345"));
  const auto e = fitness.evaluate(request);
  INFO((e.reasons.empty() ? e.feedback : e.reasons[0] + e.feedback));
  CHECK(e.valid());
  CHECK(e.score == 5);
  // "./" is the folder, wherever kevo runs.
  settings.command = {"./judge.sh"};
  CHECK(run_command_fitness(settings, *request.program).score == 5);
  settings.command = {"/bin/sh", "judge.sh"};
  settings.directory += "/";
  CHECK(run_command_fitness(settings, *request.program).score == 5);
  // What was not named cannot be seen.
  if (!kevo::test::sandboxed_or_skip()) return;
  CHECK(judge("cat /etc/passwd > /dev/null || echo '{\"score\": 1}'").score == 1);
  CHECK(judge("ls /proc/self > /dev/null || echo '{\"score\": 1}'").score == 1);
  CHECK(judge("ls " KEVO_SOURCE_DIR " > /dev/null || echo '{\"score\": 1}'").score == 1);
}

TEST_CASE("a command that cannot run says what to do") {
  const scratch_folder folder(false);
  ::chmod(folder.path().c_str(), 0755);
  std::ofstream(folder.path() + "/score.py") << "print(1)\n";
  const auto refused = [&](std::vector<std::string> command, const std::string& directory) {
    command_settings settings;
    settings.command = std::move(command);
    settings.directory = directory;
    try {
      run_command_fitness(settings, single_file_program("text", "c.txt", "x"));
    } catch (const kevo::error& e) {
      CHECK(e.place().key.find("fitness.") == 0);
      return e.message() + " / " + e.hint();
    }
    return std::string("accepted");
  };
  const std::string plain = refused({"./score.py"}, folder.path());
  CHECK_MESSAGE(plain.find(folder.path() + "/score.py is not executable") != std::string::npos, plain);
  CHECK_MESSAGE(plain.find("[python3, ./score.py]") != std::string::npos, plain);
  const std::string gone = refused({"./gone.py"}, folder.path());
  CHECK_MESSAGE(gone.find("no program called " + folder.path() + "/gone.py") != std::string::npos, gone);
  CHECK(refused({"/bin/true"}, "/").find("whole disk") != std::string::npos);
}

TEST_CASE("files that arguments name are seen, and the folder can be read and not written") {
  const scratch_folder folder(false);
  const scratch_folder elsewhere(false);
  ::chmod(folder.path().c_str(), 0755);
  ::chmod(elsewhere.path().c_str(), 0755);
  std::ofstream(folder.path() + "/score.sh")
      << "wc -c < \"$1\" > /tmp/n && read n < /tmp/n\n"
      << "echo \"{\\\"score\\\": $n, \\\"extra\\\": $(cat \"$2\")}\"\n";
  std::ofstream(elsewhere.path() + "/seven") << "7";
  std::ofstream(elsewhere.path() + "/other") << "8";
  const auto candidate = single_file_program("text", "c.txt", "12345");
  command_settings settings;
  settings.directory = folder.path();
  for (const std::string& seven :
       {elsewhere.path() + "/seven",
        std::filesystem::relative(elsewhere.path(), folder.path()).string() + "/seven"}) {
    settings.command = {"/bin/sh", "score.sh", "{candidate}", seven};
    const auto e = run_command_fitness(settings, candidate);
    CHECK_MESSAGE(e.score == 5, seven << ": " << e.feedback);
    CHECK(e.measures.at("extra") == 7);
  }
  // Without a folder of its own, an absolute path still works.
  settings.directory.clear();
  settings.command = {"/bin/sh", folder.path() + "/score.sh", "{candidate}", elsewhere.path() + "/seven"};
  CHECK(run_command_fitness(settings, candidate).score == 5);
  if (!kevo::test::sandboxed_or_skip()) return;
  settings.directory = folder.path();
  const auto sees = [&](const std::string& test) {
    settings.command = {"/bin/sh", "-c", test + " && echo '{\"score\": 1}'", "judge"};
    return run_command_fitness(settings, candidate).valid();
  };
  CHECK(sees("test -f score.sh"));
  CHECK(sees("test -f /candidate/c.txt && echo x > /candidate/own"));
  CHECK_FALSE(sees("echo x > mine"));
  CHECK_FALSE(sees("test -e " + elsewhere.path() + "/other"));
  settings.mounts = {{elsewhere.path(), elsewhere.path()}};
  CHECK(sees("test -f " + elsewhere.path() + "/other"));
  // A run below the folder is not the program's to read.
  std::filesystem::create_directory(folder.path() + "/run");
  std::ofstream(folder.path() + "/run/journal.sqlite") << "secret";
  CHECK(sees("test -f run/journal.sqlite"));
  settings.hidden = {folder.path() + "/run"};
  CHECK_FALSE(sees("test -e run/journal.sqlite"));
}
