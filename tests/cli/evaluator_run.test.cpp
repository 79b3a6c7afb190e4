// timeout: 300
// `kevo run --openevolve FOLDER` and `--shinka FOLDER`: examples in the form of other systems, as a user runs
// them.

#include <filesystem>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "fitness/sandbox/sandbox.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_server.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace {

/// Two folders that ask for numbers whose distance to 10 and 3 is small: scores are negative, 0 is the best.
struct other_systems {
  other_systems() {
    ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
    shell::write_file(folder / "dist/initial_program.py",
                      "import math\n# EVOLVE-BLOCK-START\na = 7.5\nb = 1\n# EVOLVE-BLOCK-END\n"
                      "assert math.pi > 3\n");
    shell::write_file(folder / "dist/evaluator.py", R"(
import runpy
from openevolve.evaluation_result import EvaluationResult
def evaluate(path):
    found = runpy.run_path(path)
    print("{\"combined_score\": 5}")
    return EvaluationResult({"combined_score": -abs(found["a"] - 10) - abs(found["b"] - 3), "b": found["b"]},
                            {"advice": "a is %s ten" % ("below" if found["a"] < 10 else "above")})
)");
    shell::write_file(
        folder / "dist/config.yaml",
        "max_iterations: 25\nprompt: {system_message: Find the two numbers.}\n"
        "database: {num_islands: 2, feature_dimensions: [b, complexity]}\nevaluator: {timeout: 20}\n");
    shell::write_file(folder / "shinka/initial.py",
                      "# EVOLVE-BLOCK-START\ndef value(seed):\n    return 4 * seed\n"
                      "# EVOLVE-BLOCK-END\n");
    shell::write_file(folder / "shinka/evaluate.py", R"(
import argparse
from shinka.core import run_shinka_eval
given = argparse.ArgumentParser()
given.add_argument("--program_path")
given.add_argument("--results_dir")
given = given.parse_args()
run_shinka_eval(given.program_path, given.results_dir, "value", 2,
                validate_fn=lambda v: (v < 100, "too much"),
                aggregate_metrics_fn=lambda all: {"combined_score": float(sum(all))})
)");
  }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  boost::json::object answer(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const auto ended = kevo(std::move(words));
    REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
    return boost::json::parse(ended.out).as_object();
  }
  shell::scratch folder;
};

const std::string any_sandbox = "fitness.sandbox=best";

bool python_is_there() {
  if (!kevo::find_program("python3").empty()) return true;
  kevo_test::skip("there is no python3");
  return false;
}

}  // namespace

TEST_CASE("a folder of OpenEvolve's form runs as it is, and without a model its numbers change") {
  if (!python_is_there()) return;
  const other_systems all;
  const auto ended = all.answer({"run", "--openevolve", "dist", "--set", any_sandbox});
  CHECK(ended.at("run").as_string() == "runs/dist");
  CHECK(ended.at("stopped_by").as_string() == "25 proposals");
  const auto& best = ended.at("best").as_object();
  CHECK(best.at("score").to_number<double>() > -4.5);  // of the seed
  CHECK(best.at("score").to_number<double>() <= 0);
  const auto text = shell::read_file(all.folder / "runs/dist/best.py");
  CHECK(text.starts_with("import math\n# EVOLVE-BLOCK-START\na = "));
  CHECK(text.ends_with("# EVOLVE-BLOCK-END\nassert math.pi > 3\n"));
  // It goes on from its journal, and is recomputed from it.
  const auto more = all.answer({"resume", "runs/dist", "--set", "stop.proposals=27"});
  CHECK(more.at("stopped_by").as_string() == "27 proposals");
  const auto again = all.kevo({"run", "--replay", "runs/dist"});
  CHECK_MESSAGE(again.code == 0, again.err);
}

TEST_CASE("a folder is a task of kevo eval and of any config") {
  if (!python_is_there()) return;
  const other_systems all;
  const auto judged = all.answer({"eval", "dist", "dist/initial_program.py", "--set",
                                  "fitness.backend=openevolve", "--set", any_sandbox});
  CHECK(judged.at("score").to_number<double>() == -4.5);
  CHECK(judged.at("feedback").as_string() == "advice: a is below ten\n");
  shell::write_file(all.folder / "mine.yaml",
                    "run: {name: mine, output: mine}\ntask: absent.yaml\nfitness: {backend: cpu}\n"
                    "archive: {type: top_k}\nselect: {type: greedy}\nvary: {operators: [{type: numbers}]}\n"
                    "stop: {evaluations: 6}\n");
  const auto ended = all.answer({"run", "mine.yaml", "--shinka", "shinka", "--set", any_sandbox});
  CHECK(ended.at("run").as_string() == "mine");
  CHECK(ended.at("best").as_object().at("score").to_number<double>() >= 12);  // 4 + 8, of the seed
  const auto shown = all.kevo({"run", "--openevolve", "dist", "--print-config"});
  CHECK_MESSAGE(shown.code == 0, shown.err);
  CHECK(has(shown.out, "timeout: 20"));
  CHECK(has(shown.out, "finish: 120"));
  CHECK(has(shown.out, "features: [b, complexity]"));
  CHECK(has(shown.out, "type: numbers"));
  // A confirmation may take as long as an evaluation: 300 s if the folder does not say otherwise.
  CHECK(has(all.kevo({"run", "--shinka", "shinka", "--print-config"}).out, "finish: 300"));
  const auto wrong = all.kevo({"run", "--openevolve", "shinka"});
  CHECK(wrong.code == 2);
  CHECK(has(wrong.err, "holds no evaluator.py"));
}

TEST_CASE("a program of several files lies beside its main file, which the evaluator gets") {
  if (!python_is_there()) return;
  const other_systems all;
  shell::write_file(all.folder / "two/initial_program/main.py",
                    "# EVOLVE-BLOCK-START\nx = 2\n# EVOLVE-BLOCK-END\n");
  shell::write_file(all.folder / "two/initial_program/data/n.txt", "40\n");
  shell::write_file(all.folder / "two/evaluator.py", R"(
import os, runpy
def evaluate(path):
    beside = open(os.path.join(os.path.dirname(path), "data/n.txt"))
    return {"combined_score": int(beside.read()) + runpy.run_path(path)["x"]}
)");
  const auto judged = all.answer(
      {"eval", "two", "two/initial_program", "--set", "fitness.backend=openevolve", "--set", any_sandbox});
  CHECK(judged.at("score").to_number<double>() == 42);
  const auto ended =
      all.answer({"run", "--openevolve", "two", "--set", any_sandbox, "--set", "stop={proposals: 3}"});
  CHECK(ended.at("best").as_object().at("score").to_number<double>() >= 42);
  CHECK(shell::read_file(all.folder / "runs/two/best_files/data/n.txt") == "40\n");
}

TEST_CASE("an evaluator that writes to its own folder runs as it is, and the folder stays as it was") {
  if (!python_is_there()) return;
  if (!kevo::contains(kevo::sandbox_mode::best)) return kevo_test::skip("no namespaces here");
  const other_systems all;
  shell::write_file(all.folder / "own/initial_program.py",
                    "# EVOLVE-BLOCK-START\nx = 2\n# EVOLVE-BLOCK-END\n");
  shell::write_file(all.folder / "own/evaluator.py", R"py(
import os, pathlib, shutil, subprocess, sys
TEMP = pathlib.Path(__file__).parent / "temp"
def evaluate(path):
    left = len(os.listdir(TEMP)) if TEMP.exists() else 0
    (TEMP / "solution").mkdir(parents=True)
    copy = shutil.copy(path, TEMP / "solution")
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['x'])"
    x = float(subprocess.run([sys.executable, "-c", code, copy], capture_output=True, text=True).stdout)
    return {"combined_score": -abs(x - 5) - 100 * left}
)py");
  const auto ended =
      all.answer({"run", "--openevolve", "own", "--set", any_sandbox, "--set", "stop={proposals: 6}"});
  CHECK(ended.at("best").as_object().at("score").to_number<double>() >= -3);
  CHECK_FALSE(std::filesystem::exists(all.folder / "own/temp"));
  const auto named =
      all.answer({"eval", "own", "own/initial_program.py", "--set", "fitness.backend=openevolve", "--set",
                  any_sandbox, "--set", "fitness.writable=[temp]"});
  CHECK(named.at("score").to_number<double>() == -3);
  const auto wrong = all.kevo({"eval", "own", "own/initial_program.py", "--set", "fitness.backend=openevolve",
                               "--set", "fitness.writable=[../own]"});
  CHECK(wrong.code == 2);
  CHECK(has(wrong.err, "'../own' is not a folder within the evaluator's folder"));
}

TEST_CASE("a model is told of task, score and artifacts, and keeps to the blocks") {
  if (!python_is_there()) return;
  const other_systems all;
  // The first reply to every prompt changes a line outside of the block; the second one does what was asked.
  const auto reply = [](const std::string& search, const std::string& replace) {
    return "Summary: closer\n\n<<<<<<< SEARCH\n" + search + "\n=======\n" + replace + "\n>>>>>>> REPLACE\n";
  };
  int asked = 0;
  scripted::server server([&](const scripted::request& r) {
    if (!has(r.body, "outside of the parent's blocks"))
      return scripted::says(reply("import math", "import os, math"));
    ++asked;
    return scripted::says(reply("b = 1", "b = " + std::to_string(1 + asked)));
  });
  const auto ended = all.answer({"run", "--openevolve", "dist", "--set", any_sandbox, "--set",
                                 "llm.models=[{name: m, url: '" + server.url() + "'}]", "--set",
                                 "stop={proposals: 1}", "--set", "run.parallel.variations=1"});
  CHECK(ended.at("best").as_object().at("score").to_number<double>() == -3.5);
  const auto seen = server.seen();
  REQUIRE(seen.size() >= 2);
  CHECK(has(seen[0].body, "You improve programs."));
  CHECK(has(seen[0].body, "Find the two numbers."));
  CHECK(has(seen[0].body, "score -4.5"));
  CHECK(has(seen[0].body, "a is below ten"));
  CHECK(has(seen[0].body, "Only the lines between EVOLVE-BLOCK-START"));
  CHECK_FALSE(has(seen[0].body, "kernels"));
  CHECK(has(shell::read_file(all.folder / "runs/dist/best.py"), "import math\n"));
}

TEST_CASE("the script that compares scores makes clocks and random numbers repeat if asked") {
  if (!python_is_there()) return;
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);
  shell::write_file(folder / "examples/chance/initial.py", "value = 4\n");
  shell::write_file(folder / "examples/chance/evaluate.py", R"(
import json, random, runpy, sys, time
begin = time.perf_counter()
score = runpy.run_path(sys.argv[2])["value"] + random.random() / 2 + (time.perf_counter() - begin) / 4
json.dump({"combined_score": score}, open(sys.argv[4] + "/metrics.json", "w"))
json.dump({"correct": True}, open(sys.argv[4] + "/correct.json", "w"))
)");
  const auto compare = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {kevo::find_program("python3"),
                                      KEVO_SOURCE_DIR "/scripts/compare_evaluators.py",
                                      "shinka",
                                      folder.string(),
                                      folder / "examples/chance",
                                      "--kevo",
                                      shell::kevo({}).front(),
                                      "--set",
                                      any_sandbox};
    words.insert(words.end(), more.begin(), more.end());
    const auto ended = shell::run(words, folder.string());
    CHECK_MESSAGE(ended.code == 0, ended.err);
    return ended.out;
  };
  std::string out = compare({});
  CHECK_MESSAGE(has(out, "| not equal, nor is its own second score 4."), out);
  CHECK(has(out, "examples/chance | 4."));
  out = compare({"--fixed", folder / "copies", "--change", "value = 4", "value = 6"});
  CHECK_MESSAGE(has(out, "| equal\n"), out);
  CHECK_MESSAGE(has(out, "chance | 6.42"), out);  // 6 + 0.8444 / 2 + 1/256
}
