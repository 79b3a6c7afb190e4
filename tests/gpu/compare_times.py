#!/usr/bin/env python3
"""Times of programs of PyTorch on a GPU: kevo's beside those of a timer of its own, which uses CUDA events in this process.

  compare_times.py KEVO [--times N] [--only NAME,...]

KEVO is the program. Each operation is judged N times by `kevo eval`, as a candidate that is the reference itself; in turn with
that this process times it: every call has new inputs, which are copied to where the call reads them right before it, and is in
the queue before the device begins with it, so that no time of the host is in its time. Both are times of the device. Ends with 1 if
the medians of an operation differ by more than 3 %.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import torch

TASK = """name: compare_{name}
op_type: {name}
description: "{name}, timed by kevo and by a timer of its own."
axes: {{rows: {{type: var}}, n: {{type: var}}}}
inputs: {{{inputs}}}
outputs: {{y: {{shape: [rows, n], dtype: {dtype}}}}}
reference: {{language: python, file: {name}.py, form: function, entry: run}}
workloads:
  - {{uuid: usual, axes: {{rows: {rows}, n: {n}}}}}
tolerance: {{max_atol: {atol}, max_rtol: {rtol}}}
cost: {{flops: "5*rows*n", bytes: "2*rows*n"}}
"""

ROWS = "x: {{shape: [rows, n], dtype: {dtype}}}"
# Name: type, size, inputs, body, tolerances.
OPERATIONS = {
    "softmax": ("float32", 4096, 4096, ROWS, "torch.softmax(x, dim=1)", 1e-6, 1e-4),
    "rms_norm": ("float32", 8192, 2048, ROWS, "torch.nn.functional.rms_norm(x, (x.shape[1],))", 1e-4, 1e-3),
    "gelu": ("float32", 8192, 4096, ROWS, "torch.nn.functional.gelu(x)", 1e-5, 1e-3),
    "transposed": ("float32", 4096, 4096, ROWS, "torch.nn.functional.gelu(x).t()", 1e-5, 1e-3),
    "gemm_float32": ("float32", 4096, 4096, ROWS + ", z: {{shape: [n, n], dtype: {dtype}}}", "torch.mm(x, z)", 1e-2, 1e-2),
    "gemm_bfloat16": ("bfloat16", 4096, 4096, ROWS + ", z: {{shape: [n, n], dtype: {dtype}}}", "torch.mm(x, z)", 4.0, 2e-2),
}


def write_task(folder, name):
    dtype, rows, n, inputs, body, atol, rtol = OPERATIONS[name]
    arguments = "x, z" if "z:" in inputs else "x"
    with open(os.path.join(folder, name + ".py"), "w") as file:
        file.write(f"import torch\n\n\ndef run({arguments}):\n    return {body}\n")
    with open(os.path.join(folder, name + ".yaml"), "w") as file:
        file.write(TASK.format(name=name, dtype=dtype, rows=rows, n=n, atol=atol, rtol=rtol, inputs=inputs.format(dtype=dtype)))


def by_kevo(kevo, folder, name):
    command = [kevo, "eval", os.path.join(folder, name + ".yaml"), os.path.join(folder, name + ".py"), "--json", "--set", "fitness.device=cuda",
               "--set", "fitness.foreign_processes=note"]  # this process rests meanwhile
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    result = json.loads(said)
    if result.get("outcome") != "valid":
        raise SystemExit(f"{name}: {said[:2000]}")
    one = result["workloads"][0]
    return one["time_ns"] / 1e3, one["baseline_ns"] / 1e3, result["speedup"], result["speedup_interval"]


def by_events(folder, name, calls=60, sets=6):
    """The median of the times of calls by events. [us]"""
    dtype, rows, n, inputs, _, _, _ = OPERATIONS[name]
    space = {}
    exec(open(os.path.join(folder, name + ".py")).read(), space)
    run, dtype = space["run"], getattr(torch, dtype)
    shapes = [(rows, n)] + ([(n, n)] if "z:" in inputs else [])
    fresh = [[torch.randn(shape, device="cuda").to(dtype) for shape in shapes] for _ in range(sets)]
    places = [torch.empty_like(one) for one in fresh[0]]
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.no_grad():
        for number in range(calls + 10):
            torch.cuda._sleep(400_000)
            for place, one in zip(places, fresh[number % sets]):
                place.copy_(one)
            begin.record()
            result = run(*places)
            end.record()
            torch.cuda.synchronize()
            del result
            if number >= 10:
                times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("kevo")
    words.add_argument("--times", type=int, default=3)
    words.add_argument("--only", default="")
    given = words.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in OPERATIONS:
            if given.only and name not in given.only.split(","):
                continue
            write_task(folder, name)
            seen, own, eager = [], [], []
            for _ in range(given.times):
                own.append(by_events(folder, name))
                torch.cuda.empty_cache()
                time, baseline, speedup, interval = by_kevo(given.kevo, folder, name)
                seen.append(time)
                eager.append(baseline)
            ratio = statistics.median(seen) / statistics.median(own)
            wrong += abs(ratio - 1) > 0.03
            print(f"{name:14} kevo {statistics.median(seen):8.2f} us (baseline {statistics.median(eager):8.2f}), events {statistics.median(own):8.2f} us, "
                  f"ratio {ratio:.3f}; all: {' '.join(f'{a:.2f}/{b:.2f}' for a, b in zip(seen, own))}; speedup {speedup:.3f} {interval}", flush=True)
    sys.exit(1 if wrong else 0)


main()
