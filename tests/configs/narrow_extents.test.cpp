// labels: slow
// timeout: 300
// Each shipped task for the CPU has a workload at which a program with a narrow extent is wrong.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "fitness/cpu/cpu_fitness.hpp"
#include "src/task/task_loader.hpp"

namespace {

struct narrowed_axis {
  std::string name;
  int mask = 0;  // what is left of the extent: of 16 bits, or of 8 where no workload can afford more
};

// The text of a seed whose `run` sees an axis without its upper bits.
std::string narrowed(std::string text, const narrowed_axis& axis) {
  const auto run = text.find("void run(");
  REQUIRE(run != std::string::npos);
  const auto body = text.find('{', run);
  REQUIRE(body != std::string::npos);
  return text.insert(body + 1, fmt::format("\n  {0} &= {1};", axis.name, axis.mask));
}

kevo::outcome outcome_of(kevo::cpu_fitness& fitness, std::string text) {
  kevo::evaluation_request request;
  request.program =
      std::make_shared<const kevo::program>(kevo::single_file_program("cpp", "kernel.cpp", std::move(text)));
  request.wanted = kevo::evaluation_stage::checked;
  return fitness.evaluate(request).outcome;
}

}  // namespace

TEST_CASE("extents of 16 bits, or of 8 where a longer axis costs too much, are wrong in every shipped task") {
  constexpr int bits_16 = 65535;
  constexpr int bits_8 = 255;
  const std::vector<std::pair<std::string, std::vector<narrowed_axis>>> narrow = {
      {"softmax", {{"M", bits_16}, {"N", bits_16}}},
      {"rmsnorm", {{"M", bits_16}, {"N", bits_16}}},
      {"matmul", {{"M", bits_16}, {"N", bits_16}, {"K", bits_16}}},
      {"jacobi2d", {{"H", bits_16}, {"W", bits_16}, {"T", bits_16}}},
      {"spmv_csr", {{"ROWS", bits_16}}},
      {"conv2d",
       {{"N", bits_16},
        {"C", bits_16},
        {"H", bits_16},
        {"W", bits_16},
        {"K", bits_16},
        {"P", bits_16},
        {"Q", bits_16},
        {"S", bits_16},
        {"R", bits_8}}},
      {"scatter_add", {{"N", bits_16}, {"BINS", bits_16}}},
  };
  for (const auto& [name, axes] : narrow) {
    const auto t = std::make_shared<const kevo::task>(
        kevo::load_task(fmt::format("{}/configs/tasks/{}/task.yaml", KEVO_SOURCE_DIR, name)));
    kevo::cpu_fitness fitness(t);
    const auto& seed = t->seeds.front();
    CHECK(outcome_of(fitness, std::string(seed.text())) == kevo::outcome::valid);
    for (const auto& axis : axes) {
      CAPTURE(name);
      CAPTURE(axis.name);
      const auto found = outcome_of(fitness, narrowed(std::string(seed.text()), axis));
      CHECK((found == kevo::outcome::incorrect || found == kevo::outcome::crashed));
    }
  }
}

TEST_CASE("columns of 16 bits are wrong in the sparse product") {
  const auto t = std::make_shared<const kevo::task>(
      kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/spmv_csr/task.yaml"));
  kevo::cpu_fitness fitness(t);
  std::string text(t->seeds.front().text());
  const std::string index = "column[k]";
  const auto at = text.find(index);
  REQUIRE(at != std::string::npos);
  text.replace(at, index.size(), "column[k] & 65535");
  CHECK(outcome_of(fitness, text) == kevo::outcome::incorrect);
}
