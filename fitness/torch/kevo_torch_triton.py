# Kernels of Triton for the process that compiles: from Triton's intermediate form (text) to machine code. A process of its own imports
# Triton once, has one thread, and forks for every text, so that a text on which a pass of Triton fails harms no other. Each process of a
# candidate only translates its Python to that form, in which it can say nothing but what the kernel is: what comes back depends on
# the text and the options alone, and a process can pass nothing on to a later one of the same program.
import base64
import signal

NUMBERS = {"num_warps": 64, "num_ctas": 16, "num_stages": 64, "maxnreg": 256}
FLAGS = ("enable_fp_fusion", "enable_reflect_ftz", "launch_cooperative_grid", "launch_pdl", "sanitize_overflow", "debug")
LONGEST_S = 60


# The options that change code, of those that a candidate named; anything else is an error.
def triton_options(given):
    made = {}
    for name, value in given.items():
        if name in NUMBERS and type(value) is int and 0 < value <= NUMBERS[name]:
            made[name] = value
        elif name in FLAGS and type(value) is bool:
            made[name] = value
        else:
            raise ValueError(f"this option of Triton is not allowed: {name}")
    return made


def lowered(folder, request, text):
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget, Language
    from triton.backends.nvidia.compiler import CUDABackend
    capability = int(request["capability"])
    backend = CUDABackend(GPUTarget("cuda", capability, 32))
    options = backend.parse_options(triton_options(request["options"]))
    path = folder + "/kernel.ttir"
    with open(path, "wb") as file:
        file.write(text)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    made = ir.parse_mlir_module(path, context)
    made.context = context
    stages, metadata, results = {}, {}, {}
    backend.add_stages(stages, options, Language.TRITON)
    for stage in ("ttgir", "llir", "ptx"):
        made = stages[stage](made, metadata)
        results[stage] = str(made)
    return results, metadata


# One request on a connection of its own: the length of the head, the head, the text. The answer is what compile_text gives.
def lower_one(connection):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.alarm(LONGEST_S)
    for descriptor in (1, 2):  # passes write what they think of a text
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    length, size = struct.unpack("=II", receive(connection, 8))
    request, text = json.loads(receive(connection, length)), receive(connection, size)
    folder = tempfile.mkdtemp()
    try:
        results, metadata = lowered(folder, request, text)
        answer = json.dumps({"texts": results, "metadata": metadata}, default=vars).encode()
        connection.sendall(struct.pack("=IB", len(answer), 1) + answer)
    except Exception as error:
        said = str(error).encode(errors="replace")[:4000]
        connection.sendall(struct.pack("=IB", len(said), 0) + said)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# The process that forks. What takes long once is done before: importing, and what Triton asks of ptxas.
def serve_lowering(control, packages, capability):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.path[:0] = [packages]
    try:
        import triton  # noqa: F401
        from triton.backends.nvidia import compiler
        compiler.get_ptxas_version(capability)
    except Exception:
        os._exit(1)
    while True:
        head, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not head:
            os._exit(0)
        if os.fork() == 0:
            try:
                control.close()
                lower_one(socket.socket(fileno=descriptors[0]))
            finally:
                os._exit(0)
        os.close(descriptors[0])


class triton_lowering:
    def __init__(self, packages, architecture):
        self.control, theirs = socket.socketpair()
        capability = int("".join(one for one in architecture if one.isdigit()) or 90)
        if os.fork() == 0:
            try:
                self.control.close()
                os.close(3)
                serve_lowering(theirs, packages, capability)
            finally:
                os._exit(1)
        theirs.close()

    # JSON: the texts of the stages, what they say of the kernel, and its machine code.
    def lower(self, request, text, machine_code):
        ours, theirs = socket.socketpair()
        with ours:
            socket.send_fds(self.control, [b"t"], [theirs.fileno()])
            theirs.close()
            ours.settimeout(LONGEST_S + 5)
            head = json.dumps({"capability": request["capability"], "options": request["options"]}).encode()
            ours.sendall(struct.pack("=II", len(head), len(text)) + head + text)
            length, done = struct.unpack("=IB", receive(ours, 5))
            answer = receive(ours, length)
        if not done:
            return False, answer
        made = json.loads(answer)
        done, code = machine_code(made["texts"]["ptx"].encode())
        if not done:
            return False, code
        made["cubin"] = base64.b64encode(code).decode()
        return True, json.dumps(made).encode()
