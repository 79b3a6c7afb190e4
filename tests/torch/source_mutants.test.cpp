// labels: slow
// one processor
// timeout: 300
// Mutants of programs in Python and Triton are judged on a CPU.
#include <algorithm>

#include "fitness/torch/check_torch_task.hpp"
#include "src/mutants/check_sources.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/torch/corpus.hpp"

TEST_CASE("a sum that is not atomic is caught among the mutants of a seed in Triton") {
  if (!kevo_test::has_pytorch()) return;
  auto t = kevo::load_task(KEVO_SOURCE_DIR "/tests/torch/tasks/total.yaml");
  const auto honest = torch_corpus::exhibits_in("honest");
  const auto seed = std::find_if(honest.begin(), honest.end(),
                                 [](const auto& e) { return e.name == "triton_adds_with_atomic"; });
  if (seed == honest.end()) return;  // KEVO_EXHIBITS names others
  t.seeds = {kevo::program_of("python", seed->text)};
  const auto by =
      kevo::torch::programs_on_cpu(std::make_shared<const kevo::task>(t), torch_corpus::quick_settings());
  const auto checked =
      kevo::check_sources(by.whole, by.settings, {.mutants = 100, .seconds = 0}, {}, {}, by.kind);
  CHECK_MESSAGE(checked.not_made.empty(), checked.not_made);
  CHECK(checked.made == checked.possible);
  CHECK(checked.caught > 0);
  CHECK(std::none_of(checked.surviving.begin(), checked.surviving.end(),
                     [](const auto& one) { return one.kind == "synchronization"; }));
}
