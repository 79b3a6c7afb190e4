// labels: gpu
// serial
// timeout: 1800
// On a real device: programs of PyTorch. Every program in tests/gpu/torch/attacks gets one of the verdicts
// that its file names, every one in tests/gpu/torch/honest is accepted; their first lines are those of
// tests/torch. The reference compared with itself is not called different. Skips, and says so, where there is
// no device or no PyTorch. KEVO_EXHIBITS=part,of,names judges those alone; KEVO_TORCH_TRIES=100 is how often
// the reference is compared with itself.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
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
  settings.timing.short_s = 2;
  settings.timing.full_s = 8;
  settings.timing.target_interval = target_interval;
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
    for (const auto& [honest, program] : programs) {
      const auto got = judge(fitness, program.text);
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

TEST_CASE("a confirmation also compares with what torch.compile makes of the reference") {
  if (!all_is_there()) return;
  auto fitness = fitness_for("layer");
  const auto got =
      judge(fitness, shell::read_file(corpus / "honest/plain_module.py"), kevo::evaluation_stage::confirmed);
  REQUIRE_MESSAGE(got.valid(), got.feedback);
  const auto found = got.other_speedups.find("compiled");
  const auto left_out = got.context.find("baselines_left_out");
  std::printf("over eager %.3f [%.3f, %.3f], over torch.compile %.3f%s\n", got.speedup,
              got.speedup_interval.low, got.speedup_interval.high,
              found == got.other_speedups.end() ? 0 : found->second,
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
