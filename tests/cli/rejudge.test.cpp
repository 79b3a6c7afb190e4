// timeout: 300
// `kevo rejudge` on runs that a script judges, so that today's rules can be made to differ from those of
// then.

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/base/sqlite/sqlite.hpp"
#include "tests/support/shell.hpp"

using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

/// A finished run of the sum of two tunables. The script writes a line into `calls` for each evaluation.
struct old_run {
  shell::scratch folder;

  old_run() {
    shell::write_file(folder / "seed.txt",
                      "N = 3  # kevo: {1..400 step 1}\nM = 5  # kevo: {1..400 step 1}\n");
    shell::write_file(folder / "reference.cpp", "extern \"C\" void reference() {}\n");
    judge("echo \"{\\\"score\\\": $(($1 + $2))}\"");
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
        "archive: {type: top_k, k: 3}\nselect: {type: power_law}\n"
        "vary: {operators: [{type: tune}]}\nstop: {evaluations: 20}\n");
    REQUIRE(kevo({"run", "config.yaml", "--json"}).code == 0);
    std::filesystem::remove(folder / "calls");
  }
  /// The rules: what the script does with the two numbers in $1 and $2.
  void judge(const std::string& last_line) const {
    shell::write_file(folder / "score.sh", "echo call >> " + (folder / "calls").string() +
                                               "\nset -- $(sed 's/.*= //; s/ .*//' \"$1\")\n" + last_line +
                                               "\n");
  }
  shell::result kevo(std::vector<std::string> words) const {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  json::value rejudge(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"rejudge", "run", "--json", "--trust"});
    const auto ended = kevo(std::move(more));
    CHECK_MESSAGE(ended.code == 0, ended.out << ended.err);
    return json::parse(ended.out).at("runs").at(0);
  }
  long calls() const {
    const std::string text = shell::read_file(folder / "calls");
    return std::count(text.begin(), text.end(), '\n');
  }
};

}  // namespace

TEST_CASE(
    "under the same rules elites hold; what was judged is not evaluated again; the journal stays as it was") {
  const old_run old;
  const std::string journal = shell::read_file(old.folder / "run/journal.sqlite");
  CHECK(json::parse(old.kevo({"show", "run", "--json"}).out).at("rejudged").is_null());
  const json::value first = old.rejudge();
  const auto& elites = first.at("elites").as_array();
  CHECK(elites.size() >= 5);  // the best five, with the champion and the archive's three among them
  CHECK(first.at("holds").to_number<std::size_t>() == elites.size());
  CHECK(elites.at(0).at("champion").as_bool());
  CHECK(elites.at(0).at("old").at("protocol").as_string() == "command 2");
  CHECK(elites.at(0).at("new").at("protocol").as_string() == "command 2");
  CHECK_FALSE(first.at("task_changed").as_bool());
  const long once = old.calls();
  CHECK(once == static_cast<long>(elites.size()));

  const json::value second = old.rejudge();
  for (const auto& one : second.at("elites").as_array()) CHECK(one.at("known").as_bool());
  CHECK(old.calls() <= once + 1);  // one, to learn the protocol of today
  CHECK(old.rejudge({"--top", "1"}).at("elites").as_array().size() == 1);
  CHECK(old.rejudge({"--all"}).at("elites").as_array().size() > elites.size());
  CHECK(old.rejudge({"--again", "--top", "1"}).at("elites").at(0).at("known").as_bool() == false);

  CHECK(shell::read_file(old.folder / "run/journal.sqlite") == journal);
  CHECK(old.kevo({"run", "--replay", "run"}).code == 0);
  CHECK(old.kevo({"resume", "run", "--json", "--set", "stop={evaluations: 22}"}).code == 0);
}

TEST_CASE("stricter rules let elites fall, and that is a result: exit code 0") {
  const old_run old;
  old.judge("[ $2 -gt 20 ] && exit 3; echo \"{\\\"score\\\": $(($1 + $2))}\"");
  const json::value all = old.rejudge({"--all"});
  CHECK(all.at("fell").to_number<int>() >= 1);
  CHECK(all.at("holds").to_number<int>() >= 1);  // the seed: M = 5
  for (const auto& one : all.at("elites").as_array()) {
    if (one.at("verdict").as_string() != "fell") continue;
    CHECK(one.at("old").at("outcome").as_string() == "valid");
    CHECK(one.at("new").at("outcome").as_string() != "valid");
    CHECK(!one.at("reason").as_string().empty());
  }
  const std::string shown = old.kevo({"show", "run"}).out;
  CHECK(shown.find("judged again") != std::string::npos);
  CHECK(shown.find(" fell, ") != std::string::npos);
  const auto printed = json::parse(old.kevo({"show", "run", "--json"}).out);
  CHECK(printed.at("rejudged").at("verdicts").at("fell").to_number<int>() == all.at("fell").to_number<int>());
  CHECK(printed.at("rejudged").at("candidates").as_array().size() == all.at("elites").as_array().size());
  CHECK(printed.at("best").at("rejudged").at("verdict").as_string() == "fell");
  CHECK(!printed.at("best").at("rejudged").at("reason").as_string().empty());
  const auto best = json::parse(old.kevo({"show", "run", "best", "--json"}).out);
  CHECK(best.at("rejudged").at("outcome").as_string() == "crashed");
  CHECK(old.kevo({"show", "run", "best"}).out.find("fell on ") != std::string::npos);
  REQUIRE(old.kevo({"report", "run"}).code == 0);
  CHECK(
      shell::read_file(old.folder / "run/report.html").find("The best program was judged again: fell on ") !=
      std::string::npos);
  const auto in_words = old.kevo({"rejudge", "run", "--all", "--trust"});
  CHECK(in_words.code == 0);
  CHECK(in_words.out.find("fell") != std::string::npos);
}

TEST_CASE("scores that rose or sank by more than a twentieth are called so") {
  const old_run old;
  old.judge("echo \"{\\\"score\\\": $((($1 + $2) / 2))}\"");
  CHECK(old.rejudge({"--top", "1"}).at("slower").to_number<int>() == 1);
  old.judge("echo \"{\\\"score\\\": $((($1 + $2) * 2))}\"");
  CHECK(old.rejudge({"--top", "1", "--again"}).at("faster").to_number<int>() == 1);
}

TEST_CASE("a kill loses nothing that was judged, and the same words go on from there") {
  const old_run old;
  old.judge("sleep 0.3; echo \"{\\\"score\\\": $(($1 + $2))}\"");
  {
    shell::running killed(shell::kevo({"rejudge", "run", "--json", "--trust"}), old.folder.string());
    for (int i = 0; i < 1000 && old.calls() < 3; ++i) std::this_thread::sleep_for(10ms);
    killed.signal(SIGKILL);
    killed.wait();
  }
  REQUIRE(old.calls() >= 3);
  const json::value rest = old.rejudge();
  long known = 0;
  for (const auto& one : rest.at("elites").as_array()) known += one.at("known").as_bool() ? 1 : 0;
  CHECK(known >= 2);
}

TEST_CASE("a task that has moved is named by --task; one that has changed is said to have") {
  const old_run old;
  std::filesystem::create_directory(old.folder / "there");
  for (const char* file : {"task.yaml", "seed.txt", "reference.cpp"})
    std::filesystem::rename(old.folder / file, old.folder / "there" / file);
  const auto lost = old.kevo({"rejudge", "run"});
  CHECK(lost.code == 2);
  CHECK(lost.err.find("--task FILE") != std::string::npos);
  CHECK_FALSE(old.rejudge({"--task", "there/task.yaml"}).at("task_changed").as_bool());
  std::string text = shell::read_file(old.folder / "there/task.yaml");
  text.replace(text.find("K: 4"), 4, "K: 5");
  shell::write_file(old.folder / "there/task.yaml", text);
  const json::value changed = old.rejudge({"--task", "there/task.yaml"});
  CHECK(changed.at("task_changed").as_bool());
  // Another task is another rule: nothing that was judged before counts.
  CHECK_FALSE(changed.at("elites").at(0).at("known").as_bool());
}

TEST_CASE("a run from before protocols had versions says so") {
  const old_run old;
  {
    kevo::sqlite::connection journal((old.folder / "run/journal.sqlite").string(),
                                     kevo::sqlite::access::write);
    journal.execute(
        "UPDATE evaluations SET evaluation = json_remove(evaluation, '$.protocol'), protocol = ''");
  }
  const json::value all = old.rejudge({"--top", "1"});
  CHECK(all.at("elites").at(0).at("old").at("protocol").as_string() == "unknown");
  CHECK(all.at("elites").at(0).at("verdict").as_string() == "holds");
}

TEST_CASE("a program that a run's config names is not run unless the run is trusted") {
  const old_run old;
  const auto refused = old.kevo({"rejudge", "run", "--json"});
  CHECK(refused.code == 2);
  CHECK(json::parse(refused.out).at("error").at("hint").as_string().find("--trust") != json::string::npos);
  CHECK(old.calls() == 0);
}

TEST_CASE("wrong words are usage errors that change nothing") {
  const old_run old;
  CHECK(old.kevo({"rejudge"}).code == 2);
  CHECK(old.kevo({"rejudge", "nowhere"}).code == 2);
  CHECK(old.kevo({"rejudge", "run", "--trust", "--set", "run.seed=4"}).code == 2);
  CHECK(old.kevo({"rejudge", "run", "--trust", "--top", "1", "--all"}).code == 2);
  CHECK(!std::filesystem::exists(old.folder / "run/rejudged.sqlite"));
}
