"""The compiled part of kevo. Its public names are in the package `kevo`."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

_T = TypeVar("_T")
Source = Union[str, "os.PathLike[str]", Mapping[str, str], "Program"]
Settings = Union[str, Mapping[str, Any]]

version: str

def add_program_folder(folder: str) -> None:
    """Adds a folder in which kevo's helper programs are looked for."""

class Error(RuntimeError):
    """A wrong argument, a wrong file or a fault of the machine; a candidate that fails is never an exception."""

    code: str
    message: str
    file: Optional[str]
    line: Optional[int]
    key: Optional[str]
    hint: Optional[str]

class Program:
    """The source of a candidate: its language and its files, which never change."""

    language: str
    text: str
    files: Dict[str, str]
    id: str
    def __init__(self, source: Source, language: str = "cpp") -> None: ...

class Task:
    """What is optimized, as its file says."""

    name: str
    op_type: str
    description: str
    file: str
    seeds: List[Program]
    baselines: List[str]
    language: str
    workloads: List[Dict[str, Any]]

def load_task(path: Union[str, "os.PathLike[str]"], workloads: Union[None, str, "os.PathLike[str]"] = None) -> Task:
    """Loads a task file (YAML), or a FlashInfer-Bench Definition (JSON) with its workloads."""

class Evaluation:
    """All that a fitness function said of a program. True if it is valid. What was not measured is None."""

    outcome: str
    valid: bool
    speedup: Optional[float]
    speedup_interval: Optional[Tuple[float, float]]
    device_speedup: Optional[float]
    device_speedup_interval: Optional[Tuple[float, float]]
    host_speedup: Optional[float]
    host_speedup_interval: Optional[Tuple[float, float]]
    score: float
    sol_fraction: Optional[float]
    stage: str
    cached: bool
    baseline: str
    other_speedups: Dict[str, float]
    other_speedup_intervals: Dict[str, Tuple[float, float]]
    workloads: List[Dict[str, Any]]
    measures: Dict[str, float]
    feedback: str
    reasons: List[str]
    cost: Dict[str, Any]
    device: str
    backend: str
    protocol: str
    context: Dict[str, str]
    def __init__(
        self,
        outcome: str = "valid",
        score: Optional[float] = None,
        speedup: Optional[float] = None,
        speedup_interval: Optional[Tuple[float, float]] = None,
        feedback: str = "",
        measures: Mapping[str, float] = {},
        reasons: Sequence[str] = [],
        stage: str = "",
    ) -> None: ...
    def __bool__(self) -> bool: ...
    def as_dict(self, samples: bool = False, hidden: bool = True) -> Dict[str, Any]:
        """The object that `kevo eval --json` prints, without the names of task and program. `samples`: with the raw timing
        pairs. `hidden`: with the sizes of hidden workloads."""

class Candidate:
    """A candidate of a search, as it was when it was asked for."""

    id: int
    program: Program
    text: str
    evaluation: Optional[Evaluation]
    score: Optional[float]
    operator_name: str
    parents: List[int]
    summary: str

class Evaluators:
    """Judges programs of one task, several at once. Thread-safe; not usable in a process that was forked later."""

    closed: bool
    task: Task
    workers: int
    def __init__(self, task: Any, *, workers: int = 2, fitness: Optional[Settings] = None) -> None: ...
    def evaluate_many(
        self,
        sources: Iterable[Any],
        *,
        stage: str = "timed_full",
        timeout_s: Optional[float] = None,
        best_speedup: float = 0.0,
        fresh: bool = False,
    ) -> List[Optional[Evaluation]]:
        """The results in the order of the sources. What is no program is one that does not build; the same program is judged
        once. After `timeout_s` seconds the work is ended, and None stands for what was not judged, which says nothing of a
        program. Raises kevo.Error if the task is wrong or the machine fails, and KeyboardInterrupt after Ctrl-C."""
    def evaluate(
        self,
        source: Any,
        *,
        stage: str = "timed_full",
        timeout_s: Optional[float] = None,
        best_speedup: float = 0.0,
        fresh: bool = False,
    ) -> Optional[Evaluation]:
        """The same for one program."""
    def describe(self) -> str:
        """One line: backend, machine, compiler."""
    def close(self) -> None:
        """Ends the workers."""
    def __enter__(self) -> Evaluators: ...
    def __exit__(self, *exception: Any) -> None: ...

class RewardTerms:
    """The numbers and facts from which rewards are computed."""

    built: bool
    unchecked: bool
    ran: bool
    correct: bool
    cheated: bool
    speedup: float
    parent_speedup: float
    own_kernel_share: Optional[float]
    broken_rules: List[Tuple[str, str]]
    eligible: bool
    def _break_rule(self, rule: str, reason: str) -> None: ...

def reward_terms(evaluation: Evaluation, parent: Optional[Evaluation] = None) -> RewardTerms: ...
def autotriton_reward(terms: RewardTerms) -> float: ...
def dr_kernel_reward(terms: RewardTerms, cap: float = 3.0) -> float: ...
def kernel_smith_reward(terms: RewardTerms) -> float: ...
def cuda_l1_reward(terms: RewardTerms) -> float: ...
def cuda_l1_doubts(speedup: float, best_so_far: float = 0.0) -> bool:
    """Whether CUDA-L1 measures a result once more."""

def cuda_l1_agrees(first: float, second: float) -> bool:
    """Whether the second measurement supports the first: both are within 10 % of each other."""

def stage_reward_of_step(terms: RewardTerms, step: int = 0) -> float: ...
def reward_recipes() -> List[str]: ...
def reward_of_recipe(recipe: str, terms: RewardTerms) -> float: ...
def returns_of(rewards: Sequence[float], discount: float = 1.0) -> List[float]: ...
def grpo_advantages(rewards: Sequence[float]) -> List[float]: ...
def trloo_advantages(rewards: Sequence[float]) -> List[float]: ...
def smoothed_rewards(rewards: Sequence[float], limit: float = 1.5) -> List[float]: ...
def prs_keep_probability(correct: bool, share: float) -> float: ...
def mrs_keeps(
    trained: Sequence[float],
    sampled: Sequence[float],
    *,
    low: float = 0.999,
    high: float = 1.001,
    least_ratio: float = 1e-4,
) -> bool: ...
def preference_pairs(
    correct: Sequence[bool], intervals: Sequence[Optional[Tuple[float, float]]]
) -> List[Tuple[int, int]]: ...

class VariationRequest:
    """What an operator is asked to vary. Its snapshots stay; its methods work during the call only."""

    job: int
    task: Optional[Task]
    parents: List[Candidate]
    inspirations: List[Candidate]
    scope: str
    known: int
    stop_requested: bool
    can_evaluate: bool
    def lineage(self, limit: int = 32) -> List[Candidate]:
        """The first parent and its first-parent ancestors, newest first."""
    def siblings(self, limit: int = 32) -> List[Candidate]:
        """Other children of the first parent's parents."""
    def children(self, limit: int = 32) -> List[Candidate]:
        """Children of the first parent, newest first."""
    def seen(self, program: Source) -> bool:
        """Whether the program was a candidate when the request was made."""
    def evaluate(self, draft: Source, stage: str = "timed_full") -> Evaluation:
        """Evaluates a draft, which does not become a candidate. The evaluation is recorded."""
    def book(self, *, money: float = 0.0, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """Adds to the cost of this variation."""
    def note(self, text: str) -> None:
        """Appends text to the transcript of this variation."""

class EvaluationRequest:
    """A request for one evaluation."""

    program: Program
    text: str
    wanted: str
    best_speedup: float
    fresh: bool
    stop_requested: bool

class Observation:
    """The result of an evaluation of a candidate."""

    candidate: int
    parents: List[int]
    made_by: Optional[int]
    outcome: str
    score: float
    parent_score: Optional[float]
    archived: str
    archive_value: float
    cost_s: float
    job: int
    measured: float
    confirmed: bool
    evaluation: Optional[Evaluation]
    ranked: bool
    gain: float

class Progress:
    """What a run has spent and reached."""

    evaluations: int
    confirmations: int
    proposals: int
    duplicates: int
    no_proposals: int
    valid: int
    elapsed_s: float
    money: float
    best_speedup: float
    best_score: Optional[float]
    best_sol_fraction: float
    since_improvement: int
    since_kept: int
    archive_size: int
    archive_cells: int

class PopulationView:
    """The candidates of a search, during one call of a selector."""

    ranked: int
    elites: List[Tuple[int, float]]
    def __len__(self) -> int: ...
    def score(self, candidate: int) -> float: ...
    def outcome(self, candidate: int) -> Optional[str]: ...
    def evaluations(self, candidate: int) -> int: ...
    def nth_best(self, rank: int) -> int: ...
    def rank_of(self, candidate: int) -> Optional[int]: ...
    def parents(self, candidate: int) -> List[int]: ...
    def children(self, candidate: int) -> List[int]: ...

class Random:
    """Random numbers that depend on the seed of the run alone."""

    def __init__(self, seed: int = 0) -> None: ...
    def uniform(self, low: float = 0.0, high: float = 1.0) -> float: ...
    def below(self, n: int) -> int: ...
    def integer(self, low: int, high: int) -> int: ...
    def chance(self, p: float) -> bool: ...
    def normal(self) -> float: ...
    def choice(self, items: Sequence[_T]) -> _T: ...

class NoProposal:
    """The answer of an operator that made no program. `exhausted`: no further program is expected in this run."""

    reason: str
    exhausted: bool
    def __init__(self, reason: str, exhausted: bool = False) -> None: ...

class TurnResult:
    """What an operator did in a job."""

    program: Optional[Program]
    summary: str
    transcript: str

class Job:
    """What a search wants done. `kind` is "vary", "evaluate", "wait" (tell a result first) or "stop"."""

    kind: str
    operator_name: str
    request: Any
    candidate: int

class Search:
    """A search, driven by ask and tell."""

    best: Optional[Candidate]
    champion: Optional[Candidate]
    elites: List[Tuple[int, float]]
    progress: Progress
    stopped: Optional[str]
    def __init__(
        self,
        task: Any = None,
        *,
        operators: Sequence[Any],
        select: Any = "greedy",
        archive: Any = "top_k",
        portfolio: Settings = "ucb1",
        stop: Any = None,
        fitness: Any = None,
        sinks: Sequence[Any] = [],
        seeds: Sequence[Source] = [],
        seed: int = 1,
        patience: int = 50,
        proposals_ahead: int = 4,
    ) -> None: ...
    def ask(self, *, vary: bool = True, evaluate: bool = True) -> Job:
        """The next job, of the kinds that the caller can do."""
    def add_seed(self, source: Source, language: str = "") -> None:
        """Adds a program of the user's as a candidate."""
    def vary(self, job: Job) -> TurnResult:
        """Runs the operator of a job."""
    def evaluate(self, job: Job, fitness: Any = None) -> Evaluation:
        """Evaluates the program of a job."""
    def _use_fitness(self, fitness: Any) -> None: ...
    def _cancel(self) -> None: ...
    def _tell_turn(self, job: Job, result: TurnResult) -> None: ...
    def _tell_proposal(self, job: Job, result: Any) -> None: ...
    def _tell_evaluation(self, job: Job, result: Any) -> None: ...
    def stop(self, reason: str = "stopped") -> None:
        """Stops the search: no new variations, and only confirmations of possible champions."""
    def candidate(self, id: int) -> Candidate:
        """A candidate by its number."""
    def __len__(self) -> int: ...

class RunOutcome:
    """What came of a run. `best` is the champion's number, None if no candidate was confirmed."""

    folder: str
    best: Optional[int]
    best_program: Optional[Program]
    best_file: str
    score: Optional[float]
    speedup: Optional[float]
    speedup_interval: Optional[Tuple[float, float]]
    confirmed: bool
    baseline: str
    stopped_by: str
    setbacks: List[str]
    evaluations: int
    confirmations: int
    valid: int
    proposals: int
    elapsed_s: float

def run(
    config: str,
    overrides: Sequence[str],
    operators: Any = None,
    select: Any = None,
    archive: Any = None,
    stop: Any = None,
    fitness: Any = None,
    sinks: Any = None,
    message: Optional[Callable[[str], None]] = None,
) -> RunOutcome: ...
def resume(
    folder: str,
    overrides: Sequence[str],
    task: str = "",
    operators: Any = None,
    select: Any = None,
    archive: Any = None,
    stop: Any = None,
    fitness: Any = None,
    sinks: Any = None,
    message: Optional[Callable[[str], None]] = None,
) -> RunOutcome: ...
def register_plugin(kind: str, name: str, make: Any, doc: str = "") -> None: ...

class _Journal:
    folder: str
    name: str
    config: str
    seed: int
    operators: List[str]
    kevo_version: str
    best: Optional[int]
    def __init__(self, folder: str) -> None: ...
    def __len__(self) -> int: ...
    def refresh(self) -> None: ...
    def source(self, candidate: int) -> Program: ...
    def evaluations_of(self, candidate: int) -> List[Evaluation]: ...
    def lineage(self, candidate: int) -> List[int]: ...
    def _candidates(self) -> Dict[str, List[Any]]: ...
    def _evaluations(self) -> Dict[str, List[Any]]: ...
    def _workloads(self) -> Dict[str, List[Any]]: ...
    def _measures(self) -> Dict[str, List[Any]]: ...
    def _edges(self) -> Dict[str, List[Any]]: ...
