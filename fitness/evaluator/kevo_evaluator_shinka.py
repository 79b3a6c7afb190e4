"""Judges one program with an evaluator that was written for ShinkaEvolve: what that imports, and its results.

The part of kevo_evaluator.py that is ShinkaEvolve's; both are one file when they run.
"""

import dataclasses
import importlib.util
import json
import math
import os
import runpy
import shutil
import statistics
import sys
import time
import traceback


@dataclasses.dataclass
class EarlyStopDecision:
    """What a rule of early stopping says after some runs. prediction: "beats", "fails" or "uncertain"."""

    should_stop: bool
    prediction: str
    confidence: float
    trials_used: int
    reason: str = None


class EarlyStopMethod:
    """A rule that ends the runs of a program once it is certain enough whether its mean score beats a threshold."""

    name = "early_stop"

    def reset(self):
        pass

    def check(self, scores, threshold):
        raise NotImplementedError


def normal_below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def student_within(t, freedom):
    """P(|T| < t) of Student's distribution with a whole number of degrees of freedom (Abramowitz, Stegun: 26.7.3, 4)."""
    angle = math.atan(t / math.sqrt(freedom))
    term, total, cosine = 1.0, 0.0, math.cos(angle)
    if freedom % 2:
        term = cosine
    for n in range(freedom // 2):
        total += term
        term *= cosine * cosine * ((2 * n + 2) / (2 * n + 3) if freedom % 2 else (2 * n + 1) / (2 * n + 2))
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if freedom % 2 else total


def student_bound(share, freedom):
    """t with P(|T| < t) = share, by bisection."""
    low, high = 0.0, 1.0
    while student_within(high, freedom) < share and high < 1e9:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if student_within(middle, freedom) < share else (low, middle)
    return high


class CertainStop(EarlyStopMethod):
    """Stops when the mean of the scores, taken as normally distributed with their standard error, beats or misses the
    threshold with a probability of more than 1 - prob_cutoff ("bayesian"), when a confidence interval of the mean lies
    on one side of it ("ci"), or when either says so ("hybrid": of the interval only that it lies below)."""

    def __init__(self, name, prob_cutoff, confidence, min_trials, below, above):
        self.name, self.prob_cutoff, self.confidence = name, prob_cutoff, confidence
        self.min_trials, self.below, self.above = min_trials, below, above

    def check(self, scores, threshold):
        count = len(scores)

        def says(prediction, confidence, reason):
            return EarlyStopDecision(prediction != "uncertain", prediction, confidence, count, reason)

        if count < self.min_trials:
            return says("uncertain", 0.5, f"need at least {self.min_trials} trials")
        mean = statistics.fmean(scores)
        spread = statistics.stdev(scores) if count > 1 else 1.0
        error = spread / math.sqrt(count)
        if error < 1e-10:
            where = "above" if mean > threshold else "below"
            return says("beats" if mean > threshold else "fails", 1.0, f"all scores identical and {where} threshold")
        if self.confidence is not None and count > 1:
            reach = student_bound(self.confidence, count - 1) * error
            if self.below and mean + reach < threshold:
                return says("fails", self.confidence, f"the interval ends at {mean + reach:.4f} < {threshold}")
            if self.above and mean - reach > threshold:
                return says("beats", self.confidence, f"the interval begins at {mean - reach:.4f} > {threshold}")
        if self.prob_cutoff is None:
            return says("uncertain", self.confidence, "the interval contains the threshold")
        beats = 1 - normal_below((threshold - mean) / error)
        if beats < self.prob_cutoff:
            return says("fails", 1 - beats, f"P(beats)={beats:.4f} < {self.prob_cutoff}")
        if beats > 1 - self.prob_cutoff:
            return says("beats", beats, f"P(beats)={beats:.4f} > {1 - self.prob_cutoff}")
        return says("uncertain", beats, f"P(beats)={beats:.4f}, continuing")


class NoEarlyStop(EarlyStopMethod):
    name = "no_early_stop"

    def check(self, scores, threshold):
        return EarlyStopDecision(False, "uncertain", 0.5, len(scores), "early stopping disabled")


def BayesianEarlyStop(prob_cutoff=0.05, min_trials=2):
    return CertainStop(f"bayesian_p{prob_cutoff}", prob_cutoff, None, min_trials, False, False)


def ConfidenceIntervalEarlyStop(confidence=0.90, min_trials=3):
    return CertainStop(f"ci_{int(confidence * 100)}", None, confidence, min_trials, True, True)


def HybridEarlyStop(prob_cutoff=0.05, ci_confidence=0.90, min_trials=3):
    return CertainStop("hybrid", prob_cutoff, ci_confidence, min_trials, True, False)


def create_early_stop_method(method="none", prob_cutoff=0.05, ci_confidence=0.90, min_trials=3):
    method = method.lower()
    if method in ("none", "no_early_stop"):
        return NoEarlyStop()
    if method == "bayesian":
        return BayesianEarlyStop(prob_cutoff, min_trials)
    if method in ("ci", "confidence_interval"):
        return ConfidenceIntervalEarlyStop(ci_confidence, min_trials)
    if method == "hybrid":
        return HybridEarlyStop(prob_cutoff, ci_confidence, min_trials)
    raise ValueError(f"Unknown early stop method: {method}. Choose from: none, bayesian, ci, hybrid")


class Stopper:
    """The early stop of one evaluation: a rule, the threshold, and the scores so far."""

    def __init__(self, method, threshold, score_of_run, settings):
        if threshold is None:
            raise ValueError("early_stop_threshold is required when early_stop_method is set")
        self.rule = create_early_stop_method(method, **(settings or {})) if isinstance(method, str) else method
        self.rule.reset()
        self.threshold, self.score_of_run = threshold, score_of_run
        self.scores, self.decision = [], None

    def score(self, value):
        if self.score_of_run is not None:
            try:
                return self.score_of_run(value)
            except Exception as problem:
                print(f"early_stop_score_fn failed: {problem}")
                return None
        if isinstance(value, dict) and "score" in value:
            value = value["score"]
        return float(value) if isinstance(value, (int, float)) else None

    def ends(self, value):
        score = self.score(value)
        if score is None:
            return False
        self.scores.append(score)
        self.decision = self.rule.check(self.scores, self.threshold)
        return self.decision.should_stop

    def said(self, done, wanted):
        made = self.decision or EarlyStopDecision(False, "uncertain", 0.0, 0)
        told = {"method": self.rule.name, "threshold": self.threshold, "triggered": made.should_stop}
        told.update(runs_completed=done, runs_requested=wanted, prediction=made.prediction)
        return {**told, "confidence": made.confidence, "reason": made.reason, "scores": self.scores}


def program_module(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one_run(path, name, arguments):
    function = getattr(program_module(path), name)
    begin = time.perf_counter()
    value = function(**arguments)
    return value, time.perf_counter() - begin


def save_json_results(results_dir, metrics, correct, error=None, verbose=True):
    os.makedirs(results_dir, exist_ok=True)
    for name, content in (("correct", {"correct": bool(correct), "error": error}), ("metrics", metrics)):
        with open(os.path.join(results_dir, name + ".json"), "w") as file:
            json.dump(content, file, indent=4, default=str)


def runs_of(path, name, arguments, workers, stopper=None):
    """(value, seconds) of each run, in their order."""
    if workers > 1 and len(arguments) > 1:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(min(workers, len(arguments)), multiprocessing.get_context("fork")) as pool:
            waiting = [pool.submit(one_run, path, name, each) for each in arguments]
            return [each.result() for each in waiting]
    module = program_module(path)
    if not hasattr(module, name):
        raise AttributeError(f"the program defines no function {name}")
    function = getattr(module, name)
    runs = []
    for each in arguments:
        begin = time.perf_counter()
        value = function(**each)
        runs.append((value, time.perf_counter() - begin))
        if stopper is not None and stopper.ends(value):
            break
    return runs


def run_shinka_eval(
    program_path,
    results_dir,
    experiment_fn_name,
    num_runs,
    get_experiment_kwargs=None,
    aggregate_metrics_fn=None,
    validate_fn=None,
    plotting_fn=None,
    default_metrics_on_error=None,
    early_stop_method=None,
    early_stop_threshold=None,
    early_stop_score_fn=None,
    early_stop_kwargs=None,
    run_workers=1,
    max_workers_cap=None,
    verbose=None,
):
    """Calls a function of the program `num_runs` times, or fewer if early_stop_method is certain before, checks each
    value, and writes metrics.json and correct.json. Nothing is drawn (plotting_fn)."""
    workers = min(run_workers, max_workers_cap or run_workers, max(num_runs, 1))
    stopper = None
    if early_stop_method is not None:
        if workers > 1:
            raise ValueError("Early stopping is only supported in sequential mode (set run_workers=1).")
        stopper = Stopper(early_stop_method, early_stop_threshold, early_stop_score_fn, early_stop_kwargs)
    metrics = dict(default_metrics_on_error or {"combined_score": 0.0})
    errors = []
    try:
        make = get_experiment_kwargs or (lambda number: {"seed": number + 1})
        arguments = [make(number) for number in range(num_runs)]
        runs = runs_of(program_path, experiment_fn_name, arguments, workers, stopper)
        values = [value for value, _ in runs]
        verdicts = [validate_fn(value) for value in values] if validate_fn else []
        wrong = [verdict for verdict in verdicts if not verdict[0]]
        errors = ["Validation failed" + (f": {verdict[1]}" if verdict[1] else "") for verdict in wrong]
        metrics = aggregate_metrics_fn(values) if aggregate_metrics_fn else {"num_successful_runs": len(values)}
        seconds = [took for _, took in runs]
        metrics["execution_time_mean"] = statistics.fmean(seconds) if seconds else 0.0
        metrics["execution_time_std"] = statistics.pstdev(seconds) if seconds else 0.0
        if validate_fn:
            metrics["num_valid_runs"] = len(verdicts) - len(wrong)
            metrics["num_invalid_runs"] = len(wrong)
            metrics["all_validation_errors"] = list(dict.fromkeys(verdict[1] for verdict in wrong if verdict[1]))
        if stopper is not None:
            metrics["early_stop"] = stopper.said(len(runs), num_runs)
        score = metrics.get("combined_score")
        if score is not None and not math.isfinite(score):
            errors.append(f"combined_score is {score}")
    except Exception as problem:
        FAILED_WRITES.note(problem)
        traceback.print_exc()
        errors = [f"{type(problem).__name__}: {problem}"]
    metrics.pop("extra_data", None)
    save_json_results(results_dir, metrics, not errors, errors[0] if errors else None)
    return metrics, not errors, errors[0] if errors else None


def wolframscript_bin():
    """The name or path of the Wolfram Engine's command."""
    return os.environ.get("WOLFRAMSCRIPT_BIN") or "wolframscript"


def is_wolframscript_available():
    return shutil.which(wolframscript_bin()) is not None


def build_wolframscript_argv(args):
    """The command line that runs the Wolfram Engine with these arguments."""
    command = wolframscript_bin()
    return [shutil.which(command) or command, *args]


def loaded(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            content = json.load(file)
        return content if isinstance(content, dict) else None
    except (OSError, ValueError):
        return None


def shinka_result(results, problem):
    """What the evaluator left in its folder of results."""
    metrics = loaded(results, "metrics.json")
    verdict = loaded(results, "correct.json")
    if metrics is None or verdict is None:
        missing = "metrics.json" if metrics is None else "correct.json"
        return result_of("crashed", None, {}, {}, 0, 1, problem or f"the evaluator wrote no {missing}")
    shown = {k: v for k, v in metrics.items() if k not in ("public", "private", "text_feedback", "combined_score")}
    public = metrics.get("public")
    if isinstance(public, dict):
        shown.update(public)
    artifacts = {}
    feedback = metrics.get("text_feedback")
    if isinstance(feedback, list):
        feedback = "\n".join(map(str, feedback))
    if feedback:
        artifacts["text_feedback"] = feedback
    for name, value in shown.items():
        if isinstance(value, str) and value:
            artifacts[name] = value
    private = metrics.get("private")
    private = measures_in(private) if isinstance(private, dict) else {}
    score = number_in(metrics.get("combined_score", 0.0))
    correct = bool(verdict.get("correct"))
    error = problem or verdict.get("error") or None
    return result_of("valid" if correct else "incorrect", score, shown, artifacts, 1, 1, error, private)


def judge_shinka(asked, answer):
    members = {"run_shinka_eval": run_shinka_eval, "save_json_results": save_json_results}
    module_in_place("shinka")
    module_in_place("shinka.core", **members)
    module_in_place("shinka.core.wrap_eval", **members)
    module_in_place("shinka.utils")
    rules = (EarlyStopDecision, EarlyStopMethod, NoEarlyStop, BayesianEarlyStop, ConfidenceIntervalEarlyStop)
    rules += (HybridEarlyStop, create_early_stop_method)
    module_in_place("shinka.utils.eval_stop", **{rule.__name__: rule for rule in rules})
    wolfram = (wolframscript_bin, is_wolframscript_available, build_wolframscript_argv)
    module_in_place("shinka.utils.wolfram", **{function.__name__: function for function in wolfram})
    one_run.__module__ = "shinka.core"
    sys.modules["shinka.core"].one_run = one_run
    sys.argv = [asked["evaluator"], "--program_path", asked["program"], "--results_dir", asked["results"]]
    problem = None
    late = f"the evaluator took longer than {asked['timeout']:g} s"
    with TimeLimit(asked["timeout"], answer, lambda: result_of("timed_out", None, {}, {}, 0, 1, late)):
        try:
            runpy.run_path(asked["evaluator"], run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                problem = f"the evaluator ended with exit code {end.code}"
        except Exception as wrong:
            FAILED_WRITES.note(wrong)
            traceback.print_exc()
            problem = f"{type(wrong).__name__}: {wrong}"
    return shinka_result(asked["results"], problem)
