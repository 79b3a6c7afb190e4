// labels: slow
// one processor
// timeout: 120
// No process of a program is given inputs that another one of it has had, also not in a later evaluation.
#include <set>
#include <string>

#include "tests/torch/corpus.hpp"

namespace {

// Tells its inputs in the one way that there is.
constexpr const char* tells_its_inputs = R"py(
import torch


def run(x):
    if x.numel() > 1000:
        raise ValueError(x[:32].double().abs().sum().item())
    return torch.relu(x) * 0.5
)py";

}  // namespace

TEST_CASE("a program that is evaluated again gets other inputs") {
  auto fitness = torch_corpus::fitness_for("large");
  if (!fitness) return;
  constexpr int times = 4;
  std::set<std::string> told;
  for (int i = 0; i < times; ++i) {
    const auto got = torch_corpus::evaluate(*fitness, tells_its_inputs, kevo::evaluation_stage::checked);
    REQUIRE(got.outcome == kevo::outcome::crashed);
    told.insert(got.feedback);
  }
  CHECK(told.size() == times);
}
