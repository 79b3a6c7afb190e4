#!/usr/bin/env python3
"""How many times the rate of one device (or place of a CPU) several ones reach, from runs that evaluated the same programs.

  compare_rates.py --one RUN... --several RUN... [--pairs MOST]
  compare_rates.py --rate RUN...

--rate says how many evaluations an hour each run made, and what their time went to.

RUN is the folder of a run, with one device or with several. A rate is the number of first evaluations in a second, as it was
while every device was at work: the number of devices, times the share of that time for which they were held, divided by the
mean time for which a program holds a device. Only programs that runs of both kinds evaluated are compared, and not the first
evaluation of a device, which waits for its first processes. The intervals are 95 % of 10,000 bootstrap samples of programs.

A program whose times vary needs another number of pairs in each run. `without differing pairs` therefore is the rate that follows
from two parts: the time spent on processes that start and end, for each process, and all other time, which is
taken as equal. --pairs leaves out programs that needed more pairs of times in a run.
"""
import argparse
import collections
import json
import os
import random
import re
import sqlite3
import statistics

Evaluated = collections.namedtuple("Evaluated", "end held device outcome speedup low high pairs processes parts")


def evaluations(folder):
    """First evaluations by the content id of the program, in the order in which they ended."""
    journal = sqlite3.connect("file:" + os.path.join(folder, "journal.sqlite") + "?mode=ro", uri=True)
    found = {}
    for time_s, program, text in journal.execute(
        "SELECT events.time_s, results.program, evaluations.evaluation FROM evaluations JOIN events USING (sequence) "
        "JOIN results USING (candidate) WHERE wanted <> 'confirmed' AND NOT cached ORDER BY sequence"
    ):
        said = json.loads(text)
        context = said.get("context", {})
        held = float(context.get("held_s", said["cost"].get("device_s") or 0))
        parts = {
            name: held * float(context.get("held_share_" + name, 0)) for name in ("workers", "starts", "ends", "kernels")
        }
        low, high = said.get("speedup_interval") or (None, None)
        pairs = sum(workload.get("samples") or 0 for workload in said["workloads"])
        device = int(context.get("device_number", 0))
        processes = int(context.get("held_processes", 0))
        one = Evaluated(time_s, held, device, said["outcome"], said.get("speedup"), low, high, pairs, processes, parts)
        found.setdefault(program, one)
    return found


def without_first(run):
    """Without the first evaluation of each device."""
    first = {}
    for program, one in run.items():
        first.setdefault(one.device, program)
    return {program: one for program, one in run.items() if program not in first.values()}


def busy_share(run):
    """Share of the time for which the devices were held, while all of them were at work, and that time [s]."""
    devices = collections.defaultdict(list)
    for one in run.values():
        devices[one.device].append(one)
    begin = max(min(one.end for one in own) for own in devices.values())
    end = min(max(one.end for one in own) for own in devices.values())
    held = sum(max(0, min(one.end, end) - max(one.end - one.held, begin)) for one in run.values())
    return held / (len(devices) * (end - begin)) if end > begin else float("nan"), end - begin, len(devices)


def mean_of(runs, program, value):
    return statistics.mean(value(run[program]) for run in runs if program in run)


def interval(programs, figure):
    """95 % of bootstrap samples of programs."""
    draw = random.Random(1)
    drawn = sorted(figure(draw.choices(programs, k=len(programs))) for _ in range(10000))
    return drawn[250], drawn[9749]


def rate_of_equal_work(one, several, times):
    """The rate if everything but the time for each process were equal, and its interval. `times`: the number of devices."""

    def per_process(of):
        return sum(e.parts["workers"] for e in of) / sum(e.processes for e in of)

    def figure(first, second, both):
        other, processes = statistics.mean(e.held - e.parts["workers"] for e in both), statistics.mean(e.processes for e in both)
        return times * (other + processes * per_process(first)) / (other + processes * per_process(second))

    first, second = [e for run in one for e in run.values()], [e for run in several for e in run.values()]
    draw = random.Random(1)
    drawn = sorted(figure(*(draw.choices(x, k=len(x)) for x in (first, second, first + second))) for _ in range(2000))
    print(f"rate without differing pairs: {figure(first, second, first + second):.3f} times [{drawn[50]:.3f}, {drawn[1949]:.3f}]; ", end="")
    print(f"time for each process: {per_process(first) * 1e3:.0f} and {per_process(second) * 1e3:.0f} ms")


def report_rate(folder):
    """Evaluations an hour, by the clock on the wall between the end of the first one and that of the last, and by the device's time."""
    journal = sqlite3.connect("file:" + os.path.join(folder, "journal.sqlite") + "?mode=ro", uri=True)
    found = [
        (time_s, json.loads(text))
        for time_s, text in journal.execute(
            "SELECT events.time_s, evaluations.evaluation FROM evaluations JOIN events USING (sequence) "
            "WHERE wanted <> 'confirmed' AND NOT cached ORDER BY sequence"
        )
    ][1:]
    if len(found) < 3:
        print(f"{folder}: too few evaluations")
        return
    costs = [said["cost"] for _, said in found]
    held = [cost.get("device_s") or 0 for cost in costs]
    span = found[-1][0] - found[0][0]
    low, high = interval(held, statistics.mean)
    print(f"{folder}: {len(found)} evaluations, {dict(collections.Counter(said['outcome'] for _, said in found))}")
    print(f"  an hour: {3600 * (len(found) - 1) / span:.0f} by the wall; ", end="")
    print(f"{3600 / statistics.mean(held):.0f} [{3600 / high:.0f}, {3600 / low:.0f}] by the time for which the device was held", end="")
    print(f" ({statistics.mean(held):.3f} s each, median {statistics.median(held):.3f} s; held for {sum(held[1:]) / span:.0%} of the time)")
    names = sorted({name for cost in costs for name in cost.get("parts_s", {})})
    means = {name: statistics.mean(cost.get("parts_s", {}).get(name, 0) for cost in costs) for name in names}
    for name, seconds in sorted(means.items(), key=lambda one: -one[1]):
        print(f"  {seconds:.3f} s {name} (mean)")
    processes = [float(said.get("context", {}).get("held_processes", 0)) for _, said in found]
    widths = [high / low - 1 for low, high in (said.get("speedup_interval") or (0, 0) for _, said in found) if low and high]
    pairs = [sum(workload.get("samples") or 0 for workload in said["workloads"]) for _, said in found]
    print(f"  processes: {statistics.mean(processes):.1f}; pairs: {statistics.mean(pairs):.1f} (means); ", end="")
    print(f"width of the intervals: {statistics.median(widths):.3f} (median)" if widths else "no intervals")
    phases = [re.findall(r"([a-z ]+) ([0-9.]+) s", said.get("context", {}).get("held_phases", "")) for _, said in found]
    for name in sorted({name for one in phases for name, _ in one}):
        print(f"  phase{name if name.startswith(' ') else ' ' + name}: ", end="")
        print(f"{statistics.mean(float(s) for one in phases for n, s in one if n == name):.3f} s (mean)")


def report_verdicts(programs, one, several):
    outcomes = sum(len({run[p].outcome for run in one + several if p in run}) == 1 for p in programs)
    print(f"same outcome in all runs: {outcomes} of {len(programs)} programs; ", end="")
    print(dict(collections.Counter(run[p].outcome for run in one for p in programs if p in run)))
    valid = [p for p in programs if all(run[p].speedup for run in one + several if p in run)]
    ratios = sorted(mean_of(several, p, lambda e: e.speedup) / mean_of(one, p, lambda e: e.speedup) for p in valid)
    apart = 0
    for p in valid:
        low = max(run[p].low for run in one + several if p in run)
        apart += low > min(run[p].high for run in one + several if p in run)
    if ratios:
        print(f"speedups, several to one: {ratios[0]:.4f} to {ratios[-1]:.4f}, median {statistics.median(ratios):.4f}; ", end="")
        print(f"intervals that do not overlap: {apart} of {len(valid)} programs")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--one", nargs="+")
    words.add_argument("--several", nargs="+")
    words.add_argument("--rate", nargs="+")
    words.add_argument("--pairs", type=int, default=10**9)
    given = words.parse_args()
    for folder in given.rate or []:
        report_rate(folder)
    if given.rate:
        return
    if not given.one or not given.several:
        words.error("--rate, or --one and --several")
    one = [evaluations(folder) for folder in given.one]
    several = [evaluations(folder) for folder in given.several]
    shares, counts = {}, {}
    for kind, folders, runs in (("one", given.one, one), ("several", given.several, several)):
        found = [busy_share(run) for run in runs]
        shares[kind] = statistics.mean(share for share, _, _ in found)
        for folder, run, (share, span, devices) in zip(folders, runs, found):
            print(f"{folder}: {len(run)} programs on {devices} devices; all at work for {span:.1f} s, held for {share:.1%} of it")
        devices = {count for _, _, count in found}
        if len(devices) != 1:
            raise SystemExit("runs of one kind must have used the same number of devices")
        counts[kind] = devices.pop()
        shares[kind] *= counts[kind]
    one, several = [without_first(run) for run in one], [without_first(run) for run in several]
    programs = sorted(set.intersection(*[set().union(*runs) for runs in (one, several)]))
    programs = [p for p in programs if max(run[p].pairs for run in one + several if p in run) <= given.pairs]
    if not programs:
        raise SystemExit("no program was evaluated by runs of both kinds")
    held = {p: (mean_of(one, p, lambda e: e.held), mean_of(several, p, lambda e: e.held)) for p in programs}

    def rate(of):
        return shares["several"] / shares["one"] * sum(held[p][0] for p in of) / sum(held[p][1] for p in of)

    low, high = interval(programs, rate)
    print(f"{len(programs)} programs in both; held for {statistics.mean(h[0] for h in held.values()) * 1e3:.0f} ms and ", end="")
    print(f"{statistics.mean(h[1] for h in held.values()) * 1e3:.0f} ms (means)")
    for name in ("workers", "starts", "ends", "kernels"):
        medians = [statistics.median(mean_of(runs, p, lambda e: e.parts[name]) for p in programs) * 1e3 for runs in (one, several)]
        print(f"  of it {name}: {medians[0]:.0f} ms and {medians[1]:.0f} ms (medians)")
    print(f"rate: {rate(programs):.3f} times [{low:.3f}, {high:.3f}]")
    if given.pairs == 10**9 and all(run[p].processes for run in one + several for p in run):
        rate_of_equal_work(one, several, counts["several"] / counts["one"])
    report_verdicts(programs, one, several)


main()
