// once: a team of OpenMP has*,the same with LLVM*
// timeout: 300
// serial
// Programs with threads as people write them: OpenMP, std::thread, pools that stay, and what is refused.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cpu/cpu_fitness.hpp"
#include "fitness/worker/thread_runtime.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/fitness/cpu/line_task.hpp"
#include "tests/support/skip.hpp"

using namespace line_task;

namespace {

kevo::cpu_settings settings_for(int threads, std::vector<std::string> flags) {
  auto settings = fixture::settings({});
  settings.threads = threads;
  settings.flags = std::move(flags);
  return settings;
}

kevo::evaluation checked(kevo::cpu_settings settings, const std::string& source) {
  kevo::cpu_fitness fitness(example(), std::move(settings));
  return fitness.evaluate(
      {.program = std::make_shared<kevo::program>(kevo::single_file_program("cpp", "kernel.cpp", source)),
       .wanted = kevo::evaluation_stage::checked});
}

// Right only where a team has as many threads as TEAM says, asked for by CLAUSE.
std::string open_mp(const std::string& clause, int team) {
  return "#include <cstdint>\n#include <omp.h>\n"
         "extern \"C\" void run(const float* x, float* y, std::int64_t N) {\n"
         "  int team = 0;\n"
         "#pragma omp parallel " +
         clause +
         "\n  {\n"
         "#pragma omp single\n"
         "    team = omp_get_num_threads();\n"
         "#pragma omp for\n"
         "    for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i] + 1;\n"
         "  }\n"
         "  if (team != " +
         std::to_string(team) + ") y[0] = 0;\n}\n";
}

const std::string pool = R"(
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>
namespace {
struct job { const float* x; float* y; std::int64_t from, to; };
void work(const job& j) { for (std::int64_t i = j.from; i < j.to; ++i) j.y[i] = 2 * j.x[i] + 1; }
std::mutex lock;
std::condition_variable changed;
std::vector<job> jobs;
int left = 0;
void serve() {
  std::unique_lock hold(lock);
  for (;;) {
    changed.wait(hold, [] { return !jobs.empty(); });
    const job mine = jobs.back();
    jobs.pop_back();
    hold.unlock();
    work(mine);
    hold.lock();
    if (--left == 0) changed.notify_all();
  }
}
}
extern "C" void run(const float* x, float* y, std::int64_t N) {
  static const bool started = [] {
    for (int i = 0; i < WORKERS; ++i) std::thread(serve).detach();
    return true;
  }();
  (void)started;
  std::unique_lock hold(lock);
  for (int i = 0; i < 4; ++i) jobs.push_back({x, y, N * i / 4, N * (i + 1) / 4});
  left = 4;
  changed.notify_all();
  changed.wait(hold, [] { return left == 0; });
})";

std::string pool_of(int workers) {
  return "#define WORKERS " + std::to_string(workers) + '\n' + pool;
}

const std::string one_thread_a_call = R"(
#include <cstdint>
#include <thread>
extern "C" void run(const float* x, float* y, std::int64_t N) {
  std::jthread other([=] { for (std::int64_t i = N / 2; i < N; ++i) y[i] = 2 * x[i] + 1; });
  for (std::int64_t i = 0; i < N / 2; ++i) y[i] = 2 * x[i] + 1;
})";

// Whether there is OpenMP for this compiler here; the test is reported as skipped otherwise.
bool has_open_mp(const std::string& compiler) {
  if (kevo::find_program(compiler).empty()) {
    kevo_test::skip(compiler + " is not installed");
    return false;
  }
  auto settings = settings_for(1, {"-O2", "-fopenmp"});
  settings.compiler = compiler;
  // The baseline is built with these flags, too.
  try {
    const auto e = checked(std::move(settings), head + right + "}\n");
    if (e.valid()) return true;
    kevo_test::skip(compiler + " has no OpenMP: " + e.feedback);
  } catch (const kevo::error& failure) {
    if (failure.code() != kevo::error_code::input) throw;
    kevo_test::skip(compiler + " has no OpenMP");
  }
  return false;
}

void try_open_mp(const std::string& compiler) {
  if (!has_open_mp(compiler)) return;
  const auto with = [&](int threads) {
    auto settings = settings_for(threads, {"-O2", "-fopenmp"});
    settings.compiler = compiler;
    return settings;
  };
  for (const auto& tried : {std::pair(2, ""), {2, "num_threads(7)"}, {1, ""}, {1, "num_threads(2)"}}) {
    const auto e = checked(with(tried.first), open_mp(tried.second, tried.first));
    CHECK_MESSAGE(e.valid(), tried.first << " threads, clause '" << tried.second << "': " << e.feedback);
  }
}

}  // namespace

TEST_CASE("a team of OpenMP has as many threads as the settings allow, whatever it asks for") {
  try_open_mp("g++");
}

TEST_CASE("the same with LLVM's runtime") {
  try_open_mp("clang++");
}

TEST_CASE("threads that are joined in the call, and pools that sleep between calls, are accepted") {
  const auto joined = checked(settings_for(2, {"-O2"}), one_thread_a_call);
  CHECK_MESSAGE(joined.valid(), joined.feedback);
  // As many workers as threads are allowed, while the caller waits.
  const auto pooled = checked(settings_for(2, {"-O2"}), pool_of(2));
  CHECK_MESSAGE(pooled.valid(), pooled.feedback);
}

TEST_CASE("a pool that stays larger than the settings allow is rejected") {
  const auto e = checked(settings_for(2, {"-O2"}), pool_of(4));
  CHECK(e.outcome == kevo::outcome::rejected);
  CHECK_MESSAGE(e.feedback.find("it has 5 threads after a call; fitness.threads is 2") != std::string::npos,
                e.feedback);
}

TEST_CASE("a program that is refused a thread is told so, and which setting allows it") {
  const auto none = checked(settings_for(1, {"-O2"}), one_thread_a_call);
  CHECK(none.outcome == kevo::outcome::crashed);
  CHECK_MESSAGE(
      none.feedback.find("it tried to start a thread, but fitness.threads is 1; raise it to allow threads") !=
          std::string::npos,
      none.feedback);
  const auto few = checked(settings_for(2, {"-O2"}), pool_of(40));
  CHECK(few.outcome == kevo::outcome::crashed);
  CHECK_MESSAGE(few.feedback.find(
                    "it tried to start more threads than it may have, but fitness.threads is 2; raise it") !=
                    std::string::npos,
                few.feedback);
  // One that fails for another reason hears nothing of threads.
  const auto wrong =
      checked(settings_for(1, {"-O2"}), head + "for (std::int64_t i = 0; i < N; ++i) y[i] = 0;}\n");
  CHECK(wrong.outcome == kevo::outcome::incorrect);
  CHECK(wrong.feedback.find("thread") == std::string::npos);
}

TEST_CASE("an evaluation says that there are more threads than processors") {
  const auto e = checked(settings_for(1000, {"-O2"}), one_thread_a_call);
  CHECK_MESSAGE(e.valid(), e.feedback);
  REQUIRE(e.context.contains("timing"));
  CHECK(e.context.at("timing").find("1000 threads take turns on ") == 0);
}

TEST_CASE("a library among the flags is linked behind the source that needs it") {
  if (!has_open_mp("g++")) return;
  const auto e = checked(settings_for(2, {"-O2", "-Wl,--as-needed", "-lgomp"}),
                         "extern \"C\" int omp_get_max_threads();\n" + head + right +
                             "if (omp_get_max_threads() != 2) y[0] = 0;\n}\n");
  CHECK_MESSAGE(e.valid(), e.feedback);
}

TEST_CASE("threads that wait sleep only where the controller shares their processors") {
  const auto has = [](const std::vector<std::string>& variables, const std::string& one) {
    return std::find(variables.begin(), variables.end(), one) != variables.end();
  };
  CHECK(has(kevo::worker_environment(2, true), "OMP_WAIT_POLICY=passive"));
  CHECK_FALSE(has(kevo::worker_environment(2, false), "OMP_WAIT_POLICY=passive"));
  CHECK(has(kevo::worker_environment(3, false), "OMP_THREAD_LIMIT=3"));
}

TEST_CASE("only flags that ask for a runtime bring its libraries into the sandbox") {
  CHECK(kevo::thread_libraries({"-O3", "-march=native", "-fopenmp-simd", "-lm"}).empty());
  CHECK(kevo::thread_libraries({"-fopenmp"}).front() == "libgomp.so.1");
  CHECK(kevo::thread_libraries({"-fopenmp=libomp"}).size() == kevo::thread_libraries({"-fopenmp"}).size());
  CHECK(kevo::thread_libraries({"-ltbb"}).front() == "libtbb.so.12");
}
