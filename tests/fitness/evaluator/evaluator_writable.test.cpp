// timeout: 180
// Evaluators that write to their own folder: each evaluation has its own copy of what they write, the user's
// folder stays as it is, and no candidate can change what judges it or the next one.

#include <algorithm>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/evaluator/evaluator_fitness.hpp"
#include "fitness/evaluator/writable_folders.hpp"
#include "fitness/sandbox/open_folders.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;
namespace fs = std::filesystem;

namespace {

struct writing_folder {
  explicit writing_folder(const std::string& evaluator,
                          evaluator_system system = evaluator_system::openevolve) {
    ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
    settings.system = system;
    settings.folder = folder.string();
    settings.timeout_s = 30;
    shell::write_file(folder / (system == evaluator_system::shinka ? "evaluate.py" : "evaluator.py"),
                      evaluator);
  }
  void add(const std::string& name, const std::string& text) const {
    shell::write_file(folder / name, text);
    for (fs::path at = (folder / name).parent_path(); at != fs::path(folder.string()); at = at.parent_path())
      ::chmod(at.c_str(), 0755);
  }
  /// All names below the folder, and the contents of the files.
  std::vector<std::string> snapshot() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder.string())) {
      all.push_back(entry.path().string());
      if (entry.is_regular_file()) all.back() += ": " + shell::read_file(entry.path());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  shell::scratch folder;
  evaluator_settings settings;
};

evaluation judged_by(const evaluator_fitness& judge, const std::string& text = "x = 1\n") {
  return judge.evaluate(
      {.program = std::make_shared<const program>(single_file_program("python", "kernel.py", text)),
       .wanted = evaluation_stage::timed_full});
}

bool sandbox_can_run() {
  if (find_program("python3").empty()) {
    kevo_test::skip("there is no python3");
    return false;
  }
  if (!contains(sandbox_mode::best)) {
    kevo_test::skip("no namespaces here");
    return false;
  }
  return true;
}

/// Counts the files that earlier evaluations left, and leaves one.
const std::string writes_to_temp = R"py(
import os, pathlib
TEMP = pathlib.Path(__file__).parent / "temp"
def evaluate(path):
    os.makedirs(TEMP / "solutions", exist_ok=True)
    there = len(os.listdir(TEMP / "solutions"))
    (TEMP / "solutions" / "mine.txt").write_text("x" * 1000)
    os.rename(TEMP / "solutions" / "mine.txt", TEMP / "solutions" / "done.txt")
    return {"combined_score": 10 + there, "size": os.path.getsize(TEMP / "solutions" / "done.txt")}
)py";

}  // namespace

TEST_CASE("an evaluator writes to a subfolder, each evaluation to its own") {
  if (!sandbox_can_run()) return;
  const writing_folder made(writes_to_temp);
  const auto before = made.snapshot();
  const evaluator_fitness judge(made.settings);
  for (int i = 0; i < 2; ++i) {
    const auto e = judged_by(judge);
    REQUIRE_MESSAGE(e.valid(), e.feedback);
    CHECK(e.score == 10);  // nothing is left from the first
    CHECK(e.measures.at("size") == 1000);
    CHECK(e.context.at("writable") == "temp");
    CHECK_FALSE(has(e.feedback, "read-only"));
  }
  CHECK(made.snapshot() == before);
}

TEST_CASE("what the host has in such a subfolder can be read and not changed") {
  if (!sandbox_can_run()) return;
  const writing_folder made(writes_to_temp);
  made.add("temp/solutions/old.txt", "old");
  made.add("temp/points/8.txt", "8");
  const auto before = made.snapshot();
  const evaluator_fitness judge(made.settings);
  const auto e = judged_by(judge);
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score == 11);
  CHECK(e.context.at("writable") == "temp/solutions");
  CHECK(made.snapshot() == before);
}

TEST_CASE("ShinkaEvolve's evaluators can write to subfolders, too, and settings name them ahead") {
  if (!sandbox_can_run()) return;
  writing_folder made(R"py(
import json, os, sys
os.makedirs("out/deep", exist_ok=True)
open("out/deep/log.txt", "w").write("done")
json.dump({"combined_score": os.path.getsize("out/deep/log.txt")}, open(sys.argv[4] + "/metrics.json", "w"))
json.dump({"correct": True, "error": None}, open(sys.argv[4] + "/correct.json", "w"))
)py",
                      evaluator_system::shinka);
  auto e = judged_by(evaluator_fitness(made.settings));
  CHECK_MESSAGE(e.score == 4, e.feedback);
  CHECK(e.context.at("writable") == "out");
  made.settings.writable = {"out/deep/"};
  e = judged_by(evaluator_fitness(made.settings));
  CHECK_MESSAGE(e.score == 4, e.feedback);
  CHECK(e.context.at("writable") == "out/deep");
  CHECK_FALSE(fs::exists(made.folder / "out"));
  for (const char* wrong : {"", ".", "..", "../other", "/tmp", "a/../.."}) {
    made.settings.writable = {wrong};
    CHECK_THROWS_AS(evaluator_fitness{made.settings}, kevo::error);
  }
}

TEST_CASE("no candidate changes the evaluator, its modules or its data, for itself or for the next one") {
  if (!sandbox_can_run()) return;
  // The evaluator looks at its data and at a module only after the candidate has run, in a process of its
  // own.
  const writing_folder made(R"py(
import json, os, pathlib, subprocess, sys
HERE = pathlib.Path(__file__).parent
TEMP = HERE / "temp"
def evaluate(path):
    TEMP.mkdir(exist_ok=True)
    there = sorted(os.listdir(TEMP))
    (TEMP / "mine").mkdir()
    ran = subprocess.run([sys.executable, path, str(HERE), "3"], capture_output=True, text=True)
    import checker
    import statistics
    expected = json.loads((HERE / "data" / "expected.json").read_text())
    old = (TEMP / "old.json").read_text()
    return {"combined_score": checker.points() + statistics.mean([expected["value"]]) + (old != "1"),
            "left": len(there), "ran": ran.returncode, "artifacts": {"done": ran.stdout, "trace": ran.stderr}}
)py");
  made.add("checker.py", "def points():\n    return 1\n");
  made.add("data/expected.json", R"({"value": 2})");
  made.add("temp/old.json", "1");
  const auto before = made.snapshot();
  const std::string exploit = R"py(
import os, pathlib, sys
here = pathlib.Path(sys.argv[1])
done = []
def attempt(name, action, *arguments):
    try:
        action(*arguments)
        done.append(name)
    except OSError:
        pass
cheat = "def points():\n    return 99\ndef mean(all):\n    return 99\ndef evaluate(path):\n    return {'combined_score': 99}\n"
for name in ("evaluator.py", "checker.py", "data/expected.json", "temp/old.json"):
    attempt("write " + name, (here / name).write_text, '{"value": 99}' if "json" in name else cheat)
    attempt("chmod " + name, os.chmod, here / name, 0o777)
    attempt("unlink " + name, os.unlink, here / name)
    attempt("rename " + name, os.rename, here / name, here / "temp" / "away")
    (here / "temp" / "mine" / "new").write_text(cheat)
    attempt("replace " + name, os.replace, here / "temp" / "mine" / "new", here / name)
    attempt("link " + name, os.link, here / name, here / "temp" / "hard")
for name in ("checker/__init__.py", "statistics.py", "statistics/__init__.py", "__pycache__/checker.py", "new.txt",
             "data/new.txt"):
    attempt("folder of " + name, os.mkdir, (here / name).parent)
    attempt("add " + name, (here / name).write_text, cheat)
for name in ("data", "temp", ".")[: int(sys.argv[2])]:
    attempt("rename folder " + name, os.rename, here / name, here / "temp" / "moved")
    attempt("move folder " + name, os.rename, here / name, str(here / name) + "-away")
    attempt("remove folder " + name, os.rmdir, here / name)
(here / "temp" / "left.txt").write_text("for the next one")
print(done)
)py";
  // Where nothing prevents it, it works.
  const shell::scratch open;
  fs::copy(made.folder.string(), open.string(), fs::copy_options::recursive);
  shell::write_file(open / "temp/mine/exploit.py", exploit);
  const auto free =
      shell::run({find_program("python3"), open / "temp/mine/exploit.py", open.string(), "1"}, open.string());
  for (const char* deed :
       {"write evaluator.py", "replace checker.py", "unlink data/expected.json", "write temp/old.json",
        "add checker/__init__.py", "add statistics.py", "rename folder data"})
    CHECK_MESSAGE(has(free.out, deed), free.out, free.err);

  const evaluator_fitness judge(made.settings);
  for (const auto& text : {exploit, exploit, std::string("print([])\n")}) {
    const auto e = judged_by(judge, text);
    REQUIRE_MESSAGE(e.valid(), e.feedback);
    CHECK(e.measures.at("ran") == 0);
    CHECK_MESSAGE(has(e.feedback, "done:\n[]\n"), e.feedback);
    CHECK(e.score == 3);
    CHECK(e.measures.at("left") == 1);  // old.json alone
    CHECK(made.snapshot() == before);
  }
}

TEST_CASE("nor does one that is imported into the evaluator's process, for the next one") {
  if (!sandbox_can_run()) return;
  const writing_folder made(R"py(
import os, pathlib, runpy
HERE = pathlib.Path(__file__).parent
def evaluate(path):
    os.makedirs(HERE / "temp", exist_ok=True)
    left = len(os.listdir(HERE / "temp"))
    value = int((HERE / "data.txt").read_text())
    runpy.run_path(path)
    return {"combined_score": value, "left": left}
)py");
  made.add("data.txt", "5");
  made.add("modules/one.py", "");
  const auto before = made.snapshot();
  const evaluator_fitness judge(made.settings);
  const std::string exploit = R"py(
import pathlib
here = pathlib.Path.cwd()
for name in ("evaluator.py", "data.txt", "temp/left.txt", "json.py", "temp/__init__.py"):
    try:
        (here / name).write_text("99")
    except OSError:
        pass
)py";
  for (int i = 0; i < 2; ++i) {
    const auto e = judged_by(judge, exploit);
    CHECK_MESSAGE(e.score == 5, e.feedback);
    CHECK(e.measures.at("left") == 0);
    CHECK(made.snapshot() == before);
  }
  // It can claim that a folder could not be written to. Folders of modules, and names of modules, stay
  // closed.
  const auto claims = [&](const std::string& where) {
    return judged_by(judge,
                     "import errno, os\nraise OSError(errno.EROFS, 'no', os.getcwd() + '/" + where + "')\n");
  };
  for (const char* where : {"modules/x", "modules", "json/x", "checker.py/x", "data.txt", ".git/x",
                            "__pycache__/x", "../beside/x", "temp/__pycache__/x"}) {
    const auto e = claims(where);
    CHECK(e.outcome == outcome::crashed);
    CHECK_MESSAGE(e.context.at("writable") == "temp", where);
  }
  CHECK(judged_by(judge).score == 5);
}

TEST_CASE("a folder that cannot be made writable stays read-only, and the feedback says so") {
  if (!sandbox_can_run()) return;
  const writing_folder many(
      "def evaluate(path):\n    open('out/result.txt', 'w').write('1')\n    return {'combined_score': 1}\n");
  for (std::size_t i = 0; i < most_folder_parts; ++i) many.add("out/" + std::to_string(i), "");
  auto e = judged_by(evaluator_fitness(many.settings));
  CHECK(e.outcome == outcome::crashed);
  CHECK(has(e.feedback, "is read-only in the sandbox"));
  CHECK_MESSAGE(has(e.feedback, "'out' cannot be made writable: more than 256 files"), e.feedback);
  CHECK(e.context.count("writable") == 0);
  // A file beside the evaluator: no folder can take its place.
  const writing_folder beside(
      "def evaluate(path):\n    open('result.txt', 'w').write('1')\n    return {'combined_score': 1}\n");
  const evaluator_fitness judge(beside.settings);
  for (int i = 0; i < 2; ++i) {
    e = judged_by(judge);
    CHECK(e.outcome == outcome::crashed);
    CHECK(has(e.feedback, "Read-only file system"));
    CHECK_MESSAGE(has(e.feedback, "the evaluator needs a file of this name"), e.feedback);
  }
  CHECK_FALSE(fs::exists(beside.folder / "result.txt"));
  // An evaluator that catches the exception, or whose tools fail.
  writing_folder caught(R"py(
import subprocess
def evaluate(path):
    made = subprocess.run(["mkdir", "-p", "build/x"], capture_output=True, text=True)
    return {"combined_score": float(made.returncode == 0), "error": made.stderr}
)py");
  e = judged_by(evaluator_fitness(caught.settings));
  CHECK(e.score == 0);
  CHECK_MESSAGE(has(e.feedback, "the setting fitness.writable"), e.feedback);
  caught.settings.writable = {"build"};
  e = judged_by(evaluator_fitness(caught.settings));
  CHECK_MESSAGE(e.score == 1, e.feedback);
}

TEST_CASE("what is written is bounded by the size of the private /tmp") {
  if (!sandbox_can_run()) return;
  writing_folder made(R"py(
import errno, os
def evaluate(path):
    size = 0
    for folder in ("one", "two/old"):
        try:
            with open(folder + "/big", "wb", buffering=0) as file:
                while True:
                    size += file.write(b"x" * 65536)
        except OSError as problem:
            assert problem.errno == errno.ENOSPC, problem
    return {"combined_score": size}
)py");
  made.add("two/old/file.txt", "x");
  made.settings.writable = {"one", "two"};
  made.settings.limits.scratch_bytes = 6U << 20U;
  const auto e = judged_by(evaluator_fitness(made.settings));
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  CHECK(e.score <= 6 << 20);
  CHECK(e.score >= 3 << 20);
}

TEST_CASE("secrets, links and earlier runs in the folder stay what they were") {
  if (!sandbox_can_run()) return;
  writing_folder made(R"py(
import os
def readable(path):
    try:
        return len(open(path).read())
    except OSError:
        return -1
def evaluate(path):
    os.makedirs("temp", exist_ok=True)
    return {"combined_score": 1, "secret": readable("key.txt"), "link": readable("to_data"),
            "run": len(os.listdir("runs")), "outside": readable("to_outside")}
)py");
  const shell::scratch outside;
  shell::write_file(outside / "file.txt", "outside");
  made.add("key.txt", "secret");
  ::chmod((made.folder / "key.txt").c_str(), 0600);
  made.add("data/one.txt", "12345");
  made.add("runs/earlier.txt", "score 7");
  fs::create_symlink("data/one.txt", made.folder / "to_data");
  fs::create_symlink(outside / "file.txt", made.folder / "to_outside");
  made.settings.hidden = {(made.folder / "runs").string()};
  const auto e = judged_by(evaluator_fitness(made.settings));
  REQUIRE_MESSAGE(e.valid(), e.feedback);
  if (::geteuid() == 0) CHECK(e.measures.at("secret") == -1);
  CHECK(e.measures.at("link") == 5);
  CHECK(e.measures.at("outside") == -1);
  CHECK(e.measures.at("run") == 0);
  CHECK(e.context.at("writable") == "temp");
}

TEST_CASE("the subfolder that takes a new file") {
  const shell::scratch folder;
  const auto opened = [&](const std::string& path) {
    return subfolder_to_open(folder.string(), folder / path);
  };
  fs::create_directories(folder / "a/b");
  shell::write_file(folder / "code/one.py", "");
  shell::write_file(folder / "file", "");
  fs::create_directory_symlink("a", folder / "link");
  CHECK(opened("new") == "new");
  CHECK(opened("new/x/y") == "new");
  CHECK(opened("a/new") == "a");
  CHECK(opened("a/b/new/x") == "a/b");
  CHECK(opened("a/../a/b/new") == "a/b");
  for (const char* none : {"", ".", "..", "../x", "code/new", "file", "file/x", "link/x", ".git/x",
                           "__pycache__/x", "a/__pycache__/x"})
    CHECK_MESSAGE(opened(none).empty(), none);
  CHECK(subfolder_to_open(folder.string(), "a/new").empty());
  CHECK(subfolder_to_open(folder.string(), "/tmp").empty());
}

TEST_CASE("folders with links and files in place of folders are not opened") {
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);
  fs::create_directories(folder / "a/b");
  shell::write_file(folder / "file", "");
  fs::create_symlink("x", folder / "a/b/link");
  CHECK(open_subfolders(folder.string(), {}, 100).parts.empty());
  CHECK(has(open_subfolders(folder.string(), {"a"}, 100).refused, "a/b' contains a symbolic link"));
  CHECK(has(open_subfolders(folder.string(), {"file"}, 100).refused, "is not a folder"));
  CHECK(has(open_subfolders(folder.string(), {"file/x"}, 100).refused, "is not a folder"));
  const auto good = open_subfolders(folder.string(), {"new", "new/x", "new"}, 1U << 20U);
  CHECK(good.refused.empty());
  CHECK(std::count_if(good.parts.begin(), good.parts.end(),
                      [](const folder_part& p) { return p.what == folder_part::kind::memory; }) == 1);
}
