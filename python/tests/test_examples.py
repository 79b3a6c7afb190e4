"""The examples of the package run, and the training loop trains: its losses and rewards are finite and recorded."""

import importlib.util
import io
import json
import math
import os
import random
import runpy
import sys
import unittest

from support import main, quick, root, softmax

os.chdir(root)  # the examples name tasks as seen from here
sys.path += [str(root / "python/examples")]
if (root / "build/torch/torch").is_dir():  # where scripts/setup.sh --torch puts it
    sys.path.append(str(root / "build/torch"))
has_torch = importlib.util.find_spec("torch") is not None
import kevo  # noqa: E402
import train_tiny  # noqa: E402


class Examples(unittest.TestCase):
    def test_own_roles(self):
        self.assertEqual(runpy.run_path("python/examples/own_roles.py")["best"].text, "roofline")

    def test_the_reward_function_for_trl(self):
        module = runpy.run_path("python/examples/trl_reward.py")
        source = (softmax.parent / "seed.cpp").read_text()
        completions = [
            f"Here it is:\n```cpp\n{source}```\n",
            [{"role": "assistant", "content": "I do not know."}],
            "```cpp\n" + source.replace("exp", "cos") + "```",
        ]
        with module["judge"] as judge:
            rewards = module["kernel_reward"](prompts=["", "", ""], completions=completions, trainer_state=None)
        self.assertGreater(rewards[0], 1)
        self.assertEqual(rewards[1:], [0, 0])
        self.assertTrue(judge.closed)
        text = (root / "python/examples/trl_reward.py").read_text().splitlines()
        code = [line for line in text[1:] if line and not line.startswith("#")]
        self.assertLessEqual(len(code), 10)

    def train(self, writer):
        """Three steps of training, whose losses and rewards have to be finite and recorded."""
        record = io.StringIO()
        history = train_tiny.train(softmax, writer, steps=3, group=5, record=record, fitness=quick)
        recorded = [json.loads(line) for line in record.getvalue().splitlines()]
        self.assertEqual(recorded, history)
        self.assertEqual(len(history), 3)
        for step in history:
            self.assertTrue(math.isfinite(step["loss"]))
            self.assertEqual(len(step["rewards"]), 5)
            self.assertTrue(all(math.isfinite(x) for x in step["rewards"] + step["advantages"]))
        self.assertTrue(any(reward > 0 for step in history for reward in step["rewards"]), history)
        self.assertTrue(any(step["loss"] != 0 for step in history), "nothing was learned")

    def test_a_tiny_model_is_trained(self):
        self.train(train_tiny.Writer(random.Random(2)))

    def test_what_pays_becomes_more_likely(self):
        """Without kevo: one token pays."""
        model = train_tiny.Writer(random.Random(1))
        first = model.probabilities(0, train_tiny.start)[3]
        for _ in range(60):
            tokens = model.sample(8)
            model.learn(kevo.advantage.trloo([float(each[0] == 3) for each in tokens]))
        self.assertGreater(model.probabilities(0, train_tiny.start)[3], max(0.5, first))

    @unittest.skipUnless(has_torch, "PyTorch is not installed (scripts/setup.sh --torch)")
    def test_a_tiny_model_of_pytorch_is_trained(self):
        self.train(train_tiny.TorchWriter(10))


if __name__ == "__main__":
    main()
