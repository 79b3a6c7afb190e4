// What an importer says of a file that Python cannot execute.
#include "src/import/python_failure.hpp"

#include <doctest/doctest.h>

using kevo::importing::explained_failure;

TEST_CASE("a missing module and what the sandbox forbids are named, with the next step") {
  const auto missing =
      explained_failure("ModuleNotFoundError: No module named 'models.parts' (line 3 of kernel.py)");
  CHECK(missing.starts_with("it imports the Python module 'models.parts', which does not exist"));
  CHECK(missing.find("--python") != std::string::npos);
  CHECK(missing.find("line 3 of kernel.py") != std::string::npos);
  CHECK(explained_failure("was terminated by signal 31 (forbidden system call)")
            .find("network or starts a process: it was terminated by signal 31") != std::string::npos);
  CHECK(explained_failure("ValueError: an extent of 0") == "ValueError: an extent of 0");
}
