"""A whole loop of reinforcement learning on a CPU: a tiny model with random weights writes kernels token by token, kevo judges
them in its sandbox, and policy gradients with TRLOO's advantages make what was fast more likely.

    python3 train_tiny.py [STEPS] [RECORD.jsonl]

The model knows a vocabulary of a few pieces of code, so that some of what it writes compiles; the rest is as for a large model.
"""

import json
import math
import sys

import torch

import kevo

# A softmax of rows, with three places that the model fills in. Some fillings are slow, some are wrong, some do not compile.
pieces = [
    "std::exp(x[j] - largest)",
    "std::exp(static_cast<double>(x[j]) - largest)",
    "std::exp(x[j])",
    "/ sum",
    "* (1 / sum)",
    "* sum",
    "Y[i * N + j]",
    "std::exp(x[j] - largest) +",
]
head = """#include <cmath>
#include <cstdint>
extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const float* x = X + i * N;
    float largest = x[0], sum = 0;
    for (int64_t j = 1; j < N; ++j) largest = x[j] > largest ? x[j] : largest;
"""


def program_of(tokens):
    first, second, third = (pieces[t] for t in tokens)
    return (
        head
        + f"    for (int64_t j = 0; j < N; ++j) {{ const float e = {first}; Y[i * N + j] = e; sum += e; }}\n"
        + f"    for (int64_t j = 0; j < N; ++j) Y[i * N + j] = {second} {third};\n"
        + "  }\n}\n"
    )


class Writer(torch.nn.Module):
    """A recurrent model of 16 numbers that writes one token after the other."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(len(pieces) + 1, 16)
        self.cell = torch.nn.GRUCell(16, 16)
        self.head = torch.nn.Linear(16, len(pieces))

    def sample(self, count, length=3):
        """Tokens of `count` samples, and the sum of the log-probabilities of each."""
        state = torch.zeros(count, 16)
        token = torch.full((count,), len(pieces))
        tokens, log_probability = [], torch.zeros(count)
        for _ in range(length):
            state = self.cell(self.embed(token), state)
            choice = torch.distributions.Categorical(logits=self.head(state))
            token = choice.sample()
            log_probability = log_probability + choice.log_prob(token)
            tokens.append(token)
        return torch.stack(tokens, 1).tolist(), log_probability


def train(task, steps=4, group=6, record=None, fitness=None, seed=0):
    """Trains for some steps and returns a dict for each: loss, rewards, advantages and outcomes of its group."""
    torch.manual_seed(seed)
    model = Writer()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    history = []
    with kevo.evaluators(task, workers=2, fitness=fitness) as judge:
        known = {}  # the same program earns the same, and is judged once
        for step in range(steps):
            samples, log_probability = model.sample(group)
            programs = [program_of(tokens) for tokens in samples]
            new = [text for text in dict.fromkeys(programs) if text not in known]
            known.update(zip(new, judge.evaluate_many(new, stage="timed_short")))
            results = [known[text] for text in programs]
            rewards = [kevo.reward.dr_kernel(result) for result in results]
            advantages = kevo.advantage.trloo(rewards)
            loss = -(torch.tensor(advantages) * log_probability).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(
                {
                    "step": step,
                    "loss": loss.item(),
                    "rewards": rewards,
                    "advantages": advantages,
                    "outcomes": [result.outcome for result in results],
                }
            )
            if record is not None:
                record.write(json.dumps(history[-1]) + "\n")
    return history


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    with open(sys.argv[2] if len(sys.argv) > 2 else "rewards.jsonl", "w", encoding="utf-8") as record:
        for each in train("configs/tasks/softmax/task.yaml", steps, record=record):
            assert math.isfinite(each["loss"])
            print(f"step {each['step']}: loss {each['loss']:.3f}, mean reward {sum(each['rewards']) / len(each['rewards']):.3f}")
