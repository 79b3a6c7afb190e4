// labels: slow
// timeout: 600
// one processor
// What the commands of the guide leave behind, on a task that `kevo init` wrote. tests/docs follows the pages
// themselves.

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/page.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace json = boost::json;

TEST_CASE("a task that kevo init wrote judges a correct and a wrong program") {
  const shell::scratch folder;
  const auto kevo = [&](std::vector<std::string> words) {
    const auto ended = shell::run(shell::kevo(words), folder.string());
    std::string line;
    for (const auto& word : words) line += word + ' ';
    CHECK_MESSAGE(ended.code == 0, line << ": " << ended.out << ended.err);
    return ended;
  };
  kevo({"init", "my_kernel"});
  const auto one = kevo({"eval", "my_kernel/task.yaml", "my_kernel/seed.cpp", "--json"});
  const json::object verdict = json::parse(one.out).as_object();
  CHECK(verdict.at("outcome").as_string() == "valid");
  CHECK(verdict.at("speedup").to_number<double>() > 0.5);
  shell::write_file(
      folder / "wrong.cpp",
      "#include <cstdint>\nextern \"C\" void run(const float*, const float*, float* Y, int64_t N) {\n"
      "  for (int64_t i = 0; i < N; ++i) Y[i] = 0;\n}\n");
  const auto wrong = kevo({"eval", "my_kernel/task.yaml", "wrong.cpp", "--json"});
  CHECK(json::parse(wrong.out).at("outcome").as_string() == "incorrect");
  CHECK(json::parse(wrong.out).at("speedup").is_null() != json::parse(wrong.out).at("speedup").is_number());

  CHECK(kevo({"run", "my_kernel/config.yaml", "--print-config"}).out.find("evaluations: 30") !=
        std::string::npos);
}

TEST_CASE("the guide's program as the judge works as it stands there") {
  if (::access("/usr/bin/python3", X_OK) != 0) {
    kevo_test::skip("there is no /usr/bin/python3");
    return;
  }
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
  for (const auto& step : page::steps_of(shell::read_file(KEVO_SOURCE_DIR "/docs/guide/command.md"))) {
    if (step.kind == page::kind::file) shell::write_file(folder / step.detail, step.text);
  }
  const auto kevo = [&](std::vector<std::string> words) {
    words = shell::kevo(words);
    words.insert(words.begin(), {"/usr/bin/env", "PATH=/usr/bin:/bin"});
    return shell::run(words, folder.string());
  };
  const auto ended = kevo({"run", "config.yaml"});
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  CHECK_MESSAGE(ended.out.find("score 10") != std::string::npos, ended.out);
  CHECK(ended.out.find("x over") == std::string::npos);
  const json::object shown = json::parse(kevo({"show", "runs/countdown", "--json"}).out).as_object();
  CHECK(shown.at("best").as_object().at("score").to_number<double>() > 1000.1);
  CHECK(shown.at("valid").to_number<int>() >= 10);
  CHECK(kevo({"run", "--replay", "runs/countdown"}).code == 0);
  // The other backends say what this task lacks.
  const auto refused = kevo({"eval", "task.yaml", "seed.txt", "--json"});
  CHECK(refused.code == 2);
  const json::object wrong = json::parse(refused.out).at("error").as_object();
  CHECK(wrong.at("key").as_string() == "reference");
  CHECK(wrong.at("hint").as_string().find("backend: command") != json::string::npos);
  const auto judged = kevo({"eval", "task.yaml", "seed.txt", "--set", "fitness.backend=command", "--set",
                            "fitness.command=[python3, score.py]"});
  CHECK_MESSAGE(judged.out.find("countdown: valid, score 1000.1") != std::string::npos,
                judged.out << judged.err);
  // Every export and the report do without workloads, too.
  for (const char* format : {"csv", "jsonl", "steps"})
    CHECK(kevo({"export", "runs/countdown", "--format", format}).code == 0);
  CHECK(kevo({"report", "runs/countdown"}).code == 0);
}

TEST_CASE("the reference in docs/configs.md is what the decoders say") {
  const auto printed = shell::run(shell::kevo({"run", "--reference"}));
  REQUIRE(printed.code == 0);
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/configs.md");
  CHECK_MESSAGE(page.find(printed.out) != std::string::npos,
                "write the output of kevo run --reference into docs/configs.md");
}
