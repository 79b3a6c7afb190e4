// Files and folders that a suite names as solutions.

#include "src/suite/suite_files.hpp"

#include <doctest/doctest.h>

#include "src/suite/suite_plan.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;

TEST_CASE("a folder with a main file is a solution, other folders are not") {
  const shell::scratch folder;
  shell::write_file(folder / "solutions/scale/v1.2/main.py", "x");
  shell::write_file(folder / "solutions/scale/v1.2/sources/a.cpp", "x");
  shell::write_file(folder / "solutions/scale/notes/main.md", "x");
  shell::write_file(folder / "solutions/scale/deep/one/main.py", "x");
  shell::write_file(folder / "solutions/scale/one.cpp", "x");
  shell::write_file(folder / "solutions/scale.py", "x");
  const auto found = solution_files((folder / "solutions").string(), "scale");
  REQUIRE(found.size() == 3);
  CHECK(found[0] == (folder / "solutions/scale.py").string());
  CHECK(found[1] == (folder / "solutions/scale/one.cpp").string());
  CHECK(found[2] == (folder / "solutions/scale/v1.2").string());
  const auto named = named_solutions(found, {});
  CHECK(named[2].name == "v1.2");

  const std::string pattern = (folder / "solutions/scale/*").string();
  CHECK(matching_files(pattern, {}, true) == std::vector<std::string>{found[1], found[2]});
  CHECK(matching_files(pattern, {}) == std::vector<std::string>{found[1]});
  CHECK(matching_files(found[2], {}, true) == std::vector<std::string>{found[2]});
  CHECK_THROWS_WITH_AS(matching_files(found[2], {}), doctest::Contains("there is no file"), error);
}

// The backend torch has a kind of device and a number of the GPU, the others a number alone.
TEST_CASE("a task on one of several GPUs gets the number of its own") {
  const shell::scratch folder;
  shell::write_file(folder / "task.yaml", "name: toy\n");
  const auto loaded = [&](const std::string& fitness) {
    shell::write_file(folder / "suite.yaml",
                      "suite: {devices: [0, 2]}\nfitness: " + fitness + "\ntasks: [task.yaml]\n");
    return load_suite((folder / "suite.yaml").string(), {});
  };
  const auto torch = fitness_for(loaded("{backend: torch, device: cuda}"), 2);
  CHECK(torch.find("device")->text == "cuda");
  CHECK(torch.find("gpu")->text == "2");
  CHECK(fitness_for(loaded("{backend: cuda}"), 2).find("device")->text == "2");
  CHECK_THROWS_WITH_AS(loaded("{backend: torch}"), doctest::Contains("the tensors are on the CPU"), error);
}
