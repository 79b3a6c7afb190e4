"""Runs with a journal, as `kevo run` and `kevo resume` do them."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Iterable, List, Mapping, Optional, TypeVar

from . import _kevo
from ._kevo import RunOutcome

_T = TypeVar("_T")


def _overrides(values: Optional[Mapping[str, Any]]) -> List[str]:
    def plain(value: Any) -> Any:
        if hasattr(value, "__fspath__"):
            return os.fspath(value)
        raise TypeError(f"a setting cannot be a {type(value).__name__}")

    return [f"{key}={json.dumps(value, default=plain)}" for key, value in (values or {}).items()]


def run(
    config: Any,
    *,
    set: Optional[Mapping[str, Any]] = None,  # noqa: A002
    operators: Iterable[Any] = (),
    select: Any = None,
    archive: Any = None,
    stop: Any = None,
    fitness: Any = None,
    sinks: Iterable[Any] = (),
    message: Optional[Callable[[str], None]] = None,
) -> RunOutcome:
    """Runs the search that a config describes, as `kevo run` does, and returns its result.

    `set` overrides keys of the config: {"run.output": "runs/a", "stop": {"evaluations": 20}}; relative paths in it start at
    the current folder. Further operators are added to those of the config; `select`, `archive`, `stop` and `fitness` replace
    what the config says. `sinks` receive every event. `message` is called with warnings and notes.

    Ctrl-C ends the run in order, as in `kevo run`, and raises KeyboardInterrupt then; `resume` continues it.
    """
    return _kevo.run(
        os.fspath(config),
        _overrides(set),
        operators=list(operators),
        select=select,
        archive=archive,
        stop=stop,
        fitness=fitness,
        sinks=list(sinks),
        message=message,
    )


def resume(
    folder: Any,
    *,
    set: Optional[Mapping[str, Any]] = None,  # noqa: A002
    task: Any = "",
    operators: Iterable[Any] = (),
    select: Any = None,
    archive: Any = None,
    stop: Any = None,
    fitness: Any = None,
    sinks: Iterable[Any] = (),
    message: Optional[Callable[[str], None]] = None,
) -> RunOutcome:
    """Continues a run that was stopped or killed. The parts in Python must be those with which it began; `set` may change a
    stop rule and the parallelism."""
    return _kevo.resume(
        os.fspath(folder),
        _overrides(set),
        task=os.fspath(task),
        operators=list(operators),
        select=select,
        archive=archive,
        stop=stop,
        fitness=fitness,
        sinks=list(sinks),
        message=message,
    )


def register(kind: str, name: Optional[str] = None) -> Callable[[_T], _T]:
    """A decorator that makes a class or function a plug-in which configs may name in this process:

        @kevo.register("operator")
        class swap_lines: ...            # vary: {operators: [{type: swap_lines, count: 2}]}

    `kind` is "operator", "selector", "stop_rule", "archive" or "fitness". The settings of the config become keyword arguments
    of the class; the value of a stop rule is its only argument.
    """

    def add(made: _T) -> _T:
        _kevo.register_plugin(kind, name or getattr(made, "__name__"), made, (getattr(made, "__doc__", None) or "").split("\n")[0])
        return made

    return add
