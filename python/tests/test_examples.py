"""The examples of the package run, and the training loop trains: its losses and rewards are finite and recorded."""

import importlib
import io
import json
import math
import os
import runpy
import sys
import unittest

from support import main, quick, root, softmax

os.chdir(root)  # the examples name tasks as seen from here
sys.path += [str(root / "python/examples")]
if (root / "build/torch/torch").is_dir():  # where scripts/setup.sh --torch puts it
    sys.path.append(str(root / "build/torch"))
has_torch = importlib.util.find_spec("torch") is not None


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

    @unittest.skipUnless(has_torch, "PyTorch is not installed (scripts/setup.sh --torch)")
    def test_a_tiny_model_is_trained(self):
        example = importlib.import_module("train_tiny")
        record = io.StringIO()
        history = example.train(softmax, steps=3, group=6, record=record, fitness=quick, seed=2)
        recorded = [json.loads(line) for line in record.getvalue().splitlines()]
        self.assertEqual(recorded, history)
        self.assertEqual(len(history), 3)
        for step in history:
            self.assertTrue(math.isfinite(step["loss"]))
            self.assertEqual(len(step["rewards"]), 6)
            self.assertTrue(all(math.isfinite(x) for x in step["rewards"] + step["advantages"]))
        self.assertTrue(any(reward > 0 for step in history for reward in step["rewards"]), history)
        self.assertTrue(any(step["loss"] != 0 for step in history), "nothing was learned")


if __name__ == "__main__":
    main()
