// A score of a user's judge may be any number: 0 and negative ones are shown, exported and searched as
// others.

#include <filesystem>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace {

const std::string judged_by = KEVO_BINARY_DIR "/kevo ";

/// A search over two numbers by the cost `judge`, as a shell script prints it.
struct judged_search {
  shell::scratch folder;
  explicit judged_search(const std::string& judge, int evaluations) {
    std::filesystem::permissions(folder.string(), std::filesystem::perms(0755));  // the judge is another user
    shell::write_file(folder / "seed.txt", "a = 1  # kevo: {1..40 step 1}\nb = 1  # kevo: {1..40 step 1}\n");
    shell::write_file(folder / "task.yaml", "name: hill\nseeds: [seed.txt]\n");
    shell::write_file(folder / "score.sh",
                      "set -- $(sed -n 's/^[ab] = \\([0-9]*\\).*/\\1/p' \"$1\")\n" + judge);
    shell::write_file(folder / "config.yaml",
                      "run: {name: hill, output: run}\ntask: task.yaml\n"
                      "fitness: {backend: command, command: [/bin/sh, score.sh]}\n"
                      "archive: {type: top_k}\nselect: {type: greedy}\n"
                      "vary: {operators: [{type: tune}]}\n"
                      "stop: {evaluations: " +
                          std::to_string(evaluations) + "}\n");
  }
  shell::result sh(const std::string& words) const {
    return shell::run({"/bin/sh", "-c", judged_by + words}, folder.string());
  }
};

}  // namespace

TEST_CASE("a score of 0 is a score") {
  const judged_search made("echo '{\"score\": 0}'\n", 2);
  const auto ended = made.sh("run config.yaml");
  CHECK_MESSAGE(ended.out.find("score 0") != std::string::npos, ended.out);
  const auto shown = boost::json::parse(made.sh("show run 0 --json").out).as_object();
  CHECK(boost::json::serialize(shown).find("\"score\":0") != std::string::npos);
  CHECK(boost::json::serialize(shown).find("\"score\":null") == std::string::npos);
  const auto step = boost::json::parse(made.sh("export run --format steps | head -n 1").out).as_object();
  const auto& reward = step.at("reward").as_object();
  CHECK(reward.at("score").to_number<double>() == 0);
  CHECK(reward.at("parent_score").to_number<double>() == 0);
}

TEST_CASE("costs that are negated are searched as well as other scores") {
  // The optimum is -10; without a model of the results, 60 settings of 1,600 come to about -20.
  const judged_search made("echo \"{\\\"score\\\": -$((10 + ($1-23)*($1-23) + ($2-9)*($2-9)))}\"\n", 60);
  REQUIRE(made.sh("run config.yaml").code == 0);
  const auto shown = boost::json::parse(made.sh("show run --json").out).as_object();
  const double best = shown.at("best").as_object().at("score").to_number<double>();
  CHECK_MESSAGE(best >= -12, best);
}
