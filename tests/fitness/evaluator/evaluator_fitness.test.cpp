// timeout: 120
#include "fitness/evaluator/evaluator_fitness.hpp"

#include <filesystem>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/evaluator/interpreter.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;

namespace {

/// A folder with an evaluator, and what judges with it.
struct judged_folder {
  explicit judged_folder(const std::string& evaluator,
                         evaluator_system system = evaluator_system::openevolve) {
    ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
    settings.system = system;
    settings.folder = folder.string();
    settings.timeout_s = 30;
    shell::write_file(folder / (system == evaluator_system::shinka ? "evaluate.py" : "evaluator.py"),
                      evaluator);
  }
  evaluation judge(const std::string& text = "x = 1\n",
                   evaluation_stage wanted = evaluation_stage::timed_full) const {
    const evaluator_fitness judge(settings);
    return judge.evaluate(
        {.program = std::make_shared<const program>(single_file_program("python", "kernel.py", text)),
         .wanted = wanted});
  }
  shell::scratch folder;
  evaluator_settings settings;
};

bool mentions(const evaluation& e, const std::string& what) {
  for (const auto& reason : e.reasons) {
    if (reason.find(what) != std::string::npos) return true;
  }
  return false;
}

bool can_run() {
  if (!find_program("python3").empty()) return true;
  kevo_test::skip("there is no python3");
  return false;
}

}  // namespace

TEST_CASE("an evaluator's metrics, flags and artifacts become an evaluation") {
  if (!can_run()) return;
  const judged_folder made(R"(
import sys
from openevolve.evaluation_result import EvaluationResult
import beside
def evaluate(path):
    print("{\"combined_score\": 99}")
    print("progress", file=sys.stderr)
    return EvaluationResult(metrics={"combined_score": -1.5, "size": len(open(path).read()), "fast": True},
                            artifacts={"advice": "shorter\nis better", "bytes": b"raw", "n": 3})
)");
  shell::write_file(made.folder / "beside.py", "");
  const auto e = made.judge("x = 1\n");
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == -1.5);  // any sign
  CHECK(e.speedup == 0);
  CHECK(e.measures.at("size") == 6);
  CHECK(e.measures.at("fast") == 1);
  CHECK(e.feedback == "advice:\nshorter\nis better\nbytes: raw\nn: 3\n");
  CHECK(e.stage == evaluation_stage::timed_full);
  CHECK(e.backend == "openevolve");
  CHECK(made.judge("x = 1\n", evaluation_stage::confirmed).stage == evaluation_stage::confirmed);
}

TEST_CASE("without combined_score the score is the mean of the numbers less the features") {
  if (!can_run()) return;
  judged_folder made(
      "def evaluate(path):\n    return {'a': 1, 'b': 0.5, 'size': 100, 'ok': True, 'note': 'x'}\n");
  made.settings.features = {"size"};
  CHECK(made.judge().score == 0.75);
  made.settings.features = {"a", "b", "size"};  // nothing is left: all count
  CHECK(made.judge().score == doctest::Approx(101.5 / 3));
}

TEST_CASE("stages follow each other as far as their scores reach") {
  if (!can_run()) return;
  judged_folder made(R"(
def evaluate(path):
    return {"combined_score": 7}
def evaluate_stage1(path):
    return {"combined_score": float(open(path).read()), "one": 1, "error": 5}
def evaluate_stage2(path):
    if float(open(path).read()) == 3:
        raise ValueError("stage two is broken")
    return {"combined_score": 10, "two": True}
def evaluate_stage3(path):
    return {"combined_score": 20}
)");
  made.settings.thresholds = {1.0, 10.5};
  auto e = made.judge("0.5");
  CHECK(e.score == 0.5);
  CHECK(e.measures.at("stages") == 1);
  e = made.judge("2");
  CHECK(e.score == 10);
  CHECK(e.measures.at("stages") == 2);
  CHECK(e.measures.at("one") == 1);
  CHECK(e.measures.at("two") == 1);
  CHECK(e.measures.count("error") == 0);
  e = made.judge("2", evaluation_stage::checked);  // the cheapest look
  CHECK(e.score == 2);
  CHECK(e.stage == evaluation_stage::checked);
  e = made.judge("3");  // a later stage that fails leaves the score of those before it
  CHECK(e.valid());
  CHECK(e.score == 3);
  CHECK(has(e.feedback, "stage two is broken"));
  CHECK(made.judge("text").outcome == outcome::crashed);
  made.settings.thresholds = {1.0, 10.0};
  CHECK(made.judge("2").score == 20);
  made.settings.cascade = false;
  CHECK(made.judge("2").score == 7);
}

TEST_CASE("every way to fail has its outcome, reason and feedback") {
  if (!can_run()) return;
  const auto judge = [](const std::string& body) {
    judged_folder made(
        "import os, sys, time\nasync def later():\n    return {'combined_score': 4}\n"
        "def evaluate(path):\n    " +
        body + "\n");
    made.settings.timeout_s = 1;
    return made.judge();
  };
  auto e = judge("raise ValueError('no such size')");
  CHECK(e.outcome == outcome::crashed);
  CHECK(mentions(e, "ValueError: no such size"));
  CHECK(has(e.feedback, "evaluator.py"));
  e = judge("print('last words', file=sys.stderr); os._exit(3)");
  CHECK(e.outcome == outcome::crashed);
  CHECK(mentions(e, "exit code 3"));
  CHECK(e.feedback == "last words\n");
  CHECK(judge("os.kill(os.getpid(), 11); import ctypes; ctypes.string_at(0)").outcome == outcome::crashed);
  e = judge("sys.exit(0)");
  CHECK(e.outcome == outcome::crashed);
  e = judge("time.sleep(60)");
  CHECK(e.outcome == outcome::timed_out);
  CHECK(e.cost.wall_s < 10);
  e = judge("return {'combined_score': float('nan')}");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(mentions(e, "not a finite number"));
  e = judge("return 3");
  CHECK(e.outcome == outcome::crashed);
  CHECK(mentions(e, "returned int"));
  CHECK(judge("return later()").score == 4);
  CHECK(judge("return {}").score == 0);
  e = judge("return {'combined_score': 0.0, 'error': 'no output'}");
  CHECK(e.valid());
  CHECK(e.score == 0);
  CHECK(e.feedback == "error: no output\n");
  CHECK(judge("print('x' * 20_000_000); return {'combined_score': 1}").valid() == false);
}

TEST_CASE("an evaluator finds what programs expect of a machine, and no network") {
  if (!can_run()) return;
  judged_folder made(R"(
import multiprocessing, os, pathlib, pwd, socket, subprocess, tempfile
from concurrent.futures import ProcessPoolExecutor
def square(n):
    return n * n
def evaluate(path):
    found = {}
    with ProcessPoolExecutor(2) as pool:
        found["pool"] = sum(pool.map(square, range(4)))
    found["home"] = os.access(os.path.expanduser("~"), os.W_OK)
    found["user"] = len(pwd.getpwuid(os.getuid()).pw_name) > 0 and len(pathlib.Path.home().parts) > 0
    shared = os.statvfs("/dev/shm")
    found["shm"] = shared.f_blocks * shared.f_frsize
    found["proc"] = os.path.exists("/proc/self/status")
    found["others"] = len([p for p in os.listdir("/proc") if p.isdigit()])
    found["tool"] = subprocess.run(["sort", "-n"], input="2\n1\n", capture_output=True, text=True).stdout == "1\n2\n"
    found["candidate"] = subprocess.run(["sh", "-c", "cat <" + path], capture_output=True, text=True).stdout == "x = 1\n"
    found["temporary"] = path.startswith("/tmp/") and path.endswith(".py")
    found["folder"] = os.access(os.path.dirname(os.path.abspath(__file__)), os.W_OK)
    try:
        socket.create_connection(("127.0.0.1", 9), 1)
        found["network"] = True
    except ConnectionRefusedError:
        found["network"] = True
    except OSError:
        found["network"] = False
    return {"combined_score": 1, **found}
)");
  made.settings.sandbox = sandbox_mode::best;
  made.settings.limits.shared_memory_bytes = 32U << 20U;
  const auto e = made.judge();
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.measures.at("pool") == 14);
  CHECK(e.measures.at("home") == 1);
  CHECK(e.measures.at("user") == 1);
  CHECK(e.measures.at("proc") == 1);
  CHECK(e.measures.at("tool") == 1);
  CHECK(e.measures.at("candidate") == 1);
  if (has(e.context.at("sandbox"), "incomplete")) {
    kevo_test::skip("no namespaces here: what the sandbox holds is not looked at");
    return;
  }
  CHECK(e.measures.at("temporary") == 1);
  CHECK(e.measures.at("shm") == 32U << 20U);
  CHECK(e.measures.at("others") < 10);
  CHECK(e.measures.at("folder") == 0);
  CHECK(e.measures.at("network") == 0);
}

TEST_CASE("the interpreter of a virtual environment is the one that judges") {
  if (!can_run()) return;
  judged_folder made(
      "import sys, only_there\ndef evaluate(path):\n"
      "    return {'combined_score': only_there.value, 'inside': sys.prefix != sys.base_prefix}\n");
  // What `python3 -m venv` makes, without its second.
  const std::string python = find_interpreter("python3").path;
  const auto asked = shell::run({python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"}, "/");
  const std::string version = asked.out.substr(0, asked.out.find('\n'));
  const std::filesystem::path venv = std::filesystem::path(made.folder.string() + "-venv");
  shell::write_file(venv / "pyvenv.cfg",
                    "home = " + std::filesystem::path(python).parent_path().string() + "\n");
  shell::write_file(venv / ("lib/python" + version) / "site-packages/only_there.py", "value = 5\n");
  std::filesystem::create_directories(venv / "bin");
  std::filesystem::create_symlink(python, venv / "bin/python");
  made.settings.python = (venv / "bin/python").string();
  const auto e = made.judge();
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 5);
  CHECK(e.measures.count("inside") == 1);
  std::filesystem::remove_all(venv);
  CHECK_THROWS_AS(made.judge(), kevo::error);  // it is gone
}

TEST_CASE("ShinkaEvolve's evaluators call a function of the program several times") {
  if (!can_run()) return;
  const judged_folder made(R"(
import argparse
from shinka.core import run_shinka_eval
def check(value):
    return (value >= 0, "negative")
def total(values):
    return {"combined_score": sum(values), "public": {"runs": len(values)}, "private": {"secret": 42},
            "text_feedback": "more is better", "extra_data": object()}
parser = argparse.ArgumentParser()
parser.add_argument("--program_path")
parser.add_argument("--results_dir")
given = parser.parse_args()
run_shinka_eval(program_path=given.program_path, results_dir=given.results_dir, experiment_fn_name="value",
                num_runs=3, get_experiment_kwargs=lambda number: {"n": number + 1}, validate_fn=check,
                aggregate_metrics_fn=total, run_workers=2)
)",
                           evaluator_system::shinka);
  auto e = made.judge("def value(n):\n    return 10 * n\n");
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 60);
  CHECK(e.measures.at("runs") == 3);
  CHECK(e.measures.at("num_valid_runs") == 3);
  CHECK(e.measures.count("secret") == 0);  // not for those who write programs
  CHECK(e.context.at("private secret") == "42");
  CHECK(e.feedback == "text_feedback: more is better\n");
  e = made.judge("def value(n):\n    return 1 - n\n");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(mentions(e, "Validation failed: negative"));
  e = made.judge("def other(n):\n    return n\n");
  CHECK(e.outcome == outcome::incorrect);
  CHECK(has(e.feedback, "value"));
}

TEST_CASE("ShinkaEvolve's early stop ends the runs once the score is certain") {
  if (!can_run()) return;
  const auto judge = [](const std::string& rule, const std::string& value) {
    return judged_folder(
               "import sys\nfrom shinka.core import run_shinka_eval\n"
               "from shinka.utils.eval_stop import EarlyStopMethod, create_early_stop_method\n"
               "run_shinka_eval(sys.argv[2], sys.argv[4], 'value', 12,\n"
               "    get_experiment_kwargs=lambda number: {'n': number},\n"
               "    aggregate_metrics_fn=lambda all: {'combined_score': float(len(all))},\n"
               "    early_stop_threshold=5.0, " +
                   rule + ")\n",
               evaluator_system::shinka)
        .judge("def value(n):\n    return " + value + "\n");
  };
  CHECK(judge("early_stop_method=None", "1").score == 12);
  CHECK(judge("early_stop_method='none'", "1").score == 12);
  CHECK(judge("early_stop_method='bayesian'", "1").score == 3);
  CHECK(judge("early_stop_method='bayesian', early_stop_kwargs={'min_trials': 2}", "1").score == 2);
  CHECK(judge("early_stop_method='hybrid'", "9.0").score == 3);
  CHECK(judge("early_stop_method='ci', early_stop_kwargs={'min_trials': 4}", "1").score == 4);
  // By hand: three scores 4, 5, 6 have the mean 5; at six of them (mean 5, error 0.37) it is still open.
  CHECK(judge("early_stop_method='ci'", "4 + n % 3").score == 12);
  // Scores 3, 5: P(beats) = Phi(-1) = 0.16; 3, 5, 3: Phi(-2) = 0.023.
  CHECK(judge("early_stop_method=create_early_stop_method('bayesian', min_trials=2)", "3 + 2 * (n % 2)")
            .score == 3);
  CHECK(judge("early_stop_method='bayesian', early_stop_score_fn=lambda v: v['s']", "{'s': 8}").score == 3);
  const auto e = judge("early_stop_method='bayesian', run_workers=2", "1");
  CHECK(e.outcome == outcome::crashed);
  CHECK(mentions(e, "sequential mode"));
  CHECK(mentions(judge("early_stop_method='often'", "1"), "Unknown early stop method"));
}

TEST_CASE("ShinkaEvolve's evaluators may write their results themselves") {
  if (!can_run()) return;
  const std::string head = "import json, os, sys\nprogram, results = sys.argv[2], sys.argv[4]\n";
  const auto judge = [&](const std::string& body) {
    return judged_folder(head + body, evaluator_system::shinka).judge();
  };
  const std::string write =
      "json.dump({'combined_score': 2.5, 'public': {}}, open(results + '/metrics.json', 'w'))\n"
      "json.dump({'correct': True, 'error': None}, open(results + '/correct.json', 'w'))\n";
  CHECK(judge(write).score == 2.5);
  const auto e = judge("print('nothing is written')\nsys.exit('the compiler is missing')\n");
  CHECK(e.outcome == outcome::crashed);
  CHECK(mentions(e, "the compiler is missing"));
}

TEST_CASE("ShinkaEvolve's evaluators find the command of the Wolfram Engine") {
  if (!can_run()) return;
  judged_folder made(R"(
import json, subprocess, sys
from shinka.utils.wolfram import build_wolframscript_argv, is_wolframscript_available, wolframscript_bin
program, results = sys.argv[2], sys.argv[4]
here = is_wolframscript_available()
said = subprocess.run(build_wolframscript_argv(["-file", program]), capture_output=True, text=True).stdout.strip() if here else ""
json.dump({"combined_score": float(here), "public": {"command": wolframscript_bin(), "said": said}},
          open(results + "/metrics.json", "w"))
json.dump({"correct": here, "error": None}, open(results + "/correct.json", "w"))
)",
                     evaluator_system::shinka);
  auto e = made.judge();
  CHECK_MESSAGE(e.outcome == outcome::incorrect, e.feedback);
  CHECK(has(e.feedback, "command: wolframscript\n"));
  made.settings.environment = {"WOLFRAMSCRIPT_BIN=echo"};
  e = made.judge();
  CHECK_MESSAGE(e.score == 1, e.feedback);
  CHECK(has(e.feedback, "command: echo\n"));
  CHECK(has(e.feedback, "said: -file /"));
}

TEST_CASE("what is missing is said before anything is judged") {
  judged_folder made("");
  made.settings.evaluator = "other.py";
  CHECK_THROWS_WITH_AS(made.judge(), doctest::Contains("there is no evaluator"), kevo::error);
  made.settings.evaluator.clear();
  made.settings.python = "no-such-python";
  CHECK_THROWS_WITH_AS(made.judge(), doctest::Contains("there is no interpreter"), kevo::error);
}
