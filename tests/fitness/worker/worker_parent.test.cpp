// serial
// One sandboxed process forks the workers of an object: what each of them finds, and how their ends are told.
#include "fitness/worker/worker_parent.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/machine/core_plan.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/worker/session.hpp"
#include "tests/fitness/support/built_object.hpp"
#include "tests/support/skip.hpp"

namespace {

constexpr std::int64_t n = 16;
const std::vector<kevo::buffer_shape> buffers = {{n * 8, false}, {n * 8, true}};

// `body` is what a call does; out[0] to out[15] are what it wants to tell.
std::string program(const std::string& body, const std::string& before = "") {
  return "#include <csignal>\n#include <cstdint>\n#include <cstdlib>\n#include <cstring>\n#include "
         "<unistd.h>\n"
         "#include <sys/mman.h>\n#include <sys/resource.h>\n#include <sys/stat.h>\n#include "
         "<sys/syscall.h>\n" +
         before +
         "extern \"C\" void kevo_call(void* const* p, const std::int64_t*, const std::uint64_t*) {\n"
         "  auto* const out = static_cast<std::int64_t*>(p[1]); static_cast<void>(out);\n" +
         body + "\n}\n";
}

struct family {
  explicit family(const std::string& text, int threads = 1) : object(text) {
    settings.cpus = cores.workers;
    settings.yield = cores.shared;
    settings.threads = threads;
    settings.limits.processes = 2 * threads + 2;
    settings.limits.data_bytes = std::uint64_t{1} << 30U;
    parent = std::make_shared<kevo::worker_parent>(settings, object.path());
  }
  std::unique_ptr<kevo::worker_session> worker() {
    auto session = std::make_unique<kevo::worker_session>(
        settings, parent, kevo::lent_arena(3 * kevo::arena::slot_bytes(buffers)));
    loaded = session->load();
    session->memory().reshape(buffers);
    return session;
  }
  kevo::isolated_call call(kevo::worker_session& session) {
    const std::vector<std::vector<std::byte>> inputs(1, std::vector<std::byte>(n * 8));
    return session.run_isolated({inputs, {}, {}}, random, std::chrono::seconds(5), false);
  }
  // What the first call of a fresh worker has to tell.
  std::vector<std::int64_t> told() {
    const auto session = worker();
    REQUIRE(loaded == kevo::call_end::done);
    const auto result = call(*session);
    REQUIRE(result.end == kevo::call_end::done);
    std::vector<std::int64_t> values(n);
    std::memcpy(values.data(), session->output(result.layout, 0).data(), n * 8);
    return values;
  }

  kevo::core_plan cores = kevo::plan_cores(1);
  kevo_test::built_object object;
  kevo::worker_settings settings;
  std::shared_ptr<kevo::worker_parent> parent;
  kevo::call_end loaded = kevo::call_end::died;
  kevo::rng random{7};
};

}  // namespace

TEST_CASE("each worker is a process of its own, in which nothing of an earlier one is left") {
  family f(program(
      "out[0] = getpid(); out[1] = getppid(); out[2] = counter++; out[3] = std::strcmp(environ[0], old);\n"
      "  std::memcpy(environ[0], \"kept\", 4);\n"
      "  out[4] = static_cast<char*>(p[0])[-1] == 'k'; static_cast<char*>(p[0])[-1] = 'k';",
      "static std::int64_t counter = 0;\nstatic const char* const old = strdup(environ[0]);\n"));
  std::set<std::int64_t> processes;
  for (int i = 0; i < 5; ++i) {
    const auto told = f.told();
    processes.insert(told[0]);
    CHECK(told[1] == 1);  // the first process of its namespace
    CHECK(told[2] == 0);
    CHECK(told[3] == 0);
    CHECK(told[4] == 0);
  }
  CHECK(processes.size() == 5);
  CHECK(f.parent->usable());
}

TEST_CASE("addresses differ from worker to worker") {
  family f(
      program("int here = 0; out[0] = reinterpret_cast<std::intptr_t>(&here);\n"
              "  out[1] = reinterpret_cast<std::intptr_t>(&fixed); out[2] = "
              "reinterpret_cast<std::intptr_t>(p[0]) >> 12;\n"
              "  out[3] = reinterpret_cast<std::intptr_t>(std::malloc(100)); out[4] = "
              "reinterpret_cast<std::intptr_t>(std::malloc(1 << 20));",
              "static int fixed = 0;\n"));
  std::set<std::int64_t> seen[5];
  for (int i = 0; i < 8; ++i) {
    const auto told = f.told();
    for (std::size_t k = 0; k < 5; ++k) seen[k].insert(told[k]);
  }
  for (std::size_t k = 0; k < 5; ++k) {
    CAPTURE(k);
    // A small block of the heap may lie behind one of 8 numbers of others (scatter_memory): two places for 8
    // workers happen by chance once in 2000 runs.
    CHECK(seen[k].size() >= (k == 3 ? 3 : 6));
  }
}

TEST_CASE("the parents of two programs have the same addresses, so that neither serves its calls faster") {
  if (!kevo::addresses_can_be_fixed(kevo::sandbox_mode::required))
    return kevo_test::skip("personality(2) is not allowed here");
  // Of a library that the parent loaded, of the program of the worker, and of the kernel's own page.
  const std::string text = program(
      "out[0] = reinterpret_cast<std::intptr_t>(&std::strtol); out[1] = "
      "static_cast<std::int64_t>(getauxval(AT_ENTRY)); out[2] = "
      "static_cast<std::int64_t>(getauxval(AT_SYSINFO_EHDR));",
      "#include <sys/auxv.h>\n");
  family one(text);
  family other(text);
  const auto of_one = one.told();
  const auto of_other = other.told();
  for (std::size_t k = 0; k < 3; ++k) {
    CAPTURE(k);
    CHECK(of_one[k] != 0);
    CHECK(of_one[k] == of_other[k]);
  }
}

TEST_CASE("a worker has no descriptor but the three standard ones and its object of shared memory") {
  family f(
      program("out[0] = out[1] = 0;\n  for (int i = 3; i < 1024; ++i) {\n"
              "    struct stat about = {};\n"
              "    if (fstat(i, &about) != 0) continue;\n"
              "    ++out[S_ISREG(about.st_mode) && about.st_size == 4096 ? 0 : 1];\n"
              "  }"));
  const auto counts = f.told();
  CHECK(counts[0] == 1);
  CHECK(counts[1] == 0);
}

TEST_CASE("how a worker ended is told, and its parent ends, too") {
  struct end {
    std::string body;
    kevo::exit_kind kind;
    int number;
  };
  for (const auto& one : {end{"_exit(7);", kevo::exit_kind::exited, 7},
                          end{"raise(SIGSEGV);", kevo::exit_kind::signalled, SIGSEGV},
                          end{"abort();", kevo::exit_kind::signalled, SIGABRT},
                          end{"syscall(SYS_execve, 0, 0, 0);", kevo::exit_kind::signalled, SIGSYS},
                          end{"kill(1, SIGKILL);", kevo::exit_kind::signalled, SIGSYS}}) {
    INFO(one.body);
    family f(program(one.body));
    auto session = f.worker();
    REQUIRE(f.loaded == kevo::call_end::done);
    CHECK(f.call(*session).end == kevo::call_end::died);
    REQUIRE(session->report());
    CHECK(session->report()->kind == one.kind);
    CHECK((one.kind == kevo::exit_kind::exited ? session->report()->code : session->report()->signal) ==
          one.number);
    session.reset();
    CHECK_FALSE(f.parent->usable());
  }
}

TEST_CASE("a worker that does not end by itself is gone when its session is") {
  family f(program("for (;;) {}"));
  for (int i = 0; i < 3; ++i) {
    auto session = f.worker();
    REQUIRE(f.loaded == kevo::call_end::done);
    const pid_t process = f.parent->pid();
    CHECK(::kill(process, 0) == 0);
    session.reset();
    const kevo::freezer gone(process);  // a zombie until the next one is asked for
    CHECK(gone.ended());
  }
  CHECK(f.parent->usable());
}

TEST_CASE("one that stops itself can be ended") {
  family f(program("raise(SIGSTOP);"));
  auto session = f.worker();
  REQUIRE(f.loaded == kevo::call_end::done);
  const std::vector<std::vector<std::byte>> inputs(1, std::vector<std::byte>(n * 8));
  const auto call = session->run_isolated({inputs, {}, {}}, f.random, std::chrono::milliseconds(200), false);
  CHECK(call.end == kevo::call_end::timed_out);
}

TEST_CASE("limits are those of each worker") {
  family f(
      program("out[0] = 0; while (open_one()) ++out[0];\n"
              "  rlimit limit = {}; getrlimit(RLIMIT_NPROC, &limit); out[1] = "
              "static_cast<std::int64_t>(limit.rlim_cur);",
              "#include <fcntl.h>\nstatic bool open_one() { return open(\"/dev/zero\", O_RDONLY) >= 0; }\n"));
  const auto first = f.told();
  CHECK(first[0] > 100);
  CHECK(first[1] == 5);  // four, and the parent
  CHECK(f.told()[0] == first[0]);
}

TEST_CASE("a worker that is killed from outside is noticed") {
  family f(program("for (;;) {}"));
  auto session = f.worker();
  REQUIRE(f.loaded == kevo::call_end::done);
  const pid_t worker = f.parent->pid();
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::kill(worker, SIGKILL);
  });
  CHECK(f.call(*session).end == kevo::call_end::died);
  killer.join();
  REQUIRE(session->report());
  CHECK(session->report()->kind == kevo::exit_kind::signalled);
  CHECK(session->report()->signal == SIGKILL);
}
