// timeout: 300
// The program as a user runs it: start, interrupt, kill, resume, replay, wrong input, full disk.

#include <chrono>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

/// A task that a three-line script judges: the sum of two tunables.
struct toy_project {
  shell::scratch folder;

  explicit toy_project(const std::string& pause = "0") {
    shell::write_file(folder / "seed.txt",
                      "N = 3  # kevo: {1..400 step 1}\nM = 5  # kevo: {1..400 step 1}\n");
    shell::write_file(folder / "reference.cpp", "extern \"C\" void reference() {}\n");
    shell::write_file(folder / "score.sh", "#!/bin/sh\nsleep " + pause +
                                               "\nset -- $(sed 's/.*= //; s/ .*//' \"$1\")\necho "
                                               "\"{\\\"score\\\": $(($1 + $2)), \\\"size\\\": $2}\"\n");
    shell::write_file(
        folder / "task.yaml",
        "name: toy\nop_type: toy\ndescription: toy\naxes: {K: {type: var}}\n"
        "inputs: {A: {shape: [K], dtype: float32}}\noutputs: {B: {shape: [K], dtype: float32}}\n"
        "reference: {language: cpp, file: reference.cpp}\nworkloads: [{uuid: one, axes: {K: 4}}]\n"
        "tolerance: {max_atol: 1.0e-5, max_rtol: 1.0e-5}\nseeds: [seed.txt]\n");
    shell::write_file(
        folder / "config.yaml",
        "run: {name: toy, seed: 3, output: run}\ntask: task.yaml\n"
        "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}\n"
        "archive: {type: grid, measures: {size: {bins: 10, range: [0, 400]}}}\n"
        "select: {type: power_law}\nvary: {operators: [{type: tune}, {type: splice}]}\n"
        "stop: {evaluations: 40}\n");
  }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  /// Until there is a record that a kill may interrupt; ten seconds at most.
  void wait_until_begun() const {
    for (int i = 0; i < 1000 && !std::filesystem::exists(folder / "run/journal.sqlite-wal"); ++i)
      std::this_thread::sleep_for(10ms);
  }
};

json::object parsed(const shell::result& r) {
  REQUIRE_MESSAGE(!r.out.empty(), r.err);
  return json::parse(r.out).as_object();
}

}  // namespace

TEST_CASE("a run improves on its seed, says so as JSON, and leaves its best program as a file") {
  const toy_project toy;
  const auto ended = toy.kevo({"run", "config.yaml", "--json"});
  CHECK(ended.code == 0);
  const json::object all = parsed(ended);
  CHECK(all.at("evaluations").to_number<int>() >= 40);
  CHECK(all.at("stopped_by").as_string() == "40 evaluations");
  const json::object& best = all.at("best").as_object();
  CHECK(best.at("score").to_number<double>() > 8);
  CHECK(shell::read_file(toy.folder / std::string(best.at("file").as_string())).find("N = ") == 0);

  const auto again = toy.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(again.code == 0, again.out);
  const json::object replayed = parsed(again);
  CHECK(replayed.at("best").as_object().at("id") == best.at("id"));
  CHECK(replayed.at("best").as_object().at("score") == best.at("score"));
  CHECK(replayed.at("evaluations") == all.at("evaluations"));

  // Starting twice is no mistake: the second run gets its own folder.
  CHECK(toy.kevo({"run", "config.yaml", "--json", "--set", "stop.evaluations=3"}).code == 0);
  CHECK(std::filesystem::exists(toy.folder / "run-2/journal.sqlite"));
}

TEST_CASE("a run whose task has moved is replayed and resumed from where the task is now") {
  const toy_project toy;
  REQUIRE(toy.kevo({"run", "config.yaml", "--json", "--set", "stop.evaluations=10"}).code == 0);
  const auto moved = toy.folder / "else where";
  std::filesystem::create_directory(moved);
  for (const char* file : {"task.yaml", "seed.txt", "reference.cpp"})
    std::filesystem::rename(toy.folder / file, moved / file);
  const auto lost = toy.kevo({"run", "--replay", "run", "--json"});
  CHECK(lost.code == 2);
  CHECK((lost.out + lost.err).find("--task FILE") != std::string::npos);
  CHECK(toy.kevo({"run", "--replay", "run", "--task", "else where/task.yaml", "--json"}).code == 0);
  const auto more = toy.kevo(
      {"resume", "run", "--task", "else where/task.yaml", "--json", "--set", "stop={evaluations: 15}"});
  CHECK(parsed(more).at("evaluations").to_number<int>() >= 15);
  shell::write_file(moved / "seed.txt", "N = 4  # kevo: {1..400 step 1}\nM = 5  # kevo: {1..400 step 1}\n");
  CHECK(toy.kevo({"resume", "run", "--task", "else where/task.yaml", "--json"}).code == 2);
}

TEST_CASE("what a program scores is nowhere called a speedup, unless it says so itself") {
  const toy_project toy;
  const auto ended = toy.kevo({"run", "config.yaml", "--plain", "--set", "stop={target_score: 40}"});
  REQUIRE(ended.code == 0);
  const auto says = [](const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
  };
  CHECK_MESSAGE(says(ended.out, "champion #0 score 8 confirmed by seed"), ended.out);
  CHECK(says(ended.out, "stopped by score "));
  CHECK(says(ended.out, ", score "));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"show", "run"},
           {"show", "run", "0"},
           {"run", "--replay", "run"},
           {"run", "config.yaml", "--plain"},
           {"eval", "task.yaml", "seed.txt", "--set",
            "fitness={backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}"}}) {
    const auto shown = toy.kevo(words);
    CHECK_MESSAGE(shown.code == 0, shown.err);
    CHECK_MESSAGE(says(shown.out, "score"), shown.out);
    for (const std::string wrong : {"x [", "0x", "8x", "over seed", "baseline", "speedup", "the speed of"})
      CHECK_MESSAGE(!says(shown.out, wrong), wrong << " in " << shown.out);
  }
  CHECK(says(toy.kevo({"show", "run", "0"}).out, "#0  score 8 confirmed"));

  REQUIRE(toy.kevo({"report", "run"}).code == 0);
  const std::string page = shell::read_file(toy.folder / "run/report.html");
  const std::string seen = page.substr(page.find("</style>"), page.find("<details>") - page.find("</style>"));
  CHECK(says(seen, "<p class=\"say\">score, larger is better"));
  CHECK(says(seen, "Best score so far"));
  for (const std::string wrong : {"×", "speedup", "the speed of <b>"})
    CHECK_MESSAGE(!says(seen, wrong), wrong);

  const std::string table = toy.kevo({"export", "run", "--format", "csv"}).out;
  CHECK_MESSAGE(says(table, ",confirmed,8,,,,,,"), table);  // score, then nothing up to the baseline
  const std::string lines = toy.kevo({"export", "run", "--format", "steps"}).out;
  CHECK_MESSAGE(says(lines, "\"speedup\":null"), lines);
  CHECK(says(lines, "\"score_over_parent\":"));
  const json::object shown = parsed(toy.kevo({"show", "run", "0", "--json"}));
  CHECK(shown.at("score").to_number<double>() == 8);
  CHECK(shown.at("speedup").is_null());
  CHECK(shown.at("speedup_interval").is_null());

  shell::write_file(
      toy.folder / "ratio.sh",
      "#!/bin/sh\necho '{\"speedup\": 2.5, \"score\": 7, \"baseline\": \"numpy\", \"size\": 1}'\n");
  const auto ratio = toy.kevo({"run", "config.yaml", "--plain", "--set",
                               "fitness.command=[/bin/sh, ratio.sh]", "--set", "stop={evaluations: 1}"});
  CHECK_MESSAGE(says(ratio.out, "best: candidate 0, 2.50x over numpy, score 7, confirmed; "), ratio.out);
}

TEST_CASE("a run whose only candidate is the baseline's program says that nothing was faster") {
  const toy_project toy;
  shell::write_file(toy.folder / "seed.txt", "N = 3\n");
  std::string task = shell::read_file(toy.folder / "task.yaml");
  shell::write_file(toy.folder / "task.yaml", task + "baselines: [{name: plain, file: seed.txt}]\n");
  shell::write_file(toy.folder / "ratio.sh",
                    "#!/bin/sh\necho '{\"speedup\": 1.02, \"baseline\": \"plain\", \"size\": 1}'\n");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"run", "config.yaml", "--set", "fitness.command=[/bin/sh, ratio.sh]"};
    words.insert(words.end(), more.begin(), more.end());
    return toy.kevo(words);
  };
  const auto ended = run({"--plain"});
  CHECK(ended.code == 0);
  const std::string sentence =
      "no program was faster than the baseline 'plain'; candidate 0 is the baseline itself";
  CHECK_MESSAGE(ended.out.find("\n" + sentence + "; 1 evaluation, 1 valid; stopped by ") != std::string::npos,
                ended.out);
  CHECK_MESSAGE(
      ended.out.find("#0 is the program of the baseline plain: it cannot be champion") != std::string::npos,
      ended.out);
  CHECK_FALSE(std::filesystem::exists(toy.folder / "run/best.txt"));
  CHECK(toy.kevo({"show", "run"}).out.find(sentence) != std::string::npos);
  const auto machine = run({"--json", "--require-confirmed"});
  CHECK(machine.code == 3);
  const json::object all = parsed(machine);
  CHECK(all.at("best").is_null());
  CHECK(all.at("verdict").as_string() == "nothing_faster");
  CHECK(all.at("reason").as_string() == sentence);
  const auto replayed = toy.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(replayed.code == 0, replayed.out);
  CHECK(parsed(replayed).at("verdict").as_string() == "nothing_faster");
}

TEST_CASE("kill -9 at any moment loses nothing that was finished; resume goes on; the whole replays") {
  const toy_project toy("0.01");
  std::uint64_t before = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    shell::running victim(
        attempt == 0 ? shell::kevo({"run", "config.yaml", "--plain", "--set", "stop.evaluations=100000"})
                     : shell::kevo({"resume", "run", "--plain", "--set", "stop.evaluations=100000"}),
        toy.folder.string());
    toy.wait_until_begun();
    std::this_thread::sleep_for(std::chrono::milliseconds(400 + 130 * attempt));
    victim.signal(SIGKILL);
    CHECK(victim.wait().code == 128 + SIGKILL);
    // `resume` that may do nothing more shows what survived.
    const auto survived = toy.kevo({"run", "--replay", "run", "--json"});
    REQUIRE_MESSAGE(survived.code == 0, survived.out);
    const auto count = parsed(survived).at("evaluations").to_number<std::uint64_t>();
    CHECK(count >= before);
    before = count;
  }
  const auto ended =
      toy.kevo({"resume", "run", "--json", "--set", "stop.evaluations=" + std::to_string(before + 20)});
  REQUIRE_MESSAGE(ended.code == 0, ended.out);
  CHECK(parsed(ended).at("evaluations").to_number<std::uint64_t>() >= before + 20);
  const auto whole = toy.kevo({"run", "--replay", "run", "--json"});
  CHECK_MESSAGE(whole.code == 0, whole.out);
  CHECK(parsed(whole).at("best").as_object().at("id") == parsed(ended).at("best").as_object().at("id"));
}

TEST_CASE("Ctrl-C winds down with exit code 130, and the run can go on") {
  const toy_project toy("0.02");
  shell::running user(shell::kevo({"run", "config.yaml", "--json", "--set", "stop.evaluations=100000"}),
                      toy.folder.string());
  toy.wait_until_begun();
  std::this_thread::sleep_for(500ms);
  user.signal(SIGINT);
  const auto ended = user.wait();
  CHECK(ended.code == 130);
  CHECK(parsed(ended).at("stopped_by").as_string() == "interrupted");
  CHECK(toy.kevo({"resume", "run", "--json", "--set", "stop={seconds: 2}"}).code == 0);
}

TEST_CASE("the first Ctrl-C says what it waits for, and that the second cancels it") {
  const toy_project toy("3");
  shell::running user(shell::kevo({"run", "config.yaml", "--plain", "--set", "fitness.limits={wall: 60}"}),
                      toy.folder.string());
  toy.wait_until_begun();
  std::this_thread::sleep_for(500ms);
  user.signal(SIGINT);
  for (int i = 0; i < 200 && user.out_so_far().find("waiting for") == std::string::npos; ++i)
    std::this_thread::sleep_for(10ms);
  const auto said = user.out_so_far();
  const auto waiting = said.find("waiting for 1 evaluation; press Ctrl-C again to cancel it\n");
  REQUIRE_MESSAGE(waiting != std::string::npos, said);
  CHECK(said.find("stopped: interrupted") < waiting);
  user.signal(SIGINT);
  CHECK(user.wait().code == 130);
}

TEST_CASE("a run does not begin in a folder of other files, which stay as they are") {
  const toy_project toy;
  shell::write_file(toy.folder / "mine/best.txt", "precious\n");
  const auto run = [&](const std::string& output) {
    return toy.kevo(
        {"run", "config.yaml", "--json", "--set", "stop.evaluations=3", "--set", "run.output=" + output});
  };
  const auto refused = run("mine");
  CHECK(refused.code == 2);
  const json::object wrong = parsed(refused).at("error").as_object();
  CHECK(wrong.at("key").as_string() == "run.output");
  CHECK(wrong.at("message").as_string().find("'mine'") != std::string::npos);
  CHECK(wrong.at("message").as_string().find("best.txt") != std::string::npos);
  CHECK(shell::read_file(toy.folder / "mine/best.txt") == "precious\n");
  CHECK(std::distance(std::filesystem::directory_iterator(toy.folder / "mine"), {}) == 1);

  // An empty folder, what a start that failed left, and a folder that is not there yet are taken.
  std::filesystem::create_directories(toy.folder / "empty");
  shell::write_file(toy.folder / "begun/.lock", "1\n");
  for (const std::string output : {"empty", "begun", "mine/run"}) {
    const auto began = run(output);
    CHECK_MESSAGE(began.code == 0, began.out);
    CHECK(std::filesystem::exists(toy.folder / output / "journal.sqlite"));
  }
  // A number is added to the folder of a run; one that other files have taken is passed over.
  shell::write_file(toy.folder / "empty-2/notes.txt", "precious\n");
  CHECK(run("empty").code == 0);
  CHECK(std::filesystem::exists(toy.folder / "empty-3/journal.sqlite"));
}

TEST_CASE("wrong input exits with 2 and names file, line, key and the next step") {
  const toy_project toy;
  const auto expect = [&](std::vector<std::string> words, const std::string& key, const std::string& hint) {
    words.push_back("--json");
    const auto ended = toy.kevo(words);
    CHECK(ended.code == 2);
    CHECK(ended.err.empty());
    const json::object wrong = parsed(ended).at("error").as_object();
    if (!key.empty()) CHECK(wrong.at("key").as_string() == key);
    CHECK_MESSAGE(json::serialize(wrong).find(hint) != std::string::npos, json::serialize(wrong));
  };
  expect({"run", "config.yaml", "--set", "archive.tpye=grid"}, "archive.tpye", "'type'");
  expect({"run", "config.yaml", "--set", "select.type=best"}, "select.type", "greedy");
  expect({"run", "config.yaml", "--set", "stop.evaluations=0"}, "stop.evaluations", "1");
  expect({"run", "config.yaml", "--set", "task=gone.yaml"}, "task", "gone.yaml");
  expect({"run", "config.yaml", "--set", "fitness.directory=gone"}, "fitness.directory", "gone");
  expect({"run", "config.yaml", "--set", "fitness.mounts=[gone]"}, "fitness.mounts", "gone");
  expect({"run", "gone.yaml"}, "", "gone.yaml");
  expect({"run"}, "", "config");
  expect({"resume", "nowhere"}, "", "nowhere");
  shell::write_file(toy.folder / "broken.yaml", "run: {name: toy\nstop: [\n");
  const auto broken = toy.kevo({"run", "broken.yaml", "--json"});
  CHECK(broken.code == 2);
  CHECK(parsed(broken).at("error").as_object().at("line").to_number<int>() > 0);
}

TEST_CASE("the whole config is printed with every default, and runs as printed") {
  const toy_project toy;
  const auto printed = toy.kevo({"run", "config.yaml", "--print-config"});
  REQUIRE(printed.code == 0);
  CHECK(printed.out.find("alpha: 1.0") != std::string::npos);
  shell::write_file(toy.folder / "whole.yaml", printed.out);
  CHECK(toy.kevo({"run", "whole.yaml", "--json", "--set", "stop.evaluations=5"}).code == 0);
}

TEST_CASE("a run that is started from another folder finds its files, and so does its resume") {
  const toy_project toy;
  const auto elsewhere = toy.folder / "elsewhere";
  std::filesystem::create_directories(elsewhere);
  for (const char* file : {"task.yaml", "seed.txt", "reference.cpp"})
    std::filesystem::copy_file(toy.folder / file, elsewhere / file);
  std::filesystem::rename(elsewhere / "task.yaml", elsewhere / "mine.yaml");
  // The task is named on the command line: it lies in the current folder. The config's own paths do not.
  const auto begun = shell::run(shell::kevo({"run", "../config.yaml", "--set", "task=mine.yaml", "--set",
                                             "stop.evaluations=5", "--json"}),
                                elsewhere.string());
  REQUIRE_MESSAGE(begun.code == 0, begun.out << begun.err);
  CHECK(std::filesystem::exists(elsewhere / "run/journal.sqlite"));  // where kevo was called
  const auto on = toy.kevo({"resume", "elsewhere/run", "--set", "stop.evaluations=8", "--json"});
  CHECK_MESSAGE(on.code == 0, on.out << on.err);

  const auto url = toy.kevo({"run", "https://host.example/config.yaml"});
  CHECK(url.code == 2);
  CHECK(url.err.find("is a URL, and kevo reads files only") != std::string::npos);
  const auto task = toy.kevo({"run", "config.yaml", "--set", "task=https://host.example/task.yaml"});
  CHECK(task.code == 2);
  CHECK(task.err.find("is a URL, and kevo reads files only") != std::string::npos);
}

TEST_CASE("a full disk ends a run with exit code 1 and loses nothing") {
  const toy_project toy;
  const std::string mounted = (toy.folder / "small").string();
  std::filesystem::create_directories(mounted);
  if (::geteuid() != 0 ||
      std::system(("mount -t tmpfs -o size=6m tmpfs " + mounted + " 2>/dev/null").c_str()) != 0) {
    kevo_test::skip("mounting a small file system needs root");
    return;
  }
  // What fills up is the disk, not the run: 4 MB of reserve, then a neighbour takes the rest.
  shell::running run(shell::kevo({"run", "config.yaml", "--json", "--set", "run.output=small/run", "--set",
                                  "stop.evaluations=100000"}),
                     toy.folder.string());
  std::this_thread::sleep_for(500ms);
  shell::write_file(toy.folder / "small/neighbour", std::string(6 << 20, 'x'));
  const auto ended = run.wait();
  CHECK(ended.code == 1);
  CHECK(parsed(ended).at("error").as_object().at("code").as_string() == "environment");
  // A resume finds the disk full, too; it changes nothing, however often it is tried.
  shell::write_file(toy.folder / "small/neighbour", std::string(6 << 20, 'x'));
  for (int i = 0; i < 2; ++i) {
    const auto refused = toy.kevo({"resume", "small/run", "--json"});
    CHECK(refused.code == 1);
    CHECK(parsed(refused).at("error").as_object().at("code").as_string() == "environment");
  }
  std::filesystem::remove(toy.folder / "small/neighbour");
  const auto kept = toy.kevo({"run", "--replay", "small/run", "--json"});
  CHECK_MESSAGE(kept.code == 0, kept.out);
  const auto count = parsed(kept).at("evaluations").to_number<std::uint64_t>();
  CHECK(count > 0);
  // How much of the disk the journal took before the neighbour came depends on how fast the machine is.
  REQUIRE(std::system(("mount -o remount,size=24m " + mounted).c_str()) == 0);
  const auto more =
      toy.kevo({"resume", "small/run", "--json", "--set", "stop.evaluations=" + std::to_string(count + 5)});
  CHECK_MESSAGE(more.code == 0, more.out);
  CHECK(std::system(("umount " + mounted).c_str()) == 0);
}
