# With which contents the function of a suite can be called, and what it gives. Part of the script of suite_calls.py.


BEYOND = "it reads beyond its inputs, and its result depends on what lies there"
RANDOM = "two calls with the same inputs give different results: it draws random numbers"
NOT_FINITE = "its result contains NaN or infinity"
UNWRITTEN = "it does not write all of its result, and what is left of it depends on what the memory contained before"

# How an input is drawn where its own contents do not say it, or where the function does not take all of them.
TREATMENTS = ("", "positive", "share", "inside", "dominant", "definite")


def recipe_of(torch, one, treatment):
    value, known = one["value"], one["known"]
    if not value.is_floating_point():
        return known or guessed(torch, value)
    if treatment in ("positive", "share", "inside"):
        low, high = {"positive": (0.1, 2.0), "share": (0.05, 0.95), "inside": (-0.95, 0.95)}[treatment]
        return {"kind": "uniform", "a": low, "b": high}
    if known:
        return known
    finite = value[torch.isfinite(value)]
    if finite.numel() == 0:
        return {"kind": "normal"}
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return {"kind": "normal"} if low == 0 else {"kind": "uniform", "a": min(low / 2, low * 1.5), "b": max(low / 2, low * 1.5)}
    made = guessed(torch, finite)
    if made["kind"] == "normal":
        count = finite.numel()
        near = abs(made["a"]) < 4 * made["b"] / count ** 0.5
        made["a"] = 0.0 if near else float(f"{made['a']:.3g}")
        made["b"] = 1.0 if near and abs(made["b"] - 1) < 4 / count ** 0.5 else float(f"{made['b']:.3g}")
    else:
        made["a"], made["b"] = float(f"{made['a']:.4g}"), float(f"{made['b']:.4g}")
        if not made["a"] < made["b"]:
            made["b"] = made["a"] + max(1e-3, abs(made["a"]) * 1e-3)
    return made


# Indices that belong to each other (offsets, permutations, tables) mean nothing when they are drawn one by one; nor does a mask.
def is_structured(torch, one):
    value = one["value"]
    if one["known"]:
        return False
    if value.is_floating_point():
        half = value.numel() > 1 and structure(torch, value.double()) in ("upper triangular", "lower triangular")
        return half or not bool(torch.isfinite(value).all())
    if value.dtype == torch.bool:
        return value.dim() >= 2 and bool((value == value.sort(-1).values).all() or (value == value.sort(-1, descending=True).values).all())
    flat = value.flatten()
    if flat.numel() < 3:
        return False
    ascending = bool((flat[1:] >= flat[:-1]).all()) and not bool((flat == flat[0]).all())
    return ascending or (flat.unique().numel() == flat.numel() and int(flat.max()) - int(flat.min()) == flat.numel() - 1)


# Contents as kevo draws them, of a few of its varieties.
def content(torch, one, shape, variety, generator):
    dtype, made = one["value"].dtype, one["recipe"]
    count = math.prod(shape)
    if made["kind"] == "integers":
        flat = torch.randint(made["a"], made["b"] + 1, (count,), generator=generator)
        if variety == "constant":
            flat[:] = made["b"]
        elif count and variety != "free":
            flat[0], flat[-1] = made["a"], made["b"]  # an index that is out of range is seen at once
        return flat.to(dtype).view(shape)
    if made["kind"] == "uniform":
        share = torch.rand(count, generator=generator, dtype=torch.float64)
        if variety == "constant":
            share[:] = share[:1].clone()
        if variety == "spiked":
            share = 0.4 + share / 4
            share[:1] = 0.0
        if variety == "scaled":
            share = share / 16
        flat = share * (made["b"] - made["a"]) + made["a"]
    else:
        flat = torch.randn(count, generator=generator, dtype=torch.float64)
        if variety == "constant":
            flat[:] = flat[:1].clone()
        if variety == "spiked":
            flat = 1 + flat.clamp(-1, 1) / 64
            flat[:1] = 4.0
        if variety == "scaled":
            flat = flat / 4
        flat = flat * made.get("b", 1) + made.get("a", 0)
    return flat.to(dtype).view(shape)


# A tensor with other numbers around it, so that a function that reads beyond it shows that. Kernels are seen by guarded_memory.
def placed(torch, value, around):
    margin = 0 if is_triton() else 256
    whole = torch.full((value.numel() + 2 * margin,), 0, dtype=value.dtype)
    whole[:] = around if value.is_floating_point() else 0
    whole[margin:margin + value.numel()] = value.flatten()
    return whole[margin:margin + value.numel()].view(value.shape)


# The description of a case with names for its inputs.
def described(case, given):
    if isinstance(given, list):
        return [described(case, one) for one in given]
    if not isinstance(given, dict):
        return given
    if set(given) == {"input"}:
        one = case.inputs[given["input"]]
        if one["keep"] is not None:
            made = {"tensor": one["keep"]}
        else:
            made = {"input": one["name"]}
            if one["treat"]:
                made = {one["treat"]: made}
        return {"written": made} if one["written"] else made
    return {key: described(case, value) for key, value in given.items()}


def can_be_kept(one):
    value = one["value"]
    return value.numel() * value.element_size() <= MOST_CONSTANT_BYTES and not one.get("large")


def kept(torch, value):
    if value.numel() * value.element_size() > MOST_CONSTANT_BYTES:
        raise unfit_case("its indices or masks take more than 1 MiB")
    data = bytes(value.flatten().contiguous().view(torch.uint8).tolist())
    return {"dtype": str(value.dtype)[6:], "shape": list(value.shape), "base64": base64.b64encode(data).decode()}


class probing:
    def __init__(self, torch, function, case, seconds):
        self.torch, self.function, self.case, self.seconds = torch, function, case, seconds
        self.failure, self.aliased = "", set()
        self.changes = False  # whether the last call has written to a tensor that is no result of it
        self.flat = True  # whether it returns real tensors alone, one or several in a list or tuple

    def caller(self):
        case, torch = self.case, self.torch

        def function(*args, **kwargs):
            found = self.function(*args, **kwargs)
            self.flat = all(torch.is_tensor(one) and not one.is_complex() for one in (found if isinstance(found, (list, tuple)) else [found]))
            return found

        call = {"args": described(case, case.args), "kwargs": described(case, case.kwargs), "results": []}
        drawn = [{"name": one["name"]} for one in self.drawn()]
        return kevo_process.calling(torch, function, [call], drawn, [])

    def drawn(self):
        return [one for one in self.case.inputs if one["keep"] is None]

    def contents(self, variety, seed, shapes=None):
        generator = self.torch.Generator().manual_seed(seed)
        shapes = shapes or [list(one["value"].shape) for one in self.drawn()]
        return [content(self.torch, one, shape, variety, generator) for one, shape in zip(self.drawn(), shapes)]

    # What a call gives for these contents; None, with the reason in `failure`, if it fails.
    def results(self, values, around=7.0, seed=1, wide=False, fresh=True):
        torch = self.torch
        if wide:
            values = [one.double() if one.is_floating_point() else one for one in values]
        values = [placed(torch, one, around) for one in values]
        before = torch.get_default_dtype()
        torch.manual_seed(seed)
        guarded_memory.around, guarded_memory.fresh, guarded_memory.reads = around > 0, fresh, False
        begin = time.process_time()
        try:
            with within(self.seconds), torch.no_grad():
                if wide:
                    torch.set_default_dtype(torch.float64)
                caller = self.caller()
                before_call = [one.clone() for one in values]
                found, _ = caller.run(0, values)
                self.changes = not all(map(torch.equal, values, before_call))
                # What is returned and written to is one result.
                written = {(one.data_ptr(), one.shape, one.stride()) for one in caller.written}
                returned = len(found) - len(caller.written)
                self.aliased = {place for place, one in enumerate(found[:returned]) if (one.data_ptr(), one.shape, one.stride()) in written}
                return [one.clone() for one in found]
        except out_of_time:
            self.failure = f"a call takes more than {self.seconds:.0f} s of a processor"
        except Exception as error:
            self.failure = f"{type(error).__name__}: {str(error)[:160]}"
        finally:
            torch.set_default_dtype(before)
            guarded_memory.fresh = True
            self.cost = time.process_time() - begin
        return None

    # Why two calls with the same inputs give different results; empty if they do not.
    def difference(self, values, found):
        if self.is_like(found, self.results(values, around=-3.0, seed=2, fresh=False)) is not False:
            return ""
        if self.is_like(found, self.results(values, seed=2)) is False:
            # What lies beyond an input may be another tensor, whose elements change from call to call.
            return BEYOND if guarded_memory.reads else RANDOM
        if self.is_like(found, self.results(values, around=-3.0)) is False:
            return BEYOND
        return UNWRITTEN

    # None if the other call failed.
    def is_like(self, found, other):
        if other is None:
            return None
        close = functools.partial(self.torch.allclose, rtol=1e-3, atol=1e-3, equal_nan=True)
        return len(found) == len(other) and all(one.shape == two.shape and close(one.double(), two.double())
                                                for one, two in zip(found, other))

    def is_finite(self, found):
        torch = self.torch
        for one in found:
            if one.is_floating_point() and not bool((torch.isfinite(one) | (one == -math.inf)).all()):
                self.failure = NOT_FINITE
                return False
        return True

    # Whether the function can be called with all contents that kevo draws, and always gives the same for them.
    def works(self):
        torch = self.torch
        shapes, begin = None, time.process_time()
        # Few numbers may all be positive, and few matrices regular, by chance.
        few = sum(one["value"].numel() for one in self.drawn()) < 256
        for seed, variety in enumerate(("plain", "constant", "spiked", "scaled") + ("free",) * (12 if few else 0)):
            if seed > 0 and time.process_time() - begin > 4:
                break
            values = self.contents(variety, seed)
            found = self.results(values)
            if found is None or not self.is_finite(found):
                return None
            mine = [(str(one.dtype)[6:], tuple(one.shape)) for one in found]
            if shapes is not None and mine != shapes:
                self.failure = "the shape of its result depends on the contents of the inputs"
                return None
            if shapes is None:
                self.failure = ""
                self.failure = self.difference(values, found) or self.failure
                if self.failure:
                    return None
                plain = found
            shapes = mine
        return plain

    # The largest difference from the result in float64, as a share of the spread of the result; None if there is none.
    def error_of_types(self):
        values = self.contents("plain", 5)
        narrow, wide = self.results(values), self.results(values, wide=True)
        self.fails_wide = narrow is not None and wide is None and "takes more than" not in self.failure
        if narrow is None or wide is None or [one.shape for one in narrow] != [one.shape for one in wide]:
            return None
        worst = 0.0
        for one, other in zip(narrow, wide):
            if one.is_floating_point() and one.numel():
                spread = max(spread_of(self.torch, other), 1e-30)
                worst = max(worst, float((one.double() - other.double()).abs().nan_to_num(math.inf).max()) / spread)
        return worst


# Whether the result is not finite with the inputs of the test either.
def is_never_finite(probe):
    for one in probe.drawn():
        one["treat"] = ""
    found = probe.results([one["value"] for one in probe.drawn()])
    return found is not None and not probe.is_finite(found)


# Whether the function gives something else in float64, or fails with it.
def is_other_in_float64(probe):
    worst = probe.error_of_types()
    return probe.fails_wide or (worst is not None and worst > 0.05)


# Notes which tensors the function writes to, constants among them.
def note_written(torch, probe):
    case, drawn = probe.case, probe.contents("plain", 3)
    values = [drawn.pop(0) if one["keep"] is None else one["value"] for one in case.inputs]
    given = [one.clone() for one in values]
    keeps = [one["keep"] for one in case.inputs]
    for one in case.inputs:
        one["keep"], one["written"] = None, False
    call = {"args": described(case, case.args), "kwargs": described(case, case.kwargs), "results": []}
    for one, keep in zip(case.inputs, keeps):
        one["keep"] = keep
    names = [{"name": one["name"]} for one in case.inputs]
    try:
        with within(probe.seconds), torch.no_grad():
            kevo_process.calling(torch, probe.function, [call], names, []).run(0, given)
    except out_of_time:
        pass  # what it has written until then is known
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return
    for one, value, after in zip(case.inputs, values, given):
        one["written"] = not torch.equal(value.nan_to_num(0) if value.is_floating_point() else value,
                                         after.nan_to_num(0) if after.is_floating_point() else after)


# What a call gives that Triton's interpreter does not finish: shapes and types alone.
def untested(probe):
    probe.case.untested, why = probe.failure, probe.failure
    with without_kernels():
        found = probe.results(probe.contents("plain", 0))
    if found is None:
        raise unfit_case(why + " (--seconds allows more)")
    if not found:
        raise unfit_case(why + ", and until then it has written to none of its arguments (--seconds allows more)")
    return found


# Which inputs are drawn in another way than their contents in the test tell: none, one alone, all that are real.
def treatments_of(probe):
    reals = [one for one in probe.drawn() if one["value"].is_floating_point()]
    yield "", []
    # Of a matrix that need not be symmetric, a symmetric one would hide what a program gets wrong.
    definite = "positive-definite" in probe.failure or "positive definite" in probe.failure
    for treatment in ("definite", *TREATMENTS[1:-1]) if definite else TREATMENTS[1:]:
        fit_for = [one for one in reals if is_square(one)] if treatment in ("dominant", "definite") else reals
        for one in fit_for if len(fit_for) > 1 else []:
            yield treatment, [one]
        if fit_for:
            yield treatment, fit_for


# Whether a result is that of nearly singular matrices: the rounding of the inputs alone changes it.
def is_uneven(probe, reals):
    narrowest = all(one["value"].element_size() >= 4 for one in reals)
    if not narrowest or is_triton() or not any(is_square(one) for one in probe.drawn()):
        return False
    worst = probe.error_of_types()
    return worst is not None and worst > 1e-3


# Chooses how the inputs are drawn. Gives what the function returns. After `end` (of the processor's clock), nothing more is tried.
# @raise unfit_case
def fit(torch, function, case, seconds, constants_first, end):
    probe = probing(torch, function, case, seconds)
    reals = [one for one in case.inputs if one["value"].is_floating_point()]
    for one in case.inputs:
        whole = not one["value"].is_floating_point()
        if is_structured(torch, one) or (constants_first and whole and not one["known"] and can_be_kept(one)):
            one["keep"] = kept(torch, one["value"])
    if not probe.drawn():
        for one in case.inputs:
            one["keep"] = None if bool(torch.isfinite(one["value"].double()).all()) else one["keep"]
    if not probe.drawn():
        raise unfit_case("it has no tensor among its arguments whose elements could be drawn")
    first, uneven = "", None
    for whole_kept in (False, True):
        if whole_kept:
            loose = [one for one in case.inputs if one["keep"] is None and not one["value"].is_floating_point() and can_be_kept(one)]
            if not loose or not [one for one in reals if one["keep"] is None]:
                break
            for one in loose:
                one["keep"] = kept(torch, one["value"])
        for treatment, chosen in treatments_of(probe):
            for one in probe.drawn():
                mine = any(one is other for other in chosen)
                one["treat"] = treatment if mine and treatment in ("dominant", "definite") else ""
                one["recipe"] = {"kind": "normal"} if one["treat"] else recipe_of(torch, one, treatment if mine else "")
            note_written(torch, probe)  # before: what it writes is a result, too
            found = probe.works()
            if found is not None and treatment == "" and is_uneven(probe, reals):
                uneven, found = [dict(one) for one in case.inputs], None
            if found is not None:
                case.treatment = treatment
                return probe, found
            if "takes more than" in probe.failure and is_triton():
                return probe, untested(probe)
            if any(text in probe.failure for text in ("takes more than", "random numbers", "the shape of its result", UNWRITTEN)):
                raise unfit_case(probe.failure)
            first = first or probe.failure
            if probe.failure == BEYOND or "outside of its tensors" in probe.failure:
                break  # real numbers are no addresses
            if time.process_time() > end:
                break
        if time.process_time() > end:
            break
    if uneven is None:
        raise unfit_case(first + (", with the inputs of its test, too" if first == NOT_FINITE and is_never_finite(probe) else ""))
    for one, before in zip(case.inputs, uneven):
        one.update(before)
    case.treatment = ""
    return probe, probe.works()


def is_square(one):
    value = one["value"]
    return value.is_floating_point() and value.dim() >= 2 and value.shape[-1] == value.shape[-2]


# Whether an input that is drawn could be indices up to `extent`, which are out of range where the extent is smaller. Some functions would
# take them, and other ones that are right would not.
def indexes(torch, inputs, extent, smaller):
    def largest(one):
        drawn = one["keep"] is None and one["known"] and one["known"]["kind"] == "integers"
        return one["known"]["b"] if drawn else int(one["value"].max())

    whole = [one for one in inputs if one["value"].dtype in (torch.int32, torch.int64)]
    return any(smaller <= largest(one) < extent for one in whole)


# Sizes that the test does not have, with which the function works as well: extents that are equal change together, or alone.
def other_sizes(torch, probe, wanted, end):
    drawn = probe.drawn()
    usual = [list(one["value"].shape) for one in drawn]
    groups = {}
    for number, shape in enumerate(usual):
        for place, extent in enumerate(shape):
            if extent > 1:
                groups.setdefault(extent, []).append((number, place))

    def shapes_with(moves):
        shapes = [list(shape) for shape in usual]
        for places, extent in moves:
            for number, place in places:
                shapes[number][place] = extent
        return shapes

    def tried(moves):
        if time.process_time() > end:
            return None
        if any(indexes(torch, drawn, usual[number][place], extent) for places, extent in moves for number, place in places):
            return None
        shapes = shapes_with(moves)
        values = probe.contents("plain", 4, shapes)
        found = probe.results(values)
        if found is None or guarded_memory.reads or probe.changes or not probe.is_finite(found) or any(0 in one.shape for one in found):
            return None
        # Random numbers of which few different ones are possible are seldom seen with one more seed.
        if not all(probe.is_like(found, probe.results(values, around=-3.0, seed=seed, fresh=False)) for seed in ((2,) if is_triton() else range(2, 8))):
            return None
        return shapes, found, probe.cost

    moves = []
    for extent, places in groups.items():
        other = extent - 1 if extent > 3 else extent + 1
        if tried([(places, other)]):
            moves.append((places, extent))
            continue
        if len(places) > 1:
            moves += [([place], extent) for place in places if tried([([place], other)])]
    made = []
    changes = (lambda extent: extent // 2 + 1 if extent > 2 else extent + 2, lambda extent: extent - 1 if extent > 3 else extent + 1,
               lambda extent: max(1, extent // 3) if extent > 3 else extent + 3)
    for change in changes:
        # All together if they go together, else as many as do, one after the other.
        chosen, best = [], None
        whole = [(places, change(extent)) for places, extent in moves]
        best = tried(whole) if whole else None
        if best is None:
            for move in whole:
                got = tried(chosen + [move])
                if got is not None:
                    chosen, best = chosen + [move], got
        if best is not None and best[0] != usual and best[0] not in [one[0] for one in made]:
            made.append(best)
        if len(made) >= wanted or time.process_time() > end:
            break
    return made
