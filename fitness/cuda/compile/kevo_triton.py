"""Compiles the Triton kernels of one candidate to cubins, in a sandbox and without a GPU, in two processes.

The first one ("lower") executes the candidate's file as a module and writes each kernel in Triton's intermediate language. Nothing that it
says is trusted. The second one ("finish") compiles that language to cubins and never sees the candidate's file, so that a candidate cannot
hand in machine code that it has not written in Triton.

Both read a job as JSON from standard input and write the answer as JSON to what was standard output; the candidate's own output goes to
standard error.
"""
import ast
import importlib.machinery
import json
import os
import shutil
import sys
import tempfile
import traceback
import types


class Refused(Exception):
    """What is wrong with the candidate, in one sentence."""


class Absent:
    """Stands for PyTorch, which launch lines do not need: files often import it for functions that call the kernels."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __setattr__(self, name, value):
        pass

    def __call__(self, *arguments, **keywords):
        # A decorator gives what it decorates.
        if len(arguments) == 1 and not keywords and callable(arguments[0]) and not isinstance(arguments[0], Absent):
            return arguments[0]
        return Absent(f"{self._name}()")

    def __getitem__(self, key):
        return Absent(f"{self._name}[]")

    def __mro_entries__(self, bases):
        return (object,)

    def __or__(self, other):
        return self

    __ror__ = __or__


class AbsentModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class AbsentFinder:
    """Finds every module of some packages, and each is empty."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return AbsentModule(spec.name)

    def exec_module(self, module):
        pass


def load(files, folder):
    """Executes the candidate's first file as a module named `kernel`."""
    for file in files:
        path = os.path.join(folder, file["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(file["text"])
    sys.path.insert(0, folder)
    main = os.path.join(folder, files[0]["path"])
    module = types.ModuleType("kernel")
    module.__file__ = main
    sys.modules["kernel"] = module
    exec(compile(files[0]["text"], main, "exec"), module.__dict__)
    return module


def kernel_of(module, name):
    """The jitted function behind a name, and the configurations of an autotuner around it."""
    from triton.runtime.jit import JITFunction

    found = getattr(module, name, None)
    if found is None:
        raise Refused(f"the program has no kernel '{name}'")
    configs = None
    for _ in range(8):
        if isinstance(found, JITFunction):
            return found, configs
        if hasattr(found, "configs") and configs is None:
            configs = found.configs
        if hasattr(found, "values") and hasattr(found, "fn") and not hasattr(found, "configs"):
            raise Refused(f"'{name}' has @triton.heuristics: write these values in the launch line as NAME=value")
        found = getattr(found, "fn", None)
    raise Refused(f"'{name}' is not a kernel: @triton.jit is missing")


# Settings of a launch line that are not parameters of the kernel.
SETTINGS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def constants_of(call, module, name, configs):
    """The constants and settings of a call such as f('*fp32', BLOCK=64, num_warps=4)."""
    import triton.language

    constants = {}
    settings = {}
    for keyword in call.keywords:
        scope = {**module.__dict__, "tl": triton.language}
        code = compile(ast.Expression(keyword.value), f"the value of {keyword.arg}", "eval")
        try:
            value = eval(code, scope)
        except Exception as error:
            raise Refused(f"'{name}': the value of {keyword.arg} cannot be computed: {error}")
        if keyword.arg == "config":
            if configs is None:
                raise Refused(f"'{name}' has no @triton.autotune, so that there is no configuration {value}")
            if not 0 <= value < len(configs):
                raise Refused(f"'{name}' has {len(configs)} configurations, so that there is no number {value}")
            chosen = configs[value]
            for key, given in chosen.kwargs.items():
                constants.setdefault(key, given)
            for key in SETTINGS:
                if getattr(chosen, key, None) is not None:
                    settings.setdefault(key, getattr(chosen, key))
        elif keyword.arg in SETTINGS:
            settings[keyword.arg] = value
        else:
            constants[keyword.arg] = value
    return constants, settings


def lower_one(module, text, target):
    from triton._C.libtriton import ir
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    call = ast.parse(text, mode="eval").body
    name = call.func.id
    fn, configs = kernel_of(module, name)
    constants, settings = constants_of(call, module, name, configs)
    parameters = list(fn.params)
    constexprs = {p.name for p in parameters if p.is_constexpr}
    for key in constants:
        if key not in [p.name for p in parameters]:
            raise Refused(f"'{name}' has no parameter '{key}'")
        if key not in constexprs:
            raise Refused(f"'{name}': '{key}' is not a tl.constexpr: give it by position")
    given = [a.value for a in call.args]
    runtime = [p for p in parameters if p.name not in constexprs]
    if len(given) != len(runtime):
        raise Refused(f"'{name}' takes {len(runtime)} arguments by position ({', '.join(p.name for p in runtime)}), not {len(given)}")
    signature, values, attributes, kept = {}, {}, {}, []
    index = 0
    for number, parameter in enumerate(parameters):
        if parameter.name in constexprs:
            if parameter.name in constants:
                values[(number,)] = constants[parameter.name]
            elif parameter.has_default:
                values[(number,)] = parameter.default
            else:
                raise Refused(f"'{name}': the value of '{parameter.name}' is missing: write {parameter.name}=...")
            signature[parameter.name] = "constexpr"
            continue
        kind, _, how = given[index].partition(":")
        if kind.startswith("="):
            signature[parameter.name] = "constexpr"
            values[(number,)] = None if kind == "=None" else int(kind[1:])
        else:
            signature[parameter.name] = kind
            kept.append(index)
            if how == "16" and not parameter.do_not_specialize:
                attributes[(number,)] = [["tt.divisibility", 16]]
        index += 1
    source = ASTSource(fn, signature, values, attributes)
    backend = make_backend(target)
    options = backend.parse_options(dict(settings))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    made = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    numbers = {}
    for number, value in values.items():
        if isinstance(value, (bool, int)):
            numbers[parameters[number[0]].name] = int(value)
    return {"text": str(made), "arguments": kept, "settings": settings, "constants": numbers}


def finish_one(lowered, target, folder, number, chosen):
    from triton._C.libtriton import ir
    from triton.compiler.compiler import Language, make_backend

    backend = make_backend(target)
    settings = {key: int(lowered["settings"][key]) for key in SETTINGS if key in lowered["settings"]}
    options = backend.parse_options({**settings, **chosen})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    path = f"{folder}/{number}.ttir"
    with open(path, "w", encoding="utf-8") as out:
        out.write(lowered["text"])
    made = ir.parse_mlir_module(path, context)
    made.context = context
    stages = {}
    backend.add_stages(stages, options, Language.TRITON)
    meta = {"target": target, **options.__dict__}
    for stage in stages.values():
        made = stage(made, meta)
    if meta.get("tensordesc_meta"):
        raise Refused("a kernel takes a tensor descriptor: make it in the kernel (tl.make_tensor_descriptor)")
    if meta.get("profile_scratch_size"):
        raise Refused("a kernel is instrumented for profiling")
    return {
        "kernel": meta["name"],
        "cubin": made.hex(),
        "threads": meta["num_warps"] * 32,
        "shared": meta["shared"],
        "ctas": meta.get("num_ctas", 1),
        "cooperative": bool(meta.get("launch_cooperative_grid", False)),
        "scratch": meta.get("global_scratch_size", 0),
        "scratch_align": meta.get("global_scratch_align", 1),
    }


def short(error, folder):
    """The compiler's message without this file's frames and the scratch folder."""
    text = "".join(traceback.format_exception(error))
    lines = [line for line in text.splitlines() if "<string>" not in line]
    return "\n".join(lines).replace(folder + "/", "")


def place_of(module, text, error, source):
    """The line of a compile error in the candidate's file, with its message; None for errors of other kinds."""
    node = getattr(error, "node", None)
    if node is None or not hasattr(node, "lineno"):
        return None
    fn, _ = kernel_of(module, ast.parse(text, mode="eval").body.func.id)
    # Triton numbers lines from the one with "def"; decorators stand in front of it.
    before = next((i for i, text in enumerate(fn.raw_src) if text.lstrip().startswith("def ")), 0)
    line = fn.starting_line_number + before + node.lineno - 1
    message = (str(error).strip().splitlines() or [""])[-1].strip()
    return f"{source}:{line}:{getattr(node, 'col_offset', 0) + 1}: error: {message}"


def lower(job, target, folder):
    # Importing PyTorch takes seconds; NumPy's constants may be of use, where it is installed.
    sys.meta_path.insert(0, AbsentFinder(("torch", "torchvision")))
    sys.meta_path.append(AbsentFinder(("numpy",)))
    said = {"kernels": []}
    try:
        module = load(job["files"], folder + "/source")
    except Refused as error:
        return {**said, "error": str(error), "log": str(error)}
    except BaseException as error:
        return {**said, "error": f"{type(error).__name__}: {error}", "log": short(error, folder)}
    for text in job["kernels"]:
        try:
            said["kernels"].append(lower_one(module, text, target))
        except Refused as error:
            return {**said, "error": str(error), "log": str(error)}
        except BaseException as error:
            placed = place_of(module, text, error, job["files"][0]["path"])
            last = str(error).strip().splitlines()
            said["error"] = placed or f"{type(error).__name__}: {last[-1] if last else ''}"
            said["log"] = f"{placed}\n{error}" if placed else short(error, folder)
            return said
    return said


def finish(job, target, folder):
    said = {"kernels": []}
    for number, lowered in enumerate(job["kernels"]):
        try:
            said["kernels"].append(finish_one(lowered, target, folder, number, job["options"]))
        except Refused as error:
            return {**said, "error": str(error), "log": str(error)}
        except BaseException as error:
            last = [line for line in str(error).strip().splitlines() if line]
            return {**said, "error": f"{type(error).__name__}: {last[0] if last else ''}", "log": str(error)[:20000]}
    return said


def main():
    out = os.dup(1)
    os.dup2(2, 1)
    job = json.loads(sys.stdin.buffer.read())
    sys.path[:0] = job["paths"]
    folder = tempfile.mkdtemp()
    os.environ["TRITON_CACHE_DIR"] = folder + "/cache"
    os.environ["TRITON_HOME"] = folder
    import triton
    import triton.language
    from triton.backends.compiler import GPUTarget

    target = GPUTarget("cuda", job["architecture"], 32)
    said = (finish if job["stage"] == "finish" else lower)(job, target, folder)
    text = json.dumps(said).encode()
    shutil.rmtree(folder, ignore_errors=True)
    with os.fdopen(out, "wb") as stream:
        stream.write(text)
        stream.flush()
    os._exit(0)


main()
