"""Advantages of groups of rewards, and filters of samples, for policy gradients. A group is several samples of one prompt.
The formulas and their sources are in include/kevo/learn/advantage.hpp."""

from __future__ import annotations

from typing import Iterable, List, Optional, Tuple

from . import _kevo
from ._kevo import Evaluation


def returns(rewards: Iterable[float], discount: float = 1.0) -> List[float]:
    """Discounted sums of the rewards that follow, one for each turn."""
    return _kevo.returns_of(list(rewards), discount)


def grpo(rewards: Iterable[float]) -> List[float]:
    """GRPO (arXiv 2402.03300): (r - mean) / standard deviation of the group; 0 for all if the rewards are equal."""
    return _kevo.grpo_advantages(list(rewards))


def trloo(rewards: Iterable[float]) -> List[float]:
    """TRLOO (Dr. Kernel, arXiv 2602.05885): the reward less the mean of the others."""
    return _kevo.trloo_advantages(list(rewards))


def smoothed(rewards: Iterable[float], limit: float = 1.5) -> List[float]:
    """CUDA-L1's smoothed rewards (arXiv 2507.14111): GRPO's, limited to `limit` to either side."""
    return _kevo.smoothed_rewards(list(rewards), limit)


def prs_keep_probability(correct: bool, share: float) -> float:
    """The probability with which Dr. Kernel's PRS keeps a sample whose own kernels take `share` of the device time."""
    return _kevo.prs_keep_probability(correct, share)


def mrs_keeps(
    trained: Iterable[float],
    sampled: Iterable[float],
    *,
    low: float = 0.999,
    high: float = 1.001,
    least_ratio: float = 1e-4,
) -> bool:
    """Whether Dr. Kernel's MRS keeps a sample with these log-probabilities of its tokens under the two policies."""
    return _kevo.mrs_keeps(list(trained), list(sampled), low=low, high=high, least_ratio=least_ratio)


def preference_pairs(group: Iterable[Optional[Evaluation]]) -> List[Tuple[int, int]]:
    """Pairs (preferred, other) of evaluations of siblings for DPO: a right program is preferred to a wrong one, and a right
    one to another if its interval lies wholly above. Places with None are in no pair."""
    known = [(place, one) for place, one in enumerate(group) if one is not None]
    pairs = _kevo.preference_pairs([one.valid for _, one in known], [one.speedup_interval for _, one in known])
    return [(known[better][0], known[other][0]) for better, other in pairs]


__all__ = ["grpo", "mrs_keeps", "preference_pairs", "prs_keep_probability", "returns", "smoothed", "trloo"]
