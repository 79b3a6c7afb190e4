#include "fitness/machine/core_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sched.h>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace {

using cores = std::vector<std::vector<int>>;

cores plain(int count) {
  cores all;
  for (int i = 0; i < count; ++i) all.push_back({i});
  return all;
}

/// Eight cores of two hardware threads; neighbours in number, or eight apart.
cores paired(bool neighbours) {
  cores all;
  for (int i = 0; i < 8; ++i)
    all.push_back(neighbours ? std::vector{2 * i, 2 * i + 1} : std::vector{i, i + 8});
  return all;
}

}  // namespace

TEST_CASE("a run alone has the first processor for the controller and the last ones for its workers") {
  const auto two = kevo::plan_cores(plain(2), 1, 0);
  CHECK(two.controller == 0);
  CHECK(two.workers == std::vector{1});
  CHECK_FALSE(two.shared);
  CHECK(two.few);
  const auto one = kevo::plan_cores(plain(1), 1, 0);
  CHECK(one.controller == -1);
  CHECK(one.workers == std::vector{0});
  CHECK(one.shared);
  const auto many = kevo::plan_cores(plain(16), 4, 0);
  CHECK(many.workers == std::vector{12, 13, 14, 15});
  CHECK_FALSE(many.few);
  CHECK(kevo::plan_cores(plain(4), 8, 0).workers == std::vector{0, 1, 2, 3});
}

TEST_CASE("threads of one program are on different cores, where there are as many") {
  CHECK(kevo::plan_cores(paired(true), 3, 0).workers == std::vector{11, 13, 15});
  CHECK(kevo::plan_cores(paired(false), 3, 0).workers == std::vector{13, 14, 15});
  CHECK(kevo::plan_cores(paired(false), 12, 0).workers.size() == 12);
}

TEST_CASE("places share no core, and leave two for builds") {
  CHECK(kevo::measuring_places(plain(1), 1) == 1);
  CHECK(kevo::measuring_places(plain(5), 1) == 1);
  CHECK(kevo::measuring_places(plain(6), 1) == 2);
  CHECK(kevo::measuring_places(plain(16), 1) == 7);
  CHECK(kevo::measuring_places(plain(16), 4) == 2);
  CHECK(kevo::measuring_places(paired(true), 1) == 3);
  for (const cores& machine : {plain(6), plain(16), plain(64), paired(true), paired(false)}) {
    for (const int threads : {1, 2, 5}) {
      std::set<std::size_t> used;
      const std::size_t places = kevo::measuring_places(machine, threads);
      for (std::size_t place = 0; place < places; ++place) {
        const auto plan = kevo::plan_cores(machine, threads, place);
        auto cpus = plan.workers;
        cpus.push_back(plan.controller);
        for (const int cpu : cpus) {
          const auto core = std::find_if(machine.begin(), machine.end(), [cpu](const std::vector<int>& one) {
            return std::count(one.begin(), one.end(), cpu) > 0;
          });
          REQUIRE(core != machine.end());
          if (places > 1) CHECK(used.insert(static_cast<std::size_t>(core - machine.begin())).second);
        }
      }
      if (places > 1) CHECK(used.size() + 2 <= machine.size());
    }
  }
}

TEST_CASE("the processors of this machine are those that this process may use, each once") {
  std::vector<int> all;
  for (const auto& core : kevo::physical_cores()) all.insert(all.end(), core.begin(), core.end());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  cpu_set_t mine;
  REQUIRE(::sched_getaffinity(0, sizeof mine, &mine) == 0);
  CHECK(all.size() == static_cast<std::size_t>(CPU_COUNT(&mine)));
}

TEST_CASE("a place belongs to one process, until that process ends") {
  for (const int count : {2, 16}) {
    CAPTURE(count);
    const shell::scratch folder;
    const std::string path = folder.string();
    const cores machine = plain(count);
    int ready[2] = {-1, -1};
    int release[2] = {-1, -1};
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(release) == 0);
    const int other = ::fork();
    REQUIRE(other >= 0);
    if (other == 0) {
      const kevo::claimed_cores claim(machine, 1, path);
      static_cast<void>(::write(ready[1], claim.alone() ? "a" : "s", 1) < 0);
      char wanted = 0;
      static_cast<void>(::read(release[0], &wanted, 1) < 0);
      ::_exit(0);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK(byte == 'a');
    {
      const kevo::claimed_cores mine(machine, 1, path);
      CHECK(mine.alone() == (count == 16));
      CHECK(mine.plan().workers == std::vector{count == 16 ? 14 : 1});
      CHECK(mine.plan().controller == (count == 16 ? 1 : 0));
      // Four threads have places of their own, of which the first has the other process's processor.
      const kevo::claimed_cores team(machine, 4, path);
      CHECK(team.alone() == (count == 16));
      if (count == 16) CHECK(team.plan().workers == std::vector{8, 9, 10, 11});
    }
    REQUIRE(::write(release[1], "x", 1) == 1);
    ::waitpid(other, nullptr, 0);
    const kevo::claimed_cores mine(machine, 1, path);
    CHECK(mine.alone());
    CHECK(mine.plan().workers == std::vector{count - 1});
    const kevo::claimed_cores again(machine, 1, path);  // of this process
    CHECK(again.alone());
    CHECK(again.plan().workers == std::vector{count - 1});
    for (const int one : {ready[0], ready[1], release[0], release[1]}) ::close(one);
  }
}

TEST_CASE("a process that measures at several places takes free ones, and builds beside them") {
  const shell::scratch folder;
  const cores machine = plain(16);
  CHECK(kevo::places_with_build_core(plain(2), 1) == 1);
  CHECK(kevo::places_with_build_core(plain(6), 1) == 2);
  CHECK(kevo::places_with_build_core(machine, 1) == 5);
  CHECK(kevo::places_with_build_core(machine, 6) == 2);
  const auto all = kevo::claim_places(machine, 1, 3, folder.string());
  REQUIRE(all.size() == 3);
  std::set<int> used;
  for (const auto& place : all) {
    CHECK(place->alone());
    CHECK(used.insert(place->plan().controller).second);
    CHECK(used.insert(place->plan().workers.front()).second);
  }
  const auto rest = kevo::processors_beside(machine, all);
  CHECK(rest.size() == 10);
  for (const int cpu : rest) CHECK(used.count(cpu) == 0);
  CHECK(kevo::claim_places(machine, 1, 100, folder.string()).size() == 7);  // all, its own among them
  CHECK(kevo::claim_places(plain(2), 1, 4, folder.string()).size() == 1);
  const auto threads =
      kevo::processors_beside(paired(true), kevo::claim_places(paired(true), 1, 1, folder.string()));
  CHECK(threads == std::vector{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});  // no neighbour of a measuring one
}

TEST_CASE("places that another process has are left to it") {
  const shell::scratch folder;
  const cores machine = plain(8);  // three places
  int ready[2] = {-1, -1};
  int release[2] = {-1, -1};
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(release) == 0);
  const std::string path = folder.string();
  const int other = ::fork();
  REQUIRE(other >= 0);
  if (other == 0) {
    const auto claims = kevo::claim_places(machine, 1, 2, path);
    static_cast<void>(::write(ready[1], claims.size() == 2 ? "2" : "?", 1) < 0);
    char wanted = 0;
    static_cast<void>(::read(release[0], &wanted, 1) < 0);
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(byte == '2');
  const auto mine = kevo::claim_places(machine, 1, 3, path);
  REQUIRE(mine.size() == 1);
  CHECK(mine.front()->alone());
  CHECK(mine.front()->plan().workers == std::vector{5});
  REQUIRE(::write(release[1], "x", 1) == 1);
  ::waitpid(other, nullptr, 0);
  CHECK(kevo::claim_places(machine, 1, 3, path).size() == 3);
  for (const int one : {ready[0], ready[1], release[0], release[1]}) ::close(one);
}
