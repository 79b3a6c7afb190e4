// serial
// The controller's side of a worker: honest calls, and workers that lie on the shared pages.
#include "fitness/worker/session.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/evaluate/statistics.hpp>

#include "fitness/machine/core_plan.hpp"
#include "fitness/machine/cores.hpp"
#include "tests/fitness/support/built_object.hpp"
#include "tests/support/skip.hpp"

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t n = 1000;
const std::vector<kevo::buffer_shape> buffers = {{n * 4, false}, {n * 4, true}};

const std::string head =
    "#include <chrono>\n#include <cstdint>\n#include <cstdlib>\n#include <cstring>\n#include "
    "<ctime>\n#include <unistd.h>\n"
    "#include \"" KEVO_SOURCE_DIR
    "/fitness/worker/protocol.hpp\"\n"
    // What a hostile candidate finds in its own address space: the control page begins a page that looks like
    // one.
    "static kevo::control_page* page(const std::uint64_t* scalars) {\n"
    "  return reinterpret_cast<kevo::control_page*>(reinterpret_cast<std::uintptr_t>(scalars) & "
    "~std::uintptr_t{4095});\n"
    "}\n"
    "static void work(void* const* p, const std::int64_t* axes, std::int64_t from, std::int64_t to) {\n"
    "  for (std::int64_t i = from; i < to && i < axes[0]; ++i)\n"
    "    static_cast<float*>(p[1])[i] = 2 * static_cast<const float*>(p[0])[i];\n"
    "}\n";

const std::string waiting =
    "[[maybe_unused]] static void wait_ns(long ns) {\n"
    "  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);\n"
    "  while (std::chrono::steady_clock::now() < end) {}\n"
    "}\n"
    // The same in processor time, which neighbours do not use up.
    "static long used_ns() {\n"
    "  timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec * 1000000000L + t.tv_nsec;\n"
    "}\n"
    "[[maybe_unused]] static void burn_ns(long ns) {\n"
    "  const long end = used_ns() + ns;\n"
    "  while (used_ns() < end) {}\n"
    "}\n";

std::string program(const std::string& body, const std::string& before = "") {
  return head + waiting + before +
         "extern \"C\" void kevo_call(void* const* p, const std::int64_t* axes, const std::uint64_t* "
         "scalars) {\n"
         "  (void)p, (void)axes, (void)scalars;\n" +
         body + "\n}\n";
}
const std::string honest = "work(p, axes, 0, axes[0]);";

struct fixture {
  explicit fixture(const std::string& text, std::size_t slots = 4, kevo::core_plan plan = kevo::plan_cores(1),
                   int threads = 1)
      : cores(std::move(plan)),
        object(text),
        session(settings(cores, threads), object.path(), slots * kevo::arena::slot_bytes(buffers)) {
    session.memory().reshape(buffers);
    std::vector<float> values(n);
    for (int k = 0; k < 32; ++k) {
      for (auto& x : values) x = static_cast<float>(random.normal());
      contents.emplace_back(1, std::vector<std::byte>(n * 4));
      std::memcpy(contents.back()[0].data(), values.data(), n * 4);
    }
  }
  kevo::call_content content(std::size_t k) const { return {contents[k], axes, {}}; }
  kevo::isolated_call call(std::size_t k, milliseconds limit = milliseconds(2000)) {
    return session.run_isolated(content(k), random, limit, false);
  }
  // A cold call is never delivered to a worker that is awake.
  kevo::isolated_call prepared_call(std::size_t k) {
    return session.run_isolated(content(k), random, milliseconds(2000), true);
  }
  bool right(const kevo::slot_layout& layout, std::size_t k) const {
    std::vector<float> in(n);
    std::vector<float> out(n);
    std::memcpy(in.data(), contents[k][0].data(), n * 4);
    std::memcpy(out.data(), session.output(layout, 0).data(), n * 4);
    for (auto& x : in) x *= 2;
    return in == out;
  }

  static kevo::worker_settings settings(const kevo::core_plan& cores, int threads = 1) {
    kevo::worker_settings result;
    result.threads = threads;
    result.cpus = cores.workers;
    result.yield = cores.shared;
    return result;
  }

  kevo::core_plan cores;
  kevo::pinned_thread pinned{cores.controller};
  kevo_test::built_object object;
  kevo::worker_session session;
  kevo::rng random{42};
  std::vector<std::vector<std::vector<std::byte>>> contents;
  std::vector<std::int64_t> axes = {n};
};

// A process that does nothing but use one processor, until this goes out of scope.
class busy_process {
 public:
  explicit busy_process(int cpu) : id_(::fork()) {
    if (id_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ::sched_setaffinity(0, sizeof set, &set);
    for (;;) std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  busy_process(const busy_process&) = delete;
  busy_process& operator=(const busy_process&) = delete;
  ~busy_process() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }

 private:
  pid_t id_;
};

}  // namespace

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

namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Never returns from its first call, and serves the others by its own loop, into which `early` and `late` are
// put: what it does before it says that it is awake, and after it has said that a call is done.
std::string own_loop(const std::string& early, const std::string& late) {
  return program(
      "auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
      "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
      "for (;;) {\n"
      "  c->done.store(call++);\n" +
      late +
      "  while (c->go.load() != call) { if (c->pong.load() != c->ping.load()) c->pong.store(c->ping.load()); "
      "}\n" +
      early +
      "  c->pong.store(c->ping.load());\n"
      "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
      "  work(q, axes, 0, axes[0]);\n"
      "}");
}

}  // namespace

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

TEST_CASE(
    "the time of a delivered call grows by what the call takes longer, also where its clock changes at 0.1 "
    "ms") {
  const auto usual = [](int microseconds) {
    fixture f(program("work(p, axes, 0, axes[0]); burn_ns(" + std::to_string(microseconds) + "000);"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    std::vector<double> whole;
    for (std::size_t k = 0; k < 31; ++k) {
      const auto call = f.call(k);
      REQUIRE(call.end == kevo::call_end::done);
      if (microseconds > 100 && k > 0) CHECK(call.accounted);
      whole.push_back(call.whole_ns);
    }
    return median_of(whole);
  };
  // Waking the worker and letting it fall asleep take 10 to 90 us, which must not be in the longer one alone.
  const double longer = usual(130) - usual(60);
  CHECK(longer > 55e3);
  CHECK(longer < 95e3);
}

TEST_CASE("what is worked between two delivered calls of more than 0.1 ms is in the time of one") {
  // Naps after "done", so that it is found asleep, and works before its next call is asked for.
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
              "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
              "for (;;) {\n"
              "  burn_ns(150000);\n"
              "  c->done.store(call++); usleep(1000); burn_ns(400000);\n"
              "  while (c->go.load() != call) { c->pong.store(c->ping.load()); usleep(20); }\n"
              "  c->pong.store(c->ping.load());\n"
              "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
              "  work(q, axes, 0, axes[0]);\n"
              "}"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  std::vector<double> whole;
  for (std::size_t k = 0; k < 15; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(f.right(call.layout, k));
    whole.push_back(call.whole_ns + call.beside_ns);
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK(median_of(whole) > 540e3);
}

TEST_CASE("what a worker that was asleep works before a delivered call begins is in the time of the call") {
  // Serves calls by a loop of its own, and sleeps between them as a trusted worker does. Of the 60 us that a
  // call takes besides 150 it does what it can before its inputs are there, and the rest in the call.
  const auto usual = [](const std::string& before_answer, const std::string& before_call) {
    fixture f(
        program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
                "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
                "for (;;) {\n"
                "  burn_ns(150000);\n"
                "  const auto known = c->ping.load();\n"
                "  c->done.store(call++);\n"
                "  c->asleep.store(1);\n"
                "  for (;;) {\n"
                "    const auto bell = c->bell.load();\n"
                "    if (c->ping.load() != known || c->go.load() == call) break;\n"
                "    syscall(SYS_futex, &c->bell, FUTEX_WAIT, bell, nullptr, nullptr, 0);\n"
                "  }\n"
                "  c->asleep.store(0);\n"
                "  long end = used_ns() + 60000;\n" +
                    before_answer + "  c->pong.store(c->ping.load());\n" + before_call +
                    "  while (c->go.load() != call) {}\n"
                    "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
                    "  work(q, axes, 0, axes[0]);\n"
                    "  while (used_ns() < end) {}\n"
                    "}",
                "#include <linux/futex.h>\n#include <sys/syscall.h>\n"));
    REQUIRE(f.session.load() == kevo::call_end::done);
    std::vector<double> whole;
    for (std::size_t k = 0; k < 31; ++k) {
      const auto call = f.call(k);
      REQUIRE(call.end == kevo::call_end::done);
      CHECK(f.right(call.layout, k));
      CHECK(call.accounted == (k > 0));
      if (k > 1) whole.push_back(call.whole_ns + call.beside_ns);
    }
    return kevo::quantile(whole, 0.25);  // neighbours make it longer
  };
  const double honest_ns = usual("", "  while (c->go.load() != call) {}\n  end = used_ns() + 60000;\n");
  const double answers_late = usual("  while (used_ns() < end) {}\n", "");
  const double works_while_it_waits = usual("", "  while (used_ns() < end && c->go.load() != call) {}\n");
  INFO("honest ", honest_ns, ", before it answers ", answers_late, ", while it waits ", works_while_it_waits);
  CHECK(answers_late > honest_ns - 35e3);
  CHECK(works_while_it_waits > honest_ns - 35e3);
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

TEST_CASE("what a delivered call writes after \"done\" is not judged") {
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 0; ++call;\n"
              "c->done.store(call); burn_ns(3000000); work(p, axes, 0, axes[0]);"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  for (std::size_t k = 0; k < 5; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK_FALSE(f.right(call.layout, k));
    std::this_thread::sleep_for(milliseconds(10));
    CHECK_FALSE(f.right(call.layout, k));
  }
}

TEST_CASE("nothing of the inputs of a delivered call is there before its clock runs") {
  // Copies what it finds at the places of its next call as soon as it is asked whether it is awake.
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
              "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
              "static float found[1000];\n"
              "for (;;) {\n"
              "  c->done.store(call++);\n"
              "  while (c->pong.load() == c->ping.load()) {}\n"
              "  std::memcpy(found, base + c->arguments.offsets[0], sizeof found);\n"
              "  c->pong.store(c->ping.load());\n"
              "  while (c->go.load() != call) {}\n"
              "  void* q[] = {found, base + c->arguments.offsets[1]};\n"
              "  work(q, axes, 0, axes[0]);\n"
              "}"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  CHECK(f.right(f.call(0).layout, 0));
  for (std::size_t k = 1; k < 8; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK_FALSE(f.right(call.layout, k));
  }
}

TEST_CASE("nor is anything of its scalars and addresses") {
  // Writes what it found when it was asked whether it is awake: the scalar, and where its output would be.
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]);\n"
              "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
              "for (;;) {\n"
              "  c->done.store(call++);\n"
              "  while (c->pong.load() == c->ping.load()) {}\n"
              "  const auto scalar = static_cast<float>(c->arguments.scalars[0]);\n"
              "  const auto place = static_cast<float>(c->arguments.offsets[1]);\n"
              "  c->pong.store(c->ping.load());\n"
              "  while (c->go.load() != call) {}\n"
              "  auto* out = reinterpret_cast<float*>(base + c->arguments.offsets[1]);\n"
              "  out[0] = scalar; out[1] = place;\n"
              "}"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  int places = 0;
  for (std::uint64_t k = 0; k < 8; ++k) {
    const std::vector<std::uint64_t> scalars = {100 + k};
    auto given = f.content(k);
    given.scalars = scalars;
    const auto call = f.session.run_isolated(given, f.random, milliseconds(2000), false);
    REQUIRE(call.end == kevo::call_end::done);
    if (k == 0) continue;
    float found[2];
    std::memcpy(found, f.session.output(call.layout, 0).data(), sizeof found);
    CHECK(found[0] == static_cast<float>(99 + k));  // that of the call before
    places += found[1] == static_cast<float>(call.layout.offsets[1]);
  }
  CHECK(places == 0);
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

TEST_CASE("a delivered call that a neighbour made longer is told, or its time is corrected") {
  fixture f(program("work(p, axes, 0, axes[0]); burn_ns(150000);"));
  if (f.cores.shared) return kevo_test::skip("a worker has no processor of its own here");
  REQUIRE(f.session.load() == kevo::call_end::done);
  std::vector<double> alone;
  for (std::size_t k = 0; k < 15; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    alone.push_back(call.whole_ns);
  }
  const double usual = kevo::median(alone);
  const busy_process neighbour(f.cores.controller);
  int longer = 0;
  int well = 0;
  for (std::size_t k = 0; longer < 10 && k < 3000; ++k) {
    const auto call = f.call(k % f.contents.size());
    REQUIRE(call.end == kevo::call_end::done);
    if (call.ns < 2 * usual) continue;
    ++longer;
    well += call.disturbed || call.whole_ns < 1.2 * usual ? 1 : 0;
  }
  CHECK(longer == 10);
  CHECK(well >= 8);
}

// A worker that looked in vain for its inputs, because the controller had lost its processor, sleeps once
// more. This one always does. The call does not wait for anything, and its time is its processor time,
// however late the controller sees its end.
TEST_CASE(
    "a sleep before the inputs of a delivered call come does not make its time that of the controller") {
  fixture f(
      program("auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]); "
              "burn_ns(3000000);\n"
              "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
              "for (;;) {\n"
              "  const auto known = c->ping.load();\n"
              "  c->asleep.store(1); c->done.store(call++);\n"
              "  while (c->ping.load() == known) {\n"
              "    const std::uint32_t bell = c->bell.load();\n"
              "    if (c->ping.load() == known) syscall(SYS_futex, &c->bell, FUTEX_WAIT, bell, nullptr, "
              "nullptr, 0);\n"
              "  }\n"
              "  c->pong.store(c->ping.load()); usleep(20);\n"
              "  while (c->go.load() != call) {}\n"
              "  c->asleep.store(0); burn_ns(3000000);\n"
              "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
              "  work(q, axes, 0, axes[0]);\n"
              "}",
              "#include <linux/futex.h>\n#include <sys/syscall.h>\n"));
  if (f.cores.shared) return kevo_test::skip("a worker has no processor of its own here");
  REQUIRE(f.session.load() == kevo::call_end::done);
  REQUIRE(f.call(0).end == kevo::call_end::done);
  const busy_process one(f.cores.controller);
  const busy_process other(f.cores.controller);
  int well = 0;
  constexpr int calls = 40;
  for (std::size_t k = 1; k <= calls; ++k) {
    const auto call = f.call(k % f.contents.size());
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(call.whole_ns > 2.9e6);
    well += call.whole_ns < 1.25 * 3e6 ? 1 : 0;
  }
  CHECK(well >= 36);
}

TEST_CASE("a worker that says that it sleeps before a delivered call hides no work by that") {
  // It serves its calls itself: claims to be asleep when the inputs come, and sleeps once in each call.
  fixture f(program(
      "auto* c = page(scalars); static std::uint64_t call = 1; work(p, axes, 0, axes[0]); burn_ns(3000000);\n"
      "auto* base = static_cast<char*>(p[0]) - c->arguments.offsets[0];\n"
      "for (;;) {\n"
      "  c->done.store(call++); usleep(3000); c->asleep.store(1);\n"
      "  while (c->go.load() != call) c->pong.store(c->ping.load());\n"
      "  burn_ns(1500000); usleep(500); burn_ns(1500000);\n"
      "  void* q[] = {base + c->arguments.offsets[0], base + c->arguments.offsets[1]};\n"
      "  work(q, axes, 0, axes[0]);\n"
      "}"));
  REQUIRE(f.session.load() == kevo::call_end::done);
  for (std::size_t k = 0; k < 12; ++k) {
    const auto call = f.call(k);
    REQUIRE(call.end == kevo::call_end::done);
    CHECK(f.right(call.layout, k));
    CHECK(call.whole_ns + call.beside_ns > 2.9e6);
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
