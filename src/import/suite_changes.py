# What the importer changes in a reference, or adds to it, so that it can be a task. Part of the script of suite_calls.py.

NO_PRUNING = '''# kevo import: current versions of Triton have no triton.ops. These functions only chose which configurations
# are tried; here all are.
def early_config_prune(configs, *args, **kwargs):
    return configs


def estimate_matmul_time(*args, **kwargs):
    return 1.0
'''

LAUNCH = '''

# kevo import: the test starts the kernel itself; this function does.
def launch_{0}(grid, *args, **kwargs):
    {0}[grid](*args, **kwargs)
'''

CALL = '''

# kevo import: the test calls a module; this function makes it and calls it.
def call_{0}(made_of, options, *args, **kwargs):
    return {0}(*made_of, **options)(*args, **kwargs)
'''


# The reference with new tensors that are zero, so that what a function does not write is defined.
def zeroed(text):
    text = re.sub(r"\btorch\.empty(_like)?(?=\s*\()", r"torch.zeros\1", text)
    return re.sub(r"\.new_empty(?=\s*\()", ".new_zeros", text)


# The reference without what current versions of Triton do not have.
def adapted(text):
    return re.sub(r"^from triton\.ops\.matmul_perf_model import [\w, ]+$", lambda _: NO_PRUNING, text, flags=re.M)


# Which kernels of the reference a test starts: "name[".
def started_kernels(space, test):
    return [name for name, value in space.items() if is_kernel(value) and re.search(rf"(?<![\w.]){name}\s*\[", test)]


# A kernel, as a test uses it, whose start is a call of the function launch_NAME of the module.
class started_kernel:
    def __init__(self, module, name):
        self.module, self.name, self.kernel = module, name, getattr(module, name)

    def __getattr__(self, name):
        return getattr(self.kernel, name)

    def __getitem__(self, grid):
        def start(*args, **kwargs):
            launch = getattr(self.module, "launch_" + self.name)
            launch(tuple(self.extents(grid, args, kwargs)), *args, **kwargs)
        return start

    # A grid may be computed from the arguments, and of a tuned kernel from those of its configuration.
    def extents(self, grid, args, kwargs):
        if not callable(grid):
            return grid if isinstance(grid, (tuple, list)) else (grid,)
        configs = getattr(self.kernel, "configs", None)
        given = {**dict(zip(self.kernel.arg_names, args)), **(configs[0].kwargs if configs else {}), **kwargs}
        found = grid(given)
        return found if isinstance(found, (tuple, list)) else (found,)


# A module that a test makes: its calls are those of the function call_NAME of the Python module `module`.
class made_module:
    def __init__(self, module, name, made_of, options):
        self.call = lambda *args, **kwargs: getattr(module, "call_" + name)(tuple(made_of), options, *args, **kwargs)

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)

    def moved(self, *_, **__):
        return self

    cuda = eval = moved

    def to(self, *where, **options):
        if options or not all(isinstance(one, str) or type(one).__name__ == "device" for one in where):
            raise TypeError("the test changes the type of its module")
        return self


# Adds a function to the module that starts the kernel `name`, or calls the class `name`, where the test does so itself. What stands for
# `name` in the test is in `module.kevo_in_test`.
def add_function(module, name):
    kernel = is_kernel(getattr(module, name))
    module.kevo_added = (LAUNCH if kernel else CALL).format(name)
    exec(compile(module.kevo_added, "/kevo/added.py", "exec"), module.__dict__)
    module.kevo_in_test = {name: started_kernel(module, name) if kernel else
                           lambda *made_of, **options: made_module(module, name, made_of, options)}
    return ("launch_" if kernel else "call_") + name
