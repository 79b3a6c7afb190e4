#pragma once
// A worker with a program whose text a test gives, honest or not, and the controller's side of its calls.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/machine/core_plan.hpp"
#include "fitness/machine/cores.hpp"
#include "fitness/worker/session.hpp"
#include "tests/fitness/support/built_object.hpp"

namespace worker_test {

using std::chrono::milliseconds;

inline constexpr std::int64_t n = 1000;
inline const std::vector<kevo::buffer_shape> buffers = {{n * 4, false}, {n * 4, true}};

inline const std::string head =
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

inline const std::string waiting =
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

inline std::string program(const std::string& body, const std::string& before = "") {
  return head + waiting + before +
         "extern \"C\" void kevo_call(void* const* p, const std::int64_t* axes, const std::uint64_t* "
         "scalars) {\n"
         "  (void)p, (void)axes, (void)scalars;\n" +
         body + "\n}\n";
}
inline const std::string honest = "work(p, axes, 0, axes[0]);";

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

inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Never returns from its first call, and serves the others by its own loop, into which `early` and `late` are
// put: what it does before it says that it is awake, and after it has said that a call is done.
inline std::string own_loop(const std::string& early, const std::string& late) {
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

}  // namespace worker_test
