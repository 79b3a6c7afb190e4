// labels: slow
// timeout: 600
// one processor
// Every odd but honest program is accepted, whatever else the machine does.

#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include <kevo/evaluation.hpp>

#include "tests/attacks/corpus.hpp"

TEST_CASE("honest programs are accepted on a busy machine, too") {
  attacks::judge_those(attacks::group::honest);
}

TEST_CASE("the program that clears its scratch memory is right on the sizes of the shipped task, too") {
  const auto exhibit = attacks::read_exhibit(KEVO_SOURCE_DIR "/tests/attacks/honest/clears_its_scratch.cpp");
  auto t = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml");
  // What matters is whether all sums have room: one visible size, and the largest. Long sums would only take
  // time.
  std::erase_if(t.workloads, [](const kevo::workload& w) { return w.uuid != "square" && w.uuid != "large"; });
  REQUIRE(t.workloads.size() == 2);
  for (auto& w : t.workloads) w.axes.at("K") = 16;
  auto settings = attacks::quick_settings(1);
  settings.limits.first_call_s = settings.limits.call_s = 10;
  kevo::cpu_fitness fitness(std::make_shared<const kevo::task>(std::move(t)), std::move(settings));
  kevo::evaluation_request request;
  request.program = attacks::program_of(exhibit);
  request.wanted = kevo::evaluation_stage::checked;
  const auto got = fitness.evaluate(request);
  CHECK_MESSAGE(got.outcome == kevo::outcome::valid, got.feedback);
}
