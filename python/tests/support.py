"""What the tests of the Python package share."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

root = Path(__file__).resolve().parents[2]
softmax = root / "configs/tasks/softmax/task.yaml"
small = root / 'python/tests/small/task.yaml'
# Short enough for a test; what is tested is not how exact the figures are.
quick = {"timing": {"short": 0.02, "full": 0.04, "sustained": 0.02}}


def main() -> None:
    """unittest's main, with ctest's code for a program in which a case was skipped and none failed."""
    program = unittest.main(exit=False, verbosity=1)
    for _, reason in program.result.skipped:
        print("skipped:", reason)
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if program.result.skipped else 0)


def python(text: str, **options: object) -> "subprocess.CompletedProcess[str]":
    """Runs a program in a Python process of its own."""
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload]


def folder() -> "tempfile.TemporaryDirectory[str]":
    """A scratch folder that the sandbox's user may read."""
    made = tempfile.TemporaryDirectory()
    os.chmod(made.name, 0o755)
    return made
