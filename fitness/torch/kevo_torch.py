# kevo's own code in the Python processes of the torch backend. `serve` imports PyTorch once and then forks a process for every
# program. A forked process maps the pages that it shares with the controller, takes its rights away (the helper library does both),
# executes the program and answers calls. Nothing that it says is believed: the controller reads the bytes that lie in the shared
# pages when a call has ended, with a clock of its own.
import ctypes
import gc
import json
import os
import selectors
import signal
import socket
import struct
import sys


# What the programs of a job import, as bits of a request.
MODELS, INDUCTOR = 1, 2


# A request: a byte (what programs import that takes seconds) with descriptors, of which the second one is a file with the job in JSON. This
# process does not read it: what is left of it in its memory would be in the copies that later processes get. The process that was forked
# answers with one byte, so that the controller learns its process id from the kernel.
# @param kind "device": processes compute on a device; "ahead": they pretend one; "none": neither
# @param own_bytes size of the /tmp that each process gets for itself; "0": it has none
def serve(helper_path, kind, own_bytes, packages):
    sys.path[:0] = packages
    import warnings
    warnings.filterwarnings("ignore")
    import torch
    import torch.nn.functional  # noqa: F401  what nearly every program imports
    torch.set_num_threads(1)
    if kind == "ahead":
        import torch._dynamo  # noqa: F401  what operations on the device "meta" import, which takes a second
    if kind != "none":
        # Processes on a device see a /proc. Nobody may open the memory of this one there, nor that of a process that it has forked
        # and that has no program yet (PR_SET_DUMPABLE).
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        warm_triton()
        # What there is now is not looked through again when garbage is collected, which would take tens of milliseconds of a call.
        gc.collect()
        gc.freeze()
    helper = ctypes.CDLL(helper_path)
    own_bytes = ctypes.c_uint64(int(own_bytes))
    if own_bytes.value and not may_own_files(helper, own_bytes):
        own_bytes.value = 0
    sock = socket.socket(fileno=3)
    selector = selectors.DefaultSelector()
    selector.register(sock, selectors.EVENT_READ)
    sock.sendall(json.dumps({"torch": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability(),
                             "own_files": own_bytes.value > 0}).encode() + b"\n")
    children = {}  # pidfd: (pid, descriptor that is told how it ended)
    while True:
        for key, _ in selector.select():
            if key.fileobj is not sock:
                pid, report = children.pop(key.fileobj)
                selector.unregister(key.fileobj)
                os.close(key.fileobj)
                _, status = os.waitpid(pid, 0)
                try:
                    os.write(report, struct.pack("=i", status))
                except OSError:
                    pass  # nobody waits for it
                os.close(report)
                continue
            head, descriptors, _, _ = socket.recv_fds(sock, 1, 6)
            if not head:
                return
            if head[0] & MODELS:
                warm_transformers()
            if head[0] & INDUCTOR:
                warm_inductor()
            report, job, given = descriptors[0], descriptors[1], descriptors[2:]
            pid = os.fork()
            if pid == 0:
                try:
                    sock.sendall(b"!")
                    text = os.pread(job, os.fstat(job).st_size, 0)
                    keep = set(given)
                    for descriptor in range(3, 256):
                        if descriptor not in keep:
                            try:
                                os.close(descriptor)
                            except OSError:
                                pass
                    del sock, selector, children
                    job = json.loads(text)
                    job["own_files"] = own_bytes.value > 0 and helper.kevo_worker_own_files(own_bytes)
                    (begin_on_device if "device" in job else begin)(helper, job, given)
                finally:
                    os._exit(4)
            for descriptor in [job, *given]:
                os.close(descriptor)
            handle = os.pidfd_open(pid)
            children[handle] = (pid, report)
            selector.register(handle, selectors.EVENT_READ)


def may_own_files(helper, own_bytes):
    pid = os.fork()
    if pid == 0:
        os._exit(helper.kevo_worker_own_files(own_bytes))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


# Parts of PyTorch that a program imports by name, or by making an operator of its own. They ask for the name of the user and for a folder.
def warm_inductor():
    os.environ.setdefault("USER", "kevo")
    import torch._dynamo
    import torch._inductor.config  # noqa: F401


READY, LOAD_FAILED, CALL_FAILED, WRONG_RESULT = 1, 3, 4, 5


# One line for people: the last one of the exception, and where in the program it was raised.
def explain(error, names):
    import traceback
    text = "".join(traceback.format_exception_only(type(error), error)).strip().replace("\n", " ")
    text = text.removeprefix("kevo_script.unfit: ").removeprefix("extension_failure: ")
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in names]
    if lines and not isinstance(error, SyntaxError):
        text += f" (line {lines[-1].lineno} of {os.path.basename(lines[-1].filename)})"
    return text


# The state of a module, as one piece of memory: a length, a JSON list of names, types, shapes and places, and the elements.
def write_state(torch, model, memory, size):
    entries, place, places = [], 0, {}
    tensors = [(name, value.detach().contiguous()) for name, value in model.state_dict().items() if torch.is_tensor(value)]
    for name, value in tensors:
        same = (value.data_ptr(), value.numel() * value.element_size())  # parameters that are tied have several names
        if same not in places:
            places[same] = (place + 63) // 64 * 64
            place = places[same] + same[1]
        entries.append({"name": name, "dtype": str(value.dtype)[6:], "shape": list(value.shape), "place": places[same]})
    head = json.dumps(entries).encode()
    begin = (16 + len(head) + 63) // 64 * 64
    if begin + place > size:
        raise MemoryError(f"the parameters of the reference take more than {size >> 30} GiB")
    ctypes.memmove(memory, struct.pack("=qq", len(head), begin), 16)
    ctypes.memmove(memory + 16, head, len(head))
    for (_, value), entry in zip(tensors, entries):
        ctypes.memmove(memory + begin + entry["place"], value.data_ptr(), value.numel() * value.element_size())


def read_state(torch, memory):
    length, begin = struct.unpack("=qq", ctypes.string_at(memory, 16))
    if length == 0:
        return []
    state = []
    for entry in json.loads(ctypes.string_at(memory + 16, length)):
        dtype = getattr(torch, entry["dtype"])
        value = tensor_at(torch, memory + begin + entry["place"], dtype, entry["shape"])
        state.append((entry["name"], value))
    return state


def tensor_at(torch, address, dtype, shape):
    count = 1
    for extent in shape:
        count *= extent
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    size = count * torch.empty((), dtype=dtype).element_size()
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=dtype).view(shape)


# Built under the same seed, a program that makes its parameters as the reference does has the same ones. Where it does not, those of the
# same names are copied, or else those of the same shapes in the same order. Gives a word about what was done.
# @param adopts false: nothing is copied
def adopt_state(torch, model, state, adopts=True):
    own = [(name, value) for name, value in model.state_dict().items() if torch.is_tensor(value)]
    wanted = dict(state)

    def fits(value, other):
        return value.shape == other.shape and value.dtype == other.dtype

    with torch.no_grad():
        if set(wanted) == {name for name, _ in own} and all(fits(value, wanted[name]) for name, value in own):
            pairs = [(value, wanted[name]) for name, value in own]
        elif len(own) == len(state) and all(fits(value, other) for (_, value), (_, other) in zip(own, state)):
            pairs = [(value, other) for (_, value), (_, other) in zip(own, state)]
        else:
            return "not compared"
        different = [(value, other) for value, other in pairs if not torch.equal(value, other.to(value.device))]
        if different and not adopts:
            return "different"
        for value, other in different:
            value.copy_(other)
    return "same"


# What a program calls so; with dots, a function of a class.
def named(module, name):
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def build(torch, job, module):
    entry = next((found for found in (named(module, name) for name in job["entries"]) if found is not None), None)
    if entry is None:
        raise NameError(f"the program does not define {job['entries'][0]}")
    if job["form"] == "function":
        return calling(torch, entry, job["calls"], job["inputs"], job["outputs"]) if job["calls"] else entry
    torch.manual_seed(job["seed"])
    init = job["init"]
    args, kwargs = init.get("args", []), init.get("kwargs", {})
    if "pretrained" in init:
        args, kwargs = with_configs(args), with_configs(kwargs)
    return entry(*args, **kwargs)


# A function of the reference's text that makes inputs, of axes and scalars by name (`custom` inputs of SOL-ExecBench).
def making_inputs(torch, job, module):
    import random
    name, = job["entries"]
    function = named(module, name)
    if function is None:
        raise NameError(f"the reference does not define {name}")
    names = [one["name"] for one in job["inputs"][1:]]
    wanted = [one["name"] for one in job["outputs"]]

    def make(seed, *values):
        torch.manual_seed(seed)
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2 ** 32)
        made = function(dict(zip(names, values)), torch.device("cpu"))
        missing = [one for one in wanted if one not in made]
        if missing:
            raise KeyError(f"{name} gives no {', '.join(missing)}")
        return [made[one] for one in wanted]

    return make


def spin(microseconds):
    import time
    clock = time.perf_counter_ns

    def wait(*_):
        end = clock() + 1000 * microseconds
        while clock() < end:
            pass

    return wait


# The system call filter lets nothing be written, which Python would report as an error at every print.
class sink:
    def write(self, text):
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False


# On the device "meta" PyTorch imports parts of it that ask for the name of the user and for folders that can be written, as other packages
# do. Here there are neither.
def pretend_a_user():
    import tempfile
    os.environ.update(USER="kevo", TORCHINDUCTOR_CACHE_DIR="/tmp")
    tempfile.tempdir = "/tmp"


# The program's module with the state of the reference, if there is one. A model of `transformers` whose weights came from that state is
# made again with weights that are drawn if the state is not that of the whole module.
# @param note called with a sentence where the module keeps values that are not the reference's
def build_with_state(torch, job, module, state, note=None):
    model = build(torch, job, module)
    if not state or not isinstance(model, torch.nn.Module):
        return model
    done = adopt_state(torch, model, state, job.get("adopts", True))
    if done == "not compared" and "pretrained" in job.get("init", {}):
        provide_pretrained(job["init"]["pretrained"])
        model = build(torch, job, module)
    if done == "different" and note:
        note(b"its parameters are not those of the reference")
    return model


def begin(helper, job, descriptors):
    import torch
    if job["role"] == "rest":  # it has been forked to be looked at
        while True:
            signal.pause()
    sys.stdout = sys.stderr = sink()
    names = set()

    fail = helper.kevo_worker_fail

    def give_up(claim, text):
        fail(claim, str(text).encode(errors="replace")[:1000])

    helper.kevo_worker_open.restype = ctypes.c_char_p
    rest = descriptors[2:]
    compiler = rest.pop() if job.get("compiler") else -1
    failed = helper.kevo_worker_open(descriptors[0], descriptors[1], rest[0] if rest else -1, compiler, job["threads"],
                                     job["cpus"].encode(), ctypes.c_uint64(job["memory"]), int(job["role"] in ("state", "script")),
                                     int(job["own_files"]))
    if failed:
        give_up(2, failed.decode())
    helper.kevo_worker_state.restype = ctypes.c_void_p
    torch.set_num_threads(job["threads"])
    memory = helper.kevo_worker_state()
    answer_calls = answering(torch, helper, job, names, give_up)
    ready = helper.kevo_worker_ready
    try:
        if job["role"] == "ahead":
            pretend_a_user()
            failure = build_ahead(torch, job, asking(compiler), names)
            if failure:
                raise failure
            helper.kevo_worker_ready()
            helper.kevo_worker_rest()
        if job["role"] == "pacer":
            model = spin(job["pace_us"])
        else:
            provide_extensions(torch, asking(compiler) if compiler >= 0 else None, job["files"])
            pretend_a_user()
            adopts = job["role"] == "candidate" and job["form"] == "module" and memory
            state = read_state(torch, memory) if adopts else []
            if "pretrained" in job.get("init", {}):
                provide_pretrained(job["init"]["pretrained"], state)
            module = execute(job["files"], "kevo_program", names, job.get("init", {}).get("imports", ()))
            if job["role"] == "script":
                own = {"__name__": "kevo_script"}
                exec(compile(job["script"], "/kevo/script.py", "exec"), own)
                text = json.dumps(own["describe"](torch, module, job["seconds"])).encode()
                ctypes.memmove(memory, struct.pack("=q", len(text)) + text, 8 + len(text))
                helper.kevo_worker_ready()
                helper.kevo_worker_rest()
            if job["role"] == "inputs":
                model = making_inputs(torch, job, module)
            else:
                model = build_with_state(torch, job, module, state, helper.kevo_worker_note)
            if job["role"] == "state":
                write_state(torch, model, memory, job["state_bytes"])
    except BaseException as error:
        give_up(LOAD_FAILED, explain(error, names))
    note = helper.kevo_worker_note
    answer = wide_reference(torch, model, job, lambda text: note(text.encode(errors="replace"))) if job["role"] == "reference" else model
    ready()
    answer_calls(answer)


# The reference computes in float64; one that cannot (it makes tensors of its own type) computes in the type of its inputs.
def wide_reference(torch, model, job, note):
    import copy
    narrow = [getattr(torch, one["dtype"]) for one in job["inputs"]]
    state = {"wide": None, "narrow": job["narrow"]}
    is_module = isinstance(model, torch.nn.Module)
    held = [*model.parameters(), *model.buffers()] if is_module else []
    # Where all are float32, converting back gives the same ones, and no second copy is needed, which a large model has no room for.
    in_place = all(one.dtype == torch.float32 for one in held if one.is_floating_point())

    def widened(model):
        if not is_module:
            return model
        wide = (model if in_place else copy.deepcopy(model)).double()
        torch.cuda.empty_cache()  # of the narrow parameters; does nothing without a device
        return wide

    def cast(values, floating):
        return [value.to(floating) if torch.is_tensor(value) and value.is_floating_point() else value for value in values]

    def to_own(values):
        return [value.to(dtype) if torch.is_tensor(value) else value for value, dtype in zip(values, narrow)]

    # Of an element in float64 they would be other bits, and twice as many.
    class refusing_bits(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function is torch.Tensor.view and args[0].dtype == torch.float64:
                if any(isinstance(one, torch.dtype) for one in (*args[1:], *(kwargs or {}).values())):
                    raise TypeError("it reads the bits of its elements")
            return function(*args, **(kwargs or {}))

    def in_double(*values):
        if state["wide"] is None:
            state["wide"] = widened(model)
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            with refusing_bits():
                return state["wide"](*cast(values, torch.float64))
        finally:
            torch.set_default_dtype(before)

    def answer(*values):
        # Integers and booleans come as int64.
        values = [value if not torch.is_tensor(value) or dtype.is_floating_point else value.to(dtype)
                  for value, dtype in zip(values, narrow)]
        if state["narrow"]:
            return model(*to_own(values))
        try:
            return in_double(*values)
        except Exception as error:
            # A candidate might take the memory of the host, so that what is expected of it is less precise.
            if isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error):
                raise
            full = isinstance(error, torch.OutOfMemoryError)
            reason = ("has no room to compute" if full else "does not compute") + " in float64: " + str(error)[:200]
        # Behind the handler, whose exception keeps the tensors of the call in memory.
        state["wide"] = None
        if is_module and in_place:
            model.float()
        if full:
            torch.cuda.empty_cache()
        result = model(*to_own(values))  # what fails here, too, is the fault of the reference
        state["narrow"] = True
        note("the reference " + reason)
        return result

    return answer


# As fitness/torch/main/serve_calls.hpp declares them.
class tensor_kind(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("scalar", ctypes.c_uint8), ("unused", ctypes.c_uint8),
                ("rank", ctypes.c_int32)]


class call_tools(ctypes.Structure):
    _fields_ = [(name, ctypes.py_object) for name in ("program", "exchange", "from_capsule", "to_capsule", "tensor", "parameter",
                                                      "is_negative", "scalar", "unpack", "check", "own")] + [("silent", ctypes.c_uint64)]


# The words of DLPack for a type.
def kind_of(torch, dtype, rank, is_scalar):
    codes = {torch.bool: 6, torch.bfloat16: 4}
    code = codes.get(dtype, 2 if dtype.is_floating_point else 5 if dtype.is_complex else 0 if dtype.is_signed else 1)
    return tensor_kind(code, 8 * dtype.itemsize, int(is_scalar), 0, rank)


# What calls a module without what `Module.__call__` adds to `forward`, a microsecond in which it looks for hooks, where there are none: who
# does the same by hand is then not faster.
def direct(torch, model):
    module = torch.nn.modules.module
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    if not isinstance(model, torch.nn.Module) or type(model).__call__ is not torch.nn.Module.__call__:
        return model
    if any(getattr(model, one, None) for one in hooks) or any(getattr(module, "_global" + one, None) for one in hooks):
        return model
    return model.forward


# Answers calls. Made before the program is executed, so that it holds PyTorch's own functions, whatever the program replaces: a program
# that replaces them would harm nobody but itself, but should learn what is wrong with it.
def answering(torch, helper, job, names, give_up):
    cpu, checks, as_tensor = torch.device("cpu"), result_checks(torch), torch.as_tensor
    wide = job["role"] == "reference"
    base, no_grad, serve = torch._C.TensorBase, torch.no_grad, ctypes.PyDLL(None, handle=helper._handle).kevo_worker_serve
    unfit = type("unfit", (Exception,), {})

    def widened(dtype):
        if not wide:
            return dtype
        return torch.float64 if dtype.is_floating_point else torch.int64

    inputs = [(widened(getattr(torch, one["dtype"])), one["rank"], one.get("scalar", False)) for one in job["inputs"]]
    outputs = [(widened(getattr(torch, one["dtype"])), one["rank"], False) for one in job["outputs"]]

    def scalar(index, word):
        return torch.frombuffer(bytearray(struct.pack("=Q", word)), dtype=inputs[index][0])[0].item()

    def unpack(result, count):
        results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if len(results) != count:
            give_up(WRONG_RESULT, f"it returned {len(results)} values; the task has {count} outputs")
        return results

    def check(got, index, shape):
        wrong = checks.wrong(got, list(shape), outputs[index][0], cpu)
        if wrong:
            give_up(WRONG_RESULT, wrong)

    def own(got):
        return checks.own(got)

    # A reference may give results of any type, and numbers.
    def converted(model):
        def answer(*values):
            result = model(*values)
            results = result if isinstance(result, (tuple, list)) else (result,)
            return tuple(as_tensor(one).to(dtype) for one, (dtype, _, _) in zip(results, outputs)) if len(results) == len(outputs) else result

        return answer

    # PyTorch before 2.10 hands tensors over in capsules alone.
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    tools = call_tools(None, exchange, torch._C._from_dlpack, torch._C._to_dlpack, torch.Tensor, torch.nn.Parameter, base.is_neg, scalar,
                       unpack, check, own, int(job["role"] == "pacer"))
    input_kinds = (tensor_kind * len(inputs))(*(kind_of(torch, *one) for one in inputs))
    output_kinds = (tensor_kind * len(outputs))(*(kind_of(torch, *one) for one in outputs))

    def answer_calls(model):
        tools.program = converted(model) if wide else direct(torch, model)
        try:
            with no_grad():
                serve(ctypes.byref(tools), input_kinds, ctypes.c_size_t(len(inputs)), output_kinds, ctypes.c_size_t(len(outputs)))
            raise unfit("its result cannot be handed over")
        except BaseException as error:
            give_up(CALL_FAILED, explain(error, names))

    return answer_calls


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        serve(*sys.argv[2:5], sys.argv[5:])
