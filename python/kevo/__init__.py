"""kevo: makes compute kernels faster by searching over programs that are built, checked and timed in a sandbox.

    import kevo
    result = kevo.evaluate("task.yaml", source)      # build, check and time one program
    judge = kevo.evaluators("task.yaml", workers=4)   # the same for many, for reward functions
    kevo.reward.dr_kernel(result)                     # what a published recipe pays for it

docs/python.md says more.
"""

from __future__ import annotations

import os as _os
from typing import Any, Mapping, Optional

from . import _kevo
from ._kevo import (
    Candidate,
    Error,
    Evaluation,
    EvaluationRequest,
    Evaluators,
    Job,
    NoProposal,
    Observation,
    PopulationView,
    Program,
    Progress,
    Random,
    RunOutcome,
    Task,
    VariationRequest,
    load_task,
)

_kevo.add_program_folder(_os.path.realpath(_os.path.join(_os.path.dirname(__file__), "libexec")))

from . import advantage, reward  # noqa: E402
from ._journal import Journal, Table, journal  # noqa: E402
from ._search import Search  # noqa: E402
from ._session import register, resume, run  # noqa: E402
from .text import code_of  # noqa: E402

__version__: str = _kevo.version


def evaluators(task: Any, *, workers: int = 2, fitness: Any = None) -> Evaluators:
    """A fitness function that judges `workers` programs of one task at once; builds run side by side, measurements one
    after the other. Use it as a context manager, or call `close()`.

    `task` is the path of a task file or what `load_task` returned. `fitness` is the section `fitness` of a config as a
    dict, such as {"compiler": "clang++", "timing": {"full": 0.5}}, or the name of a backend; by default the backend of the
    task's language.
    """
    return Evaluators(task, workers=workers, fitness=fitness)


def evaluate(
    task: Any,
    source: Any,
    *,
    language: Optional[str] = None,
    fitness: Optional[Mapping[str, Any]] = None,
    stage: str = "confirmed",
    timeout_s: Optional[float] = None,
) -> Optional[Evaluation]:
    """Builds, checks and times one program, as `kevo eval` does, and returns the result.

    `source` is a text, a path, a dict of texts by path, or a Program. `stage` says how far to go: "built", "checked",
    "timed_short", "timed_full" or "confirmed". A program that was only built has the outcome "unchecked", is not valid
    and earns no reward. Returns None if the evaluation has not ended after
    `timeout_s` seconds. A wrong program has an outcome and raises no exception; kevo.Error means that the task is wrong or
    that the machine failed.
    """
    if language is not None:
        source = Program(source, language)
    elif hasattr(source, "__fspath__"):
        source = Program(source, "text")  # the language is that of the file's ending
    with evaluators(task, workers=1, fitness=fitness) as judge:
        return judge.evaluate(source, stage=stage, timeout_s=timeout_s, fresh=stage == "confirmed")


def search(task: Any = None, **parts: Any) -> Search:
    """A search in memory, driven by `ask` and `tell` or by `run`. Keyword arguments:

    operators        variation operators (required), written in Python or as a config names them: {"type": "tune"}
    select           selector ("greedy"), portfolio ("ucb1"), archive ("top_k"), stop (a rule, a dict or a list; none)
    fitness          used by `run` and for drafts of operators
    seeds            programs to start from, besides those of the task
    sinks            objects with `consume(event)`, or functions, that are told of every event
    seed, patience, proposals_ahead    numbers, as in a config
    """
    return Search(task, **parts)


__all__ = [
    "Candidate",
    "Error",
    "Evaluation",
    "EvaluationRequest",
    "Evaluators",
    "Job",
    "Journal",
    "NoProposal",
    "Observation",
    "PopulationView",
    "Program",
    "Progress",
    "Random",
    "RunOutcome",
    "Search",
    "Table",
    "Task",
    "VariationRequest",
    "advantage",
    "code_of",
    "evaluate",
    "evaluators",
    "journal",
    "load_task",
    "register",
    "resume",
    "reward",
    "run",
    "search",
]
