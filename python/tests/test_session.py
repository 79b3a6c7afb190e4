"""kevo.run, kevo.resume and kevo.journal: a whole run from a config, with roles in Python beside those of the config."""

import signal
import subprocess
import sys
import traceback
import unittest
from pathlib import Path

import kevo
from support import folder, main, root, softmax


@kevo.register("operator", "python_reverse")
class Reverse:
    """Adds a remark, so that every proposal is new."""

    made = 0

    def __init__(self, remark="remark"):
        self.remark = remark

    def vary(self, request, random):
        Reverse.made += 1
        return f"{request.parents[0].text}// {self.remark} {Reverse.made}\n", "a remark"


@kevo.register("fitness", "python_length")
class Length:
    def evaluate(self, request):
        return {"score": float(len(request.text)), "measures": {"lines": request.text.count("\n")}}


config = f"""
run: {{name: python, seed: 3, output: OUT}}
task: {softmax}
fitness: {{backend: python_length}}
archive: {{type: top_k, k: 5}}
select: {{type: greedy}}
vary: {{operators: [{{type: python_reverse, remark: from the config}}]}}
stop: {{any: [{{evaluations: 12}}, {{seconds: 30}}]}}
"""


class Session(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = folder()
        cls.base = Path(cls.scratch.name)
        cls.config = cls.base / "config.yaml"
        cls.config.write_text(config.replace("OUT", str(cls.base / "run")))
        cls.events = []
        cls.ended = kevo.run(cls.config, sinks=[cls.events.append])

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_a_config_names_roles_in_python(self):
        self.assertGreaterEqual(self.ended.evaluations, 12)
        self.assertIn("from the config", self.ended.best_program.text)
        self.assertTrue(Path(self.ended.best_file).exists())
        self.assertEqual(self.events[0]["kind"], "seeded")
        self.assertEqual([e["sequence"] for e in self.events], list(range(1, len(self.events) + 1)))

    def test_the_journal_has_columns(self):
        run = kevo.journal(self.ended.folder)
        self.assertEqual(run.name, "python")
        self.assertEqual(run.best, self.ended.best)
        candidates = run.candidates()
        self.assertEqual(len(candidates), len(run))
        self.assertEqual(candidates["operator"][0], "seed")
        made = [row for row in candidates if row["operator"] == "Reverse"]
        self.assertEqual({row["summary"] for row in made}, {"a remark"})
        self.assertGreaterEqual(len(run.evaluations()), 12)
        self.assertEqual(set(run.evaluations()["outcome"]), {"valid"})
        line = run.lineage(run.best)
        self.assertEqual(line[0], run.best)
        self.assertEqual(candidates["operator"][line[-1]], "seed")
        edges = {(row["child"], row["parent"]) for row in run.edges()}
        self.assertTrue(all(pair in edges for pair in zip(line, line[1:])))
        self.assertEqual(run.source(run.best), self.ended.best_program)
        self.assertEqual(run.evaluations_of(run.best)[-1].score, len(run.source(run.best).text))
        self.assertEqual(set(run.measures()["measure"]), {"lines"})
        with self.assertRaises(kevo.Error):
            run.source(10**6)
        with self.assertRaises(kevo.Error):
            kevo.journal(self.base / "nothing")

    def test_a_run_goes_on_with_the_roles_that_it_began_with(self):
        first = kevo.run(self.config, set={"run.output": self.base / "resumed"})
        second = kevo.resume(first.folder, set={"stop": {"evaluations": 20}})
        self.assertGreaterEqual(second.evaluations, 20)
        self.assertEqual(kevo.journal(first.folder).best, second.best)

    def test_python_roles_beside_those_of_the_config(self):
        def shout(request, random):
            return request.parents[0].text + f"// {random.below(10**9)}\n", "shouted"

        stops = []
        ended = kevo.run(
            self.config,
            set={"run.output": self.base / "beside"},
            operators=[shout],
            select=lambda view, random: view.nth_best(0),
            stop=lambda now: stops.append(now.evaluations) or ("enough" if now.evaluations >= 15 else None),
            fitness=lambda request: len(request.text),
        )
        self.assertEqual(ended.stopped_by, "enough")
        self.assertTrue(stops)
        names = set(kevo.journal(ended.folder).candidates()["operator"])
        self.assertEqual(names, {"seed", "Reverse", "shout"})

    def test_a_role_that_raises_ends_the_run_but_the_record_stays(self):
        def fails(request):
            raise RuntimeError("the judge is ill")

        out = self.base / "fails"
        with self.assertRaisesRegex(RuntimeError, "the judge is ill"):
            try:
                kevo.run(self.config, set={"run.output": out}, fitness=fails)
            except RuntimeError as raised:
                names = [frame.name for frame in traceback.extract_tb(raised.__traceback__)]
                raise
        self.assertEqual(names[-1], "fails", "the traceback does not show where")
        self.assertGreaterEqual(len(kevo.journal(out)), 1)

    def test_an_operator_that_raises_does_not_end_the_run(self):
        def fails(request, random):
            raise KeyError("no idea")

        ended = kevo.run(self.config, set={"run.output": self.base / "operator"}, operators=[fails])
        self.assertGreaterEqual(ended.evaluations, 12)

    def test_ctrl_c_stops_a_run_gracefully(self):
        program = f"""
import time, kevo
count = 0
def vary(request, random):
    global count
    count += 1
    return request.parents[0].text + f"// {{count}}\\n"
def judge(request):
    time.sleep(0.02)
    return len(request.text)
def told(event):
    if event["kind"] == "evaluation_told": print("told", flush=True)
try:
    kevo.run({str(self.config)!r}, set={{"run.output": {str(self.base / "interrupted")!r}, "stop": {{"seconds": 60}},
             "fitness": {{"backend": "cpu"}}, "vary": {{"operators": [{{"type": "tune"}}]}}}},
             operators=[vary], fitness=judge, sinks=[told])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "told\n")
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=30)
        self.assertTrue(said.endswith("interrupted\n"), said)
        self.assertGreaterEqual(len(kevo.journal(self.base / "interrupted").evaluations()), 1)


if __name__ == "__main__":
    main()
