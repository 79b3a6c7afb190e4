# A process that compiles for candidates that run on a GPU: machine code of kernels (ptxas) and the C code by which Triton launches them. The
# candidates' processes may neither start programs nor write files. Each has a socket to this process, which executes nothing of
# theirs: it gives their texts to compilers, with options that it chooses, in a sandbox of its own without a device. It remembers what it
# has compiled, by content.
#
# A request: length of a JSON object (4 bytes), the object, the text. An answer: length (4 bytes), 1 if it was done (1 byte), the bytes.
import hashlib
import json
import os
import re
import selectors
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile

MOST_BYTES = 64 << 20
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
        raise ValueError("options of ptxas that are not allowed here: " + " ".join(wrong))
    tool = triton + "/bin/" + ("ptxas-blackwell" if options["arch"] >= "sm_100" and len(options["arch"]) >= 6 else "ptxas")
    return [tool, *options["options"], "-v", "--gpu-name=" + options["arch"], source, "-o", target]


def compile_text(triton, libraries, options, text):
    with tempfile.TemporaryDirectory() as folder:
        kind = options["kind"]
        source, target = folder + ("/text.c" if kind == "c" else "/text.ptx"), folder + "/made"
        with open(source, "wb") as file:
            file.write(text)
        command = c_command(triton, libraries, source, target) if kind == "c" else ptx_command(triton, options, source, target)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        if done.returncode != 0:
            return False, done.stdout[-4000:]
        with open(target, "rb") as file:
            return True, file.read()


def answer(connection, triton, libraries, known):
    connection.settimeout(10)
    length, size = struct.unpack("=II", receive(connection, 8))
    if length > 65536 or size > MOST_BYTES:
        raise EOFError
    head, text = receive(connection, length), receive(connection, size)
    key = hashlib.sha256(struct.pack("=I", length) + head + text).digest()
    if key not in known:
        try:
            known[key] = compile_text(triton, libraries, json.loads(head), text)
        except Exception as error:
            known[key] = (False, str(error).encode(errors="replace"))
    done, data = known[key]
    connection.sendall(struct.pack("=IB", len(data), done) + data)
    while sum(len(one) for _, one in known.values()) > 4 * MOST_BYTES:
        known.pop(next(iter(known)))


def serve_compilers(packages, libraries):
    triton = os.path.join(packages, "triton/backends/nvidia")
    control = socket.socket(fileno=3)
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    known = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj is control:
                head, descriptors, _, _ = socket.recv_fds(control, 1, 1)
                if not head:
                    return
                selector.register(socket.socket(fileno=descriptors[0]), selectors.EVENT_READ)
                continue
            try:
                answer(key.fileobj, triton, libraries, known)
            except (EOFError, OSError, struct.error):
                selector.unregister(key.fileobj)
                key.fileobj.close()


serve_compilers(sys.argv[1], sys.argv[2])
