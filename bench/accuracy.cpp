// How far the intervals of the CPU evaluator can be trusted: a program against itself, and two programs that
// differ by 5 %, in calls of several lengths, beside busy neighbours.
//   bench.accuracy [--tries N] [--kernels 2us,100us,5ms,60ms] [--loads 0,2,4] [--faster] [--seconds S]
//                  [--samples FILE]
//   bench.accuracy --task TASK.yaml [--tries N] [--loads 0,2,4] [--seconds S] [--samples FILE]
// Each try is a full timing in new processes. One line per kernel and load says how many intervals exclude
// the truth, how wide they are, and what an evaluation takes. The kernels are as long as their names say on
// this machine: what a round of their loop takes is measured first. With `--task` the first seed of a task is
// compared with itself: its calls touch more memory than the kernels, which have 2 KB. After `--seconds` no
// further try of a line begins. `--samples` keeps all pairs as CSV, with speedup and interval of their try,
// for simulations.

#include <atomic>
#include <chrono>
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
#include <kevo/load_task.hpp>

namespace {

const char* const reference = R"(
#include <cstdint>
extern "C" void reference(const double* x, double* y, std::int64_t N) {
  for (std::int64_t i = 0; i < N; ++i) y[i] = 2 * x[i];
})";

// y = x / 2 + x / 2 (repeated) comes to 2 x in fewer than 30 rounds; further ones only cost time. The
// compiler is not told how many there are, so that programs with different numbers differ in nothing else:
// with GCC 13, one with 5 % fewer rounds took up to 37 % longer.
kevo::program rounds(long count) {
  return kevo::single_file_program(
      "cpp", "kernel.cpp",
      fmt::format("#include <cstdint>\nextern \"C\" void run(const float* x, float* y, std::int64_t N) {{\n"
                  "  for (std::int64_t i = 0; i < N; ++i) y[i] = x[i];\n"
                  "  long count = {};\n"
                  "  asm volatile(\"\" : \"+r\"(count));\n"
                  "  for (long r = 0; r < count; ++r)\n"
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
  main.axes = {{"N", 512}};
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
  std::vector<double> pairs;
  std::vector<double> call_ns;
};

void tell(const char* what, const std::string& kernel, int load, const found& f) {
  const auto share = [&](double p) { return f.half.empty() ? 0 : 100 * kevo::quantile(f.half, p); };
  std::printf(
      "%-7s %6s load %d: tries %d, exclude the truth %d, called faster %d, refused %d; half width %.2f %% "
      "(median, 90 %%: %.2f %%), off %.2f %%; %.2f s each (90 %%: %.2f), %.0f pairs of calls of %.4g us\n",
      what, kernel.c_str(), load, f.tries, f.excludes, f.right, f.refused, share(0.5), share(0.9),
      f.off.empty() ? 0 : 100 * kevo::median(f.off), f.seconds.empty() ? 0 : kevo::median(f.seconds),
      f.seconds.empty() ? 0 : kevo::quantile(f.seconds, 0.9), f.pairs.empty() ? 0 : kevo::median(f.pairs),
      f.call_ns.empty() ? 0 : 1e-3 * kevo::median(f.call_ns));
  std::fflush(stdout);
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> all;
  std::stringstream in(list);
  for (std::string word; std::getline(in, word, ',');) all.push_back(word);
  return all;
}

struct options {
  int tries = 20;
  bool faster = false;
  std::string kernels = "2us,100us,5ms,60ms";
  std::string loads = "0,2,4";
  std::string samples;
  std::string task;
  double seconds = 1e9;
};

// Nothing, with a message, where an argument is not known.
std::optional<options> options_of(int argc, char** argv) {
  options given;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::map<std::string, std::string*> texts = {{"--kernels", &given.kernels},
                                                       {"--loads", &given.loads},
                                                       {"--samples", &given.samples},
                                                       {"--task", &given.task}};
    const bool more = i + 1 < argc;
    if (word == "--faster") {
      given.faster = true;
    } else if (word == "--tries" && more) {
      given.tries = std::atoi(argv[++i]);
    } else if (word == "--seconds" && more) {
      given.seconds = std::atof(argv[++i]);
    } else if (const auto text = texts.find(word); text != texts.end() && more) {
      *text->second = argv[++i];
    } else {
      std::fprintf(stderr, "unknown argument %s\n", word.c_str());
      return std::nullopt;
    }
  }
  return given;
}

// A program and the baseline of its task, and how many times as fast it is.
struct subject {
  std::string name;
  std::shared_ptr<const kevo::task> task;
  kevo::program candidate;
  double truth = 1;
};

// What a round takes on this machine, so that a kernel is as long as its name says. [ns]
double round_ns() {
  constexpr long count = 60000;
  kevo::cpu_fitness fitness(task_of(count));
  kevo::evaluation_request request;
  auto program = rounds(count);
  program.files.front().text += "// candidate\n";
  request.program = std::make_shared<const kevo::program>(program);
  request.wanted = kevo::evaluation_stage::timed_short;
  request.fresh = true;
  double least_ns = 1e18;
  for (int i = 0; i < 3; ++i) {
    const auto e = fitness.evaluate(request);
    for (const auto& w : e.workloads) {
      for (const auto& pair : w.samples) least_ns = std::min({least_ns, pair.candidate_ns, pair.baseline_ns});
    }
  }
  return least_ns / static_cast<double>(count);
}

std::optional<subject> kernel_subject(const std::string& kernel, double of_round_ns, bool faster) {
  const std::map<std::string, double> known = {{"2us", 2e3}, {"100us", 100e3}, {"5ms", 5e6}, {"60ms", 60e6}};
  const auto found = known.find(kernel);
  if (found == known.end()) {
    std::fprintf(stderr, "unknown kernel %s\n", kernel.c_str());
    return std::nullopt;
  }
  const double count = std::max(30.0, std::round(found->second / of_round_ns));
  // Four further rounds are the first loop and the delivery.
  if (faster) {
    const double fewer = std::round(count / 1.05);
    return subject{kernel, task_of(static_cast<long>(count)), rounds(static_cast<long>(fewer)),
                   (count + 4) / (fewer + 4)};
  }
  return subject{kernel, task_of(static_cast<long>(count)), rounds(static_cast<long>(count))};
}

subject task_subject(const std::string& file) {
  auto loaded = std::make_shared<const kevo::task>(kevo::load_task(file));
  return {loaded->name, loaded, loaded->baselines.front().source};
}

// Tries of one subject beside so many busy processes.
found measure(kevo::cpu_fitness& fitness, const subject& what, const options& given, const std::string& load,
              std::ofstream& csv) {
  kevo::evaluation_request request;
  auto program = what.candidate;
  program.files.front().text += "// candidate\n";  // other text than the baseline's, the same machine code
  request.program = std::make_shared<const kevo::program>(program);
  request.wanted = kevo::evaluation_stage::timed_full;
  request.fresh = true;
  found all;
  const auto start = std::chrono::steady_clock::now();
  const auto passed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (int i = 0; i < given.tries && passed_s() < given.seconds; ++i) {
    try {
      const auto e = fitness.evaluate(request);
      if (!e.valid())
        throw kevo::error(kevo::error_code::internal, "the program is not valid: " + e.feedback);
      ++all.tries;
      all.excludes += e.speedup_interval.low > what.truth || e.speedup_interval.high < what.truth;
      all.right += e.speedup_interval.low > 1;
      all.half.push_back(0.5 * std::log(e.speedup_interval.high / e.speedup_interval.low));
      all.off.push_back(std::abs(std::log(e.speedup / what.truth)));
      all.seconds.push_back(e.cost.device_s);
      all.pairs.push_back(static_cast<double>(e.workloads.front().samples.size()));
      all.call_ns.push_back(e.workloads.front().time_ns);
      for (const auto& w : e.workloads) {
        int pair = 0;
        for (const auto& p : w.samples)
          csv << fmt::format("{},{},{},{},{},{:.1f},{:.1f},{:.5f},{:.5f},{:.5f}\n", what.name, w.uuid, load,
                             i, pair++, p.candidate_ns, p.baseline_ns, e.speedup, e.speedup_interval.low,
                             e.speedup_interval.high);
      }
      csv.flush();
    } catch (const kevo::error& problem) {
      if (problem.code() != kevo::error_code::environment) throw;
      ++all.refused;
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto given = options_of(argc, argv);
  if (!given) return 2;
  std::vector<subject> subjects;
  if (!given->task.empty()) {
    subjects.push_back(task_subject(given->task));
  } else {
    const double of_round_ns = round_ns();
    for (const auto& kernel : words(given->kernels)) {
      auto one = kernel_subject(kernel, of_round_ns, given->faster);
      if (!one) return 2;
      subjects.push_back(*std::move(one));
    }
  }
  std::ofstream csv(given->samples.empty() ? "/dev/null" : given->samples);
  csv << "kernel,workload,load,try,pair,candidate_ns,baseline_ns,speedup,low,high\n";
  for (const auto& what : subjects) {
    kevo::cpu_fitness fitness(what.task);
    for (const auto& load : words(given->loads)) {
      const neighbours busy(std::atoi(load.c_str()));
      tell(given->faster ? "faster" : "same", what.name, std::atoi(load.c_str()),
           measure(fitness, what, *given, load, csv));
    }
  }
  return 0;
}
