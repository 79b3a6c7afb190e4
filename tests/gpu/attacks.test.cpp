// labels: gpu
// serial
// timeout: 900
// On a real device: every exploit in tests/gpu/attacks and tests/gpu/hosted/attacks gets the verdict that its
// file names, every odd but honest program in the folders called honest is accepted, and both rates are
// printed. Skips, and says so, where there is no device; hosted programs where there is no nvcc.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cuda/hosted/hosted_compiler.hpp"
#include "fitness/cuda/measure/cuda_fitness.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace fs = std::filesystem;

namespace {

std::string value_of(const std::string& text, const std::string& key) {
  const std::string start = "// " + key + ": ";
  const auto at = text.find(start);
  return at == std::string::npos ? ""
                                 : text.substr(at + start.size(), text.find('\n', at) - at - start.size());
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream all;
  all << stream.rdbuf();
  return all.str();
}

bool device_is_there() {
  for (const auto& part : kevo::cuda::probe_gpu()) {
    if (part.there || !part.needed) continue;
    std::printf("skipped: %s: %s\n", part.name.c_str(), part.detail.c_str());
    return false;
  }
  return true;
}

// @param programs a folder with the folders attacks and honest
void judge_all(const fs::path& programs) {
  const fs::path folder = KEVO_SOURCE_DIR "/tests/gpu";
  kevo::cuda_settings settings;
  settings.timing.short_s = 0.3;
  kevo::cuda_fitness fitness(
      std::make_shared<const kevo::task>(kevo::load_task((folder / "row_sum.yaml").string())), settings);
  int right[2] = {};
  int total[2] = {};
  for (const bool honest : {false, true}) {
    for (const auto& file : fs::directory_iterator(programs / (honest ? "honest" : "attacks"))) {
      const std::string text = text_of(file.path());
      const std::string verdict = "|" + value_of(text, "verdict") + "|";
      const std::string most = value_of(text, "most_speedup");
      const auto result =
          fitness.evaluate({.program = std::make_shared<const kevo::program>(kevo::program_of("cuda", text)),
                            .wanted = kevo::evaluation_stage::timed_short,
                            .fresh = true});
      const std::string outcome(to_string(result.outcome));
      const bool slow_enough = most.empty() || result.speedup <= std::stod(most);
      const bool fine = verdict.find("|" + outcome + "|") != std::string::npos && slow_enough;
      CHECK_MESSAGE(fine, file.path().string(), ": ", outcome, ", ", result.speedup,
                    " times: ", result.feedback);
      std::printf("%-34s %-13s %6.3f  %s\n", file.path().stem().c_str(), outcome.c_str(), result.speedup,
                  result.feedback.substr(0, result.feedback.find('\n')).c_str());
      right[honest] += fine ? 1 : 0;
      ++total[honest];
    }
  }
  std::printf("exploits judged rightly: %d of %d; honest programs accepted: %d of %d\n", right[0], total[0],
              right[1], total[1]);
}

}  // namespace

TEST_CASE("exploits on the device are caught, odd but honest programs are accepted") {
  if (device_is_there()) judge_all(KEVO_SOURCE_DIR "/tests/gpu");
}

TEST_CASE("exploits of hosted launch are caught, odd but honest programs are accepted") {
  if (!device_is_there()) return;
  if (kevo::cuda::find_hosted_nvcc().empty()) {
    std::puts("skipped: there is no nvcc on this machine");
    return;
  }
  judge_all(KEVO_SOURCE_DIR "/tests/gpu/hosted");
}
