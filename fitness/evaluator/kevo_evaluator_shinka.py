"""Judges one program with an evaluator that was written for ShinkaEvolve: what that imports, and its results.

The part of kevo_evaluator.py that is ShinkaEvolve's; both are one file when they run.
"""

import importlib.util
import json
import math
import os
import runpy
import statistics
import sys
import time
import traceback


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


def runs_of(path, name, arguments, workers):
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
    """Calls a function of the program `num_runs` times, checks each value, and writes metrics.json and correct.json.
    All runs are made, also where the evaluator asks for fewer once the score is certain (early_stop_...), and nothing
    is drawn (plotting_fn)."""
    metrics = dict(default_metrics_on_error or {"combined_score": 0.0})
    errors = []
    try:
        make = get_experiment_kwargs or (lambda number: {"seed": number + 1})
        arguments = [make(number) for number in range(num_runs)]
        runs = runs_of(program_path, experiment_fn_name, arguments, min(run_workers, max_workers_cap or run_workers))
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
        score = metrics.get("combined_score")
        if score is not None and not math.isfinite(score):
            errors.append(f"combined_score is {score}")
    except Exception as problem:
        traceback.print_exc()
        errors = [f"{type(problem).__name__}: {problem}"]
    metrics.pop("extra_data", None)
    save_json_results(results_dir, metrics, not errors, errors[0] if errors else None)
    return metrics, not errors, errors[0] if errors else None


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
            traceback.print_exc()
            problem = f"{type(wrong).__name__}: {wrong}"
    return shinka_result(asked["results"], problem)
