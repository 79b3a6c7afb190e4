"""kevo.evaluate and kevo.evaluators, with the real fitness function of CPUs in its sandbox."""

import os
import pickle
import threading
import time
import unittest
from pathlib import Path

import kevo
from kevo import reward
from support import main, python, quick, root, small

seed = (small.parent / "seed.cpp").read_text()
wrong = seed.replace("2.0f", "2.1f")


class Evaluate(unittest.TestCase):
    def test_a_right_program_is_timed_and_says_so(self):
        result = kevo.evaluate(small, seed, fitness=quick)
        self.assertEqual(result.outcome, "valid")
        self.assertTrue(result)
        self.assertGreater(result.speedup, 0)
        low, high = result.speedup_interval
        self.assertLessEqual(low, result.speedup)
        self.assertGreaterEqual(high, result.speedup)
        self.assertEqual(result.stage, "confirmed")
        self.assertTrue(all(w["outcome"] == "valid" for w in result.workloads))
        self.assertIn("code_bytes", result.measures)
        said = result.as_dict()
        self.assertEqual(said["outcome"], "valid")
        self.assertEqual(len(said["workloads"]), len(result.workloads))
        self.assertNotIn("pairs", said["workloads"][0])
        again = pickle.loads(pickle.dumps(result))
        self.assertEqual(again.as_dict(samples=True), result.as_dict(samples=True))

    def test_a_text_and_its_file_are_the_same_program(self):
        path = small.parent / "seed.cpp"
        self.assertEqual(kevo.Program(path).id, kevo.Program(seed, "cpp").id)
        self.assertEqual(kevo.evaluate(small, Path(path), stage="checked").outcome, "valid")

    def test_what_was_only_built_is_not_valid_and_earns_nothing(self):
        for program in (seed, wrong):
            built = kevo.evaluate(small, program, stage="built")
            self.assertEqual((built.outcome, built.stage), ("unchecked", "built"))
            self.assertFalse(built.valid)
            for recipe in reward.recipes():
                self.assertEqual(reward.of(recipe, built), 0, recipe)

    def test_a_wrong_task_is_an_error_that_says_where(self):
        with self.assertRaises(kevo.Error) as raised:
            kevo.evaluate("/nonexistent/task.yaml", seed)
        self.assertEqual(raised.exception.code, "input")
        with self.assertRaises(kevo.Error) as raised:
            kevo.evaluate(small, seed, fitness={"compilerr": "g++"})
        self.assertIn("compilerr", str(raised.exception))
        with self.assertRaises(kevo.Error):
            kevo.evaluate(small, seed, stage="finished")


class Evaluators(unittest.TestCase):
    def test_a_batch_has_a_result_for_whatever_a_model_wrote(self):
        broken_annotation = "// kevo: tunable int X = in {\n" + seed
        batch = [seed, wrong, "this is no C++", None, 7, "\ud800", "", broken_annotation, seed, {"kernel.cpp": seed},
                 {"kernel.cpp": seed, "kernel.cpp/x.hpp": ""}, {"../kernel.cpp": seed}]
        with kevo.evaluators(small, workers=2, fitness=quick) as judge:
            results = judge.evaluate_many(batch, stage="timed_short")
            self.assertEqual([r.outcome for r in results[:2]], ["valid", "incorrect"])
            for result in results[2:8]:
                self.assertFalse(result.valid, result)
                self.assertTrue(result.feedback or result.reasons)
            self.assertEqual(results[8].outcome, "valid")
            self.assertEqual(results[9].outcome, "valid")
            self.assertEqual([r.outcome for r in results[10:]], ["build_failed"] * 2)
            self.assertEqual(results[8].as_dict(samples=True), results[0].as_dict(samples=True), "judged once")
            self.assertEqual([kevo.reward.dr_kernel(r) > 0 for r in results[:3]], [True, False, False])
        with self.assertRaises(kevo.Error):
            judge.evaluate(seed)

    def test_time_is_bounded_and_what_was_not_judged_is_none(self):
        hangs = seed.replace("  for", "  for (volatile bool on = true; on;) {}\n  for")
        patient = {**quick, "limits": {"call": 60, "first_call": 60}}  # [s]
        with kevo.evaluators(small, workers=1, fitness=patient) as judge:
            began = time.monotonic()
            self.assertEqual(judge.evaluate_many([hangs, "no program"], timeout_s=2.0), [None, None])
            self.assertLess(time.monotonic() - began, 30)

    def test_other_threads_of_python_run_meanwhile(self):
        ticks = 0
        over = threading.Event()

        def count():
            nonlocal ticks
            while not over.wait(0.01):
                ticks += 1

        with kevo.evaluators(small, workers=1, fitness=quick) as judge:
            counter = threading.Thread(target=count)
            counter.start()
            judge.evaluate(seed, stage="built")
            over.set()
            counter.join()
        self.assertGreater(ticks, 3)

    def test_a_fork_is_told_that_it_cannot_evaluate(self):
        with kevo.evaluators(small, workers=1, fitness=quick) as judge:
            judge.evaluate(seed, stage="built")
            child = os.fork()
            if child == 0:
                try:
                    judge.evaluate(seed, stage="built")
                    os._exit(1)
                except kevo.Error as refused:
                    os._exit(0 if refused.code == "usage" else 2)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class Package(unittest.TestCase):
    def test_stubs_name_what_the_module_has(self):
        import ast

        tree = ast.parse((root / "python/kevo/_kevo.pyi").read_text())
        stubs = {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                stubs[node.name] = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} | {
                    n.target.id for n in node.body if isinstance(n, ast.AnnAssign)
                }
            elif isinstance(node, ast.FunctionDef):
                stubs[node.name] = None
            elif isinstance(node, ast.AnnAssign):
                stubs[node.target.id] = None
        module = kevo._kevo
        public = {n for n in vars(module) if not n.startswith("__")}
        self.assertEqual(public, set(stubs))
        for name, members in stubs.items():
            if members is None or name == "Error":
                continue
            there = {m for m in vars(getattr(module, name)) if not m.startswith("__") and m != "_pybind11_conduit_v1_"}
            self.assertEqual(there, {m for m in members if not m.startswith("__")}, name)

    def test_pandas_and_arrow_are_imported_only_when_asked_for(self):
        said = python("import sys, kevo; print(sorted({'pandas', 'pyarrow', 'numpy', 'torch'} & set(sys.modules)))")
        self.assertEqual(said.stdout.strip(), "[]", said.stderr)


if __name__ == "__main__":
    main()
