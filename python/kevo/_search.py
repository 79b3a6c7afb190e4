"""Searches that Python drives: ask for a job, do it, tell the result."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Dict, Optional

from . import _kevo
from ._kevo import Candidate, Job, TurnResult


class Search(_kevo.Search):
    """A search in memory, without a journal. `ask()` gives the next job, `tell(job, result)` takes results in any order, and
    `run()` does both until the search stops. `kevo.run` is for searches that survive their process."""

    def tell(self, job: Job, result: Any) -> None:
        """Reports the result of a job: for "vary" what `vary(job)` or an operator returned, for "evaluate" an
        Evaluation, a score or a dict of an Evaluation's fields."""
        if job.kind == "vary":
            if isinstance(result, TurnResult):
                self._tell_turn(job, result)
            else:
                self._tell_proposal(job, result)
        else:
            self._tell_evaluation(job, result)

    def do(self, job: Job, fitness: Any = None) -> Any:
        """Does a job: runs its operator, or evaluates its program with `fitness` or that of the search. Any thread may call it."""
        return self.vary(job) if job.kind == "vary" else self.evaluate(job, fitness)

    def run(self, fitness: Any = None, *, workers: int = 1) -> Optional[Candidate]:
        """Runs the search to its end, with `workers` jobs at once, and returns the best candidate. With one worker, the same
        seed gives the same search if the parts depend only on their arguments."""
        if fitness is not None:
            self._use_fitness(fitness)
        if workers == 1:
            while True:
                job = self.ask()
                if job.kind in ("stop", "wait"):  # alone, there is nothing to wait for
                    return self.best
                self.tell(job, self.do(job))
        with ThreadPoolExecutor(workers) as pool:
            running: Dict[Future[Any], Job] = {}
            try:
                while True:
                    while len(running) < workers:
                        job = self.ask()
                        if job.kind not in ("vary", "evaluate"):
                            break
                        running[pool.submit(self.do, job)] = job
                    if not running:
                        return self.best
                    for done in wait(running, return_when=FIRST_COMPLETED).done:
                        self.tell(running.pop(done), done.result())
            except BaseException:
                for each in running:
                    each.cancel()
                self._cancel()  # evaluations by kevo under way; those in Python end by themselves
                raise
