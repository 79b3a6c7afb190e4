// serial
// timeout: 600
// A candidate that the compiler turns into the baseline's object is told as identical to it.
#include <fstream>

#include <doctest/doctest.h>

#include "fitness/build/same_object.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "tests/fitness/cpu/line_task.hpp"

using namespace line_task;

TEST_CASE("a program that differs from the baseline in names and comments alone is identical to it") {
  fixture f(6000);
  const auto named = [](const kevo::evaluation& e) {
    const auto found = e.context.find("identical_to");
    return found == e.context.end() ? std::string() : found->second;
  };
  CHECK(named(f.run(slow)) == "seed");
  const std::string renamed =
      "for (std::int64_t row = 0; row < N; ++row) { /* the same */\n"
      "  volatile float sum = 0; for (int k = 0; k < 12; ++k) sum = 2 * x[row] + 1; y[row] = sum; }\n";
  const auto same = f.run(renamed);
  CHECK(same.valid());
  CHECK(named(same) == "seed");
  CHECK(named(f.run(half_as_slow)).empty());
  CHECK(named(f.run(right)).empty());
}

TEST_CASE("objects are the same where their bytes are") {
  const kevo::scratch_folder folder(false);
  const auto write = [&](const char* name, const char* text) {
    const std::string path = folder.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  };
  const std::string one = write("one", "abc");
  CHECK(kevo::same_object(one, write("two", "abc")));
  CHECK_FALSE(kevo::same_object(one, write("three", "abd")));
  CHECK_FALSE(kevo::same_object(one, write("four", "abcd")));
  CHECK_FALSE(kevo::same_object(one, folder.path() + "/none"));
  CHECK_FALSE(kevo::same_object(folder.path() + "/none", folder.path() + "/none"));
}
