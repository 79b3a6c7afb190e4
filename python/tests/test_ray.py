"""kevo-ray on a real Ray cluster of three nodes on this machine: a replica, a server, a node and the head are killed while a
run asks; nothing is lost, nothing is counted twice, and the run ends where an undisturbed one does.

KEVO_RAY_SECONDS=600 makes it tests of so many seconds with kills at random (docs/ray.md has the figures of such)."""

import collections
import os
import pathlib
import random
import tempfile
import time
import unittest

import ray_cluster
from ray_project import AT_ONCE, KEVO, Front, Project, loops
from support import main

LONG_S = float(os.environ.get("KEVO_RAY_SECONDS", "0"))
NODES = 3
PATIENCE_S = 500  # on a busy machine: where 20 programs want 2 processors, Ray's head takes minutes to start

# The score follows from the program alone, so that two searches that hear the same answers in the same order are the same.
SEED = "a = 1  # kevo: {1..40 step 1}\nb = 1  # kevo: {1..40 step 1}\n"
SCORE = """
read _ _ a _ <"$1"
b=$(sed -n 's/^b = \\([0-9]*\\).*/\\1/p' "$1")
echo "$a $b" >>calls
sleep {pause}
echo "{{\\"score\\": $(( 10000 - (a - 23) * (a - 23) - (b - 17) * (b - 17) + (a * b) % 7 ))}}"
"""


def hills(folder, pause):
    """Judged by a script, which notes each call."""
    task = pathlib.Path(folder) / "task"
    judge = {"backend": "command", "command": "[sh, score.sh]", "sandbox": "off", "directory": str(task)}
    made = Project(folder, judge, "best.txt")
    made.write(task__yaml="name: hills\nseeds: [seed.txt]\n", seed__txt=SEED, score__sh=SCORE.format(pause=pause))
    return made


def disturb(cluster, front, run, chance, every_s):
    """Kills something every few seconds until the run has ended. Returns what was killed how often."""
    killed = collections.Counter()
    while run.poll() is None:
        time.sleep(chance.uniform(0.5, 1.5) * every_s)
        if run.poll() is not None:
            break
        dice = chance.random()
        if dice < 0.55:
            what = cluster.kill_replica(chance)
        elif dice < 0.8:
            what = "a node"
            cluster.kill_node(chance.randrange(1, NODES))
        elif dice < 0.9:
            what = "the head"
            cluster.kill_node(0)
        else:
            what = "the front"
            front.kill()
            front.start()
        if what is None:  # there is no replica at the moment
            continue
        killed[what] += 1
        print(f"{time.strftime('%H:%M:%S')} killed {what}", flush=True)
    return killed


@unittest.skipUnless(ray_cluster.RAY, "Ray is not installed; scripts/setup.sh --ray fetches it")
class Killed(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        os.chmod(made.name, 0o755)
        self.folder = pathlib.Path(made.name)

    def cluster_for(self, project, *more, replicas=None):
        words = [str(project.folder / "task/task.yaml"), *more]
        for key, value in project.judge.items():
            words += ["--set", f"fitness.{key}={value}"]
        cluster = ray_cluster.Cluster(self.folder, NODES, words, KEVO, f"127.0.{os.getpid() % 250}", replicas)
        self.addCleanup(cluster.close)
        front = Front(self.folder, project.folder / "task/task.yaml", cluster.port)
        self.addCleanup(front.kill)
        return cluster, front

    def undisturbed(self, project, **how):
        local = "{" + ", ".join(f"{key}: {value}" for key, value in project.judge.items()) + "}"
        run = project.start("undisturbed", local, **how)
        self.assertEqual(run.wait(timeout=max(120, 3 * LONG_S)), 0, (project.folder / "undisturbed.log").read_text())

    def disturbed(self, project, front, **how):
        run = project.start("disturbed", f"{{backend: remote, url: ['http://127.0.0.1:{front.port}']}}", **how)
        self.addCleanup(run.kill)
        return run

    def check(self, project, front, killed, calls, at_work=0):
        """Each evaluation that was asked for was answered, and recorded once. `at_work`: how many the run may have had at work, and
        no longer have waited for, when its time was over."""
        asked = project.rows("disturbed", "SELECT count(*) FROM evaluations")[0][0]
        done = front.jobs()
        until = time.monotonic() + 180  # what the run no longer waited for is finished all the same
        while set(done) != {2} and time.monotonic() < until:
            time.sleep(1)
            done = front.jobs()
        self.assertEqual(set(done), {2}, f"states of the jobs: {done}")
        self.assertLessEqual(asked, done[2])
        self.assertLessEqual(done[2], asked + at_work)
        outcomes = collections.Counter(one for (one,) in project.rows("disturbed", "SELECT outcome FROM evaluations"))
        print(f"asked {asked}, answered {done[2]} ({dict(outcomes)}), made {calls or 'not counted'}; killed {dict(killed)}")
        self.assertEqual(set(outcomes), {"valid"})
        if calls:
            self.assertLessEqual(calls, asked + sum(killed.values()) * AT_ONCE)

    def same_search(self, project):
        order = "SELECT candidate, program, score FROM evaluations JOIN candidates ON id = candidate ORDER BY evaluations.sequence"
        first, second = project.rows("undisturbed", order), project.rows("disturbed", order)
        self.assertGreater(len(first), 50)
        self.assertEqual(first, second)
        self.assertEqual(project.best("undisturbed"), project.best("disturbed"))

    def test_kills(self):
        project = hills(self.folder, pause=0.1)
        self.undisturbed(project, stop="{evaluations: 60}", at_once=1)
        before = len(project.calls())
        cluster, front = self.cluster_for(project)
        run = self.disturbed(project, front, stop="{evaluations: 60}", at_once=1)
        cluster.wait_ready(NODES, PATIENCE_S)  # the run waits meanwhile
        killed = collections.Counter()

        def made():
            return len(project.calls()) - before

        for at, what in ((5, "replica"), (15, "node"), (25, "front"), (35, "head")):
            while made() < at and run.poll() is None:
                time.sleep(0.02)
            self.assertIsNone(run.poll())
            if what == "replica":
                self.assertIsNotNone(cluster.kill_replica(random.Random(1)))
            elif what == "front":
                front.kill()
                front.start()
            else:
                cluster.kill_node(0 if what == "head" else 1)
            killed[what] += 1
        self.assertEqual(run.wait(timeout=PATIENCE_S), 0, (project.folder / "disturbed.log").read_text())
        self.check(project, front, killed, made())
        self.same_search(project)

    def test_replicas_follow_the_load(self):
        project = hills(self.folder, pause=0.5)
        cluster, front = self.cluster_for(project, "--max-replicas", "2", replicas=1)
        cluster.wait_ready(1, PATIENCE_S)
        self.assertEqual(len(cluster.replicas()[1]), 1)
        began = time.monotonic()
        run = self.disturbed(project, front, stop="{evaluations: 400}", at_once=AT_ONCE)
        while len(cluster.replicas()[1]) < 2:
            self.assertIsNone(run.poll(), "the run ended before there was a second replica")
            time.sleep(1)
        print(f"a second replica after {time.monotonic() - began:.0f} s")
        self.assertEqual(run.wait(timeout=PATIENCE_S), 0, (project.folder / "disturbed.log").read_text())
        self.assertEqual(len(cluster.replicas()[1]), 2)
        self.check(project, front, collections.Counter(), len(project.calls()))

    def test_one_after_the_other(self):
        project = hills(self.folder, pause=0.3)
        cluster, front = self.cluster_for(project)
        cluster.wait_ready(NODES, PATIENCE_S)
        run = self.disturbed(project, front, stop=f"{{seconds: {LONG_S}}}", at_once=1)
        killed = disturb(cluster, front, run, random.Random(1), every_s=15)
        self.assertEqual(run.returncode, 0, (project.folder / "disturbed.log").read_text()[-3000:])
        self.check(project, front, killed, len(project.calls()))
        first = project.rows("disturbed", "SELECT count(*) FROM evaluations WHERE wanted != 'confirmed'")[0][0]
        self.undisturbed(project, stop=f"{{evaluations: {first}}}", at_once=1)
        self.same_search(project)

    def test_on_the_cpu(self):
        project = loops(self.folder)
        cluster, front = self.cluster_for(project)
        cluster.wait_ready(NODES, PATIENCE_S)
        run = self.disturbed(project, front, stop=f"{{seconds: {LONG_S}}}", at_once=AT_ONCE)
        killed = disturb(cluster, front, run, random.Random(2), every_s=15)
        self.assertEqual(run.returncode, 0, (project.folder / "disturbed.log").read_text()[-3000:])
        self.check(project, front, killed, 0, at_work=AT_ONCE)
        first = project.rows("disturbed", "SELECT count(*) FROM evaluations WHERE wanted != 'confirmed'")[0][0]
        self.undisturbed(project, stop=f"{{evaluations: {first}}}", at_once=2)
        print([project.rows(name, "SELECT max(speedup) FROM evaluations WHERE wanted = 'confirmed'") for name in ("undisturbed", "disturbed")])
        self.assertEqual(project.best("undisturbed"), project.best("disturbed"))


# Either the short test or the long ones. A test that is skipped would make ctest call the whole program skipped.
for one in ("test_one_after_the_other", "test_on_the_cpu") if LONG_S == 0 else ("test_kills", "test_replicas_follow_the_load"):
    delattr(Killed, one)

if __name__ == "__main__":
    main()
