// labels: gpu
// serial
// timeout: 1800
// On a real device: programs of PyTorch. Every program in tests/gpu/torch/attacks gets one of the verdicts that
// its file names, every one in tests/gpu/torch/honest is accepted; their first lines are those of
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

kevo::torch_fitness fitness_for(const std::string& task, double target_interval = 0.02) {
  kevo::torch_settings settings;
  settings.device = "cuda";
  settings.timing.short_s = 1;
  settings.timing.target_interval = target_interval;
  settings.limits.call_s = 5;
  return {std::make_shared<const kevo::task>(kevo::load_task((corpus / (task + ".yaml")).string())), settings};
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
          program.accepts(outcome) && (program.most_speedup == 0 || got.speedup <= program.most_speedup);
      CHECK_MESSAGE(fine, program.file.string(), ": ", outcome, ", ", got.speedup,
                    " times: ", got.feedback);
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
    for (int i = 0; i < tries / 2; ++i) {
      const auto got = judge(fitness, text, kevo::evaluation_stage::timed_full);
      REQUIRE_MESSAGE(got.valid(), got.feedback);
      const auto& interval = got.speedup_interval;
      different += interval.low > 1.01 || interval.high < 0.99 ? 1 : 0;
      ++compared;
      width += (interval.high - interval.low) / (tries / 2);
      seconds += got.cost.wall_s / (tries / 2);
      if (std::abs(got.speedup - 1) > std::abs(farthest - 1)) farthest = got.speedup;
    }
    std::printf("%s against itself: the farthest speedup is %.4f, an interval spans %.4f, %.2f s each\n",
                task.c_str(), farthest, width, seconds);
    std::fflush(stdout);
  }
  std::printf("called different: %d of %d\n", different, compared);
  CHECK(different <= 1 + compared / 100);
}
