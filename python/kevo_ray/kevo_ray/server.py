"""A `kevo serve` on this machine, as a child process that ends with this one. Knows nothing of Ray."""

from __future__ import annotations

import fcntl
import http.client
import logging
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time

log = logging.getLogger("kevo_ray")

PREFIX = "kevo-ray-"
LONGEST_WAIT_S = 60  # of one request to kevo serve


class ServerEnded(RuntimeError):
    """The process is not there any more."""


def remove_leftovers(folder: str) -> None:
    """Removes the records of servers in `folder` that were killed: those that no process has locked."""
    for left in pathlib.Path(folder).glob(PREFIX + "*"):
        try:
            with open(left / "state" / "lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
        except OSError:  # it is in use, is just being made, or is somebody else's
            pass


class Server:
    """Serves from its construction until `close`. Its record is in a folder of its own and goes with it: what must last is
    recorded by the service that asks."""

    def __init__(self, words, token=None, folder=None, start_s=60, on_end=None):
        """`on_end` is called, from a thread, if the process ends without having been asked to after it has started."""
        folder = folder or tempfile.gettempdir()
        remove_leftovers(folder)
        self._folder = tempfile.mkdtemp(prefix=PREFIX, dir=folder)
        self._closing = False
        self._ended = threading.Event()
        self._listens = threading.Event()
        self._port = 0
        self._process = None
        self._said = []
        self._on_end = on_end
        state = os.path.join(self._folder, "state")
        command = [*words, "--state", state, "--listen", "127.0.0.1:0"]
        if token:
            tokens = os.path.join(self._folder, "tokens")
            with open(os.open(tokens, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(f"front {token}\n")
            command += ["--tokens", tokens]
        # The process is killed when the thread that started it ends, however that comes about, so this thread stays.
        threading.Thread(target=self._run, args=(["setpriv", "--pdeathsig", "KILL", *command],), daemon=True).start()
        if not self._listens.wait(start_s) or self._ended.is_set():
            self.close()
            raise ServerEnded(f"kevo serve did not start: {' '.join(command)}\n{''.join(self._said[-20:])}")

    def _run(self, command):
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
            )
            for line in self._process.stdout:
                self._said = [*self._said[-50:], line]
                log.info("%s", line.rstrip())
                found = re.match(r"serving .* on http://127\.0\.0\.1:(\d+)$", line)
                if found:
                    self._port = int(found[1])
                    self._listens.set()
            self._process.wait()
        except OSError as failed:
            self._said.append(f"{failed}\n")
        finally:
            surprised = self._listens.is_set() and not self._closing
            self._ended.set()
            self._listens.set()
            if surprised and self._on_end:
                self._on_end()

    @property
    def pid(self):
        """Number of the process."""
        return self._process.pid

    def check(self):
        """Raises ServerEnded unless the server answers."""
        if self._ended.is_set():
            raise ServerEnded(f"kevo serve ended with {self._process.poll()}: {''.join(self._said[-5:])}")
        line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        try:
            line.request("GET", "/healthz")
            if line.getresponse().status != 200:
                raise ServerEnded("kevo serve is not well")
        finally:
            line.close()

    def evaluate(self, body: bytes, authorization: str, wait_s: float):
        """Hands a submission on and waits for the end of its evaluation. Returns status and body of the answer.

        It waits longer than one request to kevo serve may, because the same submission again could reach another server."""
        until = time.monotonic() + wait_s
        headers = {"Content-Type": "application/json"}
        if authorization:
            headers["Authorization"] = authorization
        while True:
            wait = max(0.0, min(LONGEST_WAIT_S, until - time.monotonic()))
            line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=wait + 30)
            try:
                line.request("POST", f"/v1/evaluations?wait={wait:.3f}", body, headers)
                answer = line.getresponse()
                status, text = answer.status, answer.read()
            finally:
                line.close()
            if status != 202 or time.monotonic() >= until:
                return status, text

    def close(self):
        """Ends the server and removes its record."""
        self._closing = True
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            if not self._ended.wait(20):
                self._process.kill()
                self._ended.wait(5)
        shutil.rmtree(self._folder, ignore_errors=True)
