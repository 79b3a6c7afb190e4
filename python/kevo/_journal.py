"""The record of a run, for pandas and Arrow."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import _kevo
from ._kevo import Evaluation, Program


class Table:
    """Columns of equal length by their names. `pandas()` and `arrow()` import these packages when they are called."""

    def __init__(self, columns: Dict[str, List[Any]]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> List[Any]:
        return self.columns[name]

    def rows(self) -> Iterator[Dict[str, Any]]:
        """The rows as dicts."""
        names = list(self.columns)
        for values in zip(*self.columns.values()):
            yield dict(zip(names, values))

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return self.rows()

    def pandas(self) -> Any:
        """A pandas.DataFrame; what was not measured is missing."""
        import pandas

        return pandas.DataFrame(self.columns)

    def arrow(self) -> Any:
        """A pyarrow.Table with the same types for every run, also for one that has no rows yet."""
        import pyarrow

        types = {
            int: pyarrow.int64(),
            float: pyarrow.float64(),
            str: pyarrow.string(),
            bool: pyarrow.bool_(),
            "ids": pyarrow.list_(pyarrow.int64()),
            "texts": pyarrow.list_(pyarrow.string()),
        }
        arrays = {name: pyarrow.array(values, types[_types[name]]) for name, values in self.columns.items()}
        return pyarrow.table(arrays)

    def __repr__(self) -> str:
        return f"<kevo.Table {len(self)} rows: {', '.join(self.columns)}>"


_types: Dict[str, Any] = {
    **dict.fromkeys(["id", "candidate", "parent", "child", "rank", "tokens_in", "tokens_out", "samples"], int),
    **dict.fromkeys(
        ["born_s", "time_s", "wall_s", "device_s", "money", "score", "speedup", "speedup_low", "speedup_high"], float
    ),
    **dict.fromkeys(["sol_fraction", "time_ns", "baseline_ns", "value"], float),
    **dict.fromkeys(["program", "operator", "summary", "transcript", "wanted", "stage", "outcome", "baseline"], str),
    **dict.fromkeys(["archived", "feedback", "uuid", "measure"], str),
    **dict.fromkeys(["cached", "hidden"], bool),
    **dict.fromkeys(["parents", "inspirations"], "ids"),
    "reasons": "texts",
}


class Journal:
    """A run, open for reading, also while another process writes it. All results show the state at the moment when
    it was opened, or at the latest `refresh()`."""

    def __init__(self, folder: Any) -> None:
        self._journal = _kevo._Journal(os.fspath(folder))

    def refresh(self) -> None:
        """Reads what was recorded since the run was opened or refreshed."""
        self._journal.refresh()

    def candidates(self) -> Table:
        """A row for each candidate, with its operator, parents, time and cost."""
        return Table(self._journal._candidates())

    def evaluations(self) -> Table:
        """A row for each evaluation of a candidate, in order of time."""
        return Table(self._journal._evaluations())

    def workloads(self) -> Table:
        """A row for each workload of each evaluation."""
        return Table(self._journal._workloads())

    def measures(self) -> Table:
        """A row for each measure of each evaluation."""
        return Table(self._journal._measures())

    def edges(self) -> Table:
        """A row for each parent of each candidate: the lineage of the whole run."""
        return Table(self._journal._edges())

    def lineage(self, candidate: int) -> List[int]:
        """A candidate, its first parent, the first parent of that, and so on to a seed."""
        return self._journal.lineage(candidate)

    def source(self, candidate: int) -> Program:
        """The program of a candidate."""
        return self._journal.source(candidate)

    def evaluations_of(self, candidate: int) -> List[Evaluation]:
        """All evaluations of a candidate, oldest first."""
        return self._journal.evaluations_of(candidate)

    @property
    def best(self) -> Optional[int]:
        """The champion, or else the valid candidate with the best score; None if there is none."""
        return self._journal.best

    @property
    def folder(self) -> str:
        return self._journal.folder

    @property
    def name(self) -> str:
        return self._journal.name

    @property
    def config(self) -> str:
        """The config of the run with every default, as YAML; empty if a program of its own started the run."""
        return self._journal.config

    @property
    def seed(self) -> int:
        return self._journal.seed

    @property
    def operators(self) -> Tuple[str, ...]:
        return tuple(self._journal.operators)

    def __len__(self) -> int:
        return len(self._journal)

    def __repr__(self) -> str:
        return f"<kevo.Journal {self.folder}, {len(self)} candidates>"


def journal(folder: Any) -> Journal:
    """Opens the journal of a run for reading."""
    return Journal(folder)
