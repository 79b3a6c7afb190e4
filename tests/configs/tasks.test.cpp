// The shipped tasks load, and their parts fit together.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>
#include <kevo/task.hpp>
#include <kevo/task_extents.hpp>

#include "src/task/task_loader.hpp"

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> task_files() {
  std::vector<fs::path> files;
  for (const auto& folder : fs::directory_iterator(KEVO_SOURCE_DIR "/configs/tasks")) {
    files.push_back(folder.path() / "task.yaml");
  }
  files.emplace_back(KEVO_SOURCE_DIR "/tests/attacks/matmul.yaml");
  files.emplace_back(KEVO_SOURCE_DIR "/tests/attacks/large_matmul.yaml");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("every shipped task loads, with hidden shapes, seeds and a baseline that is one of them") {
  const auto files = task_files();
  REQUIRE(files.size() >= 8);
  for (const auto& file : files) {
    CAPTURE(file.string());
    const kevo::task t = kevo::load_task(file.string());
    CHECK(!t.description.empty());
    REQUIRE(t.reference);
    const bool gpu = file.string().find("/cuda_") != std::string::npos ||
                     file.string().find("/triton_") != std::string::npos;
    const bool torch = file.string().find("/torch_") != std::string::npos;
    CHECK(t.reference->language == (gpu ? "cuda" : torch ? "python" : "cpp"));
    REQUIRE(!t.seeds.empty());
    REQUIRE(!t.baselines.empty());
    CHECK(t.baselines.front().source.text() == (torch ? t.reference->source : t.seeds.front()).text());
    CHECK(!t.baselines.front().optional);
    const auto hidden =
        std::count_if(t.workloads.begin(), t.workloads.end(), [](const auto& w) { return w.hidden; });
    CHECK(hidden >= 1);
    CHECK(hidden < static_cast<std::ptrdiff_t>(t.workloads.size()));
  }
}

TEST_CASE("shipped tasks: constraints hold, costs are positive, and work is at least its lower bound") {
  for (const auto& file : task_files()) {
    CAPTURE(file.string());
    const kevo::task t = kevo::load_task(file.string());
    REQUIRE(t.cost.flops);
    REQUIRE(t.cost.bytes);
    for (const auto& w : t.workloads) {
      CAPTURE(w.uuid);
      const auto values = kevo::axis_values(t, w);
      const auto lookup = [&](std::string_view name) -> std::optional<std::int64_t> {
        const auto it = values.find(std::string(name));
        return it == values.end() ? std::nullopt : std::optional(it->second);
      };
      for (const auto& condition : t.constraints) CHECK(condition.evaluate(lookup) != 0);
      CHECK(t.cost.flops->evaluate(lookup) > 0);
      if (t.cost.min_flops) CHECK(t.cost.min_flops->evaluate(lookup) <= t.cost.flops->evaluate(lookup));
      // Every input and output once.
      std::int64_t bytes = 0;
      for (const auto* tensors : {&t.inputs, &t.outputs}) {
        for (const auto& tensor : *tensors) {
          auto count = static_cast<std::int64_t>(kevo::find_dtype(tensor.dtype)->size);
          for (const auto extent : kevo::extents(tensor, values)) count *= extent;
          bytes += count;
        }
      }
      CHECK(t.cost.bytes->evaluate(lookup) == bytes);
    }
  }
}

TEST_CASE("every shipped task has a seed to tune, whose own setting is allowed and which splices") {
  for (const auto& folder : fs::directory_iterator(KEVO_SOURCE_DIR "/configs/tasks")) {
    CAPTURE(folder.path().string());
    const kevo::task t = kevo::load_task((folder.path() / "task.yaml").string());
    std::size_t tunable_seeds = 0;
    for (const auto& seed : t.seeds) {
      const kevo::annotations notes = kevo::parse_annotations(seed);
      if (notes.tunables.empty()) continue;
      ++tunable_seeds;
      CHECK(notes.regions.size() >= 2);
      double settings = 1;
      for (const auto& each : notes.tunables) settings *= static_cast<double>(each.domain.size());
      CHECK(settings >= 40);
      for (const auto& requirement : notes.requirements) {
        const auto lookup = [&](std::string_view name) -> std::optional<std::int64_t> {
          const auto* found = notes.find_tunable(name);
          return found == nullptr ? std::nullopt : std::optional<std::int64_t>(std::stoll(found->value));
        };
        CHECK(requirement.condition.evaluate(lookup) != 0);
      }
    }
    CHECK(tunable_seeds >= 1);
  }
}
