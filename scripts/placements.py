#!/usr/bin/env python3
"""Measures whether confirmed speedups on a CPU hold wherever the code of a program lies.

Five kernels are evaluated with 20 paddings in front of their code, against the same kernel without one ("same"), and against one
that takes 1.05 times as long wherever it lies ("faster"). Each evaluation is a confirmation (`kevo eval`). Prints, also where the
time ends before all of them: how many of "same" are called different (aim: at most 1 %), how many of their intervals contain the
kernel's median over all paddings (at least 95 %), how many of "faster" are confirmed above 1 (at least 90 %), the median width of
the intervals (at most 0.04), and what a confirmation takes; with --older, in turns with another kevo, also the ratio (at most 2).
Ends with 1 if an aim is missed. Needs kevo with its worker and a C++ compiler.

usage: scripts/placements.py [--kevo PROGRAM] [--seconds S] [--same N] [--faster N] [--beside N] [--older PROGRAM] [--out FILE]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BEGIN = '#include <cstdint>\nextern "C" void NAME(const T* x, T* y, int64_t n) {\n'
KERNELS = {
    "wht": "  for (int64_t i = 0; i < n; ++i) y[i] = x[i];\n  for (int64_t h = 1; h < n; h *= 2)\n    for (int64_t i = 0; i < n; i += 2 * h)\n"
           "      for (int64_t j = i; j < i + h; ++j) { const T a = y[j], b = y[j + h]; y[j] = a + b; y[j + h] = a - b; }\n",
    "smooth": "  y[0] = x[0]; y[n - 1] = x[n - 1];\n"
              "  for (int64_t i = 1; i + 1 < n; ++i) y[i] = x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4;\n",
    "sums": "  for (int64_t i = 0; i < n; i += 64) { T s = 0; for (int64_t j = i; j < i + 64; ++j) y[j] = s += x[j]; }\n",
    "sort": "  for (int64_t i = 0; i < n; i += 16)\n    for (int64_t j = i; j < i + 16; ++j) {\n"
            "      const T v = x[j]; int64_t k = j; for (; k > i && y[k - 1] > v; --k) y[k] = y[k - 1]; y[k] = v;\n    }\n",
    "ranks": "  int seen[64] = {};\n  for (int64_t i = 0; i < n; ++i)\n"
             "    y[i] = seen[x[i] > 0 ? x[i] < 8 ? static_cast<int>(x[i] * 8) : 63 : 0]++;\n",
}
TASK = """name: {name}
axes: {{N: {{type: var}}}}
inputs: {{X: {{shape: [N], dtype: float32}}}}
outputs: {{Y: {{shape: [N], dtype: float32}}}}
constraints: ["N % 64 == 0"]
reference: {{language: cpp, file: reference.cpp}}
generate: {{X: "uniform(-8, 8)"}}
workloads: [{{uuid: timed, axes: {{N: 16384}}}}, {{uuid: small, axes: {{N: 128}}, hidden: true}}]
tolerance: {{max_atol: 1.0e-2, max_rtol: 1.0e-4}}
baselines: [{{name: given, file: {baseline}.cpp}}]
"""
# However fast the kernel is at its place, the whole takes so many times as long.
SLOWER = ("#include <x86intrin.h>\n{kernel}extern \"C\" void run(const float* x, float* y, int64_t n) {{\n"
          "  const auto begin = __rdtsc(); kernel(x, y, n); const auto end = __rdtsc();\n"
          "  while (1.0 * (__rdtsc() - begin) < {gain} * (end - begin)) {{}}\n}}\n")
PADDING = '__attribute__((used, noinline)) static void padding() {{ __asm__ volatile(".skip {}, 0x90"); }}\n'


def kernel(name, function="run", scalar="float"):
    return (BEGIN + KERNELS[name] + "}\n").replace("NAME", function).replace("T*", scalar + "*").replace("T ", scalar + " ")


def slower(name, gain):
    return SLOWER.format(kernel=kernel(name, "kernel").replace('extern "C"', "__attribute__((noinline)) static"), gain=gain)


def write_tasks(folder, paddings):
    for name in KERNELS:
        place = folder / name
        place.mkdir()
        (place / "reference.cpp").write_text(kernel(name, "reference", "double"))
        (place / "same.cpp").write_text(kernel(name))
        (place / "faster.cpp").write_text(slower(name, 1.05))
        for baseline in ("same", "faster"):
            (place / f"{baseline}.yaml").write_text(TASK.format(name=name, baseline=baseline))
        for i in range(paddings):
            (place / f"padded{i}.cpp").write_text((PADDING.format(16 * i) if i else "") + kernel(name))


def evaluate(kevo, folder, job):
    kind, name, padding = job
    start = time.time()
    done = subprocess.run([kevo, "eval", folder / name / f"{kind}.yaml", folder / name / f"padded{padding}.cpp", "--json",
                           "--set", "fitness.sandbox=best"],
                          capture_output=True, text=True)
    try:
        e = json.loads(done.stdout)
    except ValueError:
        e = {"error": {"message": done.stderr[-300:]}}
    low, high = e.get("speedup_interval") or (0, 0)
    cost = e.get("cost", {})
    return {"kind": kind, "kernel": name, "padding": padding, "outcome": e.get("outcome"), "speedup": e.get("speedup"), "low": low,
            "high": high, "placements": max((w.get("placements") or 0 for w in e.get("workloads", [])), default=0),
            "wall_s": time.time() - start - cost.get("waited_s", 0), "device_s": cost.get("device_s"),
            "disturbed": e.get("context", {}).get("disturbed"), "problem": e.get("error", {}).get("message") or e.get("feedback")}


def summary(found):
    """The lines to print, and whether all aims are reached."""
    valid = [one for one in found if one["outcome"] == "valid" and one["low"] > 0 and one["high"]]
    lines, good = [], True

    def tell(what, count, of, least):
        nonlocal good
        if of == 0:
            return
        good = good and count >= least * of
        lines.append(f"{what}: {count} of {of} ({100 * count / of:.1f} %; aim: at least {100 * least:.0f} %)")

    same = [one for one in valid if one["kind"] == "same"]
    faster = [one for one in valid if one["kind"] == "faster"]
    middle = {name: statistics.median([one["speedup"] for one in same if one["kernel"] == name] or [1]) for name in KERNELS}
    tell("evaluations with a speedup and an interval", len(valid), len(found), 1)
    tell("same: not called different", sum(one["low"] <= 1 <= one["high"] for one in same), len(same), 0.99)
    tell("same: intervals that contain the median over paddings", sum(one["low"] <= middle[one["kernel"]] <= one["high"] for one in same),
         len(same), 0.95)
    tell("faster: confirmed above 1", sum(one["low"] > 1 for one in faster), len(faster), 0.9)
    tell("faster: intervals that contain 1.05", sum(one["low"] <= 1.05 <= one["high"] for one in faster), len(faster), 0)
    if valid:
        width = statistics.median((one["high"] - one["low"]) / one["speedup"] for one in valid)
        good = good and width <= 0.04
        lines.append(f"median width of the intervals: {width:.4f} (aim: at most 0.04)")
        lines.append(f"median time of a confirmation: {statistics.median(one['wall_s'] for one in valid):.2f} s, of which measuring: "
                     f"{statistics.median(one['device_s'] for one in valid):.2f} s")
    ratios = [one["device_s"] / one["older_s"] for one in valid if one.get("older_s")]
    if ratios:
        good = good and statistics.median(ratios) <= 2
        lines.append(f"time of measuring over the older kevo's: {statistics.median(ratios):.2f} in {len(ratios)} pairs (aim: at most 2)")
    for name in KERNELS:
        own = [one for one in same if one["kernel"] == name]
        own_faster = [one["speedup"] for one in faster if one["kernel"] == name]
        if own:
            lines.append(f"{name}: same {middle[name]:.4f}, from {min(one['speedup'] for one in own):.4f} to {max(one['speedup'] for one in own):.4f}"
                         f" in {len(own)}" + (f"; faster {statistics.median(own_faster):.4f} in {len(own_faster)}" if own_faster else "")
                         + f"; places at most {max(one['placements'] for one in own)}")
    disturbed = sum(bool(one["disturbed"]) for one in found)
    lines.append(f"disturbed by other work: {disturbed} of {len(found)}")
    lines += [f"{one['kernel']} {one['kind']} {one['padding']}: {one['outcome']} {one['problem']}" for one in found if one not in valid][:5]
    return lines, good


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--kevo", default="build/release/kevo")
    arguments.add_argument("--older", help="another kevo, whose confirmations are timed in turns with some of these")
    arguments.add_argument("--seconds", type=float, default=500, help="no evaluation begins that would end later")
    arguments.add_argument("--same", type=int, default=200)
    arguments.add_argument("--faster", type=int, default=50)
    arguments.add_argument("--paddings", type=int, default=20)
    arguments.add_argument("--beside", type=int, default=max(1, len(os.sched_getaffinity(0)) // 3), help="evaluations at the same time")
    arguments.add_argument("--out", help="a file of JSON lines, one per evaluation")
    given = arguments.parse_args()
    end = time.time() + given.seconds
    names = list(KERNELS)
    jobs = []
    for i in range(max(given.same, given.faster)):
        name, padding = names[i % len(names)], i // len(names) % given.paddings
        jobs += [("same", name, padding)] * (i < given.same) + [("faster", name, padding)] * (i < given.faster)
    found = []
    out = open(given.out, "w") if given.out else None
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write_tasks(folder, given.paddings)

        def work(number):
            longest = max((one["wall_s"] for one in found), default=0)
            if time.time() + 1.5 * longest > end:
                return
            one = evaluate(given.kevo, folder, jobs[number])
            if given.older and number % 10 == 0:
                one["older_s"] = evaluate(given.older, folder, jobs[number])["device_s"]
            found.append(one)
            if out:
                print(json.dumps(one), file=out, flush=True)
        with concurrent.futures.ThreadPoolExecutor(given.beside) as pool:
            list(pool.map(work, range(len(jobs))))
    lines, good = summary(found)
    print(f"{len(found)} of {len(jobs)} evaluations, {given.beside} at the same time", *lines, sep="\n")
    return 0 if good and found else 1


if __name__ == "__main__":
    sys.exit(main())
