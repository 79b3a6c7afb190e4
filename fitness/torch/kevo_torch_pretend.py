# Programs in Triton are written for a GPU. On the CPU, where Triton's interpreter executes them, what they ask of the GPU is answered by
# the CPU: tensors for it are made in ordinary memory, and there is a device of a usual size.


class pretended_properties:
    name, major, minor, total_memory, multi_processor_count, warp_size = "interpreter", 8, 0, 1 << 34, 16, 32
    max_threads_per_multi_processor, regs_per_multiprocessor, shared_memory_per_block_optin = 2048, 65536, 166912


class pretended_stream:
    cuda_stream = 0

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        return False

    def nothing(self, *args, **kwargs):
        return None

    synchronize = wait_stream = wait_event = record = record_event = wait = nothing

    def query(self):
        return True

    def elapsed_time(self, other):
        return 1.0


# @param place the device of PyTorch whose tensors stand for those of the GPU: "cpu", or "meta", whose tensors have no elements
def standing_for_gpu(torch, place):
    Tensor, there = torch.Tensor, torch.device(place)
    asked, asked_device, gpu = Tensor.is_cuda.__get__, Tensor.device.__get__, torch.device("cuda", 0)

    def moved(value):
        if isinstance(value, str) and value.partition(":")[0] == "cuda":
            return place
        return there if isinstance(value, torch.device) and value.type == "cuda" else value

    class mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if function is Tensor.cuda:
                return args[0] if place == "cpu" else args[0].to(there)
            if function == asked:
                return True
            if function == asked_device and place == "meta":
                own = function(*args)
                return gpu if own == there else own
            if "device" in kwargs:
                kwargs = {**kwargs, "device": moved(kwargs["device"])}
                if isinstance(kwargs["device"], int) and not isinstance(kwargs["device"], bool):
                    kwargs["device"] = there
            if kwargs.get("pin_memory"):
                kwargs = {**kwargs, "pin_memory": False}
            if function is Tensor.to:
                args = [moved(one) for one in args]
            return function(*args, **kwargs)

    return mode()


# CUDA's generator as programs see it that draw their numbers from its seed and offset.
class pretended_generator:
    def __init__(self, torch):
        self.torch, self.state = torch, torch.tensor([11, 0], dtype=torch.int64)

    def get_state(self):
        return self.state.clone().view(self.torch.uint8)

    def set_state(self, state):
        self.state = state.clone().view(self.torch.int64)


# @param facts of the device that is pretended: its properties under PyTorch's names; None: those of a usual one
def pretend_a_device(torch, facts=None, place="cpu"):
    if getattr(torch, "kevo_pretends", None):
        return
    torch.kevo_pretends = standing_for_gpu(torch, place)
    torch.kevo_pretends.__enter__()
    cuda = torch.cuda
    properties = type("pretended_properties", (pretended_properties,), facts or {})
    plain_generator = torch.Generator

    class kind(type):
        def __instancecheck__(self, value):
            return type(value) is plain_generator

    class generator(metaclass=kind):
        def __new__(cls, device="cpu"):
            return plain_generator()

    torch.Generator = generator
    cuda.default_generators = (pretended_generator(torch),)
    # What torch.compile's own output calls.
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    if guards is not None:
        guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype)
    torch._C._cuda_getCurrentRawStream = lambda *_: 0
    cuda.is_available = lambda: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.get_device_capability = lambda *_: (properties.major, properties.minor)
    cuda.get_device_name = lambda *_: properties.name
    cuda.get_device_properties = lambda *_: properties
    cuda._lazy_init = lambda: None
    cuda.device = cuda.device_of = cuda._DeviceGuard = cuda.stream = cuda.Stream = cuda.Event = pretended_stream
    cuda.current_stream = cuda.default_stream = lambda *_: pretended_stream()
    for name in ("synchronize", "empty_cache", "set_device", "manual_seed", "manual_seed_all", "reset_peak_memory_stats", "init"):
        setattr(cuda, name, lambda *_, **__: None)
    for name in ("max_memory_allocated", "memory_allocated"):
        setattr(cuda, name, lambda *_: 0)
    pretend_a_driver(torch, properties)


# What programs ask Triton of the device ("active" of triton.runtime.driver), which looks for a GPU.
def pretend_a_driver(torch, properties):
    try:
        from triton.backends.compiler import GPUTarget
        from triton.runtime import driver
    except Exception:
        return  # there is no Triton, or another version of it has them elsewhere

    class pretended_driver:
        def get_current_target(self):
            return GPUTarget("cuda", 10 * properties.major + properties.minor, 32)

        def get_active_torch_device(self):
            return torch.device("cpu")

        def get_current_device(self):
            return 0

        def get_current_stream(self, device=None):
            return 0

        def get_device_interface(self):
            return torch.cuda

    driver.set_active(pretended_driver())


# With Triton's interpreter there is nothing to choose by time: the first configuration is as good as any.
def pretend_tuning():
    try:
        from triton.runtime import autotuner
    except Exception:
        return

    def run_first(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        configs = self.prune_configs(kwargs) if self.configs else []
        config = configs[0] if configs else autotuner.Config({})
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
        given = {**kwargs, **config.all_kwargs()}
        try:
            return self.fn.run(*args, **given)
        finally:
            self.nargs = None

    autotuner.Autotuner.run = run_first


