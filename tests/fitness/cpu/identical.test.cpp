// one processor
// timeout: 600
// A candidate that the compiler turns into the baseline's object is told as identical to it.
#include <fstream>
#include <regex>

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
  std::string renamed = "/* the same */ " + slow;
  for (const auto& [name, other] : {std::pair{"i", "row"}, {"s", "sum"}, {"v", "value"}})
    renamed = std::regex_replace(renamed, std::regex("\\b" + std::string(name) + "\\b"), other);
  CHECK(renamed.find("sum = 2 * value + 1") != std::string::npos);
  const auto same = f.run(renamed);
  CHECK(same.valid());
  CHECK(named(same) == "seed");
  CHECK(named(f.run(half_as_slow)).empty());
  CHECK(named(f.run(right)).empty());
}

TEST_CASE(
    "the speedup of the baseline's own program is 1 in a search, and measured where that is asked for") {
  fixture f(6000);
  const auto known = f.run(slow, kevo::evaluation_stage::timed_full);
  REQUIRE_MESSAGE(known.valid(), known.feedback);
  CHECK(known.stage == kevo::evaluation_stage::timed_full);
  CHECK(known.speedup == 1);
  CHECK(known.speedup_interval.low == 1);
  CHECK(known.speedup_interval.high == 1);
  CHECK(known.workloads[0].samples.size() == 1);
  CHECK(known.workloads[0].time_ns > 0);
  for (const auto& w : known.workloads) CHECK(w.outcome == kevo::outcome::valid);
  const auto confirmed = f.run(slow, kevo::evaluation_stage::confirmed);
  REQUIRE_MESSAGE(confirmed.valid(), confirmed.feedback);
  CHECK(confirmed.workloads[0].samples.size() >= 8);
  CHECK(confirmed.speedup_interval.low < confirmed.speedup_interval.high);
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
