#!/usr/bin/env python3
"""Compares the scores that kevo and OpenEvolve or ShinkaEvolve give the initial programs of their example folders.

    scripts/compare_evaluators.py openevolve|shinka REPOSITORY FOLDER... [--python PYTHON] [--kevo KEVO] [--limit SECONDS]
                                  [--timeout SECONDS] [--fixed FOLDER [--change OLD NEW]...] [--set KEY=VALUE]...

REPOSITORY is a copy of the other system. Its own score comes from the class Evaluator of OpenEvolve, or from the example's
evaluate.py with ShinkaEvolve on Python's path, in the interpreter PYTHON, if given also that of kevo. A FOLDER without an
evaluator stands for all examples in it. A line per example is printed: its name, both scores, both durations, and whether
the scores are equal in all digits. If they are not, the other system scores the program again, which shows whether its own
scores differ, too. --limit ends a side that takes longer; --timeout replaces the time limit of an evaluation in the
folders' settings.

--fixed copies the example folders to FOLDER first, and changes the copies of their evaluators, for both sides: the clocks
of the module time advance by 1/64 s each time they are read, and random and numpy.random begin with the seed 0. Scores
that contain times or random numbers are then the same each time, unless programs take them from elsewhere. --change
replaces a text in the copies of the initial programs, for example a number of steps that would take hours.
"""
import argparse
import asyncio
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

FIXED = '''\
import itertools as _itertools, logging as _logging, random as _random, time as _time, types as _types
_logging.time = _types.SimpleNamespace(**vars(_time))  # records of logs leave the clock alone
_reads = _itertools.count()
_time.time = _time.perf_counter = lambda: next(_reads) / 64
_time.time_ns = _time.perf_counter_ns = lambda: next(_reads) * 1_000_000_000 // 64
_random.seed(0)
try:
    import numpy as _numpy
    _numpy.random.seed(0)
except ImportError:
    pass
'''


def first_file(folder, *patterns):
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            return path
    raise SystemExit(f"{folder}: there is no {' or '.join(patterns)}")


def evaluator_name(asked):
    return "evaluate.py" if asked.system == "shinka" else "evaluator.py"


def score_of_openevolve(repository, folder, timeout):
    """The score of OpenEvolve itself, which must be importable from the repository."""
    sys.path.insert(0, repository)
    os.chdir(folder)
    logging.disable(logging.CRITICAL)
    from openevolve.config import Config
    from openevolve.evaluator import Evaluator
    from openevolve.utils.metrics_utils import get_fitness_score
    settings = sorted(folder.glob("config.y*ml")) + sorted(folder.glob("config*.y*ml"))
    config = Config.from_yaml(settings[0]) if settings else Config()
    config.evaluator.timeout = timeout or config.evaluator.timeout
    program = first_file(folder, "initial_program.*", "init_program.*")
    judge = Evaluator(config.evaluator, str(folder / "evaluator.py"), suffix=program.suffix)
    metrics = asyncio.run(judge.evaluate_program(program.read_text(), "initial"))
    return get_fitness_score(metrics, config.database.feature_dimensions)


def score_of_shinka(repository, folder, _):
    """The score of the example's own evaluate.py; None if it calls the program incorrect."""
    with tempfile.TemporaryDirectory() as results:
        words = [sys.executable, "evaluate.py", "--program_path", first_file(folder, "initial.*").name, "--results_dir", results]
        subprocess.run(words, cwd=folder, env={**os.environ, "PYTHONPATH": repository}, stdout=sys.stderr, check=False)
        found = pathlib.Path(results)
        correct = json.loads((found / "correct.json").read_text())["correct"]
        return json.loads((found / "metrics.json").read_text()).get("combined_score") if correct else None


def usual_environment():
    """Both sides get no more than this: variables such as OPENBLAS_CORETYPE change the last digits of scores."""
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"LC_ALL": "C.UTF-8"}


def answer(words, limit):
    """The last line that a program prints, as JSON, and its duration in seconds."""
    begin = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=limit, check=False,
                              env=usual_environment() if "--own" in words else None)
    except subprocess.TimeoutExpired:
        return f"took longer than {limit:g} s", limit
    try:
        found = json.loads(done.stdout.strip().splitlines()[-1] if "--own" in words else done.stdout)
    except (ValueError, IndexError):
        found = " ".join((done.stderr or done.stdout).split())[-300:]
    return found, time.monotonic() - begin


def score_of_kevo(asked, folder, runs):
    words = [asked.kevo, "run", f"--{asked.system}", str(folder), "--json", "--set", "stop={evaluations: 1}",
             "--set", f"run.output={runs / folder.name}"]
    settings = [f"run.finish={asked.limit:g}", *asked.set]  # kevo evaluates the program twice
    if asked.python:
        settings.append(f"fitness.python={asked.python}")
    if asked.timeout:
        settings.append(f"fitness.timeout={asked.timeout:g}")
    for setting in settings:
        words += ["--set", setting]
    said, seconds = answer(words, asked.limit)
    if isinstance(said, dict):
        best = said.get("best")
        failure = said.get("error", {}).get("message") or "; ".join(said.get("setbacks", [])) or said.get("reason", "no score")
        said = best["score"] if best else " ".join(failure.split())
    return said, seconds


def examples_in(folders, name):
    """The folders themselves where they have an evaluator, else all folders with one below them."""
    for folder in folders:
        found = [folder] if (folder / name).exists() else sorted(path.parent for path in folder.rglob(name))
        if not found:
            raise SystemExit(f"{folder}: there is no {name}")
        yield from found


def verdict_of(theirs, ours, once_more):
    """What the scores say. `once_more` makes the other system score the program a second time."""
    if not isinstance(theirs, (int, float)):
        return "no score on both sides" if not isinstance(ours, (int, float)) else "not equal"
    if theirs == ours:
        return "equal"
    again = once_more()
    return "not equal" if again == theirs else f"not equal, nor is its own second score {again}"


def fixed_copies(asked, folders):
    """Copies of the folders in which clocks and random numbers repeat."""
    made = []
    root = pathlib.Path(asked.repository).resolve()
    for folder in folders:
        copy = pathlib.Path(asked.fixed).resolve() / folder.relative_to(root)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        evaluator = copy / evaluator_name(asked)
        text = evaluator.read_text()
        future = "from __future__ import annotations\n"
        evaluator.write_text(future + FIXED + text.replace(future, "", 1))
        program = first_file(copy, "initial_program.*", "init_program.*", "initial.*")
        text = program.read_text()
        for old, new in asked.change:
            if old not in text:
                raise SystemExit(f"{program} does not contain {old!r}")
            text = text.replace(old, new)
        program.write_text(text)
        made.append(copy)
    return made


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("system", choices=["openevolve", "shinka"])
    words.add_argument("repository")
    words.add_argument("folders", nargs="+", type=pathlib.Path)
    words.add_argument("--python")
    words.add_argument("--kevo", default="kevo")
    words.add_argument("--limit", type=float, default=600)
    words.add_argument("--timeout", type=float)
    words.add_argument("--fixed")
    words.add_argument("--change", nargs=2, action="append", default=[])
    words.add_argument("--set", action="append", default=[])
    words.add_argument("--own", action="store_true", help=argparse.SUPPRESS)  # what this script starts itself with
    asked = words.parse_args()
    asked.repository = str(pathlib.Path(asked.repository).resolve())  # evaluators run in their own folders
    folders = list(examples_in([folder.resolve() for folder in asked.folders], evaluator_name(asked)))
    root = pathlib.Path(asked.fixed or asked.repository).resolve()
    if asked.own:
        score = (score_of_openevolve if asked.system == "openevolve" else score_of_shinka)(asked.repository, folders[0], asked.timeout)
        print("\n" + json.dumps(score), flush=True)
        os._exit(0)  # without waiting for what an evaluator left running
    if asked.fixed:
        folders = fixed_copies(asked, folders)
    with tempfile.TemporaryDirectory() as runs:
        for folder in folders:
            own = [asked.python or sys.executable, __file__, asked.system, asked.repository, str(folder), "--own"]
            own += ["--timeout", str(asked.timeout)] if asked.timeout else []
            theirs, their_seconds = answer(own, asked.limit)
            ours, our_seconds = score_of_kevo(asked, folder, pathlib.Path(runs))
            verdict = verdict_of(theirs, ours, lambda own=own: answer(own, asked.limit)[0])
            name = folder.relative_to(root) if folder.is_relative_to(root) else folder.name
            print(f"{name} | {theirs} | {ours} | {their_seconds:.1f} s, {our_seconds:.1f} s | {verdict}", flush=True)


if __name__ == "__main__":
    main()
