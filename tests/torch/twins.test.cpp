// labels: slow
// one processor
// timeout: 600
// Exploits that are accepted are not faster than their honest twins. scripts/exploits_over_twins.py repeats
// this and gives figures.
#include <cstdio>

#include "tests/torch/corpus.hpp"

TEST_CASE("exploits gain nothing over their twins") {
  if (!torch_corpus::fitness_for("large")) return;
  for (const auto& e : torch_corpus::exhibits_in("attacks")) {
    if (e.twin.empty()) continue;
    const std::string folder = KEVO_SOURCE_DIR "/tests/torch/";
    const auto twin = torch_corpus::read_exhibit(folder + e.twin);
    REQUIRE(twin.task == e.task);
    auto t = kevo::load_task(folder + "tasks/" + e.task + ".yaml");
    t.baselines = {{"twin", kevo::program_of("python", twin.text), {}, false}};
    auto settings = torch_corpus::warm_settings();
    settings.timing.full_s = 0.3;
    settings.timing.sustained_s = 0;
    kevo::torch_fitness fitness(std::make_shared<const kevo::task>(t), settings);
    const auto got = torch_corpus::evaluate(fitness, e.text, kevo::evaluation_stage::confirmed);
    std::printf("%s: %.3g [%.3g, %.3g] %s\n", e.name.c_str(), got.speedup, got.speedup_interval.low,
                got.speedup_interval.high, torch_corpus::said(got).c_str());
    if (got.valid()) CHECK_MESSAGE(got.speedup_interval.low <= 1.05, e.name, " gained: ", got.speedup);
  }
}
