# Which extents of a problem may vary, and with which sizes a processor can call it. Part of the script of kernelbench.py.
#
# Shapes are found on PyTorch's device "meta", which computes shapes and no elements: the suite's sizes are meant for GPUs, and many of its
# problems need gigabytes and minutes of a processor for one call.


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
    # A transposed convolution with a stride.
    factor, rest = divmod(found[1] - found[0], values[1] - values[0])
    if rest == 0 and factor > 1:
        offset = found[0] - factor * values[0]
        if all(f == factor * v + offset for v, f in zip(values, found)):
            return f"{name} * {factor} {'+' if offset > 0 else '-'} {abs(offset)}"
    return None


# Other values of an axis: not the usual one, odd ones among them.
def other_values(usual):
    wanted = [usual - 1, usual // 2 + 1, usual + 1, max(1, usual // 3)] if usual > 2 else [usual + 1, usual + 2, usual + 4]
    return sorted({value for value in wanted if value >= 1 and value != usual})


# What a call costs: operations of products, bytes that are written, and whether random numbers are drawn.
def meter_of(torch):
    from torch.utils._python_dispatch import TorchDispatchMode

    class meter(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.flops, self.bytes, self.random = 0, 0, ""

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            name = function.__name__.partition(".")[0]
            if torch.Tag.nondeterministic_seeded in function.tags and "scaled_dot_product" not in name:
                self.random = name
            for one in result if isinstance(result, (list, tuple)) else (result,):
                if torch.is_tensor(one) and not function.is_view:
                    self.bytes += one.numel() * one.element_size()
            if name in ("mm", "bmm", "addmm", "baddbmm"):
                self.flops += 2 * result.numel() * args[-1].shape[-2]
            elif name in ("convolution", "_convolution"):
                per_element = math.prod(args[1].shape[1:])
                self.flops += 2 * per_element * (args[0] if args[6] else result).numel()
            elif "scaled_dot_product" in name:
                self.flops += 4 * args[0].numel() * args[1].shape[-2]
            return result

    return meter()


# The time is that of a processor: on a busy machine a file gets the same sizes as on a quiet one.
class prober:
    # @param own the inputs that the file makes itself (own_inputs), if there are any
    def __init__(self, torch, model, inputs, outputs, device, seconds, own=None):
        self.torch, self.model, self.inputs, self.outputs, self.device, self.own = torch, model, inputs, outputs, device, own
        self.end, self.late = time.process_time() + seconds, False

    def is_late(self):
        self.late = self.late or time.process_time() > self.end
        return self.late

    # For what belongs to the axes that were found, however long that took.
    def take_longer(self, seconds):
        self.end, self.late = max(self.end, time.process_time() + seconds), False

    # The extents of the outputs when these places (input, dimension) have this extent; None if the module refuses.
    def shapes_with(self, places, value):
        shapes = [list(one.get("shape", [])) for one in self.inputs]
        for number, dimension in places:
            shapes[number][dimension] = value
        return self.shapes_of(shapes)

    def values(self, shapes, device=None):
        device = device or self.device
        own = self.own.values(shapes) if self.own and device != "meta" else None
        return [own[i] if own and one.get("own") else draw(self.torch, one, shape, 7, device)
                for i, (one, shape) in enumerate(zip(self.inputs, shapes))]

    def shapes_of(self, shapes):
        if self.is_late():
            return None
        try:
            with self.torch.no_grad():
                got = outputs_of(self.torch, self.model(*self.values(shapes)))
        except Exception:
            return None
        if [len(one.shape) for one in got] != [len(one["shape"]) for one in self.outputs] or any(0 in one.shape for one in got):
            return None
        return [list(one.shape) for one in got]

    def cost_of(self, shapes):
        values = self.values(shapes)
        seen = meter_of(self.torch)
        with self.torch.no_grad(), seen:
            self.model(*values)
        seen.bytes += sum(one.numel() * one.element_size() for one in values if self.torch.is_tensor(one))
        return seen

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

    # What the file makes itself has extents that only the file can change.
    if probe.own:
        groups = {}
        for one in probe.own.sizes:
            if not take(one["places"]):
                number, dimension = one["places"][0]
                groups.setdefault(probe.inputs[number]["shape"][dimension], []).extend(one["places"])
        # Several numbers of the file that have to be equal.
        for places in groups.values():
            take(places)
        return axes
    for places in groups.values():
        for place in places:
            take([place])
        rest = [place for place in places if tuple(place) not in taken]
        if len(rest) > 1:
            take(rest)
    return axes


# The shapes of the inputs for a size, and those of the outputs by the expressions.
def shapes_at(probe, axes, size):
    shapes = [list(one.get("shape", [])) for one in probe.inputs]
    wanted = [list(one["shape"]) for one in probe.outputs]
    for one in axes:
        for number, dimension in one["places"]:
            shapes[number][dimension] = size[one["name"]]
        for place, text in one["extents"].items():
            output, dimension = map(int, place.split())
            wanted[output][dimension] = eval(text.replace("/", "//"), {}, size)
    return shapes, wanted


def takes(probe, axes, size):
    shapes, wanted = shapes_at(probe, axes, size)
    return probe.shapes_of(shapes) == wanted


def usual_size(axes):
    return {one["name"]: one["values"][0] for one in axes}


# Where inputs and outputs are large, those of a hidden workload may have this many times the elements of the usual ones (first: of a usual
# size with more elements): on a device, several sets of both must fit.
MOST_GROWTH = ((2**28, 0.5), (2**24, 1.5))


def elements_at(probe, axes, size):
    return sum(math.prod(shape) for shapes in shapes_at(probe, axes, size) for shape in shapes)


# The size itself, or one with the largest extents halved until it has not many more elements than the usual one.
def moderate(probe, axes, size):
    usual, fixed = elements_at(probe, axes, usual_size(axes)), set()
    most = next((growth * usual for many, growth in MOST_GROWTH if usual > many), math.inf)
    while elements_at(probe, axes, size) > most:
        free = [name for name in size if name not in fixed and size[name] > 2]
        if not free:
            break
        name = max(free, key=lambda one: size[one])
        tried = {**size, name: size[name] // 2 + 1}
        if takes(probe, axes, tried):
            size = tried
        else:
            fixed.add(name)
    return size


# Sizes for hidden workloads: all axes changed at once, as far as the module takes that and the expressions hold. Not those at which it draws
# random numbers that it does not draw at the usual size (a reformer hashes long sequences alone).
def sizes_of(probe, axes):
    made, usual = [], usual_size(axes)
    often = probe.cost_of(shapes_at(probe, axes, usual)[0]).random
    for turn in range(1, 4):
        size = {one["name"]: one["values"][1:][(turn + place) % (len(one["values"]) - 1)] for place, one in enumerate(axes)}
        if size in made or not takes(probe, axes, size):
            continue
        size = moderate(probe, axes, size)
        random = probe.cost_of(shapes_at(probe, axes, size)[0]).random
        if size not in made and size != usual and (often or not random):
            made.append(size)
    return made


# A call that a processor makes in some milliseconds, with numbers that a test of a tolerance may hold many times; and one that may take a
# second. The importer sets the former again (see kernelbench.cpp).
MOST_FLOPS, MOST_BYTES = 2e8, 1.6e7
POSSIBLE_FLOPS, POSSIBLE_BYTES = 5e9, 1.6e8


def is_small(cost):
    return cost.flops <= MOST_FLOPS and cost.bytes <= MOST_BYTES


def is_possible(cost):
    return cost.flops <= POSSIBLE_FLOPS and cost.bytes <= POSSIBLE_BYTES


def words_of_cost(cost):
    return f"{cost.flops / 1e9:.3g} GFLOP and writes {cost.bytes / 2**20:.3g} MiB"


# The usual size, with extents halved until a call is small: the largest extent first, as far as the module takes that. Gives the size and
# its cost, which is not small if the module does not allow it. A size of one element shows nothing of what elements have to do with each
# other (attention to one token): a possible one with several is preferred.
FEW_ELEMENTS = 8


def small_size(probe, axes, cost):
    size, fixed, few = usual_size(axes), set(), None
    while not is_small(cost):
        free = [name for name in size if name not in fixed and size[name] > 1]
        if not free or probe.is_late():
            break
        name = max(free, key=lambda one: size[one])
        tried = {**size, name: (size[name] + 1) // 2}
        if not takes(probe, axes, tried):
            fixed.add(name)
            continue
        after = probe.cost_of(shapes_at(probe, axes, tried)[0])
        if after.flops > 0.95 * cost.flops and after.bytes > 0.95 * cost.bytes:
            fixed.add(name)
            continue
        size, cost = tried, after
        if is_possible(cost) and math.prod(size.values()) >= FEW_ELEMENTS:
            few = size, cost
    return few if few and len(size) > 1 and math.prod(size.values()) == 1 else (size, cost)


# Sizes near a small one, for the hidden workloads of its test.
def sizes_near(probe, axes, size):
    made = []
    for change in (lambda value: value // 2 + 1, lambda value: max(1, value - 1), lambda value: max(1, value // 3)):
        tried = {name: change(value) for name, value in size.items()}
        if tried != size and tried not in made and takes(probe, axes, tried):
            made.append(tried)
    return made


# Inputs as kevo's own contents have them at most: all elements alike, three deviations from the mean, or at the ends of the range but for the
# lower end itself, which often is 0 and is never drawn for all of them.
def alike(torch, one, shape, side):
    made = one.get("generate", {"kind": "integers"})
    if made["kind"] == "integers":
        return draw(torch, one, shape, 7, "cpu")
    a, b = made.get("a", 0), made.get("b", 1)
    low, high = (a + (b - a) / 64, b) if made["kind"] == "uniform" else (a - 3 * b, a + 3 * b)
    return torch.full(shape, (low, high)[side], dtype=getattr(torch, one["dtype"]))


# Calls with elements, which show what "meta" does not: indices out of range, random numbers, and how large results are.
class real_calls:
    # @param first the small size that was found with all axes, and its cost
    def __init__(self, torch, model, probe, cost, first):
        self.torch, self.model, self.probe, self.cost, self.first = torch, model, probe, cost, first
        self.failure = ""

    def spreads(self, axes, size, twice=False):
        shapes = shapes_at(self.probe, axes, size)[0]

        def call():
            return outputs_of(self.torch, self.model(*self.probe.values(shapes, "cpu")))

        with self.torch.no_grad():
            first = call()
            for one, other in zip(first, call() if twice else first):
                same = self.torch.allclose(one.double(), other.double(), 1e-3, 1e-3, equal_nan=True)
                if not same or not self.torch.equal(one.isnan(), other.isnan()):
                    raise unfit("two calls with the same inputs give different results: it draws random numbers")
        return [spread_of(self.torch, one) for one in first]

    # The spreads of the outputs at a small size, and that size; None if the module fails there.
    def small(self, axes):
        (size, cost), self.first = self.first or small_size(self.probe, axes, self.cost), None
        if not is_possible(cost):
            self.failure = self.failure or f"the smallest call without extents that may not vary has {words_of_cost(cost)}"
            return None
        try:
            return size, self.spreads(axes, size, True)
        except unfit:
            raise
        except Exception as error:
            self.failure = str(error)
            return None

    # Whether the module takes another extent of this axis.
    def holds(self, axes, size, name):
        for value in (size[name] // 2, size[name] + 1):
            tried = {**size, name: value}
            if value < 1 or not takes(self.probe, axes, tried):
                continue
            try:
                self.spreads(axes, tried)
                return True
            except Exception as error:
                self.failure = str(error)
                return False
        return True

    # An axis that only "meta" lets vary is none: its extent stays that of the file. Gives the rest, the small size and the spreads there;
    # None if no small call works.
    def axes_that_hold(self, axes):
        found = self.small(axes)
        for count in (1, 2, 3):
            if found is None:
                tries = [[one for one in axes if one not in left] for left in itertools.combinations(axes, count)]
                axes, found = next(((rest, got) for rest in tries if (got := self.small(rest)) is not None), (axes, None))
        if found is None:
            return None
        for one in axes:
            if not self.holds(axes, found[0], one["name"]):
                return self.axes_that_hold([other for other in axes if other is not one])
        return axes, *found

    # Sizes with one extent of the file each, and the others as small as a call has to be that a processor makes.
    def long_sizes(self, axes, small):
        for one in axes:
            size = {**small, one["name"]: one["values"][0]}
            order = sorted((name for name in size if name != one["name"]), key=lambda name: -size[name]) + [one["name"]]
            for name in order:
                while size[name] > 1 and takes(self.probe, axes, size) and not is_possible(self.probe.cost_of(shapes_at(self.probe, axes, size)[0])):
                    size = {**size, name: size[name] // 2}
            if takes(self.probe, axes, size) and is_possible(self.probe.cost_of(shapes_at(self.probe, axes, size)[0])):
                yield size

    # Whether the result is infinite or NaN, in float64, where all elements of the inputs are alike, and is not where they are as in the file:
    # a product of a whole row, for example. Looked for along each extent, since a small size need not show it.
    def overflows(self, axes, small):
        torch, inputs = self.torch, self.probe.inputs
        wide = copy.deepcopy(self.model).double()

        def finite(values):
            values = [one.double() if torch.is_tensor(one) and one.is_floating_point() else one for one in values]
            try:
                return all(bool(one.isfinite().all()) for one in outputs_of(torch, wide(*values)))
            except Exception:
                return True  # it does not compute in float64, or not with these elements: another test says so

        with torch.no_grad():
            for size in [small, *self.long_sizes(axes, small)]:
                shapes = shapes_at(self.probe, axes, size)[0]
                if not finite(self.probe.values(shapes, "cpu")):
                    continue
                for side in (0, 1):
                    if not finite([alike(torch, one, shape, side) for one, shape in zip(inputs, shapes)]):
                        return True
        return False

    # The spreads at the sizes of the file, from those at a small size and at sizes with one axis halved: a power of each extent.
    def extrapolated(self, axes, small, spreads):
        wide = list(spreads)
        for one in axes:
            usual, here = one["values"][0], small[one["name"]]
            half = {**small, one["name"]: here // 2}
            if usual == here or here < 4 or not takes(self.probe, axes, half):
                continue
            for number, (now, before) in enumerate(zip(spreads, self.spreads(axes, half))):
                if now > 0 and before > 0:
                    power = max(-1.0, min(1.0, math.log(now / before) / math.log(here / (here // 2))))
                    wide[number] *= (usual / here) ** power
        return wide
