# What the importer of KernelBench finds out about one file, in the sandbox. kevo_torch.py executes this text and calls describe().
# The result is a JSON object; see src/import/kernelbench.cpp.
import copy
import inspect
import itertools
import math
import sys
import time


class unfit(Exception):
    pass


# Remembers how tensors were drawn, so that an input that is one of them has an exact generator. With `most`, tensors are drawn with extents
# of at most that, for looking at elements.
class drawing:
    def __init__(self, torch):
        from torch.utils._device import _device_constructors
        self.made, self.most, self.count, self.altered = {}, None, 0, set()
        _device_constructors()  # torch.device() as a context knows these functions as they are now
        self.watch(torch, "rand", lambda args, kwargs: {"kind": "uniform", "a": 0, "b": 1}, 0)
        self.watch(torch, "randn", lambda args, kwargs: {"kind": "normal"}, 0)
        self.watch(torch, "rand_like", lambda args, kwargs: {"kind": "uniform", "a": 0, "b": 1}, None)
        self.watch(torch, "randn_like", lambda args, kwargs: {"kind": "normal"}, None)
        self.watch(torch, "randint", self.bounds, 2)

    @staticmethod
    def bounds(args, kwargs):
        numbers = [value for value in args if isinstance(value, int)]
        low = kwargs.get("low", numbers[0] if len(numbers) > 1 else 0)
        high = kwargs.get("high", numbers[-1] if numbers else 2)
        return {"kind": "integers", "a": int(low), "b": int(high) - 1}

    # The extents of a tensor are whole numbers (from argument `first` on), or a list of them.
    def limited(self, args, kwargs, first):
        def few(value):
            return min(value, self.most) if isinstance(value, int) else type(value)(map(few, value)) if type(value) in (list, tuple) else value

        plain = first == 0 and all(isinstance(value, int) for value in args)
        args = [few(value) if plain or isinstance(value, (list, tuple)) else value for value in map(self.listed, args)]
        return args, {key: few(self.listed(value)) if key == "size" else value for key, value in kwargs.items()}

    @staticmethod
    def listed(value):
        return list(value) if isinstance(value, tuple) else value  # torch.Size is a tuple

    def watch(self, torch, name, describe, first):
        original = getattr(torch, name)

        def drawn(*args, **kwargs):
            if self.most and first is not None:
                args, kwargs = self.limited(args, kwargs, first)
            result = original(*args, **kwargs)
            if torch.is_tensor(result):
                if self.count in self.altered:
                    result = result.flatten().roll(1).reshape(result.shape)
                self.made[id(result)] = (describe(args, kwargs), result, self.count)
                self.count += 1
            return result

        setattr(torch, name, drawn)


# From the elements, where an input is not drawn in one step.
def guessed(torch, value):
    if value.dtype == torch.bool:
        return {"kind": "integers", "a": 0, "b": 1}
    if not value.is_floating_point():
        return {"kind": "integers", "a": int(value.min()), "b": int(value.max())}
    wide = value.double()
    low, high, mean, deviation = float(wide.min()), float(wide.max()), float(wide.mean()), float(wide.std(unbiased=False))
    if deviation == 0:
        return {"kind": "uniform", "a": low, "b": math.nextafter(low, math.inf) if low else 1e-30}
    # Of a uniform distribution the range is sqrt(12) deviations; of a normal one it is more. What is never negative (a probability, of
    # which a logarithm is taken) stays so.
    if (high - low) < 3.7 * deviation or low >= 0:
        return {"kind": "uniform", "a": low, "b": high}
    return {"kind": "normal", "a": mean, "b": deviation}


# What the elements of a matrix have in common beyond their distribution, which no generator of a task makes.
def structure(torch, value):
    if value.dim() != 2 or value.shape[0] != value.shape[1] or value.shape[0] < 3 or bool((value == value.flatten()[0]).all()):
        return ""
    if torch.equal(value, value.diag().diag()):
        return "diagonal"
    if torch.equal(value, value.triu()):
        return "upper triangular"
    if torch.equal(value, value.tril()):
        return "lower triangular"
    return "symmetric" if torch.equal(value, value.t()) else ""


def describe_input(torch, name, value, known, sample, own):
    if torch.is_tensor(value):
        if str(value.device) not in ("cpu", "meta"):
            raise unfit(f"the input {name} is on the device {value.device}")
        return {"name": name, "dtype": str(value.dtype)[6:], "shape": list(value.shape), "exact": known is not None,
                "generate": known or guessed(torch, sample), "structure": "" if known else structure(torch, sample), "own": own}
    if isinstance(value, bool):
        return {"name": name, "dtype": "bool", "scalar": True, "value": int(value)}
    if isinstance(value, int):
        return {"name": name, "dtype": "int64", "scalar": True, "value": value}
    if isinstance(value, float):
        return {"name": name, "dtype": "float64", "scalar": True, "value": value}
    raise unfit(f"the input {name} is a {type(value).__name__}, not a tensor or a number")


MOST_SAMPLED = 1 << 26


def elements_of(values, most=None):
    return sum(math.prod(extent if most is None else min(extent, most) for extent in one.shape) for one in values if hasattr(one, "shape"))


# The inputs of the file: their shapes from the device "meta", and elements only where the file does more than draw them, of tensors that
# are made smaller where the inputs are large. Gives the inputs, how they are drawn, these elements, and whether the file itself has to make
# the input in every call.
def inputs_of(torch, module):
    draws = drawing(torch)
    try:
        with torch.device("meta"):
            given = list(module.get_inputs())
    except Exception:
        given = list(module.get_inputs())
    kinds = [draws.made[id(one)][0] if id(one) in draws.made else None for one in given]
    samples, own = given, [False] * len(given)
    if any(torch.is_tensor(one) and kind is None for one, kind in zip(given, kinds)):
        draws.most = next((most for most in (None, 4096, 1024, 256, 64, 16) if elements_of(given, most) <= MOST_SAMPLED), 4)
        try:
            samples, own = samples_of(torch, module, draws, given, kinds)
        except Exception as error:
            if not any(torch.is_tensor(one) and one.is_meta for one in given):
                draws.most = None
                return given, kinds, given, own
            raise unfit(f"its inputs have {elements_of(given)} elements, and their distribution cannot be determined from smaller inputs: {error}")
        draws.most = None
    return given, kinds, samples, own


# Elements of the inputs, and which of them the file itself has to make in every call: those that it does not draw in one step, unless they
# are constant; and the others too if these depend on them.
def samples_of(torch, module, draws, given, kinds):
    def sample(seed, altered=()):
        torch.manual_seed(seed)
        draws.count, draws.altered = 0, set(altered)
        return list(module.get_inputs())

    samples = sample(11)
    drawn = [draws.made[id(one)][2] for one, kind in zip(samples, kinds) if kind is not None and id(one) in draws.made]
    made = [torch.is_tensor(one) and kind is None for one, kind in zip(given, kinds)]

    def differ(others):
        return any(one and not torch.equal(left, right) for one, left, right in zip(made, samples, others))

    if not differ(sample(12)):
        return samples, [False] * len(given)
    linked = differ(sample(11, drawn))
    draws.altered = set()
    return samples, [torch.is_tensor(one) for one in given] if linked else made


# The inputs that get_inputs makes, at other sizes than those of the file: a number of the file, or one in a tuple of it, that is the extent of
# inputs is set before get_inputs is called. Numbers that the constructor is given stay as they are.
class own_inputs:
    def __init__(self, torch, module, given, own):
        self.torch, self.module, self.own, self.sizes = torch, module, own, []
        usual = [tuple(getattr(one, "shape", ())) for one in given]
        fixed = module.get_init_inputs.__code__.co_names
        for name, value in list(vars(module).items()):
            if name.startswith("__") or name in fixed:
                continue
            for index, number in [(None, value)] if type(value) is int else enumerate(value) if type(value) is tuple else []:
                places = self.places(usual, name, index, number) if type(number) is int and number > 1 else []
                if places:
                    self.sizes.append({"name": name, "index": index, "places": places})

    # Where the inputs have this number as their extent: nowhere if anything else of their shapes depends on it.
    def places(self, usual, name, index, number):
        found = []
        for value in other_values(number)[:2] + [number + 2]:
            try:
                with self.torch.device("meta"):
                    made = self.with_sizes([(name, index, value)])
            except Exception:
                return []
            shapes = [tuple(getattr(one, "shape", ())) for one in made]
            if [len(one) for one in shapes] != [len(one) for one in usual]:
                return []
            changed = [(i, d) for i, one in enumerate(shapes) for d, extent in enumerate(one) if extent != usual[i][d]]
            if not changed or found not in ([], changed) or any(shapes[i][d] != value or usual[i][d] != number for i, d in changed):
                return []
            found = changed
        return found

    def with_sizes(self, sizes):
        kept = {name: getattr(self.module, name) for name, _, _ in sizes}
        try:
            for name, index, value in sizes:
                known = getattr(self.module, name)
                setattr(self.module, name, value if index is None else known[:index] + (value,) + known[index + 1:])
            return list(self.module.get_inputs())
        finally:
            for name, value in kept.items():
                setattr(self.module, name, value)

    def values(self, shapes):
        self.torch.manual_seed(7)
        first = [(one, *one["places"][0]) for one in self.sizes]
        return self.with_sizes([(one["name"], one["index"], shapes[number][dimension]) for one, number, dimension in first])

    # The function that makes the inputs in the evaluations of the task.
    def function(self, inputs, axes):
        by_place = {tuple(place): one["name"] for one in axes for place in one["places"]}
        text = "\n\n# By kevo import: the inputs of a call are those that get_inputs makes, at the sizes of the workload.\n"
        text += "def kevo_inputs(axes, device):\n    own = globals()\n"
        for one in self.sizes:
            axis = by_place.get(one["places"][0])
            if axis is None:
                continue
            name, index = one["name"], one["index"]
            new = f'axes["{axis}"]' if index is None else f'own["{name}"][:{index}] + (axes["{axis}"],) + own["{name}"][{index + 1}:]'
            text += f'    own["{name}"] = {new}\n'
        made = ", ".join(f'"{one["name"]}": made[{i}]' for i, one in enumerate(inputs) if self.own[i])
        return text + f"    with device:\n        made = get_inputs()\n    return {{{made}}}\n"


def init_of(given):
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        return {"args": list(given[0]), "kwargs": dict(given[1])}
    return {"args": list(given), "kwargs": {}}


# An argument of the constructor as a task has it (kevo_torch_pretrained.py reads the configurations).
def written(value, place):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [written(one, place) for one in value]
    if isinstance(value, dict):
        return {str(key): written(one, place) for key, one in value.items()}
    if hasattr(value, "to_diff_dict") and getattr(value, "name_or_path", ""):
        return written_config(value, place)
    raise unfit(f"{place} of the constructor is a {type(value).__name__}, which a task cannot contain (it can contain numbers, texts, "
                "lists, maps, and configurations that come from from_pretrained of transformers)")


def written_config(value, place):
    import transformers
    usual = transformers.AutoConfig.from_pretrained(value.name_or_path)
    if type(usual) is not type(value):
        raise unfit(f"{place} of the constructor is a {type(value).__name__}, but {value.name_or_path} has a {type(usual).__name__}")
    given, known = value.to_dict(), usual.to_dict()
    own = {key: written(one, f"{key} in {place}") for key, one in given.items() if one != known.get(key)}
    return {"pretrained_config": value.name_or_path, **({"values": own} if own else {})}


def written_init(init):
    return {"args": [written(one, f"argument {place}") for place, one in enumerate(init["args"], 1)],
            "kwargs": {name: written(one, f"the argument {name}") for name, one in init["kwargs"].items()}}


def outputs_of(torch, result):
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    for one in results:
        if not torch.is_tensor(one):
            raise unfit(f"an output is a {type(one).__name__}, not a tensor")
    return results


def draw(torch, one, shape, seed, device):
    if one.get("scalar"):
        return one["value"] if one["dtype"] != "bool" else bool(one["value"])
    if device == "meta":
        return torch.empty(shape, dtype=getattr(torch, one["dtype"]), device="meta")
    generator = torch.Generator().manual_seed(seed)
    dtype, made = getattr(torch, one["dtype"]), one["generate"]
    if made["kind"] == "integers":
        return torch.randint(made["a"], made["b"] + 1, shape, generator=generator).to(dtype)
    if made["kind"] == "uniform":
        return (torch.rand(shape, generator=generator) * (made["b"] - made["a"]) + made["a"]).to(dtype)
    return (torch.randn(shape, generator=generator) * made.get("b", 1) + made.get("a", 0)).to(dtype)


# The number of products in one sum of a matrix product, a convolution or attention; 0 for other functions.
def summands(name, args):
    if name in ("matmul", "__matmul__", "mm", "bmm", "mv", "dot", "vdot", "inner"):
        return args[0].shape[-1]
    if name in ("linear", "bilinear", "addmm", "addbmm", "baddbmm", "addmv"):
        return args[1].shape[-1]
    if name.startswith("conv_transpose"):
        return math.prod(args[1].shape) // args[1].shape[1]
    if name.startswith("conv"):
        return math.prod(args[1].shape[1:])
    if name == "einsum" and isinstance(args[0], str) and "->" in args[0] and "." not in args[0]:
        left, right = args[0].replace(" ", "").split("->")
        tensors = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
        extents = {letter: extent for part, one in zip(left.split(","), tensors) for letter, extent in zip(part, one.shape)}
        return math.prod(extent for letter, extent in extents.items() if letter not in right)
    if name == "scaled_dot_product_attention":
        return max(args[0].shape[-1], args[1].shape[-2])
    return 0


# How many products or inputs stand behind one element of an output: the longest sum of products in a call, or, for other sums, how many
# elements are read for each that is written. (PyTorch's own counter of operations needs a user with a name and threads.)
def length_of(torch, inputs, outputs, call):
    read = sum(one.numel() for one in inputs if torch.is_tensor(one))
    longest = [1, read // max(1, sum(one.numel() for one in outputs))]

    class watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            try:
                longest.append(summands(getattr(function, "__name__", ""), args))
            except (AttributeError, IndexError, TypeError):
                pass
            return function(*args, **(kwargs or {}))

    with watching(), torch.no_grad():
        call()
    return max(longest)


# The root of the mean square of the elements that are numbers.
def spread_of(torch, value):
    wide = value.double()
    wide = wide[torch.isfinite(wide)]
    return float(wide.square().mean().sqrt()) if wide.numel() else 0.0


# A module and what it gives for the inputs of the file: on "meta" where it works there. Gives the device, the module, and the outputs.
def called(torch, module, init, given):
    def call(device):
        torch.manual_seed(12)
        with torch.device(device), torch.no_grad():
            model = module.Model(*init["args"], **init["kwargs"])
            values = [torch.empty(one.shape, dtype=one.dtype) if torch.is_tensor(one) else one for one in given]
            return device, model, outputs_of(torch, model(*values))

    if "transformers" in sys.modules:
        answer_unknown_elements(torch)
    try:
        return call("meta")
    except unfit:
        raise
    except Exception:
        if elements_of(given) > MOST_SAMPLED:
            raise
        torch.manual_seed(12)
        model = module.Model(*init["args"], **init["kwargs"])
        values = [torch.zeros(one.shape, dtype=one.dtype) if torch.is_tensor(one) else one for one in given]
        with torch.no_grad():
            return "cpu", model, outputs_of(torch, model(*values))


# Models of transformers look at elements of their inputs, to warn of padding or to choose a form of the mask, and "meta" has none. The shapes
# of their results do not depend on it: an element is 0 here, and no condition holds.
def answer_unknown_elements(torch):
    def replace(name, unknown):
        original = getattr(torch.Tensor, name)
        setattr(torch.Tensor, name, lambda self, *args: unknown(self) if self.is_meta else original(self, *args))

    replace("item", lambda one: False if one.dtype == torch.bool else 0.0 if one.is_floating_point() else 0)
    replace("__bool__", lambda one: False)
    replace("__int__", lambda one: 0)
    replace("__index__", lambda one: 0)


# On "meta" PyTorch takes a recurrent layer apart, step by step, which takes ten seconds for 512 steps of six layers. Here the shapes come from
# the same products over all steps at once, which also show what the layer costs.
def quicken_recurrence(torch):
    def all_steps(gates, one, hidden, weights, biased, layers, dropout, training, both, batch_first):
        state, projected = hidden[0], len(hidden) > 1 and hidden[0].shape[-1] != hidden[1].shape[-1]
        ways, per_way = 2 if both else 1, (4 if biased else 2) + (1 if projected else 0)
        if one.dim() != 3 or state.dim() != 3 or state.shape[0] != layers * ways or state.shape[1] != one.shape[0 if batch_first else 1]:
            raise RuntimeError("the state does not fit the input of the recurrent layer")
        for layer in range(layers):
            results = []
            for way in range(ways):
                own = weights[(layer * ways + way) * per_way:]
                steps = torch.matmul(one, own[0].t())
                before = torch.empty(*one.shape[:2], state.shape[-1], dtype=one.dtype, device="meta")
                steps = (steps + torch.matmul(before, own[1].t()))[..., :own[0].shape[0] // gates]
                results.append(torch.matmul(steps, own[per_way - 1].t()) if projected else steps)
            one = torch.cat(results, -1)
            if dropout and training and layer + 1 < layers:
                one = torch.nn.functional.dropout(one, dropout)
        return (one, *map(torch.empty_like, hidden))

    def replace(name, gates):
        original = getattr(torch._VF, name)

        def called(*args):
            if len(args) != 9 or not torch.is_tensor(args[0]) or not args[0].is_meta or not isinstance(args[2], (list, tuple)):
                return original(*args)
            hidden = args[1] if isinstance(args[1], (list, tuple)) else (args[1],)
            return all_steps(gates, args[0], tuple(hidden), *args[2:])

        setattr(torch._VF, name, called)

    for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        replace(name, gates)


MOST_PARAMETERS = 300_000_000


def length_at(torch, probe, shapes, outputs):
    values = probe.values(shapes)
    return length_of(torch, values, outputs, lambda: probe.model(*values))


# The same problem with sizes that a processor can call many times.
def small_problem(torch, probe, axes, size):
    shapes, extents = shapes_at(probe, axes, size)
    inputs = [{**one, "shape": shape} if "shape" in one else one for one, shape in zip(probe.inputs, shapes)]
    outputs = [{**one, "shape": shape} for one, shape in zip(probe.outputs, extents)]
    with torch.no_grad():
        results = outputs_of(torch, probe.model(*probe.values(shapes)))
    return {"inputs": inputs, "outputs": outputs, "length": length_at(torch, probe, shapes, results),
            "axes": [{**one, "values": [size[one["name"]]]} for one in axes], "sizes": sizes_near(probe, axes, size)}


# The importer sets this again where a test has shown what the search here did not find.
ALL_OWN = False


def describe(torch, module, seconds):
    said, own = described_file(torch, module, seconds, ALL_OWN)
    said["function"] = own.function(said["inputs"], said["axes"]) if own else ""
    return said


# @param all_own whether get_inputs of the file makes every tensor in every call
def described_file(torch, module, seconds, all_own):
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not hasattr(module, name):
            raise unfit(f"the file does not define {name}")
    quicken_recurrence(torch)
    torch.manual_seed(11)
    given, kinds, samples, made = inputs_of(torch, module)
    if all_own:
        made = [torch.is_tensor(one) for one in given]
    init = init_of(module.get_init_inputs())
    device, model, first = called(torch, module, init, given)
    names = [name for name, one in inspect.signature(model.forward).parameters.items()
             if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    names = [names[i] if i < len(names) else f"x{i}" for i in range(len(given))]
    names = [name if name not in ("out",) and not name.startswith("out") else f"{name}_in" for name in names]
    inputs = [describe_input(torch, *one) for one in zip(names, given, kinds, samples, made)]
    outputs = [{"name": f"out{i}" if len(first) > 1 else "out", "dtype": str(one.dtype)[6:], "shape": list(one.shape)}
               for i, one in enumerate(first)]
    # Parameters that are tied have several names.
    parameters = sum({id(value): value.numel() for value in model.state_dict(keep_vars=True).values() if torch.is_tensor(value)}.values())
    own = own_inputs(torch, module, given, made) if any(made) else None
    del given, samples
    probe = prober(torch, model, inputs, outputs, device, seconds, own)
    usual = [one.get("shape", []) for one in inputs]
    said = {"init": written_init(init), "inputs": inputs, "outputs": outputs, "length": length_at(torch, probe, usual, first), "small": None, "untested": "",
            "parameters": parameters, "late": False, "all_own": all_own, "axes": axes_of(probe)}
    axes = said["axes"]
    said["sizes"] = sizes_of(probe, axes) if axes else []
    cost = probe.cost_of(usual)
    said["gflop"], said["mib"] = cost.flops / 1e9, cost.bytes / 2**20
    small, small_cost = small_size(probe, axes, cost)
    held = None
    if parameters > MOST_PARAMETERS:
        said["untested"] = f"it has {parameters / 1e6:.0f} million parameters"
    elif not is_possible(small_cost):
        said["untested"] = f"the smallest call that was found has {words_of_cost(small_cost)}"
    else:
        torch.manual_seed(12)
        real = module.Model(*init["args"], **init["kwargs"]) if device == "meta" else model
        with_elements = real_calls(torch, real, probe, cost, (small, small_cost))
        held = with_elements.axes_that_hold(axes)
        said["untested"] = "" if held else "it does not work at sizes that a processor can call: " + with_elements.failure[:300]
    said["late"] = probe.late
    probe.take_longer(seconds / 4)
    if held is None:
        if cost.random:
            raise unfit(f"it draws random numbers ({cost.random})")
        # What "meta" takes may fail with elements. The first extent is that of a batch nearly always.
        said["axes"] = [one for one in axes if all(dimension == 0 for _, dimension in one["places"])]
        said["sizes"] = sizes_of(probe, said["axes"]) if said["axes"] else []
        for one in outputs:
            one["spread"] = 0
        return said, own
    axes, small, spreads = held
    if not all_own and with_elements.overflows(axes, small):
        return described_file(torch, module, seconds, True)
    said["axes"], said["sizes"] = axes, sizes_of(probe, axes) if axes else []
    if small != usual_size(axes):
        said["small"] = small_problem(torch, probe, axes, small)
        for one, spread in zip(said["small"]["outputs"], spreads):
            one["spread"] = spread
        spreads = with_elements.extrapolated(axes, small, spreads)
    for one, spread in zip(outputs, spreads):
        one["spread"] = spread
    return said, own
