// timeout: 120
// Every declared program of tests/gpu compiles with a real NVRTC and has a plan for each workload, so that
// what a machine with a GPU shows is the evaluator's doing. No GPU is needed.

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/compile/variable_limit.hpp"
#include "fitness/cuda/launch/launch_signature.hpp"
#include "fitness/cuda/launch/resolve.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/fitness/cuda/compile/nvrtc_place.hpp"
#include "tests/support/gpu_program.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo::cuda;
namespace fs = std::filesystem;

namespace {

/// What a program's verdict must be by its cubin alone.
struct seen {
  std::string complaint;  ///< why there is no plan for a workload of the task; empty if there is one for each
  bool lasts = false;     ///< it has memory that cannot be restored
  bool large = false;     ///< its variables are too large to be
};

seen look_at(cuda_compiler& compiler, const kevo::task& t, const std::string& text) {
  const auto source = kevo::program_of("cuda", text);
  const auto lines = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&lines)) return {failure->reason};
  const auto& declared = std::get<declared_launch>(lines);
  const device_facts facts;
  const auto names = kernel_names(declared, signature_of(t, t.workloads.front()), facts);
  if (const auto* failure = std::get_if<launch_failure>(&names)) return {failure->reason};
  const auto built =
      compiler.build({source, std::get<std::vector<std::string>>(names), facts.architecture, {}});
  if (!built.ok) return {built.diagnostics};
  for (const auto& w : t.workloads) {
    const auto resolved = resolve(declared, signature_of(t, w), built.module, facts);
    if (const auto* failure = std::get_if<launch_failure>(&resolved))
      return {w.uuid + ": " + failure->reason};
  }
  return {"", !built.module.lasting.empty(), refuse_large_variables(built.module).has_value()};
}

}  // namespace

TEST_CASE(
    "every declared program of tests/gpu compiles and has a plan, unless its verdict is that it does not") {
  if (nvrtc_place() == "none") {
    kevo_test::skip("there is no NVRTC on this machine (scripts/setup.sh --tests fetches one)");
    return;
  }
  cuda_compiler_settings settings;
  settings.cuda = nvrtc_place();
  settings.sandbox = kevo::sandbox_mode::best;
  cuda_compiler compiler(settings);
  const fs::path folder = KEVO_SOURCE_DIR "/tests/gpu";
  std::map<std::string, kevo::task> tasks;
  int count = 0;
  for (const char* kind : {"attacks", "honest"}) {
    for (const auto& file : fs::directory_iterator(folder / kind)) {
      const auto program = gpu_program::read(folder, file.path());
      if (!tasks.contains(program.task)) tasks.emplace(program.task, kevo::load_task(program.task));
      const auto found = look_at(compiler, tasks.at(program.task), program.text);
      const bool refused = program.accepts("build_failed") || program.accepts("launch_failed");
      if (!program.accepts("valid") && refused) continue;
      const auto name = file.path().filename().string();
      CHECK_MESSAGE(found.complaint.empty(), name, ": ", found.complaint);
      const bool zeros = std::string(kind) == "attacks" && name.starts_with("zeros_in_");
      CHECK_MESSAGE(found.large == zeros, name);
      if (found.lasts || found.large) CHECK_MESSAGE(program.accepts("rejected"), name);
      CHECK_MESSAGE((program.twin.empty() || fs::exists(program.twin)), program.twin.string());
      ++count;
    }
  }
  std::printf("%d declared programs\n", count);
  CHECK(count >= 40);
}
