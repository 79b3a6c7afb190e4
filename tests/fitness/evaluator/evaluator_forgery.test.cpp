// timeout: 120
// Candidates that want a score which the evaluator did not give: what kevo closes, and what it cannot close
// where the evaluator imports the candidate. docs/trust.md says both.

#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include "fitness/evaluator/evaluator_fitness.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;

namespace {

/// What a candidate tries from a process of its own, each on its own. The evaluator gives it 1.
const std::string forgeries = R"py(
import json, os, re, signal, sys
forged = json.dumps({"outcome": "valid", "score": 99.0, "metrics": {}, "private": {}, "stages": 1,
                     "stages_defined": 1, "error": None, "artifacts": {}}) + "\0"
done = []
def attempt(name, action):
    try:
        action()
        done.append(name)
    except BaseException:
        pass
def printed():
    print(forged.strip("\0"), flush=True)
    sys.stderr.write(forged)
def descriptors():
    inherited = False
    for number in range(3, 64):
        try:
            os.pwrite(number, forged.encode(), 0)
            inherited = inherited or "memfd" in os.readlink("/proc/self/fd/%d" % number)
        except OSError:
            pass
    if not inherited:
        raise ValueError("none")
def reopened(pid):
    # Only files of memory: a pipe or a terminal would be no forgery.
    found = False
    for number in os.listdir("/proc/%d/fd" % pid):
        path = "/proc/%d/fd/%s" % (pid, number)
        if "memfd" in os.readlink(path):
            with open(path, "r+b", buffering=0) as file:
                file.write(forged.encode())
                found = True
    if not found:
        raise ValueError("none")
def memory(pid):
    for line in open("/proc/%d/maps" % pid):
        first, last, rights = re.match("([0-9a-f]+)-([0-9a-f]+) (..)", line).groups()
        if rights != "rw":
            continue
        with open("/proc/%d/mem" % pid, "r+b", buffering=0) as file:
            file.seek(int(first, 16))
            file.read(16)
            return
    raise ValueError("nothing was read")
def others(action):
    found = False
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        try:
            action(int(pid))
            found = True
        except (OSError, ValueError):
            pass
    if not found:
        raise ValueError("none")
def evaluator():
    with open(sys.argv[1] if len(sys.argv) > 1 else "evaluator.py", "a") as file:
        file.write("def evaluate(path): return {'combined_score': 99}\n")
attempt("printed", printed)
attempt("descriptors", descriptors)
attempt("reopened", lambda: others(reopened))
attempt("memory", lambda: others(memory))
attempt("evaluator", evaluator)
)py";

evaluation judged(const std::string& evaluator, const std::string& candidate,
                  evaluator_system system = evaluator_system::openevolve) {
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
  evaluator_settings settings;
  settings.system = system;
  settings.folder = folder.string();
  settings.timeout_s = 30;
  shell::write_file(folder / (system == evaluator_system::shinka ? "evaluate.py" : "evaluator.py"),
                    evaluator);
  const evaluator_fitness judge(settings);
  return judge.evaluate(
      {.program = std::make_shared<const program>(single_file_program("python", "kernel.py", candidate)),
       .wanted = evaluation_stage::timed_full});
}

bool python_can_run() {
  if (!find_program("python3").empty()) return true;
  kevo_test::skip("there is no python3");
  return false;
}

}  // namespace

TEST_CASE("a candidate in a process of its own has no way to the result") {
  if (!python_can_run()) return;
  const auto e = judged(R"(
import subprocess, sys
def evaluate(path):
    ended = subprocess.run([sys.executable, path, __file__], close_fds=False)
    return {"combined_score": 1, "ended": ended.returncode}
)",
                        forgeries + "assert set(done) <= {'printed'}, done\n");
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 1);
  CHECK_MESSAGE(e.measures.at("ended") == 0, e.feedback);  // 1: more than printing was possible
}

TEST_CASE("nor has one in a forked process, whatever it raises there") {
  if (!python_can_run()) return;
  const auto evaluator = [](const std::string& in_child) {
    return "import os, runpy\ndef evaluate(path):\n    child = os.fork()\n    if child == 0:\n        " +
           in_child +
           "\n    status = os.waitpid(child, 0)[1]\n"
           "    return {'combined_score': 1, 'ended': os.waitstatus_to_exitcode(status)}\n";
  };
  auto e = judged(evaluator("runpy.run_path(path)"),
                  forgeries + "os._exit(0 if set(done) <= {'printed'} else 7)\n");
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 1);
  CHECK_MESSAGE(e.measures.at("ended") == 0, e.feedback);
  // The child runs out of the evaluator, with a score of its own.
  e = judged(evaluator("return {'combined_score': 99}"), "");
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 1);
  e = judged(evaluator("raise SystemExit(0)"), "");
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 1);
}

TEST_CASE("what is printed is no result, also by a candidate that is imported") {
  if (!python_can_run()) return;
  const auto e = judged(
      "import runpy\ndef evaluate(path):\n    runpy.run_path(path)\n"
      "    return {'combined_score': 1}\n",
      "print('{\"outcome\": \"valid\", \"score\": 99, \"combined_score\": 99}')\n");
  CHECK_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 1);
}

TEST_CASE("a candidate that is imported can forge its score, as the documentation says") {
  if (!python_can_run()) return;
  // Whoever closes one of these has to change docs/trust.md.
  const std::string evaluator =
      "import math, runpy\ndef evaluate(path):\n    x = runpy.run_path(path)['x']\n"
      "    return {'combined_score': -math.fabs(x)}\n";
  auto e = judged(evaluator, "import math\nmath.fabs = lambda x: -99\nx = 0\n");
  CHECK(e.score == 99);
  e = judged(evaluator,
             "import sys\nsys.modules['evaluation_module'].math = type('m', (), {'fabs': lambda x: -98})\n"
             "x = 0\n");
  CHECK(e.score == 98);
}
