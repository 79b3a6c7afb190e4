#pragma once
// A task whose reference makes two of its inputs by a function in Python (the type `custom` of
// SOL-ExecBench), with right and wrong programs.

#include <string>
#include <vector>

namespace experts {

/// Weights of experts for each token: `weight` sums to 1, `expert` names each expert at most once.
inline constexpr const char* reference = R"(import torch

def make_inputs(axes_and_scalars, device):
    shape = axes_and_scalars["tokens"], axes_and_scalars["experts"]
    assert axes_and_scalars["scale"] == 0.5
    weight, expert = torch.softmax(torch.randn(shape, device=device), -1).topk(axes_and_scalars["chosen"])
    return {"expert": expert.to(torch.int32), "weight": weight / weight.sum(-1, keepdim=True)}

def run(x, expert, weight, scale):
    return scale * (x.gather(1, expert.long()) * weight).sum(1)
)";

/// @param tokens of the visible workload
inline std::string task_text(int tokens) {
  const std::string inputs =
      "inputs: {expert: {type: custom}, weight: {type: custom}, scale: {type: scalar, value: 0.5}}}\n";
  return R"(
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
tolerance: {max_atol: 1.0e-5, max_rtol: 1.0e-5}
workloads:
)"
         "  - {uuid: usual, axes: {tokens: " +
         std::to_string(tokens) + "}, " + inputs + "  - {uuid: odd, axes: {tokens: 7}, hidden: true, " +
         inputs;
}

struct body {
  const char* name;
  const char* text;
  bool right;
};

inline std::string program_of(const body& b) {
  return std::string("import torch\n\ndef run(x, expert, weight, scale):\n    expert = expert.long()\n") +
         b.text;
}

inline const std::vector<body>& bodies() {
  static const std::vector<body> all = {
      {"plain", "    return (scale * weight * torch.gather(x, 1, expert)).sum(1)\n", true},
      {"relies on what the function guarantees: the sum of the weights, and that no expert is named twice",
       "    last = 1 - weight[:, :-1].sum(1)\n"
       "    weight = torch.cat([weight[:, :-1], last.unsqueeze(1)], 1)\n"
       "    dense = torch.zeros_like(x).scatter_(1, expert, weight)\n"
       "    return scale * (x * dense).sum(1)\n",
       true},
      {"always the first experts", "    return scale * (x[:, :4] * weight).sum(1)\n", false},
      {"the experts of the first call, again",
       "    if not hasattr(run, 'kept') or len(run.kept) != len(expert):\n        run.kept = expert.clone()\n"
       "    return scale * (x.gather(1, run.kept) * weight).sum(1)\n",
       false},
      {"the weights of the first call, again",
       "    if not hasattr(run, 'kept') or len(run.kept) != len(weight):\n        run.kept = weight.clone()\n"
       "    return scale * (x.gather(1, expert) * run.kept).sum(1)\n",
       false},
      {"the function of the reference, looked for in its process",
       "    import gc, sys, types\n"
       "    found = [f for f in gc.get_objects() if isinstance(f, types.FunctionType) and f.__name__ == "
       "'make_inputs']\n"
       "    found += [m for m in list(sys.modules.values()) if 'make_inputs' in getattr(m, '__dict__', {})]\n"
       "    if found:\n        return scale * (x.gather(1, expert) * weight).sum(1)\n"
       "    return torch.zeros_like(x[:, 0])\n",
       false},
  };
  return all;
}

}  // namespace experts
