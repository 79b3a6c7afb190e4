// timeout: 600
// build: sanitized
// Runs and tasks that somebody else may have made up or damaged: whatever they hold, the program answers, in
// bounded time and memory, obeys nothing in them, and writes nowhere else.

#include <array>
#include <filesystem>
#include <functional>
#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <kevo/program.hpp>
#include <kevo/random.hpp>
#include <kevo/task_id.hpp>

#include "src/journal/journal.hpp"
#include "tests/support/shell.hpp"

namespace fs = std::filesystem;

namespace {

// A sanitizer takes all addresses that there are.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEVO_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEVO_SANITIZED 1
#endif
#endif
#if defined(KEVO_SANITIZED)
constexpr const char* bounds = "exec timeout -s KILL 60 \"$@\"";
#else
constexpr const char* bounds = "ulimit -v 2000000; exec timeout -s KILL 60 \"$@\"";
#endif

/// The program with these arguments, in bounded time and memory.
shell::result run_kevo(std::vector<std::string> arguments, const std::string& folder) {
  std::vector<std::string> words = {"/bin/sh", "-c", bounds, "sh", KEVO_BINARY_DIR "/kevo"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return shell::run(words, folder);
}

void execute(const fs::path& database, const std::string& sql) {
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &opened) == SQLITE_OK);
  char* message = nullptr;
  sqlite3_exec(opened, sql.c_str(), nullptr, nullptr, &message);
  CHECK_MESSAGE(message == nullptr, sql, ": ", std::string(message == nullptr ? "" : message));
  sqlite3_free(message);
  sqlite3_close(opened);
}

std::string ask(const fs::path& database, const std::string& sql) {
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &opened) == SQLITE_OK);
  std::string answer;
  const auto append = [](void* out, int n, char** values, char**) {
    for (int i = 0; i < n; ++i) *static_cast<std::string*>(out) += values[i] != nullptr ? values[i] : "NULL";
    return 0;
  };
  sqlite3_exec(opened, sql.c_str(), append, &answer, nullptr);
  sqlite3_close(opened);
  return answer;
}

/// A finished run of a toy task, made once and copied for each deed.
struct gallery {
  shell::scratch folder;

  gallery() {
    shell::write_file(folder / "seed.txt",
                      "N = 3  # kevo: {1..400 step 1}\nM = 5  # kevo: {1..400 step 1}\n");
    shell::write_file(folder / "score.sh",
                      "#!/bin/sh\nset -- $(sed 's/.*= //; s/ .*//' \"$1\")\n"
                      "echo \"{\\\"score\\\": $(($1 + $2)), \\\"size\\\": $2}\"\n");
    shell::write_file(folder / "task.yaml", "name: toy\ndescription: toy\nseeds: [seed.txt]\n");
    shell::write_file(
        folder / "config.yaml",
        "run: {name: toy, seed: 3, output: run}\ntask: task.yaml\n"
        "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}\n"
        "archive: {type: grid, measures: {size: {bins: 10, range: [0, 400]}}}\n"
        "select: {type: power_law}\nvary: {operators: [{type: tune}, {type: splice}]}\n"
        "stop: {evaluations: 12}\n");
    const auto made = shell::run(shell::kevo({"run", "config.yaml", "--plain"}), folder.string());
    REQUIRE_MESSAGE(made.code == 0, made.err);
  }

  /// A copy of the run, beside a file that nobody may touch.
  fs::path copy() {
    const auto made = folder / ("copy" + std::to_string(copies_++)) / "run";
    fs::create_directories(made.parent_path());
    fs::copy(folder / "run", made, fs::copy_options::recursive);
    shell::write_file(made.parent_path() / "outside.txt", "untouched");
    return made;
  }

 private:
  int copies_ = 0;
};

gallery& shared() {
  static gallery one;
  return one;
}

void check_answer(const shell::result& r, const std::string& what) {
  INFO(what, ": ", r.err);
  CHECK(r.code <= 2);  // 137: it had to be killed; others above: it crashed
  CHECK(r.err.find("bug in kevo") == std::string::npos);
  CHECK(r.err.find('\x1b') == std::string::npos);
  CHECK(r.out.find('\x1b') == std::string::npos);
}

/// Every verb that reads a run, with one of the formats of an export, in turn; the codes of show and resume.
std::pair<int, int> look_at(const fs::path& run, const std::string& what, bool resume = true) {
  const auto folder = run.parent_path().string();
  const auto shown = run_kevo({"show", "run"}, folder);
  check_answer(shown, what + ": show");
  check_answer(run_kevo({"show", "run", "best"}, folder), what + ": show best");
  check_answer(run_kevo({"report", "run"}, folder), what + ": report");
  static std::size_t looks = 0;
  const std::string format = std::array{"csv", "jsonl", "steps"}[looks++ % 3];
  check_answer(run_kevo({"export", "run", "--format", format, "--output", "exported"}, folder),
               what + ": export " + format);
  int resumed = 0;
  if (resume) {
    const auto r = run_kevo({"resume", "run", "--plain"}, folder);
    check_answer(r, what + ": resume");
    resumed = r.code;
  }
  CHECK_MESSAGE(shell::read_file(run.parent_path() / "outside.txt") == "untouched", what);
  return {shown.code, resumed};
}

std::string view_without_end(const std::string& name, const std::string& columns) {
  return "PRAGMA foreign_keys = OFF; DROP TABLE " + name + "; CREATE VIEW " + name + "(" + columns +
         ") AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n, 'x' FROM c;";
}

}  // namespace

TEST_CASE("an honest copy of a run is shown, reported, exported and resumed") {
  CHECK(look_at(shared().copy(), "untouched") == std::pair(0, 0));
}

TEST_CASE("made-up journals are refused") {
  const std::pair<const char*, std::string> deeds[] = {
      {"a view without end for operator_names", view_without_end("operator_names", "number, name")},
      {"a view without end for header", view_without_end("header", "key, value")},
      {"a table of a module",
       "DROP TABLE operator_names; CREATE VIRTUAL TABLE operator_names USING rtree(number, name, low)"},
      {"a computed column",
       "DROP TABLE operator_names; CREATE TABLE operator_names (number INTEGER PRIMARY KEY, name TEXT AS "
       "(printf('%.*c', 200000000, 'x')))"},
      {"no programs", "DROP TABLE programs"},
      {"no events", "DROP TABLE events"},
      {"a word as the seed", "UPDATE header SET value = 'soon' WHERE key = 'seed'"},
      {"a candidate of an absurd number",
       "UPDATE events SET candidate = 4000000000 WHERE sequence = (SELECT max(sequence) FROM events WHERE "
       "kind = "
       "'variation_told' AND candidate IS NOT NULL)"},
      {"a seed without a number", "UPDATE events SET candidate = NULL WHERE kind = 'seeded'"},
      {"an evaluation of nobody",
       "UPDATE events SET candidate = 3000000000 WHERE sequence = (SELECT max(sequence) FROM events WHERE "
       "kind = "
       "'evaluation_told')"},
      {"a champion of nowhere", "UPDATE events SET candidate = 4294967294 WHERE kind = 'champion_crowned'"},
      {"parents that are not born",
       "UPDATE events SET detail = replace(detail, '\"parents\":[0', '\"parents\":[4000000000') WHERE kind = "
       "'variation_asked'"},
      {"an operator that does not exist",
       "UPDATE events SET detail = replace(detail, '\"operator\":0', '\"operator\":60000') WHERE kind = "
       "'variation_asked'"},
      {"half an evaluation", "UPDATE evaluations SET evaluation = substr(evaluation, 1, 40)"},
      {"a deep evaluation",
       "UPDATE evaluations SET evaluation = replace(printf('%.200000c', '['), char(0), '')"},
      {"an unknown kind of event", "UPDATE events SET kind = 'dreamt' WHERE sequence = 2"},
      {"a hole in the events", "DELETE FROM events WHERE sequence = 3"},
      {"another program's database", "PRAGMA application_id = 7"},
      {"a schema of the future", "PRAGMA user_version = 1000000"},
  };
  for (const auto& deed : deeds) {
    const std::string what = deed.first;
    const auto run = shared().copy();
    execute(run / "journal.sqlite", deed.second);
    const auto [shown, resumed] = look_at(run, what);
    INFO(what);
    CHECK(shown == 2);
    CHECK(resumed == 2);
  }
}

TEST_CASE("a trigger in a journal is not run") {
  const auto run = shared().copy();
  execute(run / "journal.sqlite",
          "CREATE TRIGGER forget AFTER INSERT ON sessions BEGIN DELETE FROM candidates; END");
  look_at(run, "trigger");
  CHECK(ask(run / "journal.sqlite", "SELECT count(*) > 5 FROM candidates") == "1");
}

TEST_CASE("values of wrong types are an answer, too") {
  for (const char* sql :
       {"UPDATE events SET time_s = 'soon'", "UPDATE events SET job = 'mine'",
        "UPDATE evaluations SET score = 'high'", "UPDATE evaluations SET candidate = 'x'",
        "UPDATE candidates SET id = id + 4000000000", "UPDATE candidates SET program = 'none'",
        "UPDATE programs SET id = 'none' WHERE number = 1", "UPDATE sessions SET opened_unix_s = 1e300",
        "UPDATE variations SET wall_s = 'long', summary = x'fffe00ff'",
        "UPDATE edges SET parent = 4000000000", "UPDATE header SET value = x'00ff00ff'",
        "UPDATE header SET value = 'a: &a [x, x]' WHERE key = 'config'",
        "UPDATE header SET value = '{' WHERE key = 'task'", "DELETE FROM program_files",
        "DELETE FROM evaluations", "DELETE FROM header WHERE key = 'seed'"}) {
    const auto run = shared().copy();
    execute(run / "journal.sqlite", sql);
    look_at(run, sql);
  }
}

TEST_CASE("numbers at the ends of what there is are an answer, too") {
  const std::pair<const char*, const char*> ends[] = {
      {"infinite", "'inf'"},
      {"is not a number", "'nan'"},
      {"largest", "1.7e308"},
      {"smallest", "4e-320"},
      {"both", "iif(sequence % 2, 1.7e308, 4e-320)"},
      {"neighbours", "json(iif(sequence % 2, '100000000000000000', '100000000000000016'))"}};
  for (const auto& [what, value] : ends) {
    const auto run = shared().copy();
    const std::string v = value;
    const std::string speedup = std::string(what) == "neighbours" ? "0" : v;  // scores of their own
    execute(run / "journal.sqlite",
            "UPDATE evaluations SET evaluation = json_set(evaluation, '$.score', " + v + ", '$.speedup', " +
                speedup + ", '$.speedup_interval', json_array(" + v + ", " + v + "), '$.sol_fraction', " + v +
                ", '$.measures', json_object('size', " + v +
                ")); UPDATE events SET time_s = iif(sequence % 2, 1e308, "
                "sequence)");
    look_at(run, what, false);
  }
}

TEST_CASE("damaged bytes are an answer, too") {
  kevo::rng random(11);
  for (int i = 0; i < 24; ++i) {
    const auto run = shared().copy();
    auto bytes = shell::read_file(run / "journal.sqlite");
    for (int flips = 1 << (i % 8); flips > 0; --flips)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    if (i % 6 == 5) bytes.resize(random.below(bytes.size()));
    shell::write_file(run / "journal.sqlite", bytes);
    look_at(run, "flips " + std::to_string(i), i % 3 == 0);
  }
}

TEST_CASE("the best program cannot be written outside of the run's folder") {
  for (const char* name : {"../../outside.txt", "/../../outside.txt", "a/../../../outside.txt"}) {
    const auto run = shared().copy();
    // The champion gets a second file, and the id that goes with it wherever it is named.
    std::string old_id;
    kevo::program changed;
    {
      const auto record = kevo::journal::open_read_only(run.string());
      const auto id = record.candidate(record.best().value())->program;
      old_id = kevo::to_string(id);
      changed = *record.store().program_of(id);
    }
    changed.files.push_back({name, "written by a stranger"});
    const auto new_id = kevo::to_string(kevo::id_of(changed));
    for (const char* place : {"programs SET id", "candidates SET program", "events SET program"}) {
      const std::string column = std::string(place).substr(std::string(place).rfind(' ') + 1);
      execute(run / "journal.sqlite",
              std::string("UPDATE ") + place + " = '" + new_id + "' WHERE " + column + " = '" + old_id + "'");
    }
    execute(run / "journal.sqlite", std::string("INSERT INTO program_files SELECT number, 1, '") + name +
                                        "', 'written by a stranger' FROM programs WHERE id = '" + new_id +
                                        "'");
    const auto [shown, resumed] = look_at(run, name);
    CHECK(shown == 0);
    CHECK(resumed == 2);
    const auto again = run_kevo({"resume", "run", "--plain"}, run.parent_path().string());
    CHECK_MESSAGE(again.err.find("could be outside") != std::string::npos, again.err);
  }
}

TEST_CASE("links in a run's folder are not followed") {
  for (const char* name : {"report.html.new", "best.txt.new", ".reserve", ".lock", "best_files", "cache"}) {
    const auto run = shared().copy();
    fs::remove_all(run / name);
    fs::create_symlink("../outside.txt", run / name);
    const auto folder = run.parent_path().string();
    INFO(name);
    const auto resumed = run_kevo({"resume", "run", "--plain"}, folder);
    CHECK(resumed.code != 0);
    CHECK(run_kevo({"report", "run"}, folder).err.find("is a symbolic link") != std::string::npos);
    CHECK(shell::read_file(run.parent_path() / "outside.txt") == "untouched");
  }
}

TEST_CASE("looking at a run does not load the plug-ins that it names") {
  const auto run = shared().copy();
  const auto folder = run.parent_path();
  shell::write_file(folder / "plugin.cpp",
                    "#include <cstdio>\nstatic const bool ran = [] { if (auto* f = std::fopen(\"" +
                        (folder / "ran").string() + "\", \"w\")) std::fclose(f); return true; }();\n");
  REQUIRE(shell::run({"/bin/sh", "-c", "c++ -shared -fPIC -o plugin.so plugin.cpp"}, folder.string()).code ==
          0);
  execute(run / "journal.sqlite", "UPDATE header SET value = replace(value, 'plugins: []', 'plugins: [\"" +
                                      (folder / "plugin.so").string() + "\"]') WHERE key = 'config'");
  CHECK(run_kevo({"show", "run"}, folder.string()).code == 0);
  CHECK(run_kevo({"report", "run"}, folder.string()).code == 0);
  CHECK_FALSE(fs::exists(folder / "ran"));
  CHECK(run_kevo({"show", "run", "--plugins"}, folder.string()).code == 0);
  CHECK(fs::exists(folder / "ran"));
}

TEST_CASE("what a run holds cannot speak to the terminal") {
  const auto run = shared().copy();
  const std::string evil = "char(27) || ']0;owned' || char(7) || char(155) || char(8238) || 'x'";
  execute(run / "journal.sqlite", "UPDATE program_files SET text = " + evil +
                                      " || text; UPDATE variations SET summary = " + evil +
                                      ", operator = " + evil + "; UPDATE operator_names SET name = " + evil +
                                      "; UPDATE header SET value = " + evil +
                                      " WHERE key = 'run_name'; UPDATE evaluations SET device = " + evil +
                                      ", evaluation = json_set(evaluation, '$.feedback', " + evil +
                                      ", '$.device', " + evil + ", '$.baseline', " + evil + ")");
  const auto folder = run.parent_path().string();
  look_at(run, "escapes", false);
  CHECK(shell::read_file(run.parent_path() / "exported").find('\x1b') == std::string::npos);

  // A file gets the very bytes, a terminal does not.
  CHECK(run_kevo({"show", "run", "best", "--source"}, folder).out.find("\x1b]0;owned\a") !=
        std::string::npos);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    const std::string command = KEVO_BINARY_DIR "/kevo";
    const std::string where = run.string();
    ::execl(command.c_str(), "kevo", "show", where.c_str(), "best", "--source", nullptr);
    ::_exit(127);
  }
  std::string seen;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;)
    seen.append(buffer.data(), static_cast<std::size_t>(n));
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(seen.find("\\x1b]0;owned\\x07") != std::string::npos);
  CHECK(seen.find('\x1b') == std::string::npos);
}

TEST_CASE("an error that quotes a stranger's file does not speak to the terminal either") {
  const shell::scratch folder;
  shell::write_file(folder / "task.yaml", "name: x\n\"a\\e]0;owned\\a\": 1\n");
  const auto r = run_kevo({"eval", "task.yaml", "task.yaml"}, folder.string());
  CHECK(r.code == 2);
  check_answer(r, "escape in a key");
  const auto named = run_kevo({"show", "no\x1b[31mrun"}, folder.string());
  CHECK(named.code == 2);
  check_answer(named, "escape in a name");
}

TEST_CASE("a task names files of its own folder, and sources") {
  const shell::scratch folder;
  shell::write_file(folder / "private/key", "secret");
  shell::write_file(folder / "private/kernel.cpp", "int x;\n");
  const auto with_seed = [&](const std::string& seed) {
    shell::write_file(folder / "task/task.yaml",
                      "name: stranger\nseeds: [{language: cpp, file: " + seed + "}]\n");
    return run_kevo({"task", "check", "task/task.yaml"}, folder.string());
  };
  const auto refused = [&](const std::string& seed) {
    return with_seed(seed).err.find("is outside the folder of the task") != std::string::npos;
  };
  CHECK(refused("../private/key"));
  CHECK(refused((folder / "private/key").string()));
  CHECK(refused("/etc/passwd"));
  fs::create_symlink("../private/key", folder / "task/linked.cpp");
  CHECK(refused("linked.cpp"));
  CHECK_FALSE(refused("../private/kernel.cpp"));
  shell::write_file(folder / "task/inside", "int x;\n");
  CHECK_FALSE(refused("inside"));
  ::setenv("KEVO_TASK_FILES", ("/nowhere:" + (folder / "private").string()).c_str(), 1);
  CHECK_FALSE(refused("../private/key"));
  ::unsetenv("KEVO_TASK_FILES");
}

TEST_CASE("a stranger's config does not write over files that are there") {
  const shell::scratch folder;
  shell::write_file(folder / "mine/config.yaml", "untouched");
  shell::write_file(folder / "seed.txt", "N = 3  # kevo: {1..400 step 1}\n");
  shell::write_file(folder / "task.yaml", "name: toy\nseeds: [seed.txt]\n");
  const std::string rest =
      "task: task.yaml\nfitness: {backend: command, command: [/bin/true], directory: ., sandbox: off}\n"
      "archive: {type: top_k, k: 4}\nselect: {type: power_law}\nvary: {operators: [{type: tune}]}\n"
      "stop: {evaluations: 1}\n";
  shell::write_file(folder / "recording.yaml",
                    "run: {name: toy, output: run}\n"
                    "llm: {models: [{name: m, url: \"http://127.0.0.1:1/v1\"}], "
                    "cassette: {mode: record, file: mine/config.yaml}}\n" +
                        rest);
  shell::write_file(folder / "output.yaml", "run: {name: toy, output: mine}\n" + rest);
  shell::write_file(
      folder / "lab.yaml",
      "lab: {name: quick, output: mine, seeds: 1}\n"
      "problem: {type: landscape, steps: 4, tunables: 2, levels: 4}\n"
      "budget: {unit: evaluations, at: [5]}\n"
      "policies: [{name: random, archive: {type: top_k, k: 5}, select: {type: power_law}, vary: "
      "{operators: [{type: landscape_draw}]}}]\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"run", "recording.yaml", "--plain"},
                                                {"run", "output.yaml", "--plain"},
                                                {"lab", "lab.yaml"}}) {
    const auto r = run_kevo(words, folder.string());
    INFO(words[1], ": ", r.err);
    CHECK(r.code == 2);
    CHECK(shell::read_file(folder / "mine/config.yaml") == "untouched");
  }
}

TEST_CASE("what a run holds is text in its report") {
  const auto run = shared().copy();
  const std::string evil = "'</script></style>\"''><img src=x onerror=alert(1)>'";
  execute(run / "journal.sqlite",
          "UPDATE program_files SET text = " + evil + " || text; UPDATE variations SET summary = " + evil +
              "; UPDATE operator_names SET name = " + evil + "; UPDATE header SET value = " + evil +
              " WHERE key IN ('run_name', 'kevo_version', 'config_path', 'task'); UPDATE evaluations SET "
              "evaluation = "
              "json_set(evaluation, '$.feedback', " +
              evil + ", '$.device', " + evil + ", '$.baseline', " + evil + ", '$.reasons', json_array(" +
              evil + "), '$.measures', json_object(" + evil + ", 1))");
  CHECK(run_kevo({"report", "run"}, run.parent_path().string()).code == 0);
  const auto page = shell::read_file(run / "report.html");
  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find("&lt;img src=x") != std::string::npos);
}
