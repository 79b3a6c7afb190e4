// timed
// A run waits for another process that measures: the wait is shown, noted and not charged to its time.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/session.hpp>
#include <kevo/stop/seconds.hpp>

#include "fitness/machine/cores.hpp"
#include "fitness/machine/fifo_lock.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo;
namespace fs = std::filesystem;

namespace {

/// No processors: nobody else uses their lock.
const std::vector<int>& no_cpus() {
  static const std::vector<int> cpus = {3000000 + static_cast<int>(::getpid())};
  return cpus;
}

/// Another process that measures for some time.
class other_process {
 public:
  explicit other_process(std::chrono::milliseconds time) {
    int ready[2] = {-1, -1};
    REQUIRE(::pipe(ready) == 0);
    const std::vector<int> cpus = no_cpus();
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      {
        const measuring_lock held(cpus);
        static_cast<void>(::write(ready[1], "x", 1) < 0);
        std::this_thread::sleep_for(time);
      }
      ::_exit(0);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() { ::waitpid(id_, nullptr, 0); }
  int id() const { return id_; }

 private:
  int id_ = -1;
};

/// Measures for 10 ms under the lock, its threads in turn.
struct measured_hill {
  std::shared_ptr<fifo_lock> among_threads = std::make_shared<fifo_lock>();
  evaluation evaluate(const evaluation_request& request) {
    const auto turn = among_threads->take(request.stop);
    const measuring_lock lock(no_cpus(), request.stop, request.waiting);
    const measuring_span measuring(request);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    evaluation e = toy::hill{}.evaluate(request);
    e.cost.waited_s = lock.waited_s();
    return e;
  }
};

struct folder {
  fs::path path = fs::temp_directory_path() / ("kevo_waits_" + std::to_string(::getpid()));
  folder() { fs::remove_all(path); }
  ~folder() {
    fs::remove_all(path);
    std::string lock = "/tmp/kevo-measure";
    for (const int cpu : no_cpus()) lock += '-' + std::to_string(cpu);
    fs::remove(lock + ".lock");
    fs::remove(lock + ".queue.lock");
  }
};

session_plan plan_for(const folder& where, double seconds) {
  session_plan plan;
  plan.name = "waits";
  plan.folder = where.path.string();
  plan.parts.select = toy::best_or_random{};
  plan.parts.operators = {toy::step{}};
  plan.parts.archive = top_k(10);
  plan.parts.stop = stop::seconds{seconds};
  plan.fitness = measured_hill{};
  plan.seeds = {toy::program_of(8000)};
  return plan;
}

}  // namespace

TEST_CASE(
    "a wait for another process is told of, is in the ledger and is not charged to the rule 'seconds'") {
  const folder where;
  session_plan plan = plan_for(where, 0.7);
  double longest_s = 0;
  int waited_for = 0;
  plan.hooks.status = [&](const session_status& now) {
    if (!now.waits_for) return;
    waited_for = now.waits_for->process;
    longest_s = std::max(longest_s, now.waits_s);
    CHECK(now.measuring == 0);
  };
  run_outcome ended;
  int other = 0;
  {
    const other_process measures(std::chrono::milliseconds(1500));
    other = measures.id();
    ended = start_session(plan);
  }
  CHECK(waited_for == other);
  CHECK(longest_s > 0.7);
  CHECK(ended.stopped_by == "0.7 seconds");
  // Were the wait charged, the time would be over before the first evaluation had ended.
  CHECK(ended.ledger.evaluations >= 3);
  CHECK(ended.ledger.waited_s > 0.7);
  CHECK(ended.ledger.waited_s < 60);

  const auto again = replay_session(plan_for(where, 0.7));
  CHECK_MESSAGE(!again.divergence, again.divergence.value_or(""));
  CHECK(again.run.ledger.waited_s == doctest::Approx(ended.ledger.waited_s));
  const auto more = resume_session(plan_for(where, 0.9));
  CHECK(more.ledger.waited_s >= ended.ledger.waited_s * 0.999);
  CHECK(more.ledger.evaluations >= ended.ledger.evaluations);
}
