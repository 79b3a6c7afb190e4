"""Judges one program with an evaluator that was written for OpenEvolve or ShinkaEvolve, without either package.

kevo starts it as `python3 kevo_evaluator.py REQUEST`. REQUEST is a JSON object:

  system      "openevolve": the evaluator defines evaluate(path), or evaluate_stage1 to evaluate_stage3
              "shinka": the evaluator is a script with --program_path and --results_dir
  evaluator   path of the evaluator; its folder can be imported from
  program     path of the program to judge
  results     a folder that the evaluator may write to
  descriptor  an open file that receives the result
  timeout     seconds, for each stage
  cascade     whether evaluate_stage1... take the place of evaluate
  thresholds  the score that stage 1, 2, ... must reach before the next one is called
  features    names of metrics that are no part of a score that is made as a mean
  stages      no more stages than these

The result is a JSON object: outcome ("valid", "incorrect", "crashed" or "timed_out"), score, metrics, private, stages,
stages_defined, error, artifacts, and unwritable and folders (see FailedWrites). What the evaluator prints cannot get into it.

kevo_evaluator_shinka.py, the part for ShinkaEvolve, stands before this text in the file that is run.
"""

import asyncio
import errno
import importlib.util
import inspect
import json
import math
import os
import sys
import threading
import traceback
import types

LONGEST_ARTIFACT = 20_000  # characters
MOST_ARTIFACTS = 60_000
MOST_METRICS = 1000
MOST_PATHS = 16


def keep_to_this_process():
    """Closes the memory and the descriptors of this process to others of the same user, by way of /proc too."""
    not_dumpable = 4  # PR_SET_DUMPABLE
    try:
        import ctypes

        ctypes.CDLL(None).prctl(not_dumpable, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):  # a Python without ctypes, another system
        pass


class FailedWrites:
    """Paths that the evaluator could not write to (`unwritable`: the file system is read-only; `folders`: a folder is
    there where it wants a file), from the exceptions that it raised."""

    def __init__(self):
        self.folder, self.unwritable, self.folders = "", [], []

    def note(self, problem):
        """Looks at an exception and at those that caused it."""
        waiting, seen = [problem], set()
        while waiting:
            problem = waiting.pop()
            if problem is None or id(problem) in seen:
                continue
            seen.add(id(problem))
            if "RemoteTraceback" in type(problem.__cause__).__name__:
                continue  # of another process, in which the program may be
            waiting += [problem.__cause__, problem.__context__, *getattr(problem, "exceptions", ())]
            to = {errno.EROFS: self.unwritable, errno.EISDIR: self.folders}.get(getattr(problem, "errno", None))
            if to is None or not isinstance(problem, OSError):
                continue
            for path in (problem.filename, problem.filename2):
                if isinstance(path, (str, bytes, os.PathLike)) and len(to) < MOST_PATHS:
                    self.add(os.path.abspath(os.fsdecode(path)), to)

    def add(self, path, to):
        # A folder that can be written to could hold a module in place of the one that an evaluator wants to import.
        name = os.path.relpath(path, self.folder).split(os.sep)[0]
        if path in to or not path.isprintable() or (name.isidentifier() and self.is_module(name)):
            return
        to.append(path)

    @staticmethod
    def is_module(name):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return True
        return spec is not None and spec.origin is not None  # without an origin it is any folder


FAILED_WRITES = FailedWrites()


class Answer:
    """Where the result goes: written once, by whoever comes first. The processes that an evaluator starts, by exec or
    by fork, do not have the file. What is imported into this process can find it: nothing hides it there."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.lock = threading.Lock()
        self.given = False
        os.set_inheritable(descriptor, False)
        os.register_at_fork(after_in_child=self.lose)

    def lose(self):
        self.given = True
        self.lock = threading.Lock()  # another thread may have held it
        os.close(self.descriptor)

    def give(self, result):
        with self.lock:
            if self.given:
                return
            self.given = True
            told = {"unwritable": FAILED_WRITES.unwritable, "folders": FAILED_WRITES.folders}
            text = json.dumps({**result, **told}, default=str).encode()
            at = 0
            while at < len(text):
                at += os.pwrite(self.descriptor, text[at:], at)


def number_in(value):
    """A plain number, also of NumPy; None for flags, texts and what is not finite."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, (int, float)):
        if type(value).__module__ != "numpy" or getattr(value, "ndim", 1) != 0:
            return None
        try:
            value = value.item()
        except Exception:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def measures_in(metrics):
    found = {}
    for name, value in metrics.items():
        value = float(value) if isinstance(value, bool) else number_in(value)
        if value is not None and len(found) < MOST_METRICS:
            found[str(name)] = value
    return found


def mean_of(metrics, left_out):
    """The mean of the numbers; flags, texts and values that are not a number are passed over. Infinities count."""
    numbers = [
        float(value)
        for name, value in metrics.items()
        if name not in left_out and isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    ]
    return sum(numbers) / len(numbers) if numbers else None


def score_of(metrics, features):
    """combined_score, else the mean of the metrics that are no features, else the mean of all; 0 if there are none."""
    if "combined_score" in metrics:
        try:
            return float(metrics["combined_score"])
        except (TypeError, ValueError):
            pass
    for left_out in (features, ()):
        mean = mean_of(metrics, left_out)
        if mean is not None:
            return mean
    return 0.0


def texts_of(artifacts):
    """Artifacts as texts of bounded length."""
    texts = {}
    left = MOST_ARTIFACTS
    for name, value in artifacts.items():
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif not isinstance(value, str):
            try:
                value = json.dumps(value, default=str)
            except (TypeError, ValueError):
                value = str(value)
        if len(value) > LONGEST_ARTIFACT:
            value = value[: LONGEST_ARTIFACT // 2] + "\n[...]\n" + value[-LONGEST_ARTIFACT // 2 :]
        value = value.encode("utf-8", "replace").decode("utf-8")
        if left < len(value):
            break
        left -= len(value)
        texts[str(name)] = value
    return texts


def result_of(outcome, score, metrics, artifacts, stages=1, defined=1, error=None, private=None):
    finite = score is not None and math.isfinite(score)
    if outcome == "valid" and not finite:
        outcome, error = "incorrect", error or "the score is not a finite number"
    return {
        "outcome": outcome,
        "score": score if finite else None,
        "metrics": measures_in(metrics),
        "private": private or {},
        "stages": stages,
        "stages_defined": defined,
        "error": error,
        "artifacts": texts_of(artifacts),
    }


class TimeLimit:
    """Ends the process, with a result, when a stage takes too long. kevo has a limit of its own besides, for what
    does not let Python's threads run."""

    def __init__(self, seconds, answer, result):
        self.timer = threading.Timer(seconds, self.end, (answer, result))
        self.timer.daemon = True

    @staticmethod
    def end(answer, result):
        answer.give(result())
        os._exit(0)

    def __enter__(self):
        self.timer.start()

    def __exit__(self, *_):
        self.timer.cancel()


class EvaluationResult:
    """What an evaluator may return in place of a dict: metrics, and artifacts by name."""

    def __init__(self, metrics=None, artifacts=None):
        self.metrics = metrics if metrics is not None else {}
        self.artifacts = artifacts if artifacts is not None else {}

    @classmethod
    def from_dict(cls, metrics):
        return cls(metrics)

    def to_dict(self):
        return self.metrics

    def has_artifacts(self):
        return len(self.artifacts) > 0

    def get_artifact_keys(self):
        return list(self.artifacts)

    def get_artifact_size(self, key):
        value = self.artifacts.get(key, b"")
        return len(value) if isinstance(value, bytes) else len(str(value).encode())

    def get_total_artifact_size(self):
        return sum(map(self.get_artifact_size, self.artifacts))


def module_in_place(name, **members):
    """A module that imports find although no file holds it."""
    module = types.ModuleType(name)
    module.__path__ = []
    for key, value in members.items():
        setattr(module, key, value)
        value.__module__ = name  # so that it can be pickled
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
    return module


def called(function, path):
    returned = function(path)
    if inspect.isawaitable(returned):

        async def wait():
            return await returned

        returned = asyncio.run(wait())
    metrics = getattr(returned, "metrics", returned)
    artifacts = getattr(returned, "artifacts", None)
    if not isinstance(metrics, dict):
        raise TypeError(f"the evaluator returned {type(returned).__name__}, not a dict or an EvaluationResult")
    metrics = dict(metrics)
    if artifacts is None and isinstance(metrics.get("artifacts"), dict):
        artifacts = metrics.pop("artifacts")
    artifacts = dict(artifacts or {})
    for name, value in list(metrics.items()):  # "error": "no output", as many evaluators say it
        if isinstance(value, str) and value and name not in artifacts:
            artifacts[name] = value
    return metrics, artifacts


def passes(metrics, threshold):
    score = metrics.get("combined_score")
    if isinstance(score, (int, float)):
        return float(score) >= threshold
    numbers = [float(v) for name, v in metrics.items() if name != "error" and isinstance(v, (int, float))]
    return bool(numbers) and sum(numbers) / len(numbers) >= threshold


def stage_functions(module, asked):
    """The functions to call, in their order."""
    if asked["cascade"] and hasattr(module, "evaluate_stage1"):
        names = ["evaluate_stage1", "evaluate_stage2", "evaluate_stage3"]
        found = []
        for name in names[: 1 + len(asked["thresholds"])]:
            if not hasattr(module, name):
                break
            found.append(getattr(module, name))
        return found
    if not hasattr(module, "evaluate"):
        raise AttributeError(f"{asked['evaluator']} defines no function evaluate")
    return [module.evaluate]


def judge_openevolve(asked, answer):
    module_in_place("openevolve")
    module_in_place("openevolve.evaluation_result", EvaluationResult=EvaluationResult)
    spec = importlib.util.spec_from_file_location("evaluation_module", asked["evaluator"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["evaluation_module"] = module
    features = asked["features"]
    with TimeLimit(asked["timeout"], answer, lambda: result_of("timed_out", None, {}, {}, 0)):
        spec.loader.exec_module(module)
        functions = stage_functions(module, asked)

    metrics, artifacts = {}, {}
    done = 0

    def so_far(outcome, number, more, error=None):
        """The result of the stages before this one, which failed."""
        if number == 0:
            return result_of(outcome, None, {}, {**artifacts, **more}, 0, len(functions), error)
        failed = {**metrics, f"stage{number + 1}_passed": 0.0}
        return result_of(
            "valid", score_of(failed, features), failed, {**artifacts, **more}, number, len(functions), error
        )

    for number, function in enumerate(functions[: asked["stages"]]):
        late = f"stage {number + 1} took longer than {asked['timeout']:g} s"
        try:
            with TimeLimit(asked["timeout"], answer, lambda n=number: so_far("timed_out", n, {}, late)):
                found, told = called(function, asked["program"])
        except (Exception, SystemExit) as problem:
            FAILED_WRITES.note(problem)
            trace = traceback.format_exc()
            return so_far("crashed", number, {"traceback": trace}, f"{type(problem).__name__}: {problem}")
        if number == 0:
            metrics = found
        else:  # joined as numbers, flags too
            both = {**metrics, **found}
            metrics = {k: float(v) for k, v in both.items() if isinstance(v, (int, float)) and k != "error"}
        artifacts.update(told)
        done = number + 1
        if done < len(functions) and not passes(metrics, asked["thresholds"][number]):
            break
    return result_of("valid", score_of(metrics, features), metrics, artifacts, done, len(functions))


def main():
    asked = json.loads(sys.argv[1])
    keep_to_this_process()
    answer = Answer(asked["descriptor"])
    sys.argv = [asked["evaluator"]]
    FAILED_WRITES.folder = sys.path[0] = os.path.dirname(asked["evaluator"])
    try:
        judge = judge_shinka if asked["system"] == "shinka" else judge_openevolve
        result = judge(asked, answer)
    except BaseException as problem:
        FAILED_WRITES.note(problem)
        trace = traceback.format_exc()
        result = result_of("crashed", None, {}, {"traceback": trace}, 0, 1, f"{type(problem).__name__}: {problem}")
    answer.give(result)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # what the evaluator left running ends with its sandbox


if __name__ == "__main__":
    main()
