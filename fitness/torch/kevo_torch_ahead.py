# The building pass: a program for a GPU is executed once in a process without one, before the device is asked for, so that the process of
# kevo_torch_compile.py builds the extensions and kernels that it asks for. A later process of the program is then answered from memory.
# Nothing else comes of it: a program that asks for others here has to wait for its own later.


# In place of an extension that is built and not loaded: whatever is taken out of it can be kept, and calling it ends the pass.
class unloaded_extension:
    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return unloaded_extension(name)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("extensions are built ahead and not called")


# Whether a build that failed is what ended the program, in its own words or in those of the program (`raise ... from`).
def is_failed_build(error):
    for _ in range(8):
        if error is None or isinstance(error, extension_failure):
            break
        error = error.__cause__
    return error is not None


MOST_CONFIGS = 64


# Kernels of Triton are compiled for the arguments of a call and not launched; of a kernel that tunes itself, all configurations.
def compile_without_launching(ask):
    from triton.backends.nvidia import driver
    from triton.runtime import autotuner, jit
    redirect_triton(ask, loads=False)
    driver.library_dirs = lambda: []  # looks for the driver
    compile_for, known = jit.JITFunction.run, {}

    def run(self, *args, grid, warmup, **kwargs):
        kernel = compile_for(self, *args, grid=grid, warmup=True, **kwargs)
        if kernel is not None and id(kernel) not in known:
            known[id(kernel)] = kernel
            driver.CudaLauncher(kernel.src, kernel.metadata)  # the C code that launches it
        return kernel

    def run_all(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        for config in self.prune_configs(kwargs)[:MOST_CONFIGS]:
            try:
                self.fn.run(*args, **kwargs, **config.all_kwargs())
            except Exception:
                continue  # one that does not compile is left out when it is tuned

    jit.JITFunction.run = run
    autotuner.Autotuner.run = run_all


# The inputs of a call, without elements. @param words as of a call on a device: scalars, then the extents of all tensors
def inputs_without_elements(torch, inputs, words):
    import struct
    given, words = [], iter(words)
    scalars = [torch.frombuffer(bytearray(struct.pack("=q", next(words))), dtype=getattr(torch, one["dtype"]))[0].item()
               for one in inputs if one["scalar"]]
    scalars = iter(scalars)
    for one in inputs:
        if one["scalar"]:
            given.append(next(scalars))
        else:
            shape = [next(words) for _ in range(one["rank"])]
            given.append(torch.empty(shape, dtype=getattr(torch, one["dtype"]), device="meta"))
    return given


# Tensors are those of the device "meta", which take neither time nor memory: what a program does with elements ends the pass. Gives the
# error by which a build that failed ended the program; None where there was none. Any other error may come from what is pretended here,
# and says nothing.
def build_ahead(torch, job, ask, names):
    pretend_a_device(torch, job["device_facts"], "meta")
    requests = provide_extensions(torch, ask, job["files"], unloaded_extension)
    try:
        if job["triton"]:
            compile_without_launching(ask)
        module = execute(job["files"], "kevo_program", names, job["init"].get("imports", ()))
        # Extensions of a constructor or of a first call, and kernels of calls. What calls an extension ends here.
        if (requests.count == 0 or job["triton"]) and "pretrained" not in job["init"]:
            with torch.device("meta"), torch.no_grad():
                model = build(torch, job, module)
                for words in job["words"]:
                    model(*inputs_without_elements(torch, job["inputs"], words))
    except BaseException as error:
        return error if is_failed_build(error) else None
    return None
