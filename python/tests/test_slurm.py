"""python/kevo_ray/deploy/slurm.sh as a job of a real Slurm cluster of several nodes on this machine (slurm_cluster.py): the nodes evaluate
for a run, one of them and Ray on another one are killed, and the next job continues with the record of the first one; and a job with
GPUs, which are simulated, has a replica for each.

Skipped unless Slurm, munge and Ray are installed and the test runs as root, who alone may make networks."""

import collections
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import ray_cluster
import simulated_gpus
import slurm_cluster
from ray_project import KEVO, loops
from support import main, root

INSIDE = "KEVO_SLURM_INSIDE"  # set in the process that has networks of its own
SCRIPT = root / "python/kevo_ray/deploy/slurm.sh"
PATIENCE_S = 400
NODES = 3
EVALUATIONS = 30
DONE = 2  # progress of a job in the record of the service


def missing():
    """Why the test cannot run here; empty if it can."""
    programs = [one for one in ("slurmctld", "slurmd", "sbatch", "munged", "ip", "unshare", "nsenter") if not shutil.which(one)]
    if programs:
        return f"Slurm's cluster needs {', '.join(programs)} (Debian: slurm-wlm, munge, iproute2, util-linux)"
    if not ray_cluster.RAY:
        return "Ray is not installed; scripts/setup.sh --ray fetches it"
    return "" if os.geteuid() == 0 else "only root may make the networks of the nodes"


@unittest.skipIf(missing(), missing())
class OnSlurm(unittest.TestCase):
    def test_nodes_end_and_the_next_job_continues(self):
        self.apart("test_nodes_end_and_the_next_job_continues", self.nodes_end)

    def test_a_replica_for_each_gpu(self):
        self.apart("test_a_replica_for_each_gpu", self.gpus_are_used)

    def apart(self, name, what):
        """Does `what` in this process if that has networks of its own, else runs the test `name` in one that has."""
        if os.environ.get(INSIDE):
            what()
            return
        words = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        words += [sys.executable, "-B", __file__, f"OnSlurm.{name}"]
        self.assertEqual(subprocess.run(words, env=dict(os.environ, **{INSIDE: "1"}), check=False).returncode, 0)

    def make_commands(self):
        """What pip would install on the nodes."""
        own = self.folder / "bin"
        own.mkdir()
        (own / "kevo").symlink_to(KEVO)
        for name, words in (("kevo-ray", "-m kevo_ray"), ("ray", ray_cluster.RAY / "bin/ray")):
            (own / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
            (own / name).chmod(0o755)
        return {
            "PATH": f"{own}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ray_cluster.RAY}:{root / 'python/kevo_ray'}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RAY_USAGE_STATS_ENABLED": "0",
            "HOME": str(self.folder),
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_failure_threshold": "5",
        }

    def start_slurm(self, make_project, nodes, gpus=0):
        made = tempfile.TemporaryDirectory(dir=KEVO.parent)  # not in /tmp: each node has its own
        self.addCleanup(made.cleanup)
        os.chmod(made.name, 0o755)
        self.folder = pathlib.Path(made.name)
        self.record = self.folder / "record"
        self.project = make_project(self.folder)
        (self.folder / "token.txt").write_text("0123456789abcdef0123456789abcdef")
        (self.folder / "tokens.txt").write_text("trainer 0123456789abcdef0123456789abcdef\n")
        for one in ("token.txt", "tokens.txt"):
            (self.folder / one).chmod(0o600)
        self.environment = self.make_commands()
        self.nodes, self.resources = nodes, [f"--nodes={nodes}", *([f"--gpus-per-node={gpus}"] if gpus else [])]
        self.cluster = slurm_cluster.Cluster(self.folder, nodes, gpus=gpus)
        self.addCleanup(self.cluster.close)

    def submit(self):
        settings = [f"fitness.{key}={value}" for key, value in self.project.judge.items()]
        words = ["sbatch", "--parsable", *self.resources, f"--output={self.folder}/job-%j.log", SCRIPT, self.folder / "task"]
        job = self.cluster.slurm(*words, self.record, self.folder / "tokens.txt", *settings, **self.environment).strip()
        self.wait_for(lambda: self.healthy(), f"no answer of the service; {self.log_of(job)}")
        return job

    def cancel(self, job):
        self.cluster.slurm("scancel", job)
        self.wait_for(lambda: not self.cluster.slurm("squeue", "-h", "-j", job, fails="").strip(), f"job {job} does not end")

    def log_of(self, job):
        log = self.folder / f"job-{job}.log"
        return log.read_text(errors="replace")[-3000:] if log.exists() else f"job {job} has no log"

    def healthy(self):
        try:
            return urllib.request.urlopen("http://n1:8750/healthz", timeout=5).status == 200
        except OSError:
            return False

    def wait_for(self, condition, what):
        until = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.3)

    def jobs(self):
        """How many jobs of the record are in each state."""
        with sqlite3.connect(self.record / "service.sqlite") as record:
            return dict(record.execute("SELECT progress, count(*) FROM jobs GROUP BY progress").fetchall())

    def replicas(self):
        """How many servers there are on each node, but for the one that keeps the record."""
        found = {}
        for name in self.cluster.nodes:
            listed = self.cluster.inside(name, "pgrep", "-f", "kevo serve .*--state /tmp/kevo-ray-").stdout
            found[name] = len(listed.splitlines())
        return found

    def run_of(self, name, evaluations):
        where = f"{{backend: remote, url: ['http://n1:8750'], token_file: {self.folder}/token.txt}}"
        run = self.project.start(name, where, f"{{evaluations: {evaluations}}}", at_once=2 * self.nodes)
        self.addCleanup(run.kill)
        return run

    def ended(self, name):
        try:
            return self.project.rows(name, "SELECT count(*) FROM evaluations")[0][0]
        except sqlite3.Error:  # the run has not made its journal yet
            return 0

    def gpus_are_used(self):
        nodes, gpus = 2, 2
        self.start_slurm(simulated_gpus.project, nodes, gpus)
        names = [f"n{node}-{gpu}" for node in range(1, nodes + 1) for gpu in range(gpus)]
        self.environment |= simulated_gpus.devices(self.folder / "gpus", names, "$(hostname)-$CUDA_VISIBLE_DEVICES")
        job = self.submit()
        self.wait_for(lambda: set(self.replicas().values()) == {gpus}, f"replicas: {self.replicas()}; {self.log_of(job)}")
        run = self.run_of("asked", EVALUATIONS)
        self.assertEqual(run.wait(timeout=PATIENCE_S), 0, (self.folder / "asked.log").read_text()[-3000:] + self.log_of(job))
        results = [json.loads(one) for (one,) in self.project.rows("asked", "SELECT evaluation FROM evaluations")]
        used = collections.Counter(one["context"]["gpu"] for one in results)
        print(f"results by GPU: {dict(used)}", flush=True)
        self.assertEqual({one["outcome"] for one in results}, {"valid"})
        self.assertEqual(len(used), nodes * gpus)
        self.cancel(job)

    def nodes_end(self):
        self.start_slurm(loops, NODES)
        began = time.monotonic()
        job = self.submit()
        print(f"the service answers {time.monotonic() - began:.0f} s after the job was submitted", flush=True)
        self.wait_for(lambda: all(self.replicas().values()), f"replicas: {self.replicas()}; {self.log_of(job)}")
        print(f"replicas: {self.replicas()} after {time.monotonic() - began:.0f} s", flush=True)

        began = time.monotonic()
        run = self.run_of("disturbed", EVALUATIONS)
        for at, what in ((EVALUATIONS // 4, "Ray of a node"), (EVALUATIONS // 2, "a node")):
            self.wait_for(lambda at=at: self.ended("disturbed") >= at or run.poll() is not None, self.log_of(job))
            self.assertIsNone(run.poll())
            if what == "a node":
                self.cluster.end_node("n3")
            else:
                self.assertEqual(self.cluster.inside("n2", "pkill", "-KILL", "raylet").returncode, 0)
            print(f"killed {what} after {time.monotonic() - began:.0f} s", flush=True)
        self.assertEqual(run.wait(timeout=PATIENCE_S), 0, (self.folder / "disturbed.log").read_text()[-3000:] + self.log_of(job))
        print(f"the run took {time.monotonic() - began:.0f} s", flush=True)
        down = ("sinfo", "-h", "-t", "down", "-o", "%N")
        self.wait_for(lambda: "n3" in self.cluster.slurm(*down), "Slurm does not notice that it lost a node")
        self.assertIn(job, self.cluster.slurm("squeue", "-h", "-o", "%i"), "the job goes on without the node")
        self.cluster.start_node_again("n3")

        self.wait_for(lambda: set(self.jobs()) == {DONE}, f"jobs by state: {self.jobs()}")
        outcomes = collections.Counter(one for (one,) in self.project.rows("disturbed", "SELECT outcome FROM evaluations"))
        print(f"results {dict(outcomes)}, jobs {self.jobs()}", flush=True)
        self.assertEqual(set(outcomes), {"valid"})
        self.assertLessEqual(self.jobs()[DONE] - sum(outcomes.values()), 2 * self.nodes)
        self.assertGreaterEqual(self.jobs()[DONE], sum(outcomes.values()))

        self.cancel(job)
        self.assertEqual(list(self.folder.glob(".kevo-ray.*")), [], "the secret of the ended job is left")
        before = self.jobs()
        self.wait_for(lambda: self.cluster.slurm("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(NODES), "a node is not back")
        job = self.submit()
        again = self.run_of("again", 1)
        self.assertEqual(again.wait(timeout=PATIENCE_S), 0, (self.folder / "again.log").read_text()[-3000:])
        self.assertEqual(self.project.rows("again", "SELECT outcome FROM evaluations WHERE wanted != 'confirmed'"), [("valid",)])
        self.assertEqual(self.jobs(), before, "the next job answers from the record")
        self.cancel(job)


if __name__ == "__main__":
    main()
