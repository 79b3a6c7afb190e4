"""Rewards and advantages against numbers worked out by hand."""

import unittest

import kevo
from kevo import advantage, reward
from support import main


def judged(speedup=None, outcome="valid", **more):
    return kevo.Evaluation(outcome=outcome, speedup=speedup, **more)


class Rewards(unittest.TestCase):
    def test_recipes(self):
        fast = judged(2.0)
        self.assertEqual(reward.autotriton(fast), 1)
        self.assertEqual(reward.dr_kernel(fast), 3)
        self.assertEqual(reward.dr_kernel(judged(5.0)), 4)
        self.assertEqual(reward.dr_kernel(judged(5.0), cap=10), 6)
        self.assertEqual(reward.dr_kernel(judged(2.0, measures={"own_kernel_share": 0.5})), 3.5)
        self.assertEqual(reward.kernel_smith(fast, parent=judged(1.6)), 1.25)
        self.assertEqual(reward.cuda_l1(judged(1.118)), 1.11)
        self.assertEqual(reward.of("dr_kernel", fast), 3)
        with self.assertRaises(kevo.Error):
            reward.of("generous", fast)

    def test_who_cheats_or_breaks_a_rule_earns_nothing_in_any_recipe(self):
        decoy = judged(9.0, measures={"own_kernel_share": 0.0})
        self.assertEqual(reward.dr_kernel(decoy), 0)
        replaced_timer = judged(outcome="rejected")
        rule = reward.defines_kernel()
        plain = kevo.Program("int x;", "cpp")
        broken = reward.terms(judged(9.0), source=plain, rules=[rule])
        self.assertEqual(broken.broken_rules, [("defines_kernel", "no kernel is defined in the source")])
        failing = reward.terms(judged(9.0), source=plain, rules=[("mine", lambda source, result: 1 / 0)])
        for recipe in reward.recipes():
            for each in (replaced_timer, judged(outcome="suspect"), broken, failing):
                self.assertEqual(reward.of(recipe, each), 0, recipe)
        kept = reward.terms(judged(9.0), source=kevo.Program("__global__ void k() {}", "cuda"), rules=[rule])
        self.assertTrue(kept.eligible)

    def test_a_kernel_that_is_named_nowhere_else_is_a_decoy(self):
        kernel = "@triton.jit\ndef relu(x, y):\n    pass\n"
        attributed = "__global__ void __launch_bounds__(256) k(float* x) {}\n"
        for text, kept in (
            (kernel + "def f(x):\n    # relu[(1,)](x, x)\n    return torch.relu(x)\n", False),
            (kernel + "def f(x):\n    relu[(1,)](x, x)\n", True),
            (kernel + "# kevo: launch relu<<<1>>>(x, y)\n", True),
            (attributed, False),
            (attributed + "void run(float* x) { k<<<1, 256>>>(x); }\n", True),
            ("import torch\n", True),
        ):
            made = reward.terms(judged(2.0), source=kevo.Program(text, "python"), rules=[reward.names_kernel()])
            self.assertEqual(made.eligible, kept, text)

    def test_stages(self):
        self.assertEqual(reward.stages(judged(outcome="build_failed")), -1)
        self.assertAlmostEqual(reward.stages(judged(outcome="incorrect")), -0.4)
        self.assertAlmostEqual(reward.stages(judged(2.0), parent=judged(1.0), step=1), 0.9 * 1.6)

    def test_a_jump_is_measured_once_more(self):
        asked = []

        def again(second):
            return lambda: asked.append(second) or second

        self.assertEqual(reward.cuda_l1(judged(2.5), best_so_far=2.0, again=again(None)), 2.5)
        self.assertEqual(asked, [])
        self.assertEqual(reward.cuda_l1(judged(4.0), again=again(judged(3.9))), 4.0)
        self.assertEqual(reward.cuda_l1(judged(2.5), best_so_far=1.2, again=again(judged(2.0))), 0)
        self.assertEqual(reward.cuda_l1(judged(4.0), again=again(judged(outcome="crashed"))), 0)
        self.assertEqual(reward.cuda_l1(judged(4.0), again=again(None)), 0)
        self.assertEqual(reward.cuda_l1(judged(outcome="rejected"), again=again(judged(4.0))), 0)
        self.assertEqual(len(asked), 4)

    def test_an_evaluation_made_by_hand_is_checked(self):
        for words in ({"outcome": "fine"}, {"outcome": "valid"}, {"score": float("nan")}, {"speedup": -1.0}):
            with self.assertRaises(kevo.Error):
                kevo.Evaluation(**words)


class Advantages(unittest.TestCase):
    def test_groups(self):
        self.assertEqual(advantage.grpo([0, 2, 0, 2]), [-1, 1, -1, 1])
        self.assertEqual(advantage.grpo([3, 3]), [0, 0])
        self.assertEqual(advantage.trloo([0, 1, 2]), [-1.5, 0, 1.5])
        self.assertEqual(advantage.smoothed([0, 0, 0, 0, 10], limit=1.0)[-1], 1)
        self.assertEqual(advantage.returns([1, 0, 2], discount=0.5), [1.5, 1, 2])

    def test_filters(self):
        self.assertAlmostEqual(advantage.prs_keep_probability(True, 0.35), 0.5)
        self.assertEqual(advantage.prs_keep_probability(False, 0.0), 1)
        self.assertTrue(advantage.mrs_keeps([-1.0, -2.0], [-1.0, -2.0]))
        self.assertFalse(advantage.mrs_keeps([-1.0], [-2.0]))

    def test_pairs_skip_what_was_not_judged(self):
        slow = judged(1.0, speedup_interval=(0.9, 1.1))
        fast = judged(2.0, speedup_interval=(1.9, 2.1))
        self.assertEqual(advantage.preference_pairs([slow, None, fast, judged(outcome="crashed")]), [(0, 3), (2, 0), (2, 3)])


class Text(unittest.TestCase):
    def test_the_code_of_a_completion(self):
        self.assertEqual(kevo.code_of("a\n```cpp\nint x;\n```\nb"), "int x;\n")
        self.assertEqual(kevo.code_of("```\none\n```\n```c++\ntwo\n```"), "two\n")
        self.assertEqual(kevo.code_of("int y;"), "int y;")
        self.assertEqual(kevo.code_of("```cpp\nint cut_off"), "int cut_off")
        self.assertEqual(kevo.code_of([{"role": "assistant", "content": "```\nz\n```"}]), "z\n")
        for nothing in (None, 3, [], [{}], [None]):
            self.assertEqual(kevo.code_of(nothing), "")


if __name__ == "__main__":
    main()
