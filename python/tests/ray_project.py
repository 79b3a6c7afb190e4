"""A project whose evaluations a Ray cluster makes, and the service in front of the cluster that keeps the record."""

import os
import pathlib
import sqlite3
import subprocess

import ray_cluster
from support import root

KEVO = pathlib.Path(os.environ["KEVO_BUILD"]).resolve() / "kevo"
AT_ONCE = 6

CONFIG = """
run: {{name: killed, seed: 1, output: runs/{name}, parallel: {{variations: {at_once}, builds: {at_once}, proposals_ahead: {at_once}}}}}
task: task/task.yaml
fitness: {fitness}
archive: {{type: top_k}}
select: {{type: greedy}}
vary: {{operators: [{{type: tune}}]}}
stop: {stop}
"""
# Programs for the CPU whose times differ so much that the best one is the same in each run. There are 4,096 of them, more than are
# evaluated in ten minutes: a run ends when it has tried all.
LOOPS = """#include <cstdint>

#define OUTER 16  // kevo: {1..16 step 1}
#define INNER 16  // kevo: {1..16 step 1}
#define MORE 16   // kevo: {1..16 step 1}

extern "C" void run(const float* X, float* Y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    for (volatile int again = 0; again < OUTER * INNER + 8 * (MORE - 1); ++again) {}
    Y[i] = 2.0f * X[i];
  }
}
"""


class Project:
    """A task in a folder, how its programs are judged, and runs."""

    def __init__(self, folder, judge, best):
        self.folder = pathlib.Path(folder)
        self.judge = judge  # the section `fitness` as {key: text}
        self.best_file = best
        (self.folder / "task").mkdir()

    def write(self, **files):
        for name, text in files.items():
            (self.folder / "task" / name.replace("__", ".")).write_text(text)

    def start(self, name, fitness, stop, at_once):
        text = CONFIG.format(name=name, fitness=fitness, stop=stop, at_once=at_once)
        (self.folder / f"{name}.yaml").write_text(text)
        with open(self.folder / f"{name}.log", "w") as log:
            return subprocess.Popen([KEVO, "run", f"{name}.yaml"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def rows(self, name, what):
        with sqlite3.connect(self.folder / f"runs/{name}/journal.sqlite") as journal:
            return journal.execute(what).fetchall()

    def best(self, name):
        return (self.folder / f"runs/{name}" / self.best_file).read_text()

    def calls(self):
        noted = self.folder / "task/calls"
        return noted.read_text().splitlines() if noted.exists() else []


def loops(folder):
    """Measured on the CPU."""
    small = root / "python/tests/small"
    made = Project(folder, {"backend": "cpu", "timing": "{short: 0.02, full: 0.04, sustained: 0.02}"}, "best.cpp")
    text = (small / "task.yaml").read_text()
    made.write(task__yaml=text, reference__cpp=(small / "reference.cpp").read_text(), seed__cpp=LOOPS)
    return made


class Front:
    """The service that keeps the record: kevo serve --forward."""

    def __init__(self, folder, tasks, behind, at_once=AT_ONCE):
        self.folder = pathlib.Path(folder)
        self.port = ray_cluster.free_port()
        self.words = [KEVO, "serve", tasks, "--state", self.folder / "state", "--listen", f"127.0.0.1:{self.port}"]
        self.words += ["--at-once", str(at_once), "--forward", f"http://127.0.0.1:{behind}"]
        self.start()

    def start(self):
        with open(self.folder / "front.log", "a") as log:
            self.process = subprocess.Popen([str(one) for one in self.words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def jobs(self):
        """How many jobs there are in each state; 2 is done."""
        with sqlite3.connect(self.folder / "state/service.sqlite") as record:
            return dict(record.execute("SELECT progress, count(*) FROM jobs GROUP BY progress").fetchall())
