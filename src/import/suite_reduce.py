# Smaller inputs for a call that Triton's interpreter does not finish, so that the function is tested at all. Part of the script of
# suite_calls.py.
import copy

LEAST_EXTENT = 16  # smaller ones are numbers of heads or parts, seldom what makes a call slow


def size_of(one):
    return sum(value["value"].numel() for value in one.inputs)


# The case with the first elements of its tensors alone: dimensions of the same extent belong together.
# @param extents the new extent of each one that changes
def cut(one, extents):
    other = copy.copy(one)
    other.untested = ""
    other.inputs = []
    for given in one.inputs:
        value = given["value"]
        for place, extent in enumerate(value.shape):
            value = value.narrow(place, 0, extents.get(extent, extent))
        other.inputs.append({**given, "value": value.contiguous(), "keep": None, "written": False, "treat": "", "large": not can_be_kept(given)})
    return other


# Whether a call ends without an error, and without reading memory beyond its inputs: None if it takes too long.
def ends(torch, function, one, seconds):
    probe = probing(torch, function, one, seconds)
    for given in one.inputs:
        if not given["value"].is_floating_point() and can_be_kept(given):
            given["keep"] = kept(torch, given["value"])
        given["recipe"] = recipe_of(torch, given, "")
    if probe.results(probe.contents("plain", 0)) is not None:
        return not guarded_memory.reads
    return None if "takes more than" in probe.failure else False


# The largest extents are divided first, by as much as the function takes, until a call ends in time. None if none does.
def reduced(torch, function, one, seconds):
    end = time.process_time() + 4 * seconds
    changes = {}
    for extent in sorted({extent for given in one.inputs for extent in given["value"].shape if extent >= LEAST_EXTENT}, reverse=True):
        for divisor in [one for one in (256, 16, 4, 2) if extent // one >= 4]:
            if time.process_time() > end:
                return None
            tried = {**changes, extent: extent // divisor}
            smaller = cut(one, tried)
            if any(indexes(torch, smaller.inputs, *change) for change in tried.items()):
                continue
            done = ends(torch, function, smaller, seconds)
            if done:
                return cut(one, tried)
            if done is None:
                changes = tried
                break
    return None


# A workload of smaller inputs than the call `one` of the test has; None if none is found.
def smaller_workload(torch, function, one, seconds, limit):
    smaller = reduced(torch, function, one.case, limit)
    if smaller is None:
        return None
    try:
        made = workload_of(torch, function, smaller, limit, True, time.process_time() + seconds)
    except unfit_case as why:
        if str(why) == UNWRITTEN:
            raise
        return None
    made.smaller = True
    return None if made.case.untested else made


# Draws the inputs of a workload that was not tested as those of a smaller one that was.
def draw_alike(torch, slow, tested):
    for one, other in zip(slow.case.inputs, tested.case.inputs):
        one.update({name: other[name] for name in ("recipe", "treat", "written") if name in other})
        one["keep"] = None if other["keep"] is None else kept(torch, one["value"])
    slow.case.treatment = tested.case.treatment
    with without_kernels():
        found = slow.probe.results(slow.probe.contents("plain", 0))
    return workload(slow.probe, found, NOT_TESTED) if found else None
