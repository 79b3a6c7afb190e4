"""Rewards for training models on evaluations: what published recipes pay for a program.

Each function takes an Evaluation (and that of the parent, where the recipe compares) or the RewardTerms of one. A program
that was caught cheating, or that breaks a rule, earns 0 in every recipe. The formulas and their sources are in
include/kevo/reward.hpp.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, List, Optional, Tuple, Union

from . import _kevo
from ._kevo import Evaluation, Program, RewardTerms

Rule = Tuple[str, Callable[[Optional[Program], Evaluation], Optional[str]]]
Judged = Union[Evaluation, RewardTerms]


def terms(
    evaluation: Evaluation,
    parent: Optional[Evaluation] = None,
    *,
    source: Optional[Program] = None,
    rules: Iterable[Rule] = (),
) -> RewardTerms:
    """The terms of one evaluation. `rules` are pairs of a name and a function of the program and its evaluation that returns
    the reason why the program breaks the rule, or None. A rule that raises is broken: no program gains by confusing it."""
    made = _kevo.reward_terms(evaluation, parent)
    for name, check in rules:
        try:
            reason = check(source, evaluation)
        except Exception as wrong:  # noqa: BLE001
            reason = f"the rule failed: {wrong}"
        if reason is not None:
            made._break_rule(name, str(reason))
    return made


def defines_kernel(*words: str) -> Rule:
    """The rule that the text of a program contains one of the words, by default those of CUDA and Triton."""
    wanted = words or ("__global__", "@triton.jit")

    def check(source: Optional[Program], _: Evaluation) -> Optional[str]:
        if source is None:
            return "the source is not known"
        if any(word in text for text in source.files.values() for word in wanted):
            return None
        return "no kernel is defined in the source"

    return ("defines_kernel", check)


def names_kernel() -> Rule:
    """The rule that a program that defines kernels (`__global__` or `@triton.jit`) also names one of them outside of its
    definition, as every launch does; a kernel that is named nowhere else is a decoy. Lines of comments and members of
    something else (`torch.relu` for a kernel `relu`) do not count."""
    defined = re.compile(
        r"__global__[^(]*?(?:__launch_bounds__\s*\([^)]*\)[^(]*?)?(\w+)\s*\(|^[ \t]*@(?:triton\.)?jit\b.*?^[ \t]*def\s+(\w+)",
        re.MULTILINE | re.DOTALL,
    )
    comment = re.compile(r"^[ \t]*(?:#|//)[ \t]+(?!kevo:).*$", re.MULTILINE)

    def check(source: Optional[Program], _: Evaluation) -> Optional[str]:
        if source is None:
            return "the source is not known"
        text = comment.sub("", "\n".join(source.files.values()))
        kernels = {name for found in defined.finditer(text) for name in found.groups() if name}
        if not kernels or any(len(re.findall(rf"(?<![\w.]){name}(?!\w)", text)) > 1 for name in kernels):
            return None
        return "no kernel that is defined in the source is launched"

    return ("names_own_kernel", check)


def _terms(judged: Judged, parent: Optional[Evaluation] = None) -> RewardTerms:
    return judged if isinstance(judged, RewardTerms) else terms(judged, parent)


def autotriton(judged: Judged) -> float:
    """AutoTriton (arXiv 2507.05687): 1 if the rules are kept and the results are right, else 0."""
    return _kevo.autotriton_reward(_terms(judged))


def dr_kernel(judged: Judged, cap: float = 3.0) -> float:
    """Dr. Kernel (arXiv 2602.05885): C + C min(s, cap) + C PR; PR, the share of time in own kernels, is 0 if it was not
    measured."""
    return _kevo.dr_kernel_reward(_terms(judged), cap)


def kernel_smith(judged: Judged, parent: Optional[Evaluation] = None) -> float:
    """Kernel-Smith (arXiv 2603.28342): the speedup over the parent, or over the baseline without a valid parent."""
    return _kevo.kernel_smith_reward(_terms(judged, parent))


def cuda_l1(
    judged: Judged, *, best_so_far: float = 0.0, again: Optional[Callable[[], Optional[Evaluation]]] = None
) -> float:
    """CUDA-L1 (arXiv 2507.14111): the speedup, rounded to two decimals toward 1.

    With `again`, a speedup above 3, or above twice `best_so_far` (the best of earlier programs; 0 if there is none), is
    measured a second time: `again()` evaluates the program once more and returns the result (None if it ran out of time). If
    that is not valid, or the speedups differ by more than 10 %, the reward is 0."""
    found = _terms(judged)
    reward = _kevo.cuda_l1_reward(found)
    if again is None or not found.eligible or not _kevo.cuda_l1_doubts(found.speedup, best_so_far):
        return reward
    second = again()
    speedup = (second.speedup or 0.0) if second is not None and second.valid else 0.0
    return reward if _kevo.cuda_l1_agrees(found.speedup, speedup) else 0.0


def stages(judged: Judged, parent: Optional[Evaluation] = None, step: int = 0) -> float:
    """QiMeng-Kernel (arXiv 2511.20100): what step number `step` of a chain of macro actions earns."""
    return _kevo.stage_reward_of_step(_terms(judged, parent), step)


def of(recipe: str, judged: Judged, parent: Optional[Evaluation] = None) -> float:
    """The reward by the name of its recipe; `recipes()` has the names."""
    return _kevo.reward_of_recipe(recipe, _terms(judged, parent))


def recipes() -> List[str]:
    """The names of the recipes."""
    return _kevo.reward_recipes()


cuda_l1_doubts = _kevo.cuda_l1_doubts
cuda_l1_agrees = _kevo.cuda_l1_agrees

__all__: List[Any] = [
    "RewardTerms",
    "autotriton",
    "cuda_l1",
    "cuda_l1_agrees",
    "cuda_l1_doubts",
    "defines_kernel",
    "dr_kernel",
    "kernel_smith",
    "names_kernel",
    "of",
    "recipes",
    "stages",
    "terms",
]
