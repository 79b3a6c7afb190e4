// serial
// The controller's side of a worker: honest calls, and workers that lie on the shared pages, hang or crash.
#include "fitness/worker/session.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/machine/core_plan.hpp"
#include "fitness/machine/cores.hpp"
#include "tests/fitness/support/worker_fixture.hpp"
#include "tests/support/skip.hpp"

using namespace worker_test;

TEST_CASE("an honest worker gives right results at changing, aligned addresses") {
  fixture f(program(honest));
  REQUIRE(f.session.load() == kevo::call_end::done);
  std::set<std::size_t> places;
  for (std::size_t k = 0; k < 20; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(f.right(call.layout, k));
    CHECK_FALSE(call.early);
    CHECK_FALSE(call.damage.any());
    CHECK(call.ns > 0);
    CHECK(call.ns < 1e9);
    CHECK(call.layout.offsets[1] % 64 == 0);
    places.insert(call.layout.offsets[1]);
  }
  CHECK(places.size() > 15);
  CHECK(f.session.calls() == 20);
}

TEST_CASE("a fresh process finds nothing that an earlier one wrote") {
  // Marks the control page behind its last field and the arena's first bytes, and reports a mark by a crash.
  const std::string marks = program(
      "auto* control = reinterpret_cast<char*>(page(scalars)) + 4000;\n"
      "auto* memory = static_cast<char*>(p[0]) - page(scalars)->arguments.offsets[0];\n"
      "if (std::memcmp(control, \"mark\", 4) == 0 || std::memcmp(memory, \"mark\", 4) == 0) std::abort();\n"
      "std::memcpy(control, \"mark\", 4); std::memcpy(memory, \"mark\", 4); work(p, axes, 0, axes[0]);");
  for (int process = 0; process < 2; ++process) {
    fixture f(marks);
    REQUIRE(f.session.load() == kevo::call_end::done);
    CHECK(f.call(0).end == kevo::call_end::done);
    if (process == 0) {
      f.call(1);
      CHECK(f.session.report());  // within one process the mark is there: the crash tells it
    }
  }
}

TEST_CASE("rule 2: guards and inputs are watched, byte for byte") {
  SUBCASE("one element behind the output") {
    fixture f(program(honest + "static_cast<float*>(p[1])[axes[0]] = 1;"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    const auto call = f.call(0);
    CHECK(call.damage.guards);
    CHECK_FALSE(call.damage.inputs);
  }
  SUBCASE("one byte before the input") {
    fixture f(program(honest + "static_cast<char*>(p[0])[-1] ^= 1;"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    CHECK(f.call(0).damage.guards);
  }
  SUBCASE("an input") {
    fixture f(program(honest + "static_cast<float*>(p[0])[axes[0] - 1] = 0;"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    const auto call = f.call(0);
    CHECK(call.damage.inputs);
    CHECK_FALSE(call.damage.guards);
  }
  SUBCASE("the poison changes with every call") {
    fixture f(program(""));
    REQUIRE(f.session.load() == kevo::call_end::done);
    CHECK(f.call(0).layout.poison != f.call(1).layout.poison);
  }
}

TEST_CASE("rule 8: done is signalled before the work is done") {
  // The candidate writes the control page itself and goes on working for half a millisecond.
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 0; ++call;\n"
              "work(p, axes, 0, axes[0] / 2); c->done.store(call); burn_ns(500000);\n"
              "work(p, axes, axes[0] / 2, axes[0]);"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  int caught = 0;
  int fooled = 0;
  for (std::size_t k = 0; k < 30; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    const bool seen = call.early || !f.right(call.layout, k);
    caught += seen;
    // A controller that lost its processor looks at the lines late, but what was worked meanwhile is in the
    // whole time: nothing is won.
    fooled += !seen && call.whole_ns < 450e3;
  }
  CHECK(caught >= 1);  // one conviction rejects the program
  CHECK(fooled == 0);
}

TEST_CASE("a hang is killed in time, and a crash is told as it was") {
  SUBCASE("hang") {
    fixture f(program("for (volatile bool forever = true; forever;) {}"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    const auto start = std::chrono::steady_clock::now();
    CHECK(f.call(0, milliseconds(100)).end == kevo::call_end::timed_out);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  }
  SUBCASE("segmentation fault") {
    fixture f(program("*static_cast<volatile int*>(nullptr) = 1;"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    CHECK(f.call(0).end == kevo::call_end::died);
    REQUIRE(f.session.report());
    CHECK(f.session.report()->kind == kevo::exit_kind::signalled);
  }
  SUBCASE("exit with success") {
    fixture f(program("_exit(0);"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    CHECK(f.call(0).end == kevo::call_end::died);
    CHECK(f.session.report()->kind == kevo::exit_kind::exited);
  }
  SUBCASE("in a constructor") {
    fixture f(program("", "__attribute__((constructor)) static void crash() { std::abort(); }\n"));
    CHECK(f.session.load() == kevo::call_end::died);
  }
}

TEST_CASE("the end of a worker is noticed soon where controller, worker and neighbours share a processor") {
  const int cpu = kevo::plan_cores(1).workers.front();
  std::string text = "*static_cast<volatile int*>(nullptr) = 1;";
  auto expected = kevo::call_end::died;
  SUBCASE("a crash") {}
  SUBCASE("a hang") {
    text = "for (volatile bool forever = true; forever;) {}";
    expected = kevo::call_end::timed_out;
  }
  fixture f(program(text), 4, kevo::plan_cores({{cpu}}, 1, 0));
  const kevo::pinned_thread controller(cpu);
  REQUIRE(f.session.load() == kevo::call_end::done);
  const busy_process one(cpu);
  const busy_process other(cpu);
  const auto start = std::chrono::steady_clock::now();
  CHECK(f.call(0, milliseconds(100)).end == expected);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("an unresolved symbol is told in the loader's words") {
  fixture f(program("nowhere();", "extern \"C\" void nowhere();\n"));
  CHECK(f.session.load() == kevo::call_end::load_failed);
  CHECK(f.session.message().find("nowhere") != std::string::npos);
}

TEST_CASE("a worker that scribbles over the control page confuses only itself") {
  SUBCASE("random bytes in every word, again and again") {
    fixture f(
        program("work(p, axes, 0, axes[0]);\n"
                "static unsigned seed = 1; auto* bytes = reinterpret_cast<unsigned char*>(page(scalars));\n"
                "for (int round = 0; round < 200; ++round)\n"
                "  for (int i = 0; i < 4096; ++i) bytes[i] = static_cast<unsigned char>((seed = seed * "
                "1664525u + 1013904223u) >> 24);"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    const auto call = f.call(0, milliseconds(300));
    CHECK((call.end == kevo::call_end::timed_out || call.end == kevo::call_end::died || call.early ||
           !call.early));
    CHECK_NOTHROW(f.session.report());
  }
  SUBCASE("a call number from the future is not taken for this call") {
    fixture f(program("page(scalars)->done.store(1000); for (volatile bool forever = true; forever;) {}"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    CHECK(f.call(0, milliseconds(100)).end == kevo::call_end::timed_out);
  }
}

TEST_CASE("a stopped worker runs nothing: what the controller sees does not change") {
  // The candidate spawns no thread, but keeps writing in a signal-free busy loop after it has signalled done.
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 0; ++call;\n"
              "work(p, axes, 0, axes[0]); c->done.store(call);\n"
              "for (std::uint64_t i = 0; c->ping.load() == call; ++i) static_cast<volatile "
              "std::uint64_t*>(p[1])[0] = i;"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  const auto call = f.call(0);
  REQUIRE(call.end == kevo::call_end::done);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::memcpy(&first, f.session.output(call.layout, 0).data(), 8);
  std::this_thread::sleep_for(milliseconds(20));
  std::memcpy(&second, f.session.output(call.layout, 0).data(), 8);
  CHECK(first == second);
}

TEST_CASE("a worker with threads that stops itself after \"done\" is found out") {
  const auto plan = kevo::plan_cores(2);
  fixture f(program("auto* c = page(scalars); work(p, axes, 0, axes[0]); c->done.store(c->go.load());\n"
                    "if (c->go.load() > 1) kill(getpid(), SIGSTOP);",
                    "#include <csignal>\n"),
            4, plan, 2);
  REQUIRE(f.session.load() == kevo::call_end::done);
  CHECK(f.call(0).end == kevo::call_end::done);
  CHECK_FALSE(f.session.stood_still());
  CHECK(f.call(1).end == kevo::call_end::stuck);
  CHECK(f.session.stood_still());
}
