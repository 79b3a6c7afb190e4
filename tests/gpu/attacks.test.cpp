// labels: gpu
// serial
// timeout: 1800
// On a real device: every exploit in tests/gpu/attacks, tests/gpu/triton/attacks and tests/gpu/hosted/attacks
// gets one of the verdicts
// that its file names, and where it is valid it earns no more than 5 % over the honest twin that it names;
// every odd but honest program in the folders called honest is accepted, and is as fast as its plain form.
// Both are timed side by side, and all figures are printed (tests/support/gpu_program.hpp says what the files
// say). Skips, and says so, where there is no device; hosted programs where there is no nvcc.
//
// KEVO_ATTACK_REPEATS=20 judges each pair so often, and holds the medians to 5 % for exploits and 2 % for
// honest programs; KEVO_ATTACK_ONLY=late,twin judges only the programs whose names contain one of
// these words; KEVO_ATTACK_PAYING=1 only exploits that may be valid, with their twins. Programs are judged by
// several threads, so that some are compiled while one is on the device, as in a run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "fitness/cuda/hosted/hosted_compiler.hpp"
#include "fitness/cuda/measure/cuda_fitness.hpp"
#include "fitness/cuda/measure/gpu_probe.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/gpu_program.hpp"
#include "tests/support/in_parallel.hpp"
#include "tests/support/skip.hpp"

namespace fs = std::filesystem;

namespace {

constexpr double most_gain = 0.05;  // of an exploit over its twin
// Of an honest program and its plain form: one short timing of each tells no more than the first.
constexpr double gap_of_one = 0.05;
constexpr double gap_of_many = 0.02;
constexpr int many = 5;

bool device_is_there() {
  for (const auto& part : kevo::cuda::probe_gpu()) {
    if (part.there || !part.needed) continue;
    kevo_test::skip(part.name + ": " + part.detail);
    return false;
  }
  return true;
}

int repeats() {
  const char* wanted = std::getenv("KEVO_ATTACK_REPEATS");
  return wanted == nullptr ? 1 : std::max(1, std::atoi(wanted));
}

// Whether a program is to be judged.
bool wanted(const std::string& name, bool honest, const gpu_program& program) {
  if (std::getenv("KEVO_ATTACK_PAYING") != nullptr && (honest || !program.accepts("valid"))) return false;
  const char* given = std::getenv("KEVO_ATTACK_ONLY");
  std::stringstream words(given == nullptr ? "" : given);
  bool any = false;
  for (std::string word; std::getline(words, word, ',');) {
    if (name.find(word) != std::string::npos) return true;
    any = true;
  }
  return !any;
}

kevo::evaluation judge(kevo::cuda_fitness& fitness, const std::string& language, const std::string& text) {
  return fitness.evaluate({.program = std::make_shared<const kevo::program>(kevo::program_of(language, text)),
                           .wanted = kevo::evaluation_stage::timed_short,
                           .fresh = true});
}

struct judged {
  kevo::evaluation last;
  bool accepted = true;       // every outcome is among those that the file names
  std::vector<double> gains;  // over the twin, of the times that it was valid: 1 is none
  int too_short = 0;          // times that one of the two was too short for the clock
  std::string twin_failed;    // what a twin that is not valid says
};

judged judge_often(kevo::cuda_fitness& fitness, const gpu_program& program, int times) {
  judged all;
  const std::string twin = program.twin.empty() ? "" : shell::read_file(program.twin);
  for (int i = 0; i < times; ++i) {
    // In turn, so that a device that becomes warm favours neither.
    kevo::evaluation beside;
    if (!twin.empty() && i % 2 == 1) beside = judge(fitness, program.language, twin);
    all.last = judge(fitness, program.language, program.text);
    all.accepted = all.accepted && program.accepts(std::string(to_string(all.last.outcome)));
    if (!all.accepted) return all;
    if (twin.empty() || !all.last.valid()) continue;
    if (i % 2 == 0) beside = judge(fitness, program.language, twin);
    if (!beside.valid()) {
      all.twin_failed = beside.feedback;
      return all;
    }
    // Below the resolution of the clock neither figure says anything, and kevo says so.
    if (all.last.context.contains("too_short") || beside.context.contains("too_short")) {
      ++all.too_short;
      continue;
    }
    all.gains.push_back(all.last.speedup / beside.speedup);
  }
  return all;
}

bool within(const gpu_program& program, bool honest, const judged& what) {
  if (!what.twin_failed.empty() || !what.accepted) return false;
  if (program.most_speedup > 0 && what.last.speedup > program.most_speedup) return false;
  if (what.gains.empty()) return true;
  const double gain = kevo::median(what.gains);
  if (!honest) return gain <= 1 + most_gain;
  const double usual = static_cast<int>(what.gains.size()) >= many ? gap_of_many : gap_of_one;
  const double faster = program.at_most_faster > 0 ? program.at_most_faster : usual;
  const double slower = program.at_most_slower > 0 ? program.at_most_slower : usual;
  return gain <= 1 + faster && gain >= 1 / (1 + slower);
}

// One comparison of kernels of microseconds may lie 10 % off. What is outside its bound then is compared
// anew, so often that the median decides; the first comparison does not count.
judged judge_until_decided(kevo::cuda_fitness& fitness, const gpu_program& program, bool honest) {
  auto first = judge_often(fitness, program, repeats());
  const bool undecided = !first.gains.empty() && static_cast<int>(first.gains.size()) < many;
  if (!undecided || within(program, honest, first)) return first;
  return judge_often(fitness, program, many);
}

// @param programs a folder with the folders attacks and honest
// @param threads how many programs are judged beside each other; the clock of hosted programs is less sure
// on a busy machine
void judge_all(const fs::path& programs, std::size_t threads) {
  // One task after the other, for each holds contents on the device.
  std::map<std::string, std::vector<std::pair<bool, gpu_program>>> by_task;
  for (const bool honest : {false, true}) {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(programs / (honest ? "honest" : "attacks"))) {
      files.push_back(file.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      auto program = gpu_program::read(programs, file);
      if (!wanted(file.stem().string(), honest, program)) continue;
      by_task[program.task].emplace_back(honest, std::move(program));
    }
  }
  int right[2] = {};
  int total[2] = {};
  for (const auto& [task, all] : by_task) {
    kevo::cuda_settings settings;
    settings.timing.short_s = 0.3;
    kevo::cuda_fitness fitness(std::make_shared<const kevo::task>(kevo::load_task(task)), settings);
    std::mutex telling;
    kevo_test::in_parallel(all.size(), threads, [&](std::size_t i) {
      const bool honest = all[i].first;
      const gpu_program& program = all[i].second;
      const auto what = judge_until_decided(fitness, program, honest);
      const std::lock_guard lock(telling);
      const bool fine = within(program, honest, what);
      const std::string outcome(to_string(what.last.outcome));
      const double gain = what.gains.empty() ? 0 : kevo::median(what.gains);
      CHECK_MESSAGE(fine, program.file.string(), ": ", outcome, ", ", what.last.speedup, " times, ", gain,
                    " times its twin: ", what.last.feedback, what.twin_failed);
      std::string told = what.last.feedback.substr(0, what.last.feedback.find('\n'));
      if (!what.gains.empty()) {
        const auto [least, most] = std::minmax_element(what.gains.begin(), what.gains.end());
        char gains[96];
        std::snprintf(gains, sizeof gains, "%.3f of its twin [%.3f, %.3f] %zu, ", gain, *least, *most,
                      what.gains.size());
        told = gains + told;
      }
      std::printf("%-6s %-32s %-13s %6.3f  %s\n", honest ? "honest" : "attack", program.file.stem().c_str(),
                  outcome.c_str(), what.last.speedup, told.c_str());
      std::fflush(stdout);
      right[honest] += fine ? 1 : 0;
      ++total[honest];
    });
  }
  std::printf("exploits judged rightly: %d of %d; honest programs accepted: %d of %d\n", right[0], total[0],
              right[1], total[1]);
}

}  // namespace

TEST_CASE("exploits on the device are caught, odd but honest programs are accepted") {
  if (device_is_there()) judge_all(KEVO_SOURCE_DIR "/tests/gpu", 6);
}

TEST_CASE("exploits in Triton are caught, odd but honest programs are accepted") {
  if (!device_is_there()) return;
  for (const auto& part : kevo::cuda::probe_gpu()) {
    if (part.name != "Triton" || part.there) continue;
    kevo_test::skip(part.name + ": " + part.detail);
    return;
  }
  judge_all(KEVO_SOURCE_DIR "/tests/gpu/triton", 6);
}

TEST_CASE("exploits of hosted launch are caught, odd but honest programs are accepted") {
  if (!device_is_there()) return;
  if (kevo::cuda::find_hosted_nvcc().empty()) {
    kevo_test::skip("there is no nvcc on this machine");
    return;
  }
  judge_all(KEVO_SOURCE_DIR "/tests/gpu/hosted", 2);
}
