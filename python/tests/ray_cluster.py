"""A Ray cluster of several nodes on this machine, each a group of processes with an address of its own, and who starts them again."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RAY = next((folder for folder in (pathlib.Path(os.environ.get("KEVO_RAY", "/nowhere")), SOURCE / "build/ray") if folder.exists()), None)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def processes_of(session):
    """Numbers of the processes of a session: a node's are all in one."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                stat = pathlib.Path("/proc", entry, "stat").read_text()
                if int(stat[stat.rindex(")") + 2 :].split()[3]) == session:
                    found.append(int(entry))
    return found


def command_of(process):
    with contextlib.suppress(OSError):
        return pathlib.Path("/proc", str(process), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


class Group:
    """A command and all that it starts."""

    def __init__(self, words, log, environment):
        self.words, self.log, self.environment = words, log, environment
        self.process = None
        self.starts = 0

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment, start_new_session=True
            )
        self.starts += 1

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """Ends everything at once, as if its machine had lost its power."""
        if self.process is None:
            return
        while left := [one for one in processes_of(self.process.pid) if command_of(one)]:
            for one in left:
                with contextlib.suppress(OSError):
                    os.kill(one, signal.SIGKILL)
            self.process.poll()
        self.process.wait()


class Cluster:
    """`nodes` Ray nodes with a processor each, the first of them the head, and the replicas on them. What ends is started again,
    as Slurm, systemd or Kubernetes would do it. `replicas`: how many there are at first, one a node if it is not given. `gpus`: the
    numbers of the GPUs of each node, which has as many processors, too."""

    def __init__(self, folder, nodes, replica_words, kevo, network="127.0.0", replicas=None, gpus=None, **environment):
        self.folder = pathlib.Path(folder)
        self.sessions = tempfile.mkdtemp(prefix="kr", dir="/tmp")  # sockets lie there, whose paths must be short
        self.port = free_port()
        self.environment = dict(
            os.environ,
            PYTHONPATH=f"{RAY}:{SOURCE / 'python/kevo_ray'}",
            PATH=f"{pathlib.Path(kevo).parent}:{os.environ['PATH']}",
            RAY_gcs_rpc_server_reconnect_timeout_s="5",
            RAY_health_check_period_ms="500",
            RAY_health_check_failure_threshold="5",
            RAY_DISABLE_IMPORT_WARNING="1",
            RAY_USAGE_STATS_ENABLED="0",
            PYTHONDONTWRITEBYTECODE="1",
            **environment,
        )
        gcs = free_port()
        common = [sys.executable, str(RAY / "bin/ray"), "start", "--block", "--object-store-memory=80000000"]
        head = ["--head", f"--port={gcs}", "--include-dashboard=false", f"--temp-dir={self.sessions}"]
        head += [f"--ray-client-server-port={free_port()}", f"--dashboard-port={free_port()}", f"--node-ip-address={network}.2"]
        self.nodes = []
        for i in range(nodes):
            joins = [f"--address={network}.2:{gcs}", f"--node-ip-address={network}.{2 + i}"]
            words, around = [*common, *(joins if i > 0 else head)], dict(self.environment)
            if gpus is None:
                words.append("--num-cpus=1")
            else:
                words += [f"--num-cpus={len(gpus[i])}", f"--num-gpus={len(gpus[i])}"]
                around["CUDA_VISIBLE_DEVICES"] = ",".join(str(one) for one in gpus[i])
            self.nodes.append(Group(words, self.folder / f"node{i}.log", around))
        words = [sys.executable, "-m", "kevo_ray", *replica_words, "--kevo", str(kevo), "--replicas", str(replicas or nodes)]
        words += ["--address", f"{network}.2:{gcs}", "--port", str(self.port)]
        self.driver = Group(words, self.folder / "replicas.log", self.environment)
        self._stop = threading.Event()
        self._guard = threading.Lock()  # held by whoever starts or kills
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def _keep(self):
        while not self._stop.wait(0.2):
            with self._guard:
                if self._stop.is_set():
                    return
                for one in self.nodes:  # one after the other: they share a folder
                    if one.alive():
                        continue
                    one.kill()  # what is left of it
                    one.start()
                    self._wait_for(one)
                if not self.driver.alive():
                    self.driver.kill()
                    self.driver.start()

    def _wait_for(self, node, seconds=60):
        """Until a node has started: it says so."""
        marks = node.log.read_text(errors="replace").count("Ray runtime started")
        until = time.monotonic() + seconds
        while node.alive() and time.monotonic() < until and not self._stop.is_set():
            if node.log.read_text(errors="replace").count("Ray runtime started") > marks:
                return
            time.sleep(0.1)

    def replicas(self):
        """Numbers of the processes of the replicas' actors, and of their servers."""
        found = [(command_of(one), one) for node in self.nodes if node.alive() for one in processes_of(node.process.pid)]
        return [n for words, n in found if "ServeReplica:kevo" in words], [n for words, n in found if " serve " in words and "--state" in words]

    def kill_replica(self, chance):
        actors, servers = self.replicas()
        victims = actors + servers
        if not victims:
            return None
        one = chance.choice(victims)
        with contextlib.suppress(OSError):
            os.kill(one, signal.SIGKILL)
        return "an actor" if one in actors else "a server"

    def kill_node(self, number):
        with self._guard:
            self.nodes[number].kill()

    def wait_ready(self, replicas, seconds):
        until = time.monotonic() + seconds
        while len(self.replicas()[1]) < replicas:
            if time.monotonic() > until:
                raise TimeoutError(f"no {replicas} replicas in {seconds} s; see {self.folder}")
            time.sleep(1)  # looking through all processes costs time that Ray needs to start

    def close(self):
        self._stop.set()
        with self._guard:
            for one in (self.driver, *reversed(self.nodes)):
                one.kill()
        subprocess.run(["rm", "-rf", self.sessions], check=False)
