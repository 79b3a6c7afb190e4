// timeout: 300
// `kevo bench` on suites that a script judges: a file with "N = 3" has the speedup 3.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

/// A suite of three tasks. The script writes a line into `calls` for each evaluation.
struct toy_suite {
  shell::scratch folder;

  toy_suite() {
    for (const char* name : {"one", "two", "three"}) {
      shell::write_file(
          folder / ("tasks/" + std::string(name) + "/task.yaml"),
          "name: toy_" + std::string(name) + "\nop_type: " + (name[0] == 'o' ? "gemm" : "softmax") + "\n");
    }
    solve("one", "N = 3");
    solve("two", "N = 1");
    judge("echo \"{\\\"speedup\\\": $N, \\\"score\\\": $N}\"");
    suite(
        "tasks:\n  - {task: tasks/one/task.yaml, level: 1}\n  - {task: tasks/two/task.yaml, level: 1}\n"
        "  - {task: tasks/three/task.yaml, level: 2}\n");
  }
  void solve(const std::string& name, const std::string& text) const {
    shell::write_file(folder / ("solutions/" + name + ".txt"), text + "\n");
  }
  void judge(const std::string& last_line) const {
    shell::write_file(folder / "score.sh", "echo \"$1\" >> " + (folder / "calls").string() +
                                               "\nN=$(sed 's/.*= //' \"$1\")\n" + last_line + "\n");
  }
  void suite(const std::string& tasks, const std::string& more = "solutions: solutions\n") const {
    shell::write_file(
        folder / "suite.yaml",
        "suite: {name: toy, output: out, parallel: 1}\n"
        "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}\n" +
            more + tasks);
  }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  json::object bench(std::vector<std::string> more = {}, int code = 0) const {
    more.insert(more.begin(), {"bench", "suite.yaml", "--json"});
    const auto ended = kevo(std::move(more));
    CHECK_MESSAGE(ended.code == code, ended.out << ended.err);
    return json::parse(ended.out).as_object();
  }
  long calls() const {
    const std::string text = shell::read_file(folder / "calls");
    return std::count(text.begin(), text.end(), '\n');
  }
  std::string file(const std::string& name) const { return shell::read_file(folder / ("out/" + name)); }
};

const json::object& group_of(const json::object& report, std::string_view kind, std::string_view name = {}) {
  for (const auto& g : report.at("groups").as_array()) {
    if (g.at("kind").as_string() == kind && (name.empty() || g.at("name").as_string() == name))
      return g.as_object();
  }
  throw std::logic_error("no such group");
}

double share_at(const json::object& group, double p) {
  for (const auto& f : group.at("fast").as_array()) {
    if (f.at("p").to_number<double>() == p) return f.at("share").to_number<double>();
  }
  return -1;
}

}  // namespace

TEST_CASE("a suite is evaluated, and every task counts: one without a solution is not fast") {
  const toy_suite toy;
  const auto report = toy.bench();
  const auto& all = group_of(report, "all");
  CHECK(all.at("tasks").to_number<int>() == 3);
  CHECK(share_at(all, 0) == doctest::Approx(2.0 / 3));
  CHECK(share_at(all, 1) == doctest::Approx(1.0 / 3));  // exactly 1 is not faster
  CHECK(share_at(group_of(report, "level", "1"), 2) == doctest::Approx(0.5));
  CHECK(share_at(group_of(report, "level", "2"), 0) == 0);
  CHECK(share_at(group_of(report, "category", "gemm"), 2) == 1);  // from the task's op_type
  CHECK(all.at("amsr").at("value").to_number<double>() == doctest::Approx(4.0 / 3));
  CHECK(all.at("geometric_mean").at("values").to_number<int>() == 2);
  CHECK(report.at("evaluations").to_number<int>() == 2);
  CHECK(report.at("files").as_array().size() == 5);
  for (const char* name : {"bench.csv", "groups.csv", "perf.csv", "bench.json", "bench.html"})
    CHECK(!toy.file(name).empty());
  CHECK(toy.file("bench.html").find("survivorship bias") != std::string::npos);

  const auto words = toy.kevo({"bench", "suite.yaml"});
  CHECK(words.code == 0);
  for (const char* said : {"fast_1", "no solution", "survivorship bias", "3.000", "1 of 3"})
    CHECK_MESSAGE(words.out.find(said) != std::string::npos, said << "\n" << words.out);
  CHECK(words.err.find("one one: valid, 3.000x (known)") != std::string::npos);
}

TEST_CASE("entries of one task with one solution differ in the values of its tunables") {
  const toy_suite toy;
  toy.solve("one", "N = 3 # kevo: {3, 6, 9}");
  shell::write_file(toy.folder / "score.sh",
                    "N=$(sed 's/.*= \\([0-9]*\\).*/\\1/' \"$1\")\n"
                    "echo \"{\\\"speedup\\\": $N, \\\"score\\\": $N}\"\n");
  const std::string entry = "  - {task: tasks/one/task.yaml, solution: solutions/one.txt, name: ";
  toy.suite("tasks:\n" + entry + "as_it_is}\n" + entry + "six, tunables: {N: 6}}\n" + entry +
                "nine, tunables: {N: 9}}\n",
            "");
  const auto all = group_of(toy.bench(), "all");
  CHECK(share_at(all, 2) == 1);
  CHECK(share_at(all, 4) == doctest::Approx(2.0 / 3));
  CHECK(all.at("geometric_mean").at("value").to_number<double>() == doctest::Approx(std::cbrt(3.0 * 6 * 9)));

  toy.suite("tasks:\n" + entry + "unknown, tunables: {M: 6}}\n" + entry + "outside, tunables: {N: 4}}\n", "");
  const auto wrong = toy.kevo({"bench", "suite.yaml"});
  CHECK(wrong.out.find("valid") == std::string::npos);
  for (const char* said : {"no tunable 'M'", "the value 4 is not in the domain of 'N'"})
    CHECK_MESSAGE((wrong.out + wrong.err).find(said) != std::string::npos, wrong.out << wrong.err);
}

TEST_CASE("what has not changed is not evaluated again; a changed solution, task or setting is") {
  const toy_suite toy;
  toy.bench();
  CHECK(toy.calls() == 2);
  const auto second = toy.bench();
  CHECK(toy.calls() == 2);
  CHECK(second.at("reused").to_number<int>() == 2);
  CHECK(second.at("evaluations").to_number<int>() == 0);

  toy.solve("two", "N = 5");
  CHECK(share_at(group_of(toy.bench(), "all"), 4) == doctest::Approx(1.0 / 3));
  CHECK(toy.calls() == 3);
  toy.solve("two", "N = 1");  // as it was: known
  toy.bench();
  CHECK(toy.calls() == 3);
  shell::write_file(toy.folder / "tasks/one/task.yaml", "name: toy_other\nop_type: gemm\n");
  toy.bench();
  CHECK(toy.calls() == 4);
  toy.bench({"--set", "fitness.limits.wall=99"});
  CHECK(toy.calls() == 6);
  toy.bench({"--again"});
  CHECK(toy.calls() == 8);
}

TEST_CASE("a kill loses nothing that was evaluated, and the same words go on from there") {
  const toy_suite toy;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "more" + std::to_string(i);
    shell::write_file(toy.folder / ("tasks/" + name + "/task.yaml"), "name: " + name + "\n");
    toy.solve(name, "N = " + std::to_string(i + 1));
  }
  toy.judge("sleep 0.2; echo \"{\\\"speedup\\\": $N, \\\"score\\\": $N}\"");
  toy.suite("tasks: [tasks/*/task.yaml]\n");
  {
    shell::running killed(shell::kevo({"bench", "suite.yaml", "--json"}), toy.folder.string());
    for (int i = 0; i < 1500 && toy.calls() < 4; ++i) std::this_thread::sleep_for(10ms);
    killed.signal(SIGKILL);
    killed.wait();
  }
  const long before = toy.calls();
  REQUIRE(before >= 4);
  const auto kept = toy.bench({"--report"});
  CHECK(kept.at("reused").to_number<long>() >= before - 1);  // all but the one that was running
  CHECK(kept.at("pending").to_number<int>() > 0);
  CHECK(toy.calls() == before);
  const auto rest = toy.bench();
  CHECK(rest.at("pending").to_number<int>() == 0);
  CHECK(rest.at("reused").to_number<long>() >= before - 1);
  CHECK(rest.at("reused").to_number<long>() + rest.at("evaluations").to_number<long>() == 8);
  CHECK(toy.calls() <= before + 8 - (before - 1));
}

TEST_CASE("one task that cannot be loaded, and one failure of the machine, do not stop the others") {
  const toy_suite toy;
  shell::write_file(toy.folder / "tasks/three/task.yaml", "name: [broken\n");
  toy.solve("three", "N = 2");
  const auto report = toy.bench();
  CHECK(share_at(group_of(report, "all"), 0) == doctest::Approx(2.0 / 3));
  const auto& broken = report.at("tasks").at(2);
  CHECK(broken.at("solutions").at(0).at("state").as_string() == "task_failed");
  CHECK(std::string(broken.at("reason").as_string()).find("tasks/three/task.yaml:") != std::string::npos);

  // The script itself is missing on this machine: no result of a candidate.
  shell::write_file(toy.folder / "tasks/three/task.yaml", "name: toy_three\n");
  toy.suite("tasks:\n  - tasks/one/task.yaml\n  - tasks/three/task.yaml\n");
  std::filesystem::rename(toy.folder / "score.sh", toy.folder / "gone.sh");
  toy.bench({"--set", "fitness.command=[/nowhere/judge]"}, 1);
  std::filesystem::rename(toy.folder / "gone.sh", toy.folder / "score.sh");
  CHECK(toy.bench().at("environment_failures").to_number<int>() == 0);
}

TEST_CASE("of several solutions the fastest counts, measured once more for its figure") {
  const toy_suite toy;
  shell::write_file(toy.folder / "solutions/three/a.txt", "N = 2\n");
  shell::write_file(toy.folder / "solutions/three/b.txt", "N = 8\n");
  shell::write_file(toy.folder / "solutions/three/c.txt", "N = oops\n");
  // The second time, the fastest is less fast: the figure must be that one.
  toy.judge("[ $N = oops ] && exit 3\n[ $N = 8 ] && [ $(grep -c . " + (toy.folder / "calls").string() +
            ") -gt 4 ] && [ -e " + (toy.folder / "once").string() + " ] && N=6\n[ $N = 8 ] && touch " +
            (toy.folder / "once").string() + "\necho \"{\\\"speedup\\\": $N, \\\"score\\\": $N}\"");
  const auto report = toy.bench();
  const auto& task = report.at("tasks").at(2);
  CHECK(task.at("best").as_string() == "b");
  CHECK(task.at("measured_again").as_bool());
  CHECK(task.at("speedup").to_number<double>() == 6);
  CHECK(toy.calls() == 6);
  for (const auto& f : group_of(report, "level", "2").at("fast").as_array()) {
    if (f.at("p").to_number<double>() == 1)
      CHECK(f.at("of_one").to_number<double>() == doctest::Approx(2.0 / 3));
  }
  toy.bench();
  CHECK(toy.calls() == 6);
}

TEST_CASE("names of others are data: for a terminal, a spreadsheet and a browser") {
  const toy_suite toy;
  toy.suite(
      "tasks:\n  - {task: tasks/one/task.yaml, name: \"=1+1\", category: \"<script>alert(1)</script>\"}\n"
      "  - {task: tasks/two/task.yaml, name: \"esc\\e[31m\", solution: solutions/two.txt}\n");
  toy.bench();
  CHECK(toy.file("bench.csv").find("\"'=1+1\"") != std::string::npos);
  CHECK(toy.file("bench.html").find("<script>") == std::string::npos);
  CHECK(toy.file("bench.html").find("&lt;script&gt;") != std::string::npos);
  const auto words = toy.kevo({"bench", "suite.yaml"});
  CHECK((words.out + words.err).find('\x1b') == std::string::npos);
  CHECK(toy.file("bench.html").find('\x1b') == std::string::npos);
}

TEST_CASE("tasks are evolved under a budget, and the best program is evaluated; both are kept") {
  const toy_suite toy;
  for (const char* name : {"one", "two"}) {
    shell::write_file(toy.folder / ("tasks/" + std::string(name) + "/task.yaml"),
                      "name: toy_" + std::string(name) + "\nseeds: [seed.txt]\n");
    shell::write_file(toy.folder / ("tasks/" + std::string(name) + "/seed.txt"),
                      "N = 3  # kevo: {1..40 step 1}\n");
  }
  toy.judge("N=${N%% *}; echo \"{\\\"speedup\\\": $N, \\\"score\\\": $N}\"");
  shell::write_file(toy.folder / "config.yaml",
                    "run: {seed: 3}\n"
                    "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}\n"
                    "archive: {type: top_k, k: 3}\nselect: {type: power_law}\n"
                    "vary: {operators: [{type: tune}]}\nstop: {evaluations: 2}\n");
  shell::write_file(
      toy.folder / "suite.yaml",
      "suite: {name: toy, output: out}\nevolve: {config: config.yaml, budget: {evaluations: 8}}\n"
      "tasks: [tasks/one/task.yaml, tasks/two/task.yaml]\n");
  const auto report = toy.bench();
  for (const auto& task : report.at("tasks").as_array()) {
    CHECK(task.at("speedup").to_number<double>() >= 3);
    const std::string run(task.at("solutions").at(0).at("run").as_string());
    CHECK(std::filesystem::exists(toy.folder / run / "journal.sqlite"));
    CHECK(std::filesystem::exists(toy.folder / run / "report.html"));
  }
  const long once = toy.calls();
  CHECK(once >= 2 * 8);  // the budget of the suite, not that of the config
  CHECK(toy.bench().at("reused").to_number<int>() == 2);
  CHECK(toy.calls() == once);
  toy.bench({"--set", "evolve.budget={evaluations: 9}"});
  CHECK(toy.calls() > once);
}

TEST_CASE("a search that was killed goes on where it was") {
  const toy_suite toy;
  shell::write_file(toy.folder / "tasks/one/task.yaml", "name: toy_one\nseeds: [seed.txt]\n");
  shell::write_file(toy.folder / "tasks/one/seed.txt", "N = 3  # kevo: {1..400 step 1}\n");
  toy.judge("sleep 0.1; N=${N%% *}; echo \"{\\\"speedup\\\": $N, \\\"score\\\": $N}\"");
  shell::write_file(
      toy.folder / "suite.yaml",
      "suite: {name: toy, output: out}\nevolve: {config: config.yaml}\ntasks: [tasks/one/task.yaml]\n");
  shell::write_file(toy.folder / "config.yaml",
                    "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}\n"
                    "archive: {type: top_k, k: 3}\nselect: {type: power_law}\n"
                    "vary: {operators: [{type: tune}]}\nstop: {evaluations: 20}\n");
  {
    shell::running killed(shell::kevo({"bench", "suite.yaml", "--json"}), toy.folder.string());
    for (int i = 0; i < 1500 && toy.calls() < 9; ++i) std::this_thread::sleep_for(10ms);
    killed.signal(SIGKILL);
    killed.wait();
  }
  const long before = toy.calls();
  REQUIRE(before >= 9);
  const auto report = toy.bench();
  CHECK(report.at("tasks").at(0).at("exe").as_bool());
  std::size_t runs = 0;
  for (const auto& run : std::filesystem::directory_iterator(toy.folder / "out/runs")) {
    runs += std::filesystem::exists(run.path() / "journal.sqlite") ? 1 : 0;
  }
  CHECK(runs == 1);
  const auto shown = json::parse(
      toy.kevo({"show", std::string(report.at("tasks").at(0).at("solutions").at(0).at("run").as_string()),
                "--json"})
          .out);
  CHECK(shown.at("evaluations").to_number<int>() < 24);  // of one run, whose budget is 20, and not of two
}

TEST_CASE("a wrong suite is an error with file, line and key, and writes nothing") {
  const toy_suite toy;
  const auto wrong = [&](const std::string& text, int line, const std::string& key,
                         std::vector<std::string> more = {}) {
    shell::write_file(toy.folder / "wrong.yaml", text);
    more.insert(more.begin(), {"bench", "wrong.yaml", "--json"});
    const auto ended = toy.kevo(std::move(more));
    CHECK_MESSAGE(ended.code == 2, text << ended.out << ended.err);
    const auto said = json::parse(ended.out).at("error");
    CHECK_MESSAGE(said.at("key").as_string() == key, ended.out);
    if (line > 0) {
      CHECK_MESSAGE(said.at("line").to_number<int>() == line, ended.out);
      CHECK(std::string(said.at("file").as_string()).find("wrong.yaml") != std::string::npos);
    }
  };
  const std::string tasks = "tasks: [tasks/one/task.yaml]\n";
  wrong("suite: {nmae: toy}\n" + tasks, 1, "suite.nmae");
  wrong("suite: {name: toy}\n", 1, "tasks");
  wrong("tasks: []\n", 1, "tasks");
  wrong("tasks:\n  - tasks/none/task.yaml\n", 2, "tasks[0].task");
  wrong("tasks:\n  - tasks/no*/task.yaml\n", 2, "tasks[0].task");
  wrong("tasks:\n  - {task: tasks/one/task.yaml, solution: none.txt}\n", 2, "tasks[0].solution");
  wrong("tasks:\n  - {task: tasks/one/task.yaml, levle: 1}\n", 2, "tasks[0].levle");
  wrong("tasks:\n  - tasks/one/task.yaml\n  - tasks/one/task.yaml\n", 3, "tasks[1].task");
  wrong("tasks:\n  - {task: \"tasks/*/task.yaml\", solution: solutions/one.txt}\n", 2, "tasks[0].solution");
  wrong("fitness: {backend: cpu, complier: g++}\n" + tasks, 1, "fitness.complier");
  wrong("fitness: {backend: abacus}\n" + tasks, 1, "fitness.backend");
  wrong("suite: {thresholds: [1, 1]}\n" + tasks, 1, "suite.thresholds");
  wrong("solutions: nowhere\n" + tasks, 1, "solutions");
  wrong("evolve: {config: nowhere.yaml}\n" + tasks, 1, "evolve.config");
  wrong(tasks, 0, "--export", {"--export", "pdf"});
  CHECK(!std::filesystem::exists(toy.folder / "benches"));
  CHECK(toy.kevo({"bench", "nowhere.yaml"}).code == 2);
  CHECK(toy.kevo({"bench"}).code == 2);
  // A folder of somebody else's files is not written into.
  CHECK(toy.kevo({"bench", "suite.yaml", "--set", "suite.output=tasks"}).code == 2);
  CHECK(toy.kevo({"bench", "suite.yaml", "--report"}).code == 2);
}

TEST_CASE("tasks of PyTorch on a GPU have its memory for themselves by default") {
  const toy_suite toy;
  const auto parallel_with = [&](const std::string& fitness, std::vector<std::string> more) {
    shell::write_file(toy.folder / "suite.yaml",
                      "suite: {name: toy}\nfitness: " + fitness + "\ntasks: [tasks/one/task.yaml]\n");
    more.insert(more.begin(), {"bench", "suite.yaml", "--print-config"});
    const auto printed = toy.kevo(std::move(more));
    REQUIRE_MESSAGE(printed.code == 0, printed.out << printed.err);
    const auto at = printed.out.find("parallel: ");
    REQUIRE(at != std::string::npos);
    return printed.out.substr(at + 10, 1);
  };
  CHECK(parallel_with("{backend: torch, device: cuda}", {}) == "1");
  CHECK(parallel_with("{backend: torch, device: cuda}", {"--set", "suite.parallel=3"}) == "3");
  CHECK(parallel_with("{backend: torch, device: cpu}", {}) == "2");
}
