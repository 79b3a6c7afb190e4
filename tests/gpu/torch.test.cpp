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

TEST_CASE("the reference is as fast as itself") {
  if (!all_is_there()) return;
  const char* given = std::getenv("KEVO_TORCH_TRIES");
  const int tries = given == nullptr ? 4 : std::atoi(given);
  int different = 0;
  int compared = 0;
  for (const std::string task : {"layer", "softmax"}) {
    auto fitness = fitness_for(task);
    const auto text = shell::read_file(corpus / (task + ".py"));
    double farthest = 1;
    double width = 0;
    double seconds = 0;
    double pairs = 0;
    std::vector<double> speedups;
    for (int i = 0; i < tries / 2; ++i) {
      const auto got = judge(fitness, text, kevo::evaluation_stage::timed_full);
      REQUIRE_MESSAGE(got.valid(), got.feedback);
      speedups.push_back(got.speedup);
      pairs += static_cast<double>(got.workloads.front().samples.size()) / (tries / 2);
      if (i == 0) {
        std::printf(
            "%s: %.1f us, eager %.1f us; a call resolves %s ns in intervals of %s calls and %s ms; held %s "
            "s, "
            "of which %s for workers\n",
            task.c_str(), 1e-3 * got.workloads.front().time_ns, 1e-3 * got.workloads.front().baseline_ns,
            got.context.at("hosted_resolution_ns").c_str(), got.context.at("hosted_interval_calls").c_str(),
            got.context.at("hosted_interval_ms").c_str(), got.context.at("held_s").c_str(),
            got.context.at("held_share_workers").c_str());
        for (const auto& pair : got.workloads.front().samples)
          std::printf("  %.1f/%.1f", 1e-3 * pair.candidate_ns, 1e-3 * pair.baseline_ns);
        std::printf("\n");
      }
      const auto& interval = got.speedup_interval;
      different += interval.low > 1.01 || interval.high < 0.99 ? 1 : 0;
      ++compared;
      width += (interval.high - interval.low) / (tries / 2);
      seconds += got.cost.wall_s / (tries / 2);
      if (std::abs(got.speedup - 1) > std::abs(farthest - 1)) farthest = got.speedup;
    }
    std::printf(
        "%s against itself: speedup %.4f (median), %.4f (farthest); an interval spans %.4f; %.1f pairs, %.2f "
        "s\n",
        task.c_str(), kevo::median(speedups), farthest, width, pairs, seconds);
    std::fflush(stdout);
  }
  std::printf("called different: %d of %d\n", different, compared);
  CHECK(different <= 1 + compared / 100);
}
