#!/usr/bin/env python3
"""Records pairs of a CPU timing, from which tests/fitness/timing/resampled_rules.test.cpp draws the timings that it compares rules by.

The kernel "smooth" of placements.py is timed against one that takes 1, 1.01, 1.02, 1.05 and 1.2 times as long wherever its code
lies, each of them with and without other programs on the processors ("busy"). Writes one line per case: its name, the gain, and
of each pair the logarithm of the ratio of both times, times 100,000. Pairs have processes and places of code of their own.

usage: scripts/record_pairs.py FILE [--kevo PROGRAM] [--pairs N] [--seconds S] [--beside N] [--conditions quiet busy]
"""
import argparse
import concurrent.futures
import contextlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import placements

GAINS = (1.0, 1.01, 1.02, 1.05, 1.2)
AT_ONCE = 60  # pairs of an evaluation


def write_task(folder, gain):
    name = f"gain{gain:g}"
    source = placements.slower("smooth", gain) if gain > 1 else placements.kernel("smooth")
    (folder / f"{name}.cpp").write_text(source)
    (folder / f"{name}.yaml").write_text(placements.TASK.format(name="smooth", baseline=name))
    return folder / f"{name}.yaml"


def pairs_of(kevo, task, count):
    done = subprocess.run([kevo, "eval", task, task.parent / "candidate.cpp", "--json", "--samples", "--set", "fitness.sandbox=best",
                           "--set", f"fitness.timing={{pairs: {count}, full: 100, target_interval: 0.000001, sustained: 0}}"],
                          capture_output=True, text=True)
    e = json.loads(done.stdout)
    if e.get("outcome") != "valid":
        raise SystemExit(f"{task}: {e.get('error') or e.get('feedback')}")
    return [round(1e5 * math.log(b / c)) for c, b in e["workloads"][0]["pairs"]]


@contextlib.contextmanager
def other_work(wanted):
    """One process per processor that alternates between work and sleep."""
    busy = "import time\nwhile True:\n  e = time.time() + 0.003\n  while time.time() < e: pass\n  time.sleep(0.004)\n"
    others = [subprocess.Popen([sys.executable, "-c", busy]) for _ in os.sched_getaffinity(0)] if wanted else []
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("file")
    arguments.add_argument("--kevo", default="build/release/kevo")
    arguments.add_argument("--pairs", type=int, default=2000, help="of each case")
    arguments.add_argument("--seconds", type=float, default=500, help="for all cases together")
    arguments.add_argument("--beside", type=int, default=max(1, len(os.sched_getaffinity(0)) // 3), help="evaluations at the same time")
    arguments.add_argument("--conditions", nargs="+", default=["quiet", "busy"])
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place, open(given.file, "w") as out:
        folder = pathlib.Path(place)
        (folder / "reference.cpp").write_text(placements.kernel("smooth", "reference", "double"))
        (folder / "candidate.cpp").write_text(placements.PADDING.format(16) + placements.kernel("smooth"))
        tasks = [(gain, write_task(folder, gain)) for gain in GAINS]
        for number, condition in enumerate(given.conditions):
            end = time.time() + given.seconds / len(given.conditions)
            found = {gain: [] for gain in GAINS}
            work = [one for _ in range(-(-given.pairs // AT_ONCE)) for one in tasks]

            def record(one):
                if time.time() < end:
                    found[one[0]] += pairs_of(given.kevo, one[1], min(AT_ONCE, given.pairs))
            with other_work(condition == "busy"), concurrent.futures.ThreadPoolExecutor(given.beside) as pool:
                list(pool.map(record, work))
            for gain, logs in found.items():
                print(condition, f"{gain:g}", *logs[:given.pairs], file=out, flush=True)
                print(f"{condition}, gain {gain:g}: {len(logs)} pairs", flush=True)


if __name__ == "__main__":
    main()
