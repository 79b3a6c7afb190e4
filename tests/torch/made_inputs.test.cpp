// labels: slow
// one processor
// timeout: 300
// Inputs that a function of the reference makes (SOL-ExecBench's type `custom`).
#include <string>

#include "tests/support/shell.hpp"
#include "tests/torch/corpus.hpp"

namespace {

// Weights of experts for each token: `weight` sums to 1, `expert` names each expert at most once.
constexpr const char* experts_reference = R"(import torch

def make_inputs(axes_and_scalars, device):
    shape = axes_and_scalars["tokens"], axes_and_scalars["experts"]
    assert axes_and_scalars["scale"] == 0.5
    weight, expert = torch.softmax(torch.randn(shape, device=device), -1).topk(axes_and_scalars["chosen"])
    return {"expert": expert.to(torch.int32), "weight": weight / weight.sum(-1, keepdim=True)}

def run(x, expert, weight, scale):
    return scale * (x.gather(1, expert.long()) * weight).sum(1)
)";

constexpr const char* experts_task = R"(
name: experts
op_type: moe
axes: {tokens: {type: var}, experts: {type: const, value: 16}, chosen: {type: const, value: 4}}
inputs:
  x: {shape: [tokens, experts], dtype: float32}
  expert: {shape: [tokens, chosen], dtype: int32}
  weight: {shape: [tokens, chosen], dtype: float32}
  scale: {shape: null, dtype: float32}
outputs: {y: {shape: [tokens], dtype: float32}}
reference: {language: python, file: reference.py, form: function}
custom_inputs_entrypoint: make_inputs
workloads:
  - {uuid: usual, axes: {tokens: 100}, inputs: {expert: {type: custom}, weight: {type: custom}, scale: {type: scalar, value: 0.5}}}
  - {uuid: odd, axes: {tokens: 7}, hidden: true, inputs: {expert: {type: custom}, weight: {type: custom}, scale: {type: scalar, value: 0.5}}}
tolerance: {max_atol: 1.0e-5, max_rtol: 1.0e-5}
)";

kevo::task loaded_experts(const shell::scratch& folder, const std::string& text) {
  shell::write_file(folder / "task/task.yaml", experts_task);
  shell::write_file(folder / "task/reference.py", text);
  return kevo::load_task((folder / "task/task.yaml").string());
}

std::optional<kevo::torch_fitness> fitness_of_experts(const kevo::task& t) {
  try {
    return kevo::torch_fitness(std::make_shared<const kevo::task>(t), torch_corpus::warm_settings());
  } catch (const kevo::error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    kevo_test::skip(missing.message());
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("programs are judged on inputs that a function of the reference makes anew for each call") {
  const shell::scratch folder;
  auto fitness = fitness_of_experts(loaded_experts(folder, experts_reference));
  if (!fitness) return;
  const auto outcome_of = [&](const std::string& body, kevo::evaluation_stage stage) {
    const auto e = torch_corpus::evaluate(
        *fitness, "import torch\n\ndef run(x, expert, weight, scale):\n    expert = expert.long()\n" + body,
        stage);
    INFO(torch_corpus::said(e));
    return e.outcome;
  };
  using enum kevo::evaluation_stage;
  CHECK(outcome_of("    return (scale * weight * torch.gather(x, 1, expert)).sum(1)\n", timed_short) ==
        kevo::outcome::valid);
  // Relies on what the function guarantees: the sum of the weights, and that no expert is named twice.
  CHECK(outcome_of("    last = 1 - weight[:, :-1].sum(1)\n"
                   "    weight = torch.cat([weight[:, :-1], last.unsqueeze(1)], 1)\n"
                   "    dense = torch.zeros_like(x).scatter_(1, expert, weight)\n"
                   "    return scale * (x * dense).sum(1)\n",
                   checked) == kevo::outcome::valid);
  CHECK(outcome_of("    return scale * (x[:, :4] * weight).sum(1)\n", checked) == kevo::outcome::incorrect);
  // The experts of the first call, again.
  CHECK(outcome_of("    if not hasattr(run, 'kept') or len(run.kept) != len(expert):\n        run.kept = "
                   "expert.clone()\n"
                   "    return scale * (x.gather(1, run.kept) * weight).sum(1)\n",
                   checked) == kevo::outcome::incorrect);
}

TEST_CASE("a function that makes other inputs than the task says is an error that names it") {
  const shell::scratch folder;
  const auto failure_of = [&](const std::string& from, const std::string& to) -> std::string {
    std::string text = experts_reference;
    text.replace(text.find(from), from.size(), to);
    auto fitness = fitness_of_experts(loaded_experts(folder, text));
    if (!fitness) return "skipped";
    try {
      torch_corpus::evaluate(*fitness, "def run(x, expert, weight, scale):\n    return x[:, 0]\n",
                             kevo::evaluation_stage::checked);
    } catch (const kevo::error& failure) {
      CHECK(failure.code() == kevo::error_code::input);
      return failure.message();
    }
    return "nothing was wrong";
  };
  const auto says = [](const std::string& got, const std::string& wanted) {
    CHECK_MESSAGE((got == "skipped" ||
                   (got.find("'make_inputs'") != std::string::npos && got.find(wanted) != std::string::npos)),
                  got);
  };
  says(failure_of("expert.to(torch.int32)", "expert"), "returned int64; the task says int32");
  says(failure_of("\"expert\": ", "\"other\": "), "gives no expert");
  says(failure_of("assert axes_and_scalars", "assert not axes_and_scalars"), "AssertionError");
}
