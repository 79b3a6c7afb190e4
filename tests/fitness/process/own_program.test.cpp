// Where kevo's helper programs are found.
#include "fitness/process/own_program.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/support/shell.hpp"

TEST_CASE("a helper program is found in the build, where the environment says, and in added folders") {
  const shell::scratch folder;
  const std::string worker = kevo::own_program("kevo-worker-cpu", "KEVO_TEST_PROGRAM");
  CHECK(worker.find("/kevo-worker-cpu") != std::string::npos);

  shell::write_file(folder / "mine", "");
  ::setenv("KEVO_TEST_PROGRAM", (folder / "mine").c_str(), 1);
  CHECK(kevo::own_program("kevo-worker-cpu", "KEVO_TEST_PROGRAM") == (folder / "mine").string());
  ::setenv("KEVO_TEST_PROGRAM", (folder / "nothing").c_str(), 1);
  CHECK_THROWS_WITH_AS(kevo::own_program("kevo-worker-cpu", "KEVO_TEST_PROGRAM"),
                       doctest::Contains("the environment variable KEVO_TEST_PROGRAM names '"), kevo::error);
  ::unsetenv("KEVO_TEST_PROGRAM");

  shell::write_file(folder / "kevo-added", "");
  CHECK_THROWS_WITH_AS(kevo::own_program("kevo-added", "KEVO_TEST_PROGRAM"),
                       doctest::Contains("the program kevo-added was not found; looked in "), kevo::error);
  kevo::add_program_folder(folder.string());
  CHECK(kevo::own_program("kevo-added", "KEVO_TEST_PROGRAM") == (folder / "kevo-added").string());
}
