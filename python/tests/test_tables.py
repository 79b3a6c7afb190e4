"""Journals as tables of pandas and Arrow, where these are installed."""

import importlib.util
import unittest
from pathlib import Path

import kevo
from support import folder, main, small


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = folder()
        config = Path(cls.scratch.name) / "config.yaml"
        config.write_text(
            f"""
run: {{name: tables, output: {cls.scratch.name}/run}}
task: {small}
fitness: {{backend: cpu}}
archive: {{type: top_k}}
select: {{type: greedy}}
vary: {{operators: [{{type: tune}}]}}
stop: {{evaluations: 6}}
"""
        )

        def vary(request, random):
            return request.parents[0].text + f"// {random.below(10**9)}\n", "a remark"

        cls.ended = kevo.run(config, operators=[vary], fitness=lambda request: len(request.text))
        cls.journal = kevo.journal(cls.ended.folder)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def tables(self):
        run = self.journal
        return [run.candidates(), run.evaluations(), run.workloads(), run.measures(), run.edges()]

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_pandas(self):
        for table in self.tables():
            self.assertEqual(len(table.pandas()), len(table))
        frame = self.journal.evaluations().pandas()
        self.assertEqual(frame.score.max(), self.ended.score)
        self.assertTrue(frame.speedup.isna().all())

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_arrow(self):
        for table in self.tables():
            arrow = table.arrow()
            self.assertEqual(arrow.num_rows, len(table))
            self.assertEqual(arrow.schema, kevo.Table({name: [] for name in table.columns}).arrow().schema)


if __name__ == "__main__":
    main()
