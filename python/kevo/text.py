"""Programs in what a language model wrote."""

from __future__ import annotations

import re
from typing import Any

_fence = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def code_of(completion: Any) -> str:
    """The program in a completion: its last fenced block of code, or the whole text if it has none.

    `completion` is a text, or a list of messages with "content", of which the last one counts, as TRL hands them to reward
    functions. Anything else gives an empty text, which is judged as a program that does not build.
    """
    if isinstance(completion, (list, tuple)):
        completion = completion[-1] if completion else ""
    if isinstance(completion, dict):
        completion = completion.get("content", "")
    if not isinstance(completion, str):
        return ""
    blocks = _fence.findall(completion)
    return blocks[-1][1] if blocks else completion
