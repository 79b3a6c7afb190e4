# A process that compiles for candidates: kernels of Triton (kevo_torch_triton.py) and the C code by which it launches them, on a GPU, and
# extensions in C++ and CUDA (kevo_torch_build.py). The candidates' processes may start no programs, and write files in their /tmp alone.
# Each has a socket to this process, which executes nothing of theirs: it gives their texts to compilers, with options that it chooses, in a sandbox
# of its own without a device. It remembers what it has compiled, by content.
#
# A request: length of a JSON object (4 bytes), the object, the text. An answer: length (4 bytes), 1 if it was done (1 byte), the bytes; for an
# extension these are the path of a shared object. It lies in a folder that candidates may read but not list, under a name that nobody
# can guess, until the connection ends.
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading

MOST_BYTES = 64 << 20
# Beside each other: each has two or three compilers. How many evaluations there are at the same time (run.parallel.builds) is decided elsewhere.
MOST_BUILDS = max(4, len(os.sched_getaffinity(0)) // 2)
MOST_MODULES_OF_ONE = 16
ALLOWED = re.compile(r"-O[0-3]|--maxrregcount=[0-9]+|--fmad=(true|false)|-lineinfo|-suppress-debug-info|--register-usage-level=[0-9]+")


def receive(connection, count):
    data = bytearray()
    while len(data) < count:
        part = connection.recv(min(count - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def c_command(triton, libraries, source, target):
    include = sysconfig.get_paths(scheme="posix_prefix")["include"]
    return ["gcc", source, "-O3", "-shared", "-fPIC", "-Wno-psabi", "-o", target, "-l:libcuda.so.1", "-L" + triton + "/lib",
            "-L" + libraries, "-I" + triton + "/include", "-I" + include]


def ptx_command(triton, options, source, target):
    wrong = [one for one in options["options"] if not ALLOWED.fullmatch(one)]
    if wrong or not re.fullmatch(r"sm_[0-9]+[af]?", options["arch"]):
        raise ValueError("these options of ptxas are not allowed: " + " ".join(wrong))
    tool = triton + "/bin/" + ("ptxas-blackwell" if options["arch"] >= "sm_100" and len(options["arch"]) >= 6 else "ptxas")
    return [tool, *options["options"], "-v", "--gpu-name=" + options["arch"], source, "-o", target]


def compile_text(tools, options, text, wanted):
    if options["kind"] == "triton":
        if tools.lowering is None:
            return False, b"kernels of Triton are compiled for a GPU alone"
        ptx = {"kind": "ptx", "arch": options["arch"], "options": options["ptxas"]}
        try:
            return tools.lowering.lower(options, text, lambda code: compile_text(tools, ptx, code, wanted))
        except (EOFError, OSError) as error:
            return False, f"a pass of Triton ended the process that compiles: {error}".encode()
    folder = tempfile.mkdtemp()
    try:
        kind = options["kind"]
        if kind == "extension":
            return True, tools.builder.build(folder, json.loads(text), wanted)
        source, target = folder + ("/text.c" if kind == "c" else "/text.ptx"), folder + "/made"
        with open(source, "wb") as file:
            file.write(text)
        command = c_command(tools.triton, tools.libraries, source, target) if kind == "c" else ptx_command(tools.triton, options, source, target)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        if done.returncode != 0:
            return False, done.stdout[-4000:]
        with open(target, "rb") as file:
            return True, file.read()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# What was compiled, by content. One text is compiled once, whoever else asks for it meanwhile.
class memory:
    def __init__(self, tools):
        self.tools, self.known, self.busy = tools, {}, set()
        self.changed, self.room = threading.Condition(), threading.Semaphore(MOST_BUILDS)

    def get(self, head, text, wanted):
        key = hashlib.sha256(struct.pack("=I", len(head)) + head + text).digest()
        with self.changed:
            while key in self.busy:
                self.changed.wait(0.1)
                if not wanted():
                    raise EOFError
            if key in self.known:
                return self.known[key]
            self.busy.add(key)
        try:
            with self.room:
                result = compile_text(self.tools, json.loads(head), text, wanted)
        except EOFError:
            raise
        except Exception as error:
            result = (False, str(error).encode(errors="replace"))
        finally:
            with self.changed:
                self.busy.discard(key)
                self.changed.notify_all()
        with self.changed:
            self.known[key] = result
            while sum(len(one) for _, one in self.known.values()) > 4 * MOST_BYTES:
                self.known.pop(next(iter(self.known)))
        return result


class compile_tools:
    def __init__(self, packages, libraries, modules, nvcc, architecture):
        self.triton, self.libraries, self.modules = os.path.join(packages, "triton/backends/nvidia"), libraries, modules
        self.builder = extension_builder(packages, libraries, nvcc, architecture)
        # Forked while there is one thread.
        self.lowering = triton_lowering(packages, architecture) if architecture else None


# Serves one process until it ends. One that says nothing disturbs nobody else.
def serve_one(connection, tools, all_known):
    made = []
    try:
        while True:
            length, size = struct.unpack("=II", receive(connection, 8))
            if length > 65536 or size > MOST_BYTES:
                return
            head, text = receive(connection, length), receive(connection, size)
            done, data = all_known.get(head, text, lambda: is_there(connection))
            if done and json.loads(head)["kind"] == "extension":
                if len(made) == MOST_MODULES_OF_ONE or not tools.modules:
                    done, data = 0, b"a process may load 16 extensions at most"
                else:
                    path = f"{tools.modules}/{secrets.token_hex(16)}.so"
                    made.append(path)
                    with open(path, "wb") as file:
                        file.write(data)
                    data = path.encode()
            connection.sendall(struct.pack("=IB", len(data), done) + data)
    except (EOFError, OSError, struct.error, ValueError, KeyError):
        pass
    finally:
        for path in made:
            try:
                os.unlink(path)
            except OSError:
                pass
        connection.close()


def serve_compilers(packages, libraries, modules, nvcc, architecture):
    tools = compile_tools(packages, libraries, modules, nvcc, architecture)
    all_known = memory(tools)
    control = socket.socket(fileno=3)
    while True:
        head, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not head:
            os._exit(0)
        connection = socket.socket(fileno=descriptors[0])
        threading.Thread(target=serve_one, args=(connection, tools, all_known), daemon=True).start()


serve_compilers(*sys.argv[1:6])
