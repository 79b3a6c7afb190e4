# What the importer of KernelBench-X and TritonBench finds out about one file, in the sandbox: the file's test is executed, and every call
# of the function that it tests is remembered. Part of the script that ends with suite_task.py, after kernelbench.py; the result is a JSON
# object, see src/import/tested_import.cpp.
import ast
import base64
import functools
import gc
import json
import linecache
import re
import sys
import types

kevo_process = sys.modules["__main__"]  # kevo_torch.py and its parts

MOST_CASES = 64
MOST_CONSTANT_BYTES = 1 << 20
DTYPES = {"float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool"}


# Why one call of the test cannot be a workload.
class unfit_case(Exception):
    pass


class out_of_time(BaseException):
    pass


# Ends what is executed inside after so many seconds of a processor. There are no timers in the sandbox: functions of PyTorch and programs
# of Triton's interpreter look at the clock when they begin (watch_calls).
class within:
    end = math.inf

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.before, within.end = within.end, min(within.end, time.process_time() + self.seconds)

    def __exit__(self, *_):
        within.end = self.before
        return False


def look_at_clock():
    if time.process_time() > within.end:
        raise out_of_time()


def watch_calls(torch, triton):
    makers = makers_of_memory(torch)

    class watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            look_at_clock()
            found = function(*args, **(kwargs or {}))
            if function in makers:
                fill_memory(torch, found)
            return found

    torch.kevo_watches = watching()
    torch.kevo_watches.__enter__()
    if triton:
        from triton.runtime import interpreter
        builder = interpreter.interpreter_builder

        def in_time(work):
            def timed(*args, **kwargs):
                look_at_clock()
                return work(*args, **kwargs)
            return timed

        # A program that waits for another one (a lock) waits for ever: the interpreter executes one after the other.
        for name in ("set_grid_idx", "create_masked_load", "create_atomic_cas", "create_atomic_rmw"):
            setattr(builder, name, in_time(getattr(builder, name)))


# While this holds, kernels of Triton are not executed: what they would write stays as it was.
class without_kernels:
    def __enter__(self):
        from triton.runtime import interpreter
        self.kind, self.plain = interpreter.GridExecutor, interpreter.GridExecutor.__call__
        self.kind.__call__ = lambda *_, **__: None

    def __exit__(self, *_):
        self.kind.__call__ = self.plain
        return False


def text_of(path):
    return "".join(linecache.cache["/kevo/program/" + path][2])


def know_text(path, text):
    path = "/kevo/program/" + path
    linecache.cache[path] = len(text), None, text.splitlines(True), path


# A call of the tested function, with what its tensors contained before it.
class seen_call:
    def __init__(self, args, kwargs):
        self.args, self.kwargs = args, kwargs


# Tensors in arguments, copied; one that occurs twice is one copy.
def copied(torch, value, known):
    if torch.is_tensor(value):
        if id(value) not in known:
            plain = value.detach()
            kept = torch.empty_strided(plain.shape, plain.stride(), dtype=plain.dtype) if plain.layout == torch.strided else plain
            known[id(value)] = kept.copy_(plain), value
        return known[id(value)][0]
    if type(value) in (list, tuple):
        return type(value)(copied(torch, one, known) for one in value)
    if type(value) is dict:
        return {name: copied(torch, one, known) for name, one in value.items()}
    return value


class recorder:
    def __init__(self, torch, function, draws):
        self.torch, self.function, self.draws = torch, function, draws
        self.calls, self.depth = [], 0
        functools.update_wrapper(self, function, updated=())

    # As a function in a class or a module would be, where the program looks at it.
    def __get__(self, owner, kind=None):
        return self

    def __call__(self, *args, **kwargs):
        if self.depth or len(self.calls) >= MOST_CASES:
            return self.function(*args, **kwargs)
        known = {}
        call = seen_call(copied(self.torch, args, known), copied(self.torch, kwargs, known))
        call.known = {id(copy): self.draws.made.get(id(original), (None,))[0] for copy, original in known.values()}
        self.calls.append(call)
        self.depth += 1
        try:
            return self.function(*args, **kwargs)
        finally:
            self.depth -= 1


# Where an entry "name" or "class.name" is.
def owner_of(module, entry):
    *path, name = entry.split(".")
    for part in path:
        module = getattr(module, part)
    return module, name


# Functions of a class that a test calls by the name of the class: "name.apply(".
def method_entries(space, test):
    found = []
    for name, value in space.items():
        if isinstance(value, type):
            found += [f"{name}.{method}" for method in ("apply", "forward") if f"{name}.{method}(" in test]
    return found


# Whether the first part of the file defines it; of a method, its class.
def is_own(value):
    return (getattr(value, "__module__", None) in (None, "kevo_suite")
            or getattr(getattr(value, "__self__", None), "__module__", None) == "kevo_suite")


# Names that stand for such a function: "attention = _attention.apply".
def aliases(torch, space, test):
    functions = [name for name, value in space.items() if callable(value) and not isinstance(value, type)]
    return [name for name in functions if re.search(rf"(?<!\w){name}\s*\(", test) and not name.startswith("_") and is_own(space[name])]


# What a candidate may replace, the best first.
def entries_of(torch, module, test, wanted):
    space = module.__dict__
    found = []
    if wanted and callable(space.get(wanted)) and not isinstance(space[wanted], type) and not is_kernel(space[wanted]):
        found.append(wanted)
    found += [name for name in reversed(method_entries(space, test)) if name.endswith(".apply")]
    found += [name for name in reversed(aliases(torch, space, test)) if not is_kernel(space[name]) and name not in found]
    if found:
        # A test also calls functions of PyTorch alone that prepare what it passes to the kernel (quantized weights).
        starting = starting_kernels(space)
        return sorted(found, key=lambda name: not is_triton() or name.partition(".")[0] not in starting)
    modules = [name for name, value in space.items() if isinstance(value, type) and issubclass(value, torch.nn.Module)]
    classes = [name for name in modules if f"{name}(" in test]
    kernels = started_kernels(space, test)
    if len(classes or kernels) == 1:
        return [add_function(module, (classes or kernels)[0])]
    if classes:
        raise unfit("its test calls several modules, not a function")
    if kernels:
        raise unfit("its test starts several Triton kernels itself, and there is no function that a candidate could replace")
    raise unfit("its test calls no function of its first part")


# Names of functions and classes of the reference that start a Triton kernel, by themselves or by others.
def starting_kernels(space):
    used = {}
    for one in ast.parse(text_of("kevo_suite_reference.py")).body:
        words = {part.id for part in ast.walk(one) if isinstance(part, ast.Name)}
        names = [part.id for part in one.targets if isinstance(part, ast.Name)] if isinstance(one, ast.Assign) else [getattr(one, "name", "")]
        for name in names:
            used.setdefault(name, set()).update(words - {name})
    found = {name for name, value in space.items() if is_kernel(value)}
    while more := {name for name, words in used.items() if name not in found and words & found}:
        found |= more
    return found


def is_kernel(value):
    return type(value).__module__.startswith("triton")


# The first part of the file as a module. Its text is known to linecache, where Triton looks for it.
def load_reference(torch):
    path = "/kevo/program/kevo_suite_reference.py"
    module = types.ModuleType("kevo_suite")
    module.__file__ = path
    module.kevo_added, module.kevo_in_test = "", {}  # see add_function
    sys.modules["kevo_suite"] = module
    exec(compile(text_of("kevo_suite_reference.py"), path, "exec"), module.__dict__)
    return module


# Executes the test with the function replaced by one that remembers its calls. What the test says about wrong results or about the
# measured time does not matter.
def calls_of(torch, module, entry, draws, seconds):
    if not is_triton():
        calls, plain, failure, _ = calls_in(torch, module, entry, draws, seconds)
        return calls, plain, failure
    calls, plain, failure, late = calls_in(torch, module, entry, draws, seconds / 2)
    if late:
        with without_kernels():
            more, _, failure, _ = calls_in(torch, module, entry, draws, seconds)
        calls = more if len(more) >= len(calls) else calls
    return calls, plain, failure


def is_triton():
    return "triton" in text_of("kevo_suite_reference.py")


# The test; some define the tested function once more.
def test_without(entry):
    tree = ast.parse(text_of("kevo_suite_test.py"))
    tree.body = [one for one in tree.body if not (isinstance(one, ast.FunctionDef) and one.name == entry)]
    return tree


def calls_in(torch, module, entry, draws, seconds):
    owner, name = owner_of(module, entry)
    plain = getattr(owner, name)
    remember = recorder(torch, plain, draws)
    setattr(owner, name, remember)
    space, failure, late = {**module.__dict__, **module.kevo_in_test}, "", False
    space["__name__"] = "__main__"
    space["__file__"] = "/kevo/program/kevo_suite_test.py"
    torch.manual_seed(11)
    try:
        with within(seconds):
            exec(compile(test_without(entry), space["__file__"], "exec"), space)
            if not remember.calls:  # some files define a test and do not call it
                for test in [value for key, value in space.items() if key.startswith("test") and isinstance(value, types.FunctionType)]:
                    test()
    except out_of_time:
        failure, late = f"its test takes more than {seconds:.0f} s of a processor (--seconds allows more)", True
    except BaseException as error:
        failure = f"its test ends with {type(error).__name__}: {str(error)[:200]}"
    setattr(owner, name, plain)
    return remember.calls, plain, failure, late


# The order of dimensions in which a tensor without gaps lies in memory; None if it lies in the usual one, or has gaps.
def order_of(value):
    if value.is_contiguous() or value.dim() < 2:
        return None
    order = sorted(range(value.dim()), key=lambda place: -value.stride(place))
    return order if value.permute(order).is_contiguous() else None


# A call as a task describes it: tensors that are drawn become inputs, everything else a part of the description.
class case:
    def __init__(self, torch, call, names):
        self.torch, self.known = torch, call.known
        self.treatment, self.untested = "", ""
        self.inputs, self.places = [], {}
        self.constants = []  # tensors that may be drawn or kept: (argument, value)
        self.args = [self.argument(one, name) for one, name in zip(call.args, names)]
        self.kwargs = {name: self.argument(one, name) for name, one in call.kwargs.items()}

    def argument(self, value, name):
        torch = self.torch
        if torch.is_tensor(value):
            return self.tensor(value, name)
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"value": str(float(value))}
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple, torch.Size):
            return {"list" if type(value) is list else "tuple": [self.argument(one, f"{name}_{place}") for place, one in enumerate(value)]}
        if type(value) is dict and all(isinstance(key, str) for key in value):
            return {"map": {key: self.argument(one, f"{name}_{key}") for key, one in value.items()}}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value)[6:]}
        if isinstance(value, torch.device):
            return {"device": True}
        raise unfit_case(f"the argument {name} is a {type(value).__name__}")

    def tensor(self, value, name):
        torch = self.torch
        if id(value) in self.places:
            return dict(self.places[id(value)])
        if value.layout != torch.strided or value.is_quantized:
            raise unfit_case(f"the argument {name} is a sparse or quantized tensor")
        if value.numel() == 0:
            raise unfit_case(f"the argument {name} has no elements")
        known = self.known.get(id(value))
        if value.is_complex():
            made = {"complex": self.input(torch.view_as_real(value.contiguous()), name, None)}
        else:
            if str(value.dtype)[6:] not in DTYPES:
                raise unfit_case(f"the argument {name} is of the type {str(value.dtype)[6:]}")
            order = order_of(value)
            made = self.input((value if order is None else value.permute(order)).contiguous(), name, known)
            if order is not None:
                made = {"permute": [made, [order.index(place) for place in range(value.dim())]]}
        self.places[id(value)] = made
        return dict(made)

    def input(self, value, name, known):
        name = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)
        name = "x" + name if not name[:1].isalpha() else name
        self.inputs.append({"name": name, "value": value, "known": known, "keep": None, "written": False, "treat": ""})
        return {"input": len(self.inputs) - 1}
