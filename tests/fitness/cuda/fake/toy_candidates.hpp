#pragma once
// Candidates of the toy tasks, as the test double of the driver understands them.

#include <filesystem>
#include <memory>
#include <string>

#include <kevo/error.hpp>
#include <kevo/program.hpp>

#include "fitness/cuda/measure/cuda_fitness.hpp"
#include "fitness/process/process.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace toy {

inline const std::string folder = KEVO_SOURCE_DIR "/tests/fitness/cuda/fake/";

/// y = 2 x in so many nanoseconds, with what tests/support/fake_cuda/README.md lists in `faults`.
inline std::string scale_source(int ns, const std::string& faults = {}) {
  std::string text = "#define FAKE_NS " + std::to_string(ns) + "\n";
  std::string word;
  for (const char c : faults + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      text += "// fake: " + word + "\n";
      word.clear();
    }
  }
  return text +
         "// kevo: launch scale<<<ceildiv(N, 256), 256>>>(x, y, N)\n"
         "extern \"C\" __global__ void scale(const float* x, float* y, long long n) {}\n";
}

inline std::shared_ptr<const kevo::task> task_of(const std::string& name) {
  return std::make_shared<const kevo::task>(kevo::load_task(folder + name));
}

/// `best`, or `off` in a container that does not let its processes have a /proc of their own.
inline kevo::sandbox_mode sandbox_here() {
  kevo::launch_spec trial;
  trial.argv = {"/bin/true"};
  trial.mounts = kevo::runtime_mounts({"libc.so.6"});
  trial.mounts.push_back({"/bin/true", "/bin/true"});
  trial.sandbox = kevo::sandbox_mode::best;
  trial.own_proc = true;
  try {
    if (kevo::run(trial).ok()) return kevo::sandbox_mode::best;
  } catch (const kevo::error&) {  // it had ended before its limits were set
    return kevo::sandbox_mode::off;
  }
  return kevo::sandbox_mode::off;
}

inline kevo::cuda_settings quick_settings() {
  kevo::cuda_settings settings;
  settings.sandbox = sandbox_here();
  settings.limits.workspace_bytes = 1U << 20U;
  // On the simulated clock, on which half a second is fifty thousand launches.
  settings.timing.sustained_s = 0.02;
  return settings;
}

inline kevo::evaluation evaluate(kevo::cuda_fitness& fitness, const std::string& source,
                                 kevo::evaluation_stage wanted = kevo::evaluation_stage::timed_full) {
  return fitness.evaluate(
      {.program = std::make_shared<const kevo::program>(kevo::program_of("cuda", source)), .wanted = wanted});
}

/// An evaluation that counts how often it begins to use the device.
struct counted {
  kevo::evaluation result;
  int tries = 0;
};
inline counted count_tries(kevo::cuda_fitness& fitness, const std::string& source, bool second_try) {
  counted made;
  made.result =
      fitness.evaluate({.program = std::make_shared<const kevo::program>(kevo::program_of("cuda", source)),
                        .measuring = [&made](bool begins) { made.tries += begins ? 1 : 0; },
                        .second_try = second_try});
  return made;
}

}  // namespace toy
