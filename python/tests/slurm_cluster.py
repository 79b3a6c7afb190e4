"""A Slurm cluster of several nodes on this machine. Each node is a group of processes with a network, a host name and a /tmp of its own.

To be run by root as `unshare --net --uts --mount --pid --fork --kill-child --mount-proc python3 ...`: all that is made here ends with that
process, and nothing of it is seen outside."""

import os
import pathlib
import subprocess
import time

NETWORK = "10.213.0"
CONF = """
ClusterName=kevo
SlurmctldHost=control({network}.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=15
KillWait=5
{gres}
NodeName=n[1-{nodes}] NodeAddr={network}.1[1-{nodes}] CPUs={cpus} RealMemory=2000 {gpus}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# A node: it gets its network from outside. Programs of the nodes do not see each other's /tmp.
NODE = """
hostname {name}
mount --bind {folder}/tmp.{name} /tmp
ip link set lo up
until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip addr add {address}/24 dev eth0
ip link set eth0 up
ip route add default via {network}.1
exec slurmd -D -N {name} -f {folder}/slurm.conf
"""


def run(*words, **more):
    return subprocess.run([str(one) for one in words], check=True, capture_output=True, text=True, **more).stdout


def names(nodes):
    return [f"n{i}" for i in range(1, nodes + 1)]


class Cluster:
    """`nodes` nodes, named n1, n2, ..., with so many processors and GPUs each, which Slurm does not check."""

    def __init__(self, folder, nodes, cpus=2, gpus=0):
        self.folder = pathlib.Path(folder)
        self.nodes = {}
        self.services = []
        (self.folder / "state").mkdir()
        self._write_names(names(nodes))
        where = {"folder": self.folder, "network": NETWORK, "nodes": nodes, "cpus": cpus}
        where |= {"gres": "GresTypes=gpu" if gpus else "", "gpus": f"Gres=gpu:{gpus}" if gpus else ""}
        (self.folder / "slurm.conf").write_text(CONF.format(**where))
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        for number in range(gpus):  # what is the node of a device elsewhere
            (self.folder / f"gpu{number}").touch()
        devices = f"{self.folder}/gpu[0-{gpus - 1}]" if gpus > 1 else f"{self.folder}/gpu0"
        (self.folder / "gres.conf").write_text(f"Name=gpu File={devices}\n" if gpus else "")
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))
        self._connect()
        self._start_munge()
        self.services.append(self._keep(["slurmctld", "-D", "-f", self.folder / "slurm.conf"], "slurmctld"))
        for number, name in enumerate(names(nodes)):
            self._start_node(name, f"{NETWORK}.{11 + number}")
        self._wait_until_up(nodes)

    def _write_names(self, nodes):
        hosts = ["127.0.0.1 localhost", f"{NETWORK}.1 control", *(f"{NETWORK}.{11 + i} {name}" for i, name in enumerate(nodes))]
        (self.folder / "hosts").write_text("\n".join(hosts) + "\n")
        run("mount", "--bind", self.folder / "hosts", "/etc/hosts")
        run("mount", "-t", "tmpfs", "none", "/run")  # slurm's and munge's folders of the machine stay as they are
        run("mount", "--make-rprivate", "/")

    def _connect(self):
        run("hostname", "control")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "switch", "type", "bridge")
        run("ip", "addr", "add", f"{NETWORK}.1/24", "dev", "switch")
        run("ip", "link", "set", "switch", "up")

    def _start_munge(self):
        own = self.folder / "munge"
        own.mkdir(mode=0o755)
        key = own / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = [f"--key-file={key}", f"--socket={own}/socket", f"--pid-file={own}/pid", f"--log-file={own}/log", f"--seed-file={own}/seed"]
        self.services.append(self._keep(["munged", "--foreground", "--force", *files], "munged"))

    def _keep(self, words, name):
        with open(self.folder / f"{name}.log", "ab") as log:
            return subprocess.Popen(
                [str(one) for one in words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )

    def _start_node(self, name, address):
        for one in (f"tmp.{name}", f"spool.{name}"):
            (self.folder / one).mkdir(exist_ok=True)
        (self.folder / f"tmp.{name}").chmod(0o1777)
        text = NODE.format(name=name, folder=self.folder, address=address, network=NETWORK)
        # A process number space of its own: what ends a node ends all that runs on it.
        words = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-euc", text]
        self.nodes[name] = self._keep(words, name)
        inside = f"v{name}"
        until = time.monotonic() + 20
        while True:  # the network is there a moment after the process
            try:
                net = os.readlink(f"/proc/{self.nodes[name].pid}/ns/net")
                if net != os.readlink("/proc/self/ns/net"):
                    break
            except OSError:
                pass
            if time.monotonic() > until:
                raise TimeoutError(f"node {name} has no network; see {self.folder}")
            time.sleep(0.05)
        run("ip", "link", "add", inside, "type", "veth", "peer", "name", "eth0", "netns", self.nodes[name].pid)
        run("ip", "link", "set", inside, "master", "switch")
        run("ip", "link", "set", inside, "up")

    def _wait_until_up(self, nodes, seconds=60):
        until = time.monotonic() + seconds
        while self.slurm("sinfo", "-h", "-t", "idle", "-o", "%D", fails="0").strip() != str(nodes):
            if time.monotonic() > until:
                raise TimeoutError(f"the nodes are not up in {seconds} s: {self.slurm('sinfo', fails='no answer')}; see {self.folder}")
            time.sleep(0.2)

    def slurm(self, *words, fails=None, **variables):
        """What a command of Slurm prints. @param fails what is returned if it fails; without it, that is an error"""
        done = subprocess.run(
            [str(one) for one in words], capture_output=True, text=True, timeout=60, env=dict(self.environment, **variables)
        )
        if done.returncode != 0 and fails is None:
            raise RuntimeError(f"{words} failed: {done.stderr}")
        return done.stdout if done.returncode == 0 else fails

    def inside(self, name, *words, **more):
        """Runs a command on a node."""
        return subprocess.run(
            ["nsenter", "--net", "--uts", "--mount", "--pid", "-t", str(self.init_of(name)), *(str(one) for one in words)],
            capture_output=True, text=True, **more,
        )

    def init_of(self, name):
        """The number of a node's first process."""
        return int(pathlib.Path(f"/proc/{self.nodes[name].pid}/task/{self.nodes[name].pid}/children").read_text().split()[0])

    def end_node(self, name):
        """Ends all that runs on a node at once, as if it had lost its power."""
        os.kill(self.init_of(name), 9)
        self.nodes[name].wait()
        subprocess.run(["ip", "link", "del", f"v{name}"], capture_output=True, check=False)

    def close(self):
        """Ends all of it. What is left ends with the process that this was made in."""
        for name in self.nodes:
            if self.nodes[name].poll() is None:
                self.end_node(name)
        for one in self.services:
            one.kill()
            one.wait()

    def start_node_again(self, name):
        self._start_node(name, f"{NETWORK}.{10 + int(name[1:])}")
