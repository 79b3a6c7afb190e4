// A warning where a config lets devices rest.

#include "src/run/idle_devices.hpp"

#include <string>

#include <doctest/doctest.h>

#include <kevo/load_config.hpp>

#include "src/base/settings/yaml.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"

using kevo::idle_devices;

namespace {

/// What is said of a whole config with this `fitness`, on a machine with three GPUs.
std::string said_of(const std::string& fitness, std::size_t builds) {
  const shell::scratch folder;
  for (const char* gpu : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"})
    std::filesystem::create_directories(folder / "gpus" / gpu);
  const auto config = kevo::parse_yaml("fitness: " + fitness + "\n");
  return idle_devices(config, builds, folder / "gpus");
}

}  // namespace

TEST_CASE("a config with more devices than evaluations at the same time is warned of, with the next step") {
  CHECK(
      said_of("{backend: cuda, devices: [0, 1, 2, 5]}", 2) ==
      "the fitness function uses 4 GPUs, but run.parallel.builds: 2 allows only 2 evaluations at the same "
      "time, so that 2 of the GPUs are always idle; set run.parallel.builds to 8, twice the number of GPUs");
  CHECK(has(said_of("{backend: torch, device: cuda, devices: all}", 1), "uses 3 GPUs"));
  CHECK(has(said_of("{backend: cpu, places: 4}", 3), "1 of the places is always idle"));
}

TEST_CASE("a config that keeps its devices busy, or does not name them, is not warned of") {
  CHECK(said_of("{backend: cuda, devices: [0, 1]}", 2).empty());
  CHECK(said_of("{backend: cuda, devices: all}", 3).empty());
  CHECK(said_of("{backend: cuda}", 1).empty());
  CHECK(said_of("{backend: cuda, devices: null}", 1).empty());
  CHECK(said_of("{backend: cpu, places: 0}", 1).empty());
  CHECK(said_of("{backend: cpu, places: 1}", 1).empty());
}

TEST_CASE("a run warns of what its config says, defaults included") {
  const shell::scratch folder;
  shell::write_file(folder / "config.yaml",
                    "run: {name: toy, output: run}\ntask: " KEVO_SOURCE_DIR
                    "/tests/gpu/row_sum.yaml\n"
                    "fitness: {backend: cuda, devices: [0, 1, 2]}\narchive: {type: top_k, k: 5}\n"
                    "select: {type: greedy}\nvary: {operators: [{type: tune}]}\nstop: {evaluations: 1}\n");
  const auto plan = kevo::load_config((folder / "config.yaml").string(), {});
  const auto warning = idle_devices(kevo::parse_yaml(plan.origin.config), plan.evaluations);
  CHECK(has(warning, "uses 3 GPUs, but run.parallel.builds: 2"));
}
