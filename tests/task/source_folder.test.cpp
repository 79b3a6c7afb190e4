// Programs that are folders: which file is the main one, and what a folder may not contain.

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "tests/support/shell.hpp"

using namespace kevo;

TEST_CASE("the main file of a folder is the only one, or has a name that says so") {
  const shell::scratch folder;
  const std::string path = (folder / "seed").string();
  shell::write_file(folder / "seed/solve.cpp", "int a;\n");
  program made = load_program(path);
  REQUIRE(made.files.size() == 1);
  CHECK(made.files[0].path == "solve.cpp");
  CHECK(made.language == "cpp");
  shell::write_file(folder / "seed/a.hpp", "int b;\n");
  CHECK_THROWS_WITH_AS(load_program(path), doctest::Contains("is its main file"), kevo::error);
  shell::write_file(folder / "seed/main.cu", "int c;\n");
  shell::write_file(folder / "seed/sub/main.cpp", "int d;\n");
  made = load_program(path);
  REQUIRE(made.files.size() == 4);
  CHECK(made.language == "cuda");
  CHECK(made.files[0].path == "main.cu");
  CHECK(made.files[1].path == "a.hpp");
  CHECK(made.files[3].path == "sub/main.cpp");
  CHECK(load_program(path, "hip").language == "hip");
  shell::write_file(folder / "seed/a.hpp", "// kevo: no-such-directive\n");
  try {
    load_program(path);
    FAIL("an annotation was not read");
  } catch (const kevo::error& wrong) {
    CHECK(wrong.place().file == path + "/a.hpp");
    CHECK(wrong.place().line == 1);
  }
}

TEST_CASE("a folder leads nowhere else") {
  const shell::scratch outside;
  shell::write_file(outside / "secret/key.txt", "SECRET");
  const shell::scratch folder;
  shell::write_file(folder / "seed/main.cpp", "int a;\n");
  std::filesystem::create_symlink(outside / "secret/key.txt", folder / "seed/key.txt");
  CHECK_THROWS_WITH_AS(load_program((folder / "seed").string()), doctest::Contains("is a symbolic link"),
                       kevo::error);
  std::filesystem::remove(folder / "seed/key.txt");
  std::filesystem::create_directory_symlink(outside / "secret", folder / "seed/more");
  CHECK_THROWS_WITH_AS(load_program((folder / "seed").string()), doctest::Contains("is a symbolic link"),
                       kevo::error);
  CHECK_THROWS_AS(load_program((outside / "secret/none").string()), kevo::error);
  // A task may name a folder of its own, but none elsewhere, whatever that is called.
  shell::write_file(outside / "all.cpp/main.cpp", "int a;\n");
  shell::write_file(folder / "task.yaml", "name: t\nseeds: [" + (outside / "all.cpp").string() + "]\n");
  CHECK_THROWS_WITH_AS(load_task((folder / "task.yaml").string()), doctest::Contains("is outside the folder"),
                       kevo::error);
  std::filesystem::remove(folder / "seed/more");
  shell::write_file(folder / "task.yaml", "name: t\nseeds: [seed]\n");
  CHECK(load_task((folder / "task.yaml").string()).seeds.at(0).files.at(0).path == "main.cpp");
}

TEST_CASE("a folder has limits") {
  const shell::scratch folder;
  shell::write_file(folder / "seed/main.cpp", "int a;\n");
  for (int i = 0; i < 255; ++i) shell::write_file(folder / ("seed/f" + std::to_string(i)), "");
  CHECK(load_program((folder / "seed").string()).files.size() == 256);
  shell::write_file(folder / "seed/one_more", "");
  CHECK_THROWS_WITH_AS(load_program((folder / "seed").string()), doctest::Contains("more than 256 files"),
                       kevo::error);
  CHECK_THROWS_AS(load_program((folder / "empty").string()), kevo::error);
}
