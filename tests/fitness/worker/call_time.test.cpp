// serial
// The time of a call: what a worker does before it, after it and beside it, and how long the controller
// sleeps.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/machine/core_plan.hpp"
#include "fitness/worker/session.hpp"
#include "tests/fitness/support/worker_fixture.hpp"
#include "tests/support/skip.hpp"

using namespace worker_test;

TEST_CASE("rule 15: work before \"awake\" and after \"done\" is in the whole time of a call") {
  struct times {
    double whole;
    double claimed;
  };
  bool prepared = false;
  SUBCASE("a call that is prepared while the worker sleeps") {
    prepared = true;
  }
  SUBCASE("a call that is delivered while the worker is awake") {
    prepared = false;
  }
  const auto measured = [&](const std::string& text) {
    fixture f(text);
    REQUIRE(f.session.load() == kevo::call_end::done);
    std::vector<double> whole;
    std::vector<double> claimed;
    for (std::size_t k = 0; k < 31; ++k) {
      const auto call = prepared ? f.prepared_call(k) : f.call(k);
      REQUIRE(call.end == kevo::call_end::done);
      CHECK(f.right(call.layout, k));
      whole.push_back(call.whole_ns);
      claimed.push_back(call.ns);
    }
    return times{median_of(whole), median_of(claimed)};
  };
  const auto trusted = measured(program(honest));
  CHECK(trusted.whole > 0);
  CHECK(trusted.whole < 150e3);
  const auto before = measured(own_loop("  burn_ns(300000);\n", ""));
  CHECK(before.whole > 290e3);
  const auto after = measured(own_loop("", "  burn_ns(300000);\n"));
  if (prepared) {
    CHECK(after.claimed < 100e3);
    CHECK(after.whole > 290e3);
  } else {
    // Too late for the outputs, which were copied at "done"; and it answers late, for which it pays.
    CHECK(after.whole > 150e3);
  }
}

TEST_CASE("what a worker works while another is timed is told with its next call") {
  const auto beside = [](const std::string& after_call) {
    fixture f(
        program("static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
                "page(scalars)->done.store(call++);\n" +
                after_call));
    REQUIRE(f.session.load() == kevo::call_end::done);
    std::vector<double> told;
    for (std::size_t k = 0; k < 12; ++k) {
      const auto call = f.call(k);
      REQUIRE(call.end == kevo::call_end::done);
      CHECK(f.right(call.layout, k));
      if (k > 0) told.push_back(call.beside_ns);
      f.session.settle();
      std::this_thread::sleep_for(milliseconds(6));
    }
    return median_of(told);
  };
  // Asleep when it is to sleep, it wakes up by itself.
  CHECK(beside("usleep(1000); burn_ns(400000);") > 390e3);
  CHECK(beside("") < 100e3);
}

TEST_CASE("a worker that does not sleep while another is timed is stopped") {
  fixture f(
      program("auto* c = page(scalars); work(p, axes, 0, axes[0]); c->done.store(c->go.load());\n"
              "const auto known = c->ping.load();\n"
              "while (c->ping.load() == known) c->message[0] ^= 1;"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(f.right(call.layout, k));
    f.session.settle();
    CHECK(f.session.stopped());
  }
}

TEST_CASE("a worker that is awake and answers late pays for what it does before its answer") {
  // Of calls far under 0.1 ms.
  const auto usual = [](const std::string& before_answer) {
    fixture f(
        program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
                "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
                "for (;;) {\n"
                "  const auto known = c->ping.load();\n"
                "  c->done.store(call++);\n"
                "  while (c->ping.load() == known && c->go.load() != call) {}\n" +
                before_answer +
                "  c->pong.store(c->ping.load());\n"
                "  while (c->go.load() != call) {}\n"
                "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
                "  work(q, axes, 0, axes[0]);\n"
                "}"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    std::vector<double> whole;
    for (std::size_t k = 0; k < 31; ++k) {
      const auto call = f.call(k);
      REQUIRE(call.end == kevo::call_end::done);
      CHECK(f.right(call.layout, k));
      whole.push_back(call.whole_ns);
    }
    return kevo::quantile(whole, 0.25);
  };
  const double honest_ns = usual("");
  const double late_ns = usual("  burn_ns(40000);\n");
  INFO("honest ", honest_ns, ", late ", late_ns);
  CHECK(late_ns > honest_ns + 30e3);
}

TEST_CASE(
    "a process that sleeps while its call is prepared is not taken for one that waits for it actively") {
  // Answers as the next question would be if they were counted, and sleeps until after the clock has begun.
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
              "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
              "for (;;) {\n"
              "  burn_ns(150000);\n"
              "  c->pong.store(c->ping.load() + 1);\n"
              "  c->done.store(call++);\n"
              "  while (c->go.load() != call) { usleep(300); c->pong.store(c->ping.load()); }\n"
              "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
              "  work(q, axes, 0, axes[0]);\n"
              "}"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  for (std::size_t k = 0; k < 15; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(f.right(call.layout, k));
    CHECK(call.whole_ns > 145e3);
  }
}

TEST_CASE("a process that sleeps takes no processor time, and its call is as long as the controller saw") {
  fixture f(program("work(p, axes, 0, axes[0]); usleep(3000);"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(call.whole_ns > 3e6);
  }
}

TEST_CASE(
    "the controller sleeps for a part of a long call whose length it knows, and a shorter one is told as it "
    "was") {
  fixture f(program(
      "static int calls = 0; work(p, axes, 0, axes[0]); burn_ns(++calls > 12 ? 4000000 : 20000000);"));
  if (f.cores.shared) return kevo_test::skip("a worker has no processor of its own here");
  REQUIRE(f.session.load() == kevo::call_end::done);
  const auto used_ns = [] {
    timespec time = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
  };
  REQUIRE(f.call(0).end == kevo::call_end::done);
  const double before = used_ns();
  double sum = 0;
  for (std::size_t k = 1; k < 12; ++k) {
    const auto call = f.call(k % f.contents.size());
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(call.whole_ns > 19.9e6);  // the accounts of delays and of work overlap by some microseconds
    sum += call.whole_ns;
  }
  CHECK(used_ns() - before < 0.8 * sum);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(call.whole_ns > 4e6);
    CHECK(call.whole_ns < 10e6);
  }
}

TEST_CASE("work before a call is in the time of a call that waits") {
  // Naps once after each call, so that it is found asleep, works, and then naps twice in the next call.
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
              "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
              "for (;;) {\n"
              "  c->done.store(call++); usleep(4000); burn_ns(3000000);\n"
              "  while (c->go.load() != call) usleep(100);\n"
              "  c->pong.store(c->ping.load());\n"
              "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
              "  work(q, axes, 0, axes[0]); usleep(10); usleep(10);\n"
              "}"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  for (std::size_t k = 0; k < 6; ++k) {
    const auto call = f.prepared_call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(f.right(call.layout, k));
    if (k > 0) CHECK(call.whole_ns > 2.9e6);
    std::this_thread::sleep_for(milliseconds(20));
  }
}
