"""kevo-ray with a GPU for each replica, on a Ray cluster of three nodes on this machine: each replica uses its own GPU, also after
a replica and a node were killed, nothing is lost and nothing is counted twice.

On a machine with two GPUs or more these are used, else four simulated ones."""

import collections
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time
import unittest

import ray_cluster
import simulated_gpus
from ray_project import KEVO, Front, Project
from support import main, root

PATIENCE_S = 400
EVALUATIONS = int(os.environ.get("KEVO_RAY_EVALUATIONS", "0"))  # 0: 200 on real GPUs, 60 on simulated ones
SIMULATED = 4


def real_gpus():
    """Identifiers of the GPUs of this machine."""
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True, timeout=60)
    except OSError:
        return []
    return said.stdout.split() if said.returncode == 0 else []


def variable_of(process, name):
    """A variable of the environment with which a process was started."""
    words = pathlib.Path("/proc", str(process), "environ").read_bytes().decode(errors="replace").split("\0")
    return next((one.partition("=")[2] for one in words if one.startswith(name + "=")), None)


@unittest.skipUnless(ray_cluster.RAY, "Ray is not installed; scripts/setup.sh --ray fetches it")
class OwnGpu(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        os.chmod(made.name, 0o755)
        self.folder = pathlib.Path(made.name)
        self.environment = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        self.gpus = len(real_gpus())
        self.real = self.gpus >= 2
        if self.real:
            self.project = self.softmax()
        else:
            self.gpus = SIMULATED
            self.environment |= simulated_gpus.devices(self.folder / "gpus", range(SIMULATED), "$CUDA_VISIBLE_DEVICES")
            self.project = simulated_gpus.project(self.folder)
        self.evaluations = EVALUATIONS or (200 if self.real else 60)

    def softmax(self):
        made = Project(self.folder, {"backend": "cuda", "timing": "{target_interval: 0.03, full: 1, sustained: 0}"}, "best.cu")
        source = root / "configs/tasks/cuda_softmax"
        text = (source / "task.yaml").read_text().replace("seeds: [tunable.cu, seed.cu]", "seeds: [tunable.cu]")
        lines = [one for one in text.splitlines() if "cudnn" not in one]  # building it takes longer than a replica's start
        files = {f"{one}__cu": (source / f"{one}.cu").read_text() for one in ("reference", "tunable")}
        made.write(task__yaml="\n".join(lines) + "\n", **files)
        return made

    def given(self, cluster):
        """Which GPU each replica was given, as its server sees it."""
        found = {}
        for server in cluster.replicas()[1]:
            try:
                found[server] = variable_of(server, "CUDA_VISIBLE_DEVICES")
            except OSError:  # it has just ended
                continue
        return found

    def each_has_its_own(self, cluster):
        until = time.monotonic() + PATIENCE_S
        while len(found := self.given(cluster)) < self.gpus and time.monotonic() < until:
            time.sleep(0.5)
        print(f"replicas and their CUDA_VISIBLE_DEVICES: {found}", flush=True)
        self.assertEqual(sorted(found.values()), [str(one) for one in range(self.gpus)])

    def results(self):
        """(GPU, outcome, whether from a cache) of each evaluation of the run."""
        rows = self.project.rows("asked", "SELECT evaluation FROM evaluations ORDER BY sequence")
        texts = [json.loads(one) for (one,) in rows]
        return [(one["context"].get("gpu"), one["outcome"], one["cached"]) for one in texts]

    def ended(self):
        try:
            return self.project.rows("asked", "SELECT count(*) FROM evaluations")[0][0]
        except Exception:  # the run has not made its journal yet
            return 0

    def reach(self, count, run):
        until = time.monotonic() + PATIENCE_S
        while self.ended() < count and time.monotonic() < until:
            self.assertIsNone(run.poll(), (self.folder / "asked.log").read_text()[-3000:])
            time.sleep(0.05)

    def tell(self):
        """The ends of all logs."""
        for log in sorted(self.folder.glob("*.log")):
            print(f"== {log.name}\n{log.read_text(errors='replace')[-1500:]}", flush=True)

    def test_each_replica_uses_its_own_gpu(self):
        try:
            self.ask_and_kill()
        except BaseException:
            self.tell()
            raise

    def ask_and_kill(self):
        nodes = [list(range(self.gpus - 2)), [self.gpus - 2], [self.gpus - 1]] if self.gpus > 2 else [[0], [1]]
        words = [str(self.folder / "task/task.yaml"), "--gpus", "1"]
        for key, value in self.project.judge.items():
            words += ["--set", f"fitness.{key}={value}"]
        began = time.monotonic()
        cluster = ray_cluster.Cluster(
            self.folder, len(nodes), words, KEVO, f"127.0.{os.getpid() % 250}", self.gpus, nodes, **self.environment
        )
        self.addCleanup(cluster.close)
        front = Front(self.folder, self.folder / "task/task.yaml", cluster.port, at_once=2 * self.gpus)
        self.addCleanup(front.kill)
        cluster.wait_ready(self.gpus, PATIENCE_S)
        print(f"{self.gpus} replicas after {time.monotonic() - began:.1f} s", flush=True)
        self.each_has_its_own(cluster)

        stop = f"{{evaluations: {self.evaluations}}}"
        began = time.monotonic()
        run = self.project.start("asked", f"{{backend: remote, url: ['http://127.0.0.1:{front.port}']}}", stop, at_once=2 * self.gpus)
        self.addCleanup(run.kill)
        self.reach(1, run)
        first = time.monotonic()
        self.reach(self.evaluations // 4, run)
        before = time.monotonic()
        print(f"first result after {first - began:.1f} s, {self.evaluations // 4} after {before - began:.1f} s", flush=True)
        print("killed", cluster.kill_replica(random.Random(1)), flush=True)
        self.reach(self.evaluations // 2, run)
        cluster.kill_node(len(nodes) - 1)
        print(f"killed a node after {time.monotonic() - began:.1f} s", flush=True)
        self.assertEqual(run.wait(timeout=PATIENCE_S), 0, (self.folder / "asked.log").read_text()[-3000:])
        print(f"all results after {time.monotonic() - began:.1f} s", flush=True)
        self.each_has_its_own(cluster)

        results = self.results()
        done = front.jobs()
        until = time.monotonic() + PATIENCE_S  # what the run no longer waited for is finished all the same
        while set(done) != {2} and time.monotonic() < until:
            time.sleep(0.5)
            done = front.jobs()
        outcomes = collections.Counter(outcome for _, outcome, _ in results)
        used = collections.Counter(gpu for gpu, _, _ in results)
        print(f"results {len(results)}, jobs by state {done} (2: done), outcomes {dict(outcomes)}, by GPU {dict(used)}", flush=True)
        self.assertEqual(set(done), {2}, "each submission has a result")
        self.assertLessEqual(len(results), done[2], "no answer without a job of its own")
        self.assertLessEqual(done[2], len(results) + 2 * self.gpus, "but for what was at work at the end")
        asked = self.project.rows("asked", "SELECT candidate, wanted, count(*) FROM evaluations GROUP BY 1, 2 HAVING count(*) > 1")
        self.assertEqual(asked, [], "counted twice")
        self.assertLessEqual(set(outcomes), {"valid", "build_failed", "incorrect"} if self.real else {"valid"})
        self.assertGreater(outcomes["valid"], len(results) // 2)
        self.assertEqual(len(used), self.gpus)
        self.assertNotIn(None, used)
        self.assertGreater(min(used.values()), len(results) // (4 * self.gpus))
        if self.real:
            self.assertEqual(set(used), set(real_gpus()))


if __name__ == "__main__":
    main()
