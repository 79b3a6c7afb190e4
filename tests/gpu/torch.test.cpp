// labels: gpu
// serial
// timeout: 1800
// On a real device: programs of PyTorch. Every program in tests/gpu/torch/attacks gets one of the verdicts
// that its file names, every one in tests/gpu/torch/honest is accepted; their first lines are those of
// tests/torch. The reference compared with itself is not called different. Skips, and says so, where there is
// no device or no PyTorch. KEVO_EXHIBITS=part,of,names judges those alone; KEVO_TORCH_TRIES=100 is how often
// the reference is compared with itself, KEVO_ISOLATION=200 how many programs of which every tenth fails are
// judged one after the other, KEVO_ISOLATION_SECONDS for how long at most, KEVO_ISOLATION_CALL the seconds of
// a call.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/fitness/torch.hpp>

#include "fitness/cuda/measure/gpu_probe.hpp"
#include "fitness/torch/python_server.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/gpu_program.hpp"
#include "tests/support/skip.hpp"
#include "tests/torch/corpus.hpp"
#include "tests/torch/experts.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path corpus = KEVO_SOURCE_DIR "/tests/gpu/torch";

bool all_is_there() {
  for (const auto& part : kevo::cuda::probe_gpu()) {
    if (part.there || !part.needed) continue;
    kevo_test::skip(part.name + ": " + part.detail);
    return false;
  }
  try {
    static_cast<void>(kevo::torch::find_torch({}, true));
    return true;
  } catch (const kevo::error& missing) {
    kevo_test::skip(missing.message());
    return false;
  }
}

kevo::torch_fitness fitness_for(const std::string& task, double target_interval = 0.04) {
  kevo::torch_settings settings;
  settings.device = "cuda";
  settings.cuda_timing.short_s = 2;
  settings.cuda_timing.full_s = 8;
  settings.cuda_timing.target_interval = target_interval;
  settings.limits.call_s = 5;
  settings.limits.first_call_s = 12;
  return {std::make_shared<const kevo::task>(kevo::load_task((corpus / (task + ".yaml")).string())),
          settings};
}

kevo::evaluation judge(kevo::torch_fitness& fitness, const std::string& text,
                       kevo::evaluation_stage wanted = kevo::evaluation_stage::timed_short) {
  return fitness.evaluate({.program = std::make_shared<const kevo::program>(kevo::program_of("python", text)),
                           .wanted = wanted,
                           .fresh = true});
}

bool chosen(const fs::path& file) {
  const char* wanted = std::getenv("KEVO_EXHIBITS");
  if (wanted == nullptr) return true;
  std::string words = wanted;
  for (std::size_t at = 0; at <= words.size();) {
    const auto end = std::min(words.find(',', at), words.size());
    if (end > at && file.stem().string().find(words.substr(at, end - at)) != std::string::npos) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

TEST_CASE("programs of PyTorch that cheat on a GPU are caught, odd but honest ones are accepted") {
  if (!all_is_there()) return;
  std::map<std::string, std::vector<std::pair<bool, gpu_program>>> by_task;
  for (const bool honest : {true, false}) {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(corpus / (honest ? "honest" : "attacks")))
      files.push_back(file.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      if (!chosen(file)) continue;
      auto program = gpu_program::read(corpus, file);
      by_task[gpu_program::value_of(program.text, "task")].emplace_back(honest, std::move(program));
    }
  }
  int right[2] = {};
  int total[2] = {};
  for (const auto& [task, programs] : by_task) {
    auto fitness = fitness_for(task);
    for (const auto& [is_honest, read] : programs) {
      const bool honest = is_honest;
      const gpu_program& program = read;
      // What is gained in other moments than those of a call shows in several processes alone.
      const auto got = judge(fitness, program.text,
                             task == "workspace" && !honest ? kevo::evaluation_stage::confirmed
                                                            : kevo::evaluation_stage::timed_short);
      const std::string outcome(to_string(got.outcome));
      const bool fine =
          program.accepts(outcome) &&
          (program.most_speedup == 0 || got.speedup <= program.most_speedup || got.speedup_interval.low <= 1);
      CHECK_MESSAGE(fine, program.file.string(), ": ", outcome, ", ", got.speedup, " times: ", got.feedback);
      std::printf("%-6s %-28s %-13s %6.3f %5.2f s  %s\n", honest ? "honest" : "attack",
                  program.file.stem().c_str(), outcome.c_str(), got.speedup, got.cost.wall_s,
                  got.feedback.substr(0, got.feedback.find('\n')).c_str());
      std::fflush(stdout);
      right[honest] += fine ? 1 : 0;
      ++total[honest];
    }
  }
  std::printf("PyTorch on a GPU: exploits judged rightly: %d of %d; honest programs accepted: %d of %d\n",
              right[0], total[0], right[1], total[1]);
}

TEST_CASE(
    "programs are judged on a GPU on inputs that a function of the reference makes anew for each call") {
  if (!all_is_there()) return;
  const shell::scratch folder;
  shell::write_file(folder / "task.yaml", experts::task_text(4096));
  shell::write_file(folder / "reference.py", experts::reference);
  kevo::torch_settings settings;
  settings.device = "cuda";
  kevo::torch_fitness fitness(
      std::make_shared<const kevo::task>(kevo::load_task((folder / "task.yaml").string())), settings);
  int right = 0;
  for (const auto& one : experts::bodies()) {
    const auto got = judge(fitness, experts::program_of(one));
    const std::string outcome(to_string(got.outcome));
    const bool fine = outcome == (one.right ? "valid" : "incorrect");
    CHECK_MESSAGE(fine, one.name, ": ", outcome, ", ", got.speedup, " times: ", got.feedback);
    std::printf("%-70s %-10s %6.3f %5.2f s\n", one.name, outcome.c_str(), got.speedup, got.cost.wall_s);
    std::fflush(stdout);
    right += fine ? 1 : 0;
  }
  std::printf("programs on inputs that the reference makes: judged rightly: %d of %zu\n", right,
              experts::bodies().size());
}

// Each exploit for the CPU is refused on a GPU as well, if by other means; or it is valid on both and gains
// nothing. A line "# gpu: no, ..." says why a program means nothing there, and "# gpu: valid, ..." why an
// exploit harms nothing there.
TEST_CASE("the programs of tests/torch get their verdicts on a GPU as well") {
  if (!all_is_there()) return;
  std::map<std::string, std::vector<std::pair<bool, torch_corpus::exhibit>>> by_task;
  for (const bool honest : {true, false}) {
    for (auto& one : torch_corpus::exhibits_in(honest ? "honest" : "attacks")) {
      if (!gpu_program::value_of(one.text, "gpu").starts_with("no"))
        by_task[one.task].emplace_back(honest, std::move(one));
    }
  }
  int right[2] = {};
  int total[2] = {};
  for (const auto& [task, programs] : by_task) {
    kevo::torch_settings settings;
    settings.device = "cuda";
    settings.cuda_timing.short_s = 0.7;
    settings.limits.call_s = 1;
    settings.limits.first_call_s = 5;
    auto larger = kevo::load_task(KEVO_SOURCE_DIR "/tests/torch/tasks/" + task + ".yaml");
    for (auto& w : larger.workloads) {
      for (auto& [axis, value] : w.axes) value *= w.hidden ? 1 : 8;  // enough work for a GPU to be timed
    }
    kevo::torch_fitness fitness(std::make_shared<const kevo::task>(std::move(larger)), settings);
    for (const auto& [honest, program] : programs) {
      const auto got = judge(fitness, program.text);
      const auto& verdicts = program.verdicts;
      const bool may_be_valid =
          std::find(verdicts.begin(), verdicts.end(), kevo::outcome::valid) != verdicts.end() ||
          gpu_program::value_of(program.text, "gpu").starts_with("valid");
      const bool fine = got.valid() ? may_be_valid && (honest || got.speedup_interval.low < 1.3) : !honest;
      CHECK_MESSAGE(fine, program.name, " is ", torch_corpus::said(got), ", ", got.speedup, " times");
      std::printf("%-6s %-38s %-13s %6.3f [%.3f, %.3f] %5.2f s  %s\n", honest ? "honest" : "attack",
                  program.name.c_str(), std::string(to_string(got.outcome)).c_str(), got.speedup,
                  got.speedup_interval.low, got.speedup_interval.high, got.cost.wall_s,
                  got.feedback.substr(0, got.feedback.find('\n')).c_str());
      std::fflush(stdout);
      right[honest] += fine ? 1 : 0;
      ++total[honest];
    }
  }
  std::printf("tests/torch on a GPU: exploits judged rightly: %d of %d; honest programs accepted: %d of %d\n",
              right[0], total[0], right[1], total[1]);
}

TEST_CASE("a confirmation also compares with what torch.compile makes of the reference") {
  if (!all_is_there()) return;
  auto fitness = fitness_for("layer");
  const auto got =
      judge(fitness, shell::read_file(corpus / "honest/plain_module.py"), kevo::evaluation_stage::confirmed);
  REQUIRE_MESSAGE(got.valid(), got.feedback);
  const auto found = got.other_speedups.find("compiled");
  const auto left_out = got.context.find("baselines_left_out");
  const auto range =
      found == got.other_speedups.end() ? kevo::interval() : got.other_speedup_intervals.at("compiled");
  std::printf("over eager %.3f [%.3f, %.3f], over torch.compile %.3f [%.3f, %.3f]%s\n", got.speedup,
              got.speedup_interval.low, got.speedup_interval.high,
              found == got.other_speedups.end() ? 0 : found->second, range.low, range.high,
              left_out == got.context.end() ? "" : (", left out: " + left_out->second).c_str());
  CHECK(got.stage == kevo::evaluation_stage::confirmed);
  CHECK((found == got.other_speedups.end() || (found->second > 0.3 && found->second < 3)));
}

namespace {

// What became of comparisons of a reference with itself.
struct self_comparisons {
  std::vector<double> speedups;
  std::vector<double> widths;
  double seconds = 0;
  int different = 0;
  int failed = 0;

  void add(const kevo::evaluation& e) {
    seconds += e.cost.wall_s;
    if (!e.valid()) {
      ++failed;
      return;
    }
    const auto& interval = e.speedup_interval;
    speedups.push_back(e.speedup);
    widths.push_back(interval.high - interval.low);
    different += interval.low > 1.01 || interval.high < 0.99 ? 1 : 0;
  }

  void tell(const std::string& name) const {
    if (speedups.empty()) return;
    const auto farthest = *std::max_element(speedups.begin(), speedups.end(), [](double a, double b) {
      return std::abs(a - 1) < std::abs(b - 1);
    });
    std::printf(
        "%s against itself, %zu times: speedup %.4f (median), %.4f (farthest); an interval spans %.4f "
        "(median); called different %d, not valid %d; %.2f s each\n",
        name.c_str(), speedups.size(), kevo::median(speedups), farthest, kevo::median(widths), different,
        failed, seconds / static_cast<double>(speedups.size() + static_cast<std::size_t>(failed)));
    std::fflush(stdout);
  }
};

void print_readings(const std::string& task, const kevo::evaluation& e) {
  const auto& first = e.workloads.front();
  std::printf(
      "%s: %.1f us, eager %.1f us; a call resolves %s ns in intervals of %s calls and %s ms; held %s s, of "
      "which %s for workers\n",
      task.c_str(), 1e-3 * first.time_ns, 1e-3 * first.baseline_ns,
      e.context.at("hosted_resolution_ns").c_str(), e.context.at("hosted_interval_calls").c_str(),
      e.context.at("hosted_interval_ms").c_str(), e.context.at("held_s").c_str(),
      e.context.at("held_share_workers").c_str());
  for (const auto& pair : first.samples)
    std::printf("  %.1f/%.1f", 1e-3 * pair.candidate_ns, 1e-3 * pair.baseline_ns);
  std::printf("\n");
}

// One for the checks, one for each block of pairs, and one for the share of its kernels and the hidden sizes;
// the first evaluation may also start one of the baseline. A block has four pairs; of calls as large as those
// of softmax there are only contents for two.
void check_processes(const std::string& task, const kevo::evaluation& e, bool first) {
  if (!e.valid() || e.context.contains("discarded_pairs")) return;
  const std::size_t each = task == "softmax" ? 2 : 4;
  const auto blocks = (e.workloads.front().samples.size() + each - 1) / each;
  CHECK(std::stoul(e.context.at("held_processes")) <= 2 + blocks + (first ? 1 : 0));
}

}  // namespace

// Most comparisons are first looks, which a search makes of every candidate; every tenth is timed fully.
TEST_CASE("the reference is as fast as itself") {
  if (!all_is_there()) return;
  const char* given = std::getenv("KEVO_TORCH_TRIES");
  const std::string tasks[] = {"layer", "softmax", "chain", "convolution"};
  const int tries =
      std::max(1, (given == nullptr ? 8 : std::atoi(given)) / static_cast<int>(std::size(tasks)));
  int different = 0;
  int compared = 0;
  for (const auto& task : tasks) {
    auto fitness = fitness_for(task);
    const auto text = shell::read_file(corpus / (task + ".py"));
    self_comparisons looks;
    self_comparisons whole;
    for (int i = 0; i < tries; ++i) {
      const bool fully = i % 10 == 9;
      const auto got = judge(
          fitness, text, fully ? kevo::evaluation_stage::timed_full : kevo::evaluation_stage::timed_short);
      CHECK_MESSAGE(got.valid(), got.feedback);
      (fully ? whole : looks).add(got);
      check_processes(task, got, i == 0);
      if (got.valid() && i == 0) print_readings(task, got);
    }
    looks.tell(task + ", first looks");
    whole.tell(task + ", timed fully");
    different += looks.different + whole.different;
    compared += tries;
  }
  std::printf("called different: %d of %d\n", different, compared);
  CHECK(different <= 1 + compared / 100);
}

TEST_CASE("a program has one queue to the device unless its text names streams") {
  if (!all_is_there()) return;
  auto fitness = fitness_for("softmax");
  const auto text = [](const std::string& name, const std::string& queues) {
    return "# " + name + "\nimport os\nimport torch\n\n\ndef run(x):\n    assert os.environ.get(" +
           "'CUDA_DEVICE_MAX_CONNECTIONS') == " + queues + "\n    return torch.softmax(x, dim=1)\n";
  };
  for (const auto& program : {text("plain", "'1'"), text("several streams", "None")}) {
    const auto got = judge(fitness, program, kevo::evaluation_stage::checked);
    CHECK_MESSAGE(got.valid(), program, got.feedback);
  }
}

// Another program takes the device's memory after the first evaluation.
TEST_CASE("where nobody has room on a GPU, the machine is to blame and not the program") {
  if (!all_is_there()) return;
  kevo::torch_settings settings;
  settings.device = "cuda";
  settings.foreign = kevo::foreign_processes::note;
  kevo::torch_fitness fitness(
      std::make_shared<const kevo::task>(kevo::load_task((corpus / "softmax.yaml").string())), settings);
  const auto text = shell::read_file(corpus / "honest/plain.py");
  const auto before = judge(fitness, text);
  REQUIRE_MESSAGE(before.valid(), before.feedback);
  const shell::scratch folder;
  const std::string script =
      "import sys, torch\n"
      "kept, size = [], 1 << 33\n"
      "while size >= 1 << 20:\n"
      "    try:\n"
      "        kept.append(torch.empty(size, dtype=torch.uint8, device='cuda'))\n"
      "    except torch.OutOfMemoryError:\n"
      "        size //= 2\n"
      "open(sys.argv[1], 'w').write('full')\n"
      "sys.stdin.read()\n";
  shell::write_file(folder / "fill.py", script);
  const std::string ready = (folder / "ready").string();
  const auto tools = kevo::torch::find_torch({}, true);
  const std::string command = "PYTHONPATH='" + tools.packages + "' '" + tools.python + "' '" +
                              (folder / "fill.py").string() + "' '" + ready + "' 2>&1";
  std::FILE* filling = ::popen(command.c_str(), "w");
  REQUIRE(filling != nullptr);
  for (int i = 0; i < 600 && !fs::exists(ready); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  REQUIRE(fs::exists(ready));
  // The processes of one try leave some memory to the next one, which may be enough.
  try {
    const auto got = judge(fitness, text);
    std::printf("on a full device: %s %s\n", std::string(to_string(got.outcome)).c_str(),
                got.feedback.c_str());
    CHECK_MESSAGE(got.valid(), got.feedback);
  } catch (const kevo::error& failure) {
    std::printf("on a full device: %s\n", failure.message().c_str());
    CHECK(failure.code() == kevo::error_code::environment);
    CHECK_MESSAGE((failure.message().find("no room") != std::string::npos ||
                   failure.message().find("OUT_OF_MEMORY") != std::string::npos),
                  failure.message());
  }
  ::pclose(filling);
  const auto after = judge(fitness, text);
  CHECK_MESSAGE(after.valid(), after.feedback);
}

// Extensions are compiled once for a text, whichever process asks for it.
TEST_CASE("a program with a kernel in CUDA is built in seconds, and not again") {
  if (!all_is_there()) return;
  auto fitness = fitness_for("softmax");
  const auto text = shell::read_file(corpus / "honest/inline_cuda.py");
  const auto plain = judge(fitness, shell::read_file(corpus / "honest/plain.py"));
  REQUIRE_MESSAGE(plain.valid(), plain.feedback);
  std::vector<double> fresh;
  std::vector<double> known;
  for (int i = 0; i < 5; ++i) {
    auto changed = text;
    changed.insert(changed.find("__global__"), "// number " + std::to_string(i) + "\n");
    for (auto* to : {&fresh, &known}) {
      const auto got = judge(fitness, changed, kevo::evaluation_stage::checked);
      CHECK_MESSAGE(got.valid(), got.feedback);
      to->push_back(got.cost.wall_s);
    }
  }
  std::printf(
      "a program with a kernel in CUDA, checked: new %.2f s, built before %.2f s (medians of 5); slowest "
      "%.2f "
      "and %.2f s\n",
      kevo::median(fresh), kevo::median(known), *std::max_element(fresh.begin(), fresh.end()),
      *std::max_element(known.begin(), known.end()));
  CHECK(kevo::median(known) < kevo::median(fresh));
}

TEST_CASE("an extension that does not compile never asks for the device") {
  if (!all_is_there()) return;
  auto fitness = fitness_for("softmax");
  auto text = shell::read_file(corpus / "honest/inline_cuda.py");
  const auto plain = judge(fitness, shell::read_file(corpus / "honest/plain.py"));
  REQUIRE_MESSAGE(plain.valid(), plain.feedback);
  CHECK(plain.cost.parts_s.at("calls of the candidate") > 0);
  text.insert(text.find("__global__"), "this is no C++;\n");
  const auto got = judge(fitness, text);
  CHECK(got.outcome == kevo::outcome::build_failed);
  CHECK_MESSAGE(got.feedback.find("does not compile") != std::string::npos, got.feedback);
  CHECK(got.cost.device_s == 0);
}

namespace {

struct kind_on_device {
  const char* name;
  std::string call;  // what happens before the sum
  std::set<kevo::outcome> right;
};

std::string text_on_device(const kind_on_device& kind, int number) {
  return "import ctypes, os, torch\n\ndef run(x):\n    " + kind.call +
         "\n    return torch.softmax(x, dim=1) + " + std::to_string(number) + " * 0\n";
}

}  // namespace

TEST_CASE("programs that fail in every way on a GPU disturb nobody else") {
  if (!all_is_there()) return;
  using kevo::outcome;
  const kind_on_device honest = {"honest", "pass", {outcome::valid}};
  const kind_on_device broken[] = {
      {"raises", "raise ValueError('no')", {outcome::crashed}},
      {"hangs", "while True: pass", {outcome::timed_out}},
      {"faults on the device", "x[torch.full((1,), 1 << 40, device='cuda')]", {outcome::crashed}},
      {"crashes", "ctypes.string_at(8)", {outcome::crashed}},
      {"takes all memory of the device", "kept = torch.empty(1 << 42, device='cuda')", {outcome::crashed}},
      {"never ends on the device", "torch.cuda._sleep(1 << 50)", {outcome::timed_out}},
      {"takes all memory of the host",
       "kept = [torch.ones(1 << 26) for _ in range(1000)]",
       {outcome::crashed, outcome::timed_out}},
      {"ends its process", "os._exit(0)", {outcome::crashed}},
      {"is wrong", "x = x + torch.arange(x.shape[1], device='cuda')", {outcome::incorrect}},
  };
  const char* given = std::getenv("KEVO_ISOLATION");
  const char* most = std::getenv("KEVO_ISOLATION_SECONDS");
  const int wanted = given == nullptr ? 20 : std::max(std::atoi(given), 10);
  kevo::torch_settings settings;
  settings.device = "cuda";
  const char* call = std::getenv("KEVO_ISOLATION_CALL");
  settings.limits.call_s = settings.limits.first_call_s = call == nullptr ? 3 : std::atof(call);
  kevo::torch_fitness fitness(
      std::make_shared<const kevo::task>(kevo::load_task((corpus / "softmax.yaml").string())), settings);
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  const auto seconds_since = [](clock::time_point then) {
    return std::chrono::duration<double>(clock::now() - then).count();
  };
  double spent[2] = {};
  int tried[2] = {};
  int right = 0;
  for (int i = 0; i < wanted && (most == nullptr || seconds_since(start) < std::atof(most)); ++i) {
    const bool breaks = i % 10 == 4 || (given == nullptr && i % 2 == 1);
    const auto& kind = breaks ? broken[static_cast<std::size_t>(tried[1]) % std::size(broken)] : honest;
    const auto began = clock::now();
    const auto e = judge(fitness, text_on_device(kind, i), kevo::evaluation_stage::checked);
    if (i > 0) spent[breaks] += seconds_since(began);  // the first one also starts the bench
    ++tried[breaks];
    const bool fine = kind.right.contains(e.outcome);
    CHECK_MESSAGE(fine, "number ", i, ", which ", std::string(kind.name), ", is ", to_string(e.outcome), ": ",
                  e.feedback);
    right += fine ? 1 : 0;
  }
  CHECK(right == tried[0] + tried[1]);
  std::printf(
      "%d of %d programs on a GPU judged rightly, %d of them fail; an honest one took %.3f s, one that fails "
      "%.3f "
      "s\n",
      right, tried[0] + tried[1], tried[1], spent[0] / std::max(tried[0] - 1, 1),
      spent[1] / std::max(tried[1], 1));
}
