# What the importer of KernelBench finds out about one file, in the sandbox. kevo_torch.py executes this text and calls describe().
# The result is a JSON object; see src/import/kernelbench.cpp.
import inspect
import math
import time


class unfit(Exception):
    pass


# Remembers how tensors were drawn, so that an input that is one of them has an exact generator.
def traced(torch):
    made = {}

    def watch(name, describe):
        original = getattr(torch, name)

        def drawn(*args, **kwargs):
            result = original(*args, **kwargs)
            if torch.is_tensor(result):
                made[id(result)] = (describe(args, kwargs), result)
            return result

        setattr(torch, name, drawn)

    def bounds(args, kwargs):
        numbers = [value for value in args if isinstance(value, int)]
        low = kwargs.get("low", numbers[0] if len(numbers) > 1 else 0)
        high = kwargs.get("high", numbers[-1] if numbers else 2)
        return {"kind": "integers", "a": int(low), "b": int(high) - 1}

    watch("rand", lambda args, kwargs: {"kind": "uniform", "a": 0, "b": 1})
    watch("randn", lambda args, kwargs: {"kind": "normal"})
    watch("rand_like", lambda args, kwargs: {"kind": "uniform", "a": 0, "b": 1})
    watch("randn_like", lambda args, kwargs: {"kind": "normal"})
    watch("randint", bounds)
    return made


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
    # Of a uniform distribution the range is sqrt(12) deviations; of a normal one it is more.
    if (high - low) < 3.7 * deviation:
        return {"kind": "uniform", "a": low, "b": high}
    return {"kind": "normal", "a": mean, "b": deviation}


def describe_input(torch, name, value, made):
    if torch.is_tensor(value):
        if str(value.device) != "cpu":
            raise unfit(f"the input {name} is on the device {value.device}")
        known = made.get(id(value))
        return {"name": name, "dtype": str(value.dtype)[6:], "shape": list(value.shape), "exact": known is not None,
                "generate": known[0] if known else guessed(torch, value)}
    if isinstance(value, bool):
        return {"name": name, "dtype": "bool", "scalar": True, "value": int(value)}
    if isinstance(value, int):
        return {"name": name, "dtype": "int64", "scalar": True, "value": value}
    if isinstance(value, float):
        return {"name": name, "dtype": "float64", "scalar": True, "value": value}
    raise unfit(f"the input {name} is a {type(value).__name__}, not a tensor or a number")


def init_of(given):
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        return {"args": list(given[0]), "kwargs": dict(given[1])}
    return {"args": list(given), "kwargs": {}}


def outputs_of(torch, result):
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    for one in results:
        if not torch.is_tensor(one):
            raise unfit(f"an output is a {type(one).__name__}, not a tensor")
    return results


def draw(torch, one, shape, seed):
    if one.get("scalar"):
        return one["value"] if one["dtype"] != "bool" else bool(one["value"])
    generator = torch.Generator().manual_seed(seed)
    dtype, made = getattr(torch, one["dtype"]), one["generate"]
    if made["kind"] == "integers":
        return torch.randint(made["a"], made["b"] + 1, shape, generator=generator).to(dtype)
    if made["kind"] == "uniform":
        return (torch.rand(shape, generator=generator) * (made["b"] - made["a"]) + made["a"]).to(dtype)
    return (torch.randn(shape, generator=generator) * made.get("b", 1) + made.get("a", 0)).to(dtype)


# An extent of an output as an expression of the axis, from what it was for several values of the axis; None if no simple one fits.
def expression(name, values, found):
    if len(set(found)) == 1:
        return str(found[0])
    if found == values:
        return name
    differences = {f - v for v, f in zip(values, found)}
    if len(differences) == 1:
        step = differences.pop()
        return f"{name} {'+' if step > 0 else '-'} {abs(step)}"
    for factor in range(2, 65):
        if all(f == v * factor for v, f in zip(values, found)):
            return f"{name} * {factor}"
    for stride in range(2, 17):
        for offset in range(-32, 33):
            for last in (1, 0):
                if all(f == (v + offset) // stride + last for v, f in zip(values, found)):
                    inner = name if offset == 0 else f"({name} {'+' if offset > 0 else '-'} {abs(offset)})"
                    return f"{inner} / {stride}" + (" + 1" if last else "")
    return None


# Other values of an axis: not the usual one, odd ones among them.
def other_values(usual):
    wanted = [usual - 1, usual // 2 + 1, usual + 1, max(1, usual // 3)] if usual > 2 else [usual + 1, usual + 2, usual + 4]
    return sorted({value for value in wanted if value >= 1 and value != usual})


class prober:
    def __init__(self, torch, model, inputs, outputs, seconds):
        self.torch, self.model, self.inputs, self.outputs = torch, model, inputs, outputs
        self.end = time.monotonic() + seconds

    # The extents of the outputs when these places (input, dimension) have this extent; None if the module refuses.
    def shapes_with(self, places, value):
        if time.monotonic() > self.end:
            return None
        shapes = [list(one.get("shape", [])) for one in self.inputs]
        for number, dimension in places:
            shapes[number][dimension] = value
        return self.shapes_of(shapes)

    def shapes_of(self, shapes):
        try:
            with self.torch.no_grad():
                got = self.model(*[draw(self.torch, one, shape, 7) for one, shape in zip(self.inputs, shapes)])
            got = outputs_of(self.torch, got)
        except Exception:
            return None
        if [len(one.shape) for one in got] != [len(one["shape"]) for one in self.outputs]:
            return None
        return [list(one.shape) for one in got]

    # An axis at these places: its name, its values and the outputs' extents as expressions; None if the module does not allow it.
    def axis(self, name, places):
        usual = self.inputs[places[0][0]]["shape"][places[0][1]]
        values, found = [usual], [[list(one["shape"]) for one in self.outputs]]
        for value in other_values(usual):
            shapes = self.shapes_with(places, value)
            if shapes is not None:
                values.append(value)
                found.append(shapes)
        if len(values) < 3:
            return None
        extents = {}
        for output in range(len(self.outputs)):
            for dimension in range(len(self.outputs[output]["shape"])):
                text = expression(name, values, [one[output][dimension] for one in found])
                if text is None:
                    return None
                if not text.isdigit():
                    extents[f"{output} {dimension}"] = text
        return {"name": name, "places": places, "values": values, "extents": extents}


# Equal extents of several inputs are one axis if the module demands it, and axes of their own if it does not.
def axes_of(probe):
    groups = {}
    for number, one in enumerate(probe.inputs):
        for dimension, extent in enumerate(one.get("shape", [])):
            groups.setdefault(extent, []).append((number, dimension))
    axes, taken = [], set()

    def take(places):
        found = probe.axis(f"n{len(axes)}", places)
        used = {key for one in axes for key in one["extents"]}
        # Of an extent that depends on two axes no expression was found.
        if found is None or used & set(found["extents"]):
            return False
        axes.append(found)
        taken.update(map(tuple, places))
        return True

    for places in groups.values():
        for place in places:
            take([place])
        rest = [place for place in places if tuple(place) not in taken]
        if len(rest) > 1:
            take(rest)
    return axes


# Sizes for hidden workloads: all axes changed at once, as far as the module takes that and the expressions hold.
def sizes_of(probe, axes):
    made = []
    for turn in range(1, 4):
        size = {one["name"]: one["values"][1:][(turn + place) % (len(one["values"]) - 1)] for place, one in enumerate(axes)}
        shapes = [list(one.get("shape", [])) for one in probe.inputs]
        wanted = [list(one["shape"]) for one in probe.outputs]
        for one in axes:
            for number, dimension in one["places"]:
                shapes[number][dimension] = size[one["name"]]
            for place, text in one["extents"].items():
                output, dimension = map(int, place.split())
                wanted[output][dimension] = eval(text.replace("/", "//"), {}, size)
        if size not in made and probe.shapes_of(shapes) == wanted:
            made.append(size)
    return made


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


def describe(torch, module, seconds):
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not hasattr(module, name):
            raise unfit(f"the file does not define {name}")
    made = traced(torch)
    torch.manual_seed(11)
    given = module.get_inputs()
    init = init_of(module.get_init_inputs())
    torch.manual_seed(12)
    model = module.Model(*init["args"], **init["kwargs"])
    names = [name for name, one in inspect.signature(model.forward).parameters.items()
             if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    names = [names[i] if i < len(names) else f"x{i}" for i in range(len(given))]
    names = [name if name not in ("out",) and not name.startswith("out") else f"{name}_in" for name in names]
    inputs = [describe_input(torch, name, value, made) for name, value in zip(names, given)]

    def call():
        return model(*[value.clone() if torch.is_tensor(value) else value for value in given])

    with torch.no_grad():
        first = outputs_of(torch, call())
        second = outputs_of(torch, call())
    for one, other in zip(first, second):
        if not torch.equal(one.isnan(), other.isnan()) or not torch.allclose(one.double(), other.double(), 1e-3, 1e-3, equal_nan=True):
            raise unfit("two calls with the same inputs give different results: it draws random numbers")
    outputs = [{"name": f"out{i}" if len(first) > 1 else "out", "dtype": str(one.dtype)[6:], "shape": list(one.shape),
                "spread": spread_of(torch, one)} for i, one in enumerate(first)]
    length = length_of(torch, given, first, call)
    probe = prober(torch, model, inputs, outputs, seconds)
    axes = axes_of(probe)
    return {"init": init, "inputs": inputs, "outputs": outputs, "length": length, "axes": axes, "sizes": sizes_of(probe, axes) if axes else [],
            "parameters": sum(value.numel() for value in model.state_dict().values())}
