// labels: slow
// one processor
// The exit code of `kevo task check`.

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace json = boost::json;

TEST_CASE("a task that tells right from wrong exits with 0, one that does not with 2") {
  const shell::scratch folder;
  const auto kevo = [&](std::vector<std::string> words) {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  };
  REQUIRE(kevo({"init", "own"}).code == 0);
  const auto sound = kevo({"task", "check", "own/task.yaml", "--json"});
  CHECK_MESSAGE(sound.code == 0, sound.out);
  CHECK(json::parse(sound.out).at("ok").as_bool());

  std::string task = shell::read_file(folder / "own/task.yaml");
  const std::string tolerance = "max_atol: 1.0e-6";
  task.replace(task.find(tolerance), tolerance.size(), "max_atol: 1.0e+6");
  shell::write_file(folder / "own/wide.yaml", task);
  const auto wide = kevo({"task", "check", "own/wide.yaml", "--json"});
  CHECK(wide.code == 2);
  CHECK(!json::parse(wide.out).at("ok").as_bool());
}

TEST_CASE("a task whose reference is neither in C++ nor in Python is told which command tests it") {
  const std::string path = KEVO_SOURCE_DIR "/configs/tasks/cuda_softmax/task.yaml";
  const auto ended = shell::run(shell::kevo({"task", "check", path}), ".");
  CHECK(ended.code != 0);
  CHECK_MESSAGE(
      ended.err.find("runs references in C++ and Python, and this one is in cuda") != std::string::npos,
      ended.err);
  CHECK_MESSAGE(ended.err.find("kevo attack " + path) != std::string::npos, ended.err);
}
