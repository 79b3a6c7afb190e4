"""A whole loop of reinforcement learning on a CPU: a tiny model with random weights writes kernels token by token, kevo judges
them in its sandbox, and policy gradients with TRLOO's advantages make what was fast more likely.

    python3 train_tiny.py [STEPS] [RECORD.jsonl]

The model knows a vocabulary of a few pieces of code, so that some of what it writes compiles; the rest is as for a large model.
With PyTorch it is a recurrent one; otherwise a table, which needs no package.
"""

import importlib.util
import json
import math
import random
import sys

import kevo

# A softmax of rows, with three places that the model fills in. Some fillings are slow, some are wrong, some do not compile.
pieces = [
    ["std::exp(x[j] - largest)", "std::exp(static_cast<double>(x[j]) - largest)", "std::exp(x[j])", "std::exp(x[j] - largest) +"],
    ["Y[i * N + j]", "std::exp(x[j] - largest)", "x[j]", "Y[i * N + j"],
    ["/ sum", "* (1 / sum)", "* sum", "/ largest"],
]
start = len(pieces[0])  # the token before the first
head = """#include <cmath>
#include <cstdint>
extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const float* x = X + i * N;
    float largest = x[0], sum = 0;
    for (int64_t j = 1; j < N; ++j) largest = x[j] > largest ? x[j] : largest;
"""


def program_of(tokens):
    first, second, third = (choices[t] for choices, t in zip(pieces, tokens))
    return (
        head
        + f"    for (int64_t j = 0; j < N; ++j) {{ const float e = {first}; Y[i * N + j] = e; sum += e; }}\n"
        + f"    for (int64_t j = 0; j < N; ++j) Y[i * N + j] = {second} {third};\n"
        + "  }\n}\n"
    )


class Writer:
    """A softmax over the next token, given its place and the token before: a table of random weights, changed by policy
    gradients in plain Python."""

    def __init__(self, random):
        self.random = random
        self.weights = [[[random.gauss(0, 0.5) for _ in choices] for _ in range(start + 1)] for choices in pieces]

    def probabilities(self, place, before):
        row = self.weights[place][before]
        powers = [math.exp(w - max(row)) for w in row]
        return [p / sum(powers) for p in powers]

    def sample(self, count):
        """`count` programs as lists of tokens."""
        self.written = []
        for _ in range(count):
            tokens = []
            for place, choices in enumerate(pieces):
                chances = self.probabilities(place, tokens[-1] if tokens else start)
                tokens += self.random.choices(range(len(choices)), chances)
            self.written.append(tokens)
        return self.written

    def learn(self, advantages, rate=0.5):
        """A step along the gradient of the samples' log-probabilities, weighted by their advantages. Returns the loss."""
        loss, steps = 0.0, []
        for tokens, advantage in zip(self.written, advantages):
            for place, token in enumerate(tokens):
                before = tokens[place - 1] if place else start
                chances = self.probabilities(place, before)
                loss -= advantage * math.log(chances[token]) / len(advantages)
                steps += [(place, before, t, advantage * ((t == token) - p)) for t, p in enumerate(chances)]
        for place, before, token, step in steps:
            self.weights[place][before][token] += rate * step / len(advantages)
        return loss


class TorchWriter:
    """The same with a recurrent model of 16 numbers in PyTorch."""

    def __init__(self, seed):
        import torch

        torch.manual_seed(seed)
        self.torch = torch
        self.embed = torch.nn.Embedding(start + 1, 16)
        self.cell = torch.nn.GRUCell(16, 16)
        self.head = torch.nn.Linear(16, start)
        parts = torch.nn.ModuleList([self.embed, self.cell, self.head])
        self.optimizer = torch.optim.Adam(parts.parameters(), lr=0.05)

    def sample(self, count):
        torch = self.torch
        state, token = torch.zeros(count, 16), torch.full((count,), start)
        tokens, self.log_probability = [], torch.zeros(count)
        for _ in pieces:
            state = self.cell(self.embed(token), state)
            choice = torch.distributions.Categorical(logits=self.head(state))
            token = choice.sample()
            self.log_probability = self.log_probability + choice.log_prob(token)
            tokens.append(token)
        return torch.stack(tokens, 1).tolist()

    def learn(self, advantages):
        loss = -(self.torch.tensor(advantages) * self.log_probability).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def train(task, writer, steps=4, group=6, record=None, fitness=None):
    """Trains for some steps and returns a dict for each: loss, rewards, advantages and outcomes of its group."""
    history = []
    with kevo.evaluators(task, workers=2, fitness=fitness) as judge:
        known = {}  # the same program earns the same, and is judged once
        for step in range(steps):
            programs = [program_of(tokens) for tokens in writer.sample(group)]
            new = [text for text in dict.fromkeys(programs) if text not in known]
            known.update(zip(new, judge.evaluate_many(new, stage="timed_short")))
            results = [known[text] for text in programs]
            rewards = [kevo.reward.dr_kernel(result) for result in results]
            advantages = kevo.advantage.trloo(rewards)
            entry = {"step": step, "loss": writer.learn(advantages), "rewards": rewards, "advantages": advantages}
            entry["outcomes"] = [result.outcome for result in results]
            history.append(entry)
            if record is not None:
                record.write(json.dumps(entry) + "\n")
    return history


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    model = TorchWriter(0) if importlib.util.find_spec("torch") else Writer(random.Random(0))
    with open(sys.argv[2] if len(sys.argv) > 2 else "rewards.jsonl", "w", encoding="utf-8") as record:
        for each in train("configs/tasks/softmax/task.yaml", model, steps, record=record):
            assert math.isfinite(each["loss"])
            print(f"step {each['step']}: loss {each['loss']:.3f}, mean reward {sum(each['rewards']) / len(each['rewards']):.3f}")
