# The task of a problem, from the calls of its test. The last part of the script of suite_calls.py.

MOST_WORKLOADS, MOST_TIMED, MOST_EXTENTS, MOST_TENSORS, MOST_CALLS_OF_TASK = 14, 3, 32, 40, 64
NOT_TESTED = 1e6  # s: as if such a call took so long that the controls leave it out


def names_of(function, count):
    try:
        given = [name for name, one in inspect.signature(function).parameters.items()
                 if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        given = []
    if given[:1] == ["ctx"]:
        given = given[1:]
    return [given[place] if place < len(given) else f"x{place}" for place in range(count)]


# Calls with the same description and the same shapes are one.
def key_of(one):
    shapes = [(str(value["value"].dtype), tuple(value["value"].shape)) for value in one.inputs]
    return json.dumps([one.args, one.kwargs, [str(shape) for shape in shapes]], sort_keys=True, default=str)


class workload:
    def __init__(self, probe, found, cost, shapes=None):
        self.cost = cost  # of a call, in seconds of a processor
        self.smaller = False  # than any call of the test, see reduced()
        self.case, self.probe, self.found = probe.case, probe, found
        self.inputs = [(one, shapes[place] if shapes else list(one["value"].shape)) for place, one in enumerate(probe.drawn())]
        self.elements = sum(math.prod(shape) for _, shape in self.inputs) + sum(one.numel() for one in found)


# Names for tensors of the same argument, type and rank, over all workloads.
class slots:
    def __init__(self, reserved):
        self.names, self.taken = {}, set(reserved)

    def name(self, base, dtype, rank, make=True):
        key = base, dtype, rank
        if key not in self.names and make:
            name, number = base, 2
            while name in self.taken:
                name, number = f"{base}_{number}", number + 1
            self.taken.add(name)
            self.names[key] = name
        return self.names.get(key)

    def extents(self):
        return sum(rank for _, _, rank in self.names)


def base_of(name):
    return name + "_in" if name == "call" or name.startswith("out") else name


def outputs_of_workload(torch, one, output_slots):
    made, number = [], 0
    for place, value in enumerate(one.found):
        if place in one.probe.aliased:
            made.append(None)
            continue
        dtype = str(value.dtype)[6:]
        if dtype not in DTYPES:
            raise unfit_case(f"a result is of the type {dtype}")
        made.append(output_slots.name("out" if len(one.found) - len(one.probe.aliased) == 1 else f"out{number}", dtype, value.dim()))
        number += 1
    return made


def generator_text(made):
    if made["kind"] == "integers":
        return f"integers({made['a']}, {made['b']})"
    if made["kind"] == "normal" and made.get("a", 0) == 0 and made.get("b", 1) == 1:
        return "normal"
    return f"{made['kind']}({float(made.get('a', 0))!r}, {float(made.get('b', 1))!r})"


# A call as people write it.
def words_of(given):
    if isinstance(given, list):
        return ", ".join(map(words_of, given))
    if not isinstance(given, dict):
        return repr(given)
    (kind, inner), = given.items()
    if kind == "input":
        return inner
    if kind in ("list", "tuple"):
        text = ", ".join(map(words_of, inner))
        return f"[{text}]" if kind == "list" else f"({text}{',' if len(inner) == 1 else ''})"
    if kind == "map":
        return "{" + ", ".join(f"{name!r}: {words_of(one)}" for name, one in inner.items()) + "}"
    if kind == "tensor":
        return f"<a constant {inner['dtype']} tensor of shape {inner['shape']}>"
    if kind == "dtype":
        return "torch." + inner
    if kind == "device":
        return "device"
    if kind == "value":
        return f"float('{inner}')"
    if kind == "permute":
        return f"{words_of(inner[0])}.permute({', '.join(map(str, inner[1]))})"
    text = words_of(inner)
    return {"complex": f"torch.view_as_complex({text})", "dominant": f"{text} made diagonally dominant",
            "definite": f"{text} made symmetric and positive definite", "written": text}[kind]


def call_words(entry, call):
    parts = [words_of(one) for one in call["args"]] + [f"{name}={words_of(one)}" for name, one in call["kwargs"].items()]
    return f"{entry}({', '.join(parts)})"


# Chooses the workloads: the largest are timed; the others, and sizes that the test does not have, are hidden.
def chosen(torch, found, end, given_size_only):
    found.sort(key=lambda one: -one.elements)
    visible = [one for one in found[:MOST_TIMED] if one.elements * 64 >= found[0].elements and not one.smaller]
    hidden = [one for one in found if one not in visible]
    made = []
    for one in visible[:0 if given_size_only else 2]:
        indices = any(value["keep"] is not None and "int" in value["keep"]["dtype"] for value in one.case.inputs)
        if one.case.untested or (indices and is_triton()):
            continue
        for shapes, results, cost in other_sizes(torch, one.probe, 3 if one is visible[0] else 1, end):
            made.append(workload(one.probe, results, cost, shapes))
    return visible, made, hidden


def is_plain(calls, inputs, outputs):
    return (len(calls) == 1 and calls[0]["args"] == [{"input": one} for one in inputs] and not calls[0]["kwargs"]
            and calls[0]["results"] == outputs)


# The extents of all tensors over all workloads as axes: extents that are the same everywhere are one axis.
class axis_names:
    def __init__(self, taken):
        self.prefix = next(letter for letter in ("n", "size", "extent_") if not any(name.startswith(letter) for name in taken)
                           or letter == "extent_")
        self.known = {}

    def extent(self, values):
        if len(set(values)) == 1:
            return str(values[0])
        key = tuple(values)
        if key not in self.known:
            self.known[key] = f"{self.prefix}{len(self.known)}"
        return self.known[key]


def assembled(torch, entry, visible, made, hidden):
    inputs, outputs, kept_ones, left = slots({"call"}), slots(set()), [], 0
    for one, is_hidden in [(one, False) for one in visible] + [(one, True) for one in made + hidden]:
        names, results = dict(inputs.names), dict(outputs.names)
        taken = set(inputs.taken), set(outputs.taken)
        one.names = [inputs.name(base_of(value["name"]), str(value["value"].dtype)[6:], len(shape)) for value, shape in one.inputs]
        one.results = outputs_of_workload(torch, one, outputs)
        if (inputs.extents() + outputs.extents() > MOST_EXTENTS or len(inputs.names) + len(outputs.names) > MOST_TENSORS
                or len(kept_ones) >= MOST_WORKLOADS):
            inputs.names, outputs.names, left = names, results, left + 1
            inputs.taken, outputs.taken = taken
            continue
        one.hidden = is_hidden
        kept_ones.append(one)
    calls, texts = [], {}
    for one in kept_ones:
        for (value, _), name in zip(one.inputs, one.names):
            value["name"] = name
        call = {"args": described(one.case, one.case.args), "kwargs": described(one.case, one.case.kwargs), "results": one.results}
        text = json.dumps(call)
        if text not in texts:
            texts[text] = len(calls)
            calls.append(call)
        one.call = texts[text]
    return written_task(entry, kept_ones, calls, list(inputs.names.items()), list(outputs.names.items())), left


def written_task(entry, kept_ones, calls, inputs, outputs):
    names = [name for _, name in inputs], [name for _, name in outputs]
    axes = axis_names(names[0] + names[1])

    def shapes_of(all_slots, of):
        made = {}
        for (_, dtype, rank), name in all_slots:
            per_workload = [of(one).get(name, [1] * rank) for one in kept_ones]
            made[name] = {"shape": [axes.extent([shape[place] for shape in per_workload]) for place in range(rank)], "dtype": dtype}
        return made

    input_shapes = shapes_of(inputs, lambda one: {name: shape for (_, shape), name in zip(one.inputs, one.names)})
    output_shapes = shapes_of(outputs, lambda one: {name: list(value.shape) for name, value in zip(one.results, one.found) if name})
    several = len(calls) > 1
    generate, workloads = {}, []
    for number, one in enumerate(kept_ones):
        own = {}
        for (value, _), name in zip(one.inputs, one.names):
            text = generator_text(value["recipe"])
            if generate.setdefault(name, text) != text:
                own[name] = text
        entry_of_workload = {"uuid": f"case_{number + 1}", "axes": {name: values[number] for values, name in axes.known.items()}}
        if several:
            entry_of_workload["inputs"] = {"call": {"type": "scalar", "value": one.call}}
        if own:
            entry_of_workload["generate"] = own
        if one.hidden:
            entry_of_workload["hidden"] = True
        workloads.append(entry_of_workload)
    task = {"axes": {name: {"type": "var"} for name in axes.known.values()} or {"one": {"type": "const", "value": 1}},
            "inputs": {**({"call": {"shape": None, "dtype": "int64"}} if several else {}), **input_shapes}, "outputs": output_shapes,
            "generate": generate, "workloads": workloads}
    if not generate:
        del task["generate"]
    plain = is_plain(calls, names[0], names[1]) and all(one.probe.flat for one in kept_ones)
    return {"task": task, "calls": [] if plain else calls, "words": sorted({call_words(entry, call) for call in calls})}


# How large the results are and how long their sums, over all workloads.
def sizes_of_results(torch, one):
    values = one.probe.contents("plain", 4, [shape for _, shape in one.inputs])
    length = 1
    try:
        with within(one.probe.seconds):
            length = length_of(torch, values, one.found, lambda: one.probe.caller().run(0, values))
    except BaseException:
        pass
    return length


def measured(torch, kept_ones):
    made = {}
    for one in kept_ones:
        length = 1 if one.case.untested else sizes_of_results(torch, one)
        for name, value in zip(one.results, one.found):
            if name is None:
                continue
            best = made.setdefault(name, {"dtype": str(value.dtype)[6:], "absolute": 0.0, "minus_infinity": False})
            if value.is_floating_point():
                share = min(4 * 2.0 ** (-53 if value.dtype == torch.float64 else -24) * length ** 0.5, 1e-4)
                if not one.case.untested:
                    best["absolute"] = max(best["absolute"], share * spread_of(torch, value))
                best["minus_infinity"] |= bool((value == -math.inf).any())
    return made


# The suites execute a solution and the test as one file: solutions rely on what the test imports.
def imports_of_test(name):
    found = [one for one in ast.parse(text_of("kevo_suite_test.py")).body if isinstance(one, (ast.Import, ast.ImportFrom))]
    own = [one for one in found if isinstance(one, ast.ImportFrom) and (one.level or one.module in (name, "__future__"))]
    return [ast.unparse(one) for one in found if one not in own]


def describe(torch, stub, seconds):
    facts = json.loads(text_of("kevo_suite.json"))
    kevo_process.pretend_a_device(torch)
    triton = is_triton()
    if triton:
        kevo_process.mend_interpreter()
        kevo_process.mend_arguments()
        kevo_process.mend_constants()
        kevo_process.mend_logic()
        guard_memory(torch)
        kevo_process.pretend_libdevice(torch)
        kevo_process.pretend_tuning()
    watch_calls(torch, triton)
    draws = drawing(torch)
    given = adapted(text_of("kevo_suite_reference.py"))
    changed = zeroed(given)
    tries = [(given, False), (changed, True)] if changed != given else []
    for text, last in [*tries, (given, True)]:
        know_text("kevo_suite_reference.py", text)
        try:
            said = described_suite(torch, facts, triton, draws, last)
            said.update(reference=text + said.pop("added"), zeroed=text != given)
            return said
        except unwritten_result:
            pass
        except unfit:
            if text == given:
                raise


# @raise unfit_case
def workload_of(torch, function, one, limit, triton, end):
    probe, results = fit(torch, function, one, limit, triton, end)
    if not one.untested:
        probe.results(probe.contents("plain", 0))
    if not results:
        raise unfit_case("it returns no tensor and writes to none of its arguments")
    if any(0 in value.shape for value in results):
        raise unfit_case("a result has no elements")
    bad = [str(value.dtype)[6:] for value in results if str(value.dtype)[6:] not in DTYPES]
    if bad:
        raise unfit_case(f"a result is of the type {bad[0]}")
    return workload(probe, results, NOT_TESTED if one.untested else probe.cost)


class unwritten_result(Exception):
    pass


# @param last whether a call that does not write all of its result is left out; otherwise it ends this with unwritten_result
def described_suite(torch, facts, triton, draws, last):
    test, seconds = text_of("kevo_suite_test.py"), facts["seconds"]
    end = time.process_time() + seconds
    module = load_reference(torch)
    if getattr(sys.modules.get(facts["name"], module), "__name__", "") == module.__name__:
        sys.modules[facts["name"]] = module  # some tests import the first part by the name of the file
    for entry in entries_of(torch, module, test, facts["entry"])[:3]:
        calls, function, failure = calls_of(torch, module, entry, draws, seconds)
        if calls:
            break
    else:
        raise unfit(failure or f"its test does not call {entry}")
    end = max(end, time.process_time() + seconds / 2)
    guarded_memory.strays = False
    left_out, found, seen, limit, smaller = {}, [], set(), min(5.0, seconds / 4) if triton else 10, ""

    def leave(reason):
        left_out[reason] = left_out.get(reason, 0) + 1

    for call in calls:
        try:
            one = case(torch, call, names_of(function, len(call.args)))
            key = key_of(one)
            if key in seen:
                continue
            seen.add(key)
            tested = [other for other in found if not other.case.untested]
            if len(found) >= 12 or time.process_time() > (end if tested else end + seconds):
                leave("there was no time for it")
                continue
            slow = [other for other in found if other.case.untested and size_of(other.case) <= size_of(one)]
            if slow:
                leave(slow[0].case.untested)
                continue
            found.append(workload_of(torch, function, one, limit, triton, end))
        except unfit_case as why:
            if str(why) == UNWRITTEN and not last:
                raise unwritten_result() from None
            leave(str(why))
    slow = [one for one in found if one.case.untested]
    if slow and len(slow) == len(found):
        try:
            tested = smaller_workload(torch, function, min(slow, key=lambda one: size_of(one.case)), seconds, limit)
        except unfit_case:
            if not last:
                raise unwritten_result() from None
            tested = None
        if tested:
            smaller = slow[0].case.untested
            found = [one for one in (draw_alike(torch, one, tested) for one in slow) if one] + [tested]
    elif slow:
        for one in slow:
            leave(one.case.untested)
        found = [one for one in found if not one.case.untested]
    if not found:
        raise unfit("; ".join(left_out) + (f"; {failure}" if failure else ""))
    tested = [one for one in found if not one.case.untested]
    untested = "" if tested else found[0].case.untested
    narrow = any(is_other_in_float64(one.probe) for one in tested[:4])
    visible, made, hidden = chosen(torch, found, end, facts["given_size_only"])
    said, left = assembled(torch, entry, visible, made, hidden)
    if left:
        leave_text = "the task has its greatest number of workloads, tensors or extents without it"
        left_out[leave_text] = left_out.get(leave_text, 0) + left
    kept_ones = [one for one in visible + made + hidden if hasattr(one, "call")]
    said.update(entry=entry, imports=imports_of_test(facts["name"]), precision="task" if narrow else "float64", results=measured(torch, kept_ones), calls_of_test=len(calls),
                left_out=left_out, failure=failure, untested=untested, smaller=smaller, sizes=sum(one in made for one in kept_ones), pretended=bool(triton),
                treatments=sorted({one.case.treatment for one in kept_ones} - {""}),
                kept=sorted({value["name"] for one in kept_ones for value in one.case.inputs if value["keep"] is not None}),
                gradients=".backward(" in test, added=module.kevo_added, strays=guarded_memory.strays,
                costs=[one.cost for one in kept_ones])
    return said
