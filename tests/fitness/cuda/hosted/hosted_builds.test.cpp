// labels: slow
// timeout: 600
// What is shipped for hosted launch builds with a real nvcc, where there is one; no GPU is needed. Of the
// programs in tests/gpu/hosted, each of which takes nvcc some seconds, every sixth; with KEVO_BUILD_ALL=1
// all of them.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/cuda/hosted/entry.hpp"
#include "tests/fitness/cuda/hosted/real_nvcc.hpp"
#include "tests/support/gpu_program.hpp"

using namespace kevo::cuda;
using namespace real_nvcc;
namespace fs = std::filesystem;

TEST_CASE(
    "the vendors' baselines of the tasks build where their libraries are, and say what is missing "
    "elsewhere") {
  if (!there_is_nvcc()) return;
  int built = 0;
  int skipped = 0;
  for (const auto& folder : fs::directory_iterator(source_folder / "configs/tasks")) {
    if (!folder.path().filename().string().starts_with("cuda_")) continue;
    const auto t = kevo::load_task((folder.path() / "task.yaml").string());
    for (const auto& b : t.baselines) {
      if (!is_hosted(b.source)) continue;
      CHECK(b.optional);
      const auto made = compiler().build(t, b.source, "sm_90a", {}, true, b.link);
      CAPTURE(t.name);
      CAPTURE(b.name);
      if (made.ok) {
        ++built;
        for (const auto& library : b.link) {
          const auto names = [&](const std::string& needed) {
            return needed.starts_with("lib" + library + ".so");
          };
          // One that the program does not call may be what another library loads later: the worker sees it.
          const auto lies_in = [&](const std::string& place) {
            return fs::exists(fs::path(place) / ("lib" + library + ".so"));
          };
          CHECK((std::any_of(made.needed.begin(), made.needed.end(), names) ||
                 std::any_of(made.folders.begin(), made.folders.end(), lies_in)));
          CHECK_FALSE(made.folders.empty());
        }
        continue;
      }
      // Not for a mistake of ours: the header, the library or PyTorch is not there.
      ++skipped;
      const bool absent = made.diagnostics.find("No such file") != std::string::npos ||
                          made.diagnostics.find("cannot find -l") != std::string::npos ||
                          made.diagnostics.find("PyTorch") != std::string::npos;
      CHECK_MESSAGE(absent, made.diagnostics);
    }
  }
  std::printf("baselines of vendors: %d built, %d without their library\n", built, skipped);
  CHECK(built + skipped >= 4);
}

TEST_CASE("every hosted exploit and honest program of tests/gpu/hosted builds") {
  if (!there_is_nvcc()) return;
  const bool all = std::getenv("KEVO_BUILD_ALL") != nullptr;
  int count = 0;
  std::map<std::string, kevo::task> tasks;
  for (const char* kind : {"attacks", "honest"}) {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(source_folder / "tests/gpu/hosted" / kind))
      files.push_back(file.path());
    std::sort(files.begin(), files.end());
    for (std::size_t i = 0; i < files.size(); i += all ? 1 : 6) {
      const auto program = gpu_program::read(source_folder / "tests/gpu/hosted", files[i]);
      const auto source = kevo::program_of("cuda", program.text);
      CHECK(is_hosted(source));
      if (!tasks.contains(program.task)) tasks.emplace(program.task, kevo::load_task(program.task));
      const auto made = compiler().build(tasks.at(program.task), source, "sm_90a", {});
      CHECK_MESSAGE(made.ok == program.compiles, files[i].string(), ": ", made.diagnostics);
      CHECK_MESSAGE((program.twin.empty() || fs::exists(program.twin)), program.twin.string());
      ++count;
    }
  }
  std::printf("hosted programs built: %d\n", count);
  CHECK(count >= (all ? 40 : 7));
}
