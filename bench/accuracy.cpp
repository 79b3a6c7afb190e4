// How far the intervals of the CPU evaluator can be trusted: a program against itself, and two programs that
// differ by 5 %, in calls of several lengths, beside busy neighbours.
//   bench.accuracy [--tries N] [--kernels 2us,100us,5ms,60ms] [--loads 0,2,4] [--faster] [--samples FILE]
// Each try is a full timing in new processes. One line per kernel and load says how many intervals exclude
// the truth, how wide they are, and what an evaluation takes. `--samples` keeps all pairs as CSV, for
// simulations.

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/fitness/cpu.hpp>

namespace {

const char* const reference = R"(
#include <cstdint>
extern "C" void reference(const double* x, double* y, std::int64_t N) {
  for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i];
})";

// y = x / 2 + x / 2 (repeated) comes to 2 x in fewer than 30 rounds; further ones only cost time.
kevo::program rounds(long count) {
  return kevo::single_file_program(
      "cpp", "kernel.cpp",
      fmt::format("#include <cstdint>\nextern \"C\" void run(const float* x, float* y, std::int64_t N) {{\n"
                  "  for (std::int64_t i = 0; i < N; ++i) y[i] = x[i];\n"
                  "  for (long r = 0; r < {}; ++r)\n"
                  "    for (std::int64_t i = 0; i < N; ++i) y[i] = 0.5f * y[i] + x[i];\n}}\n",
                  count));
}

std::shared_ptr<kevo::task> task_of(long count) {
  auto t = std::make_shared<kevo::task>();
  t->name = "rounds";
  t->axes = {{"N", {}, ""}};
  kevo::tensor x;
  x.name = "x";
  x.shape = {"N"};
  x.dtype = "float32";
  auto y = x;
  y.name = "y";
  t->inputs = {x};
  t->outputs = {y};
  kevo::workload main;
  main.uuid = "main";
  main.axes = {{"N", 2048}};
  t->workloads = {main};
  t->reference = kevo::reference_source{"cpp", kevo::single_file_program("cpp", "reference.cpp", reference)};
  kevo::baseline seed;
  seed.name = "seed";
  seed.source = rounds(count);
  t->baselines = {seed};
  return t;
}

// Processes that do nothing but use a processor, until this goes out of scope.
class neighbours {
 public:
  explicit neighbours(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) std::atomic_signal_fence(std::memory_order_seq_cst);
      }
      children_.push_back(child);
    }
  }
  neighbours(const neighbours&) = delete;
  ~neighbours() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

struct found {
  int tries = 0;
  int excludes = 0;  // the truth
  int right = 0;     // calls the faster program faster
  int refused = 0;   // too busy, says the evaluator
  std::vector<double> half;
  std::vector<double> off;
  std::vector<double> seconds;
};

void tell(const char* what, const std::string& kernel, int load, const found& f) {
  const auto share = [&](double p) { return f.half.empty() ? 0 : 100 * kevo::quantile(f.half, p); };
  std::printf(
      "%-7s %6s load %d: tries %d, exclude the truth %d, called faster %d, refused %d; half width %.2f %% "
      "(median, 90 %%: %.2f %%), off %.2f %%; %.2f s each (90 %%: %.2f)\n",
      what, kernel.c_str(), load, f.tries, f.excludes, f.right, f.refused, share(0.5), share(0.9),
      f.off.empty() ? 0 : 100 * kevo::median(f.off), f.seconds.empty() ? 0 : kevo::median(f.seconds),
      f.seconds.empty() ? 0 : kevo::quantile(f.seconds, 0.9));
  std::fflush(stdout);
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> all;
  std::stringstream in(list);
  for (std::string word; std::getline(in, word, ',');) all.push_back(word);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  int tries = 20;
  bool faster = false;
  std::string kernels = "2us,100us,5ms,60ms";
  std::string loads = "0,2,4";
  std::string samples;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--faster")
      faster = true;
    else if (word == "--tries" && more)
      tries = std::atoi(argv[++i]);
    else if (word == "--kernels" && more)
      kernels = argv[++i];
    else if (word == "--loads" && more)
      loads = argv[++i];
    else if (word == "--samples" && more)
      samples = argv[++i];
    else
      return std::fprintf(stderr, "unknown argument %s\n", word.c_str()), 2;
  }
  const std::map<std::string, long> known = {{"2us", 30}, {"100us", 1500}, {"5ms", 75000}, {"60ms", 900000}};
  std::ofstream csv(samples.empty() ? "/dev/null" : samples);
  csv << "kernel,load,try,pair,candidate_ns,baseline_ns\n";
  for (const auto& kernel : words(kernels)) {
    const auto count = known.find(kernel);
    if (count == known.end()) return std::fprintf(stderr, "unknown kernel %s\n", kernel.c_str()), 2;
    kevo::cpu_fitness fitness(task_of(count->second));
    for (const auto& load : words(loads)) {
      const neighbours busy(std::atoi(load.c_str()));
      kevo::evaluation_request request;
      // The same program, made different from the baseline by a comment.
      auto program =
          rounds(faster ? static_cast<long>(static_cast<double>(count->second) / 1.05) : count->second);
      program.files.front().text += "// candidate\n";
      request.program = std::make_shared<const kevo::program>(program);
      request.wanted = kevo::evaluation_stage::timed_full;
      request.fresh = true;
      found all;
      const double truth =
          faster ? static_cast<double>(count->second + 4) / (static_cast<double>(count->second) / 1.05 + 4)
                 : 1;
      for (int i = 0; i < tries; ++i) {
        try {
          const auto e = fitness.evaluate(request);
          if (!e.valid()) return std::fprintf(stderr, "not valid: %s\n", e.feedback.c_str()), 1;
          ++all.tries;
          all.excludes += e.speedup_interval.low > truth || e.speedup_interval.high < truth;
          all.right += e.speedup_interval.low > 1;
          all.half.push_back(0.5 * std::log(e.speedup_interval.high / e.speedup_interval.low));
          all.off.push_back(std::abs(std::log(e.speedup / truth)));
          all.seconds.push_back(e.cost.device_s);
          int pair = 0;
          for (const auto& p : e.workloads[0].samples)
            csv << kernel << ',' << load << ',' << i << ',' << pair++ << ',' << p.candidate_ns << ','
                << p.baseline_ns << '\n';
          csv.flush();
        } catch (const kevo::error& problem) {
          if (problem.code() != kevo::error_code::environment) throw;
          ++all.refused;
        }
      }
      tell(faster ? "faster" : "same", kernel, std::atoi(load.c_str()), all);
    }
  }
  return 0;
}
