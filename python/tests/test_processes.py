"""Evaluations from Python have processes, threads and an environment: nothing of Python's reaches a candidate, threads do not
disturb each other, and Ctrl-C leaves nothing behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from pathlib import Path

import kevo
from support import folder, main, quick, small

seed = (small.parent / "seed.cpp").read_text()
hangs = seed.replace("  for", "  for (volatile bool on = true; on;) {}\n  for")
patient = {**quick, "limits": {"call": 60, "first_call": 60}}  # [s]


def descendants(parent):
    """The processes below one, as {number: name}."""
    table, names = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                head, _, tail = Path(f"/proc/{entry}/stat").read_text().rpartition(")")
            except OSError:
                continue
            names[int(entry)] = head.partition("(")[2]
            table.setdefault(int(tail.split()[1]), []).append(int(entry))
    found, left = {}, [parent]
    while left:
        for child in table.get(left.pop(), []):
            found[child] = names[child]
            left.append(child)
    return found


def seconds_used(process):
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


class Child:
    """A Python process that judges a program which hangs; `begun` waits until it does."""

    def __init__(self, body):
        head = f"import kevo, sys, threading\ntask, hangs, how = {str(small)!r}, {hangs!r}, {patient!r}\n"
        self.process = subprocess.Popen(
            [sys.executable, "-c", head + textwrap.dedent(body)], stdout=subprocess.PIPE, text=True
        )

    def begun(self):
        """All processes of the child while its candidate hangs."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            below = descendants(self.process.pid)
            if any(name.startswith("kevo-worker") and seconds_used(p) >= 0.3 for p, name in below.items()):
                return below
            time.sleep(0.05)
        raise AssertionError(f"no candidate hangs: {below}")

    def said(self):
        return self.process.communicate(timeout=60)[0]


def left_of(known, seconds=10):
    """Those of the processes that are still there after some seconds."""
    deadline = time.monotonic() + seconds
    while (left := [p for p in known if os.path.exists(f"/proc/{p}")]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


class Interrupts(unittest.TestCase):
    def interrupted(self, body, number=signal.SIGINT):
        child = Child(body)
        known = child.begun()
        began = time.monotonic()
        child.process.send_signal(number)
        said = child.said()
        self.assertLess(time.monotonic() - began, 10, "it did not return promptly")
        self.assertEqual(left_of(known), [], known)
        return said, child.process.returncode

    def test_ctrl_c_while_a_candidate_hangs(self):
        body = """
            with kevo.evaluators(task, workers=2, fitness=how) as judge:
                try:
                    judge.evaluate_many([hangs, hangs + "// another"])
                except KeyboardInterrupt:
                    print("interrupted")
        """
        self.assertEqual(self.interrupted(body), ("interrupted\n", 0))

    def test_ctrl_c_while_a_draft_hangs(self):
        body = """
            def vary(request, random):
                return request.evaluate(hangs), "never"
            try:
                kevo.search(task, operators=[vary], fitness=how).run()
            except KeyboardInterrupt:
                print("interrupted")
        """
        self.assertEqual(self.interrupted(body), ("interrupted\n", 0))

    def test_ctrl_c_while_candidates_hang_in_threads_of_a_search(self):
        body = """
            try:
                kevo.search(task, operators=[lambda request, random: None], seeds=[hangs], fitness=how).run(workers=2)
            except KeyboardInterrupt:
                print("interrupted")
        """
        self.assertEqual(self.interrupted(body), ("interrupted\n", 0))

    def test_an_exit_while_a_candidate_hangs_in_a_thread_that_nobody_waits_for(self):
        body = """
            threading.Thread(target=kevo.evaluate, args=(task, hangs), kwargs={"fitness": how}, daemon=True).start()
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                print("exit")
        """
        self.assertEqual(self.interrupted(body), ("exit\n", 0))

    def test_a_process_that_takes_long_to_exit_does_not_die_of_a_call_that_is_under_way(self):
        # The C library calls sleep(1), 1 being the exit status, after the interpreter has ended.
        body = """
            import ctypes, time
            c = ctypes.CDLL(None)
            c.on_exit(ctypes.cast(c.sleep, ctypes.c_void_p), None)
            threading.Thread(target=kevo.evaluate, args=(task, hangs), kwargs={"fitness": how}, daemon=True).start()
            time.sleep(0.4)
            sys.exit(1)
        """
        for _ in range(3):
            child = Child(body)
            child.said()
            self.assertEqual(child.process.returncode, 1)

    def test_nothing_is_left_when_python_is_killed(self):
        said, code = self.interrupted("kevo.evaluate(task, hangs, fitness=how)", signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)


class Environment(unittest.TestCase):
    def python(self, program):
        """Runs a program in a Python process of its own."""
        given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-c", program], env=given, capture_output=True, text=True, timeout=120)

    def test_nothing_of_the_python_process_reaches_a_candidate(self):
        with folder() as scratch:
            home = Path(scratch)
            (home / "secret.hpp").write_text("#define FOUND 1\n")
            (home / "secret.txt").write_text("secret")
            curious = (
                f"""#include <cstdio>
                #include <cstdlib>
                #include <unistd.h>
                #if __has_include("secret.hpp") || __has_include(<secret.hpp>) || __has_include("{home}/secret.hpp") || defined(LEAK)
                #error what compilers may not see was found
                #endif
                static bool reads(const char* name) {{ return std::fopen(name, "r") != nullptr; }}
                static bool found() {{
                  char letter;
                  return reads("secret.txt") || reads("{home}/secret.txt") || reads("/proc/self/cwd/secret.txt") ||
                         std::getenv("KEVO_SECRET") || std::getenv("HOME") || ::read(200, &letter, 1) >= 0;
                }}
                """
                + seed.replace("  for", "  if (found()) N = 0;\n  for")
            )
            program = f"""
import os, kevo
os.umask(0o077)
os.dup2(os.open("secret.txt", os.O_RDONLY), 200, inheritable=True)
results = [kevo.evaluate({str(small)!r}, source, fitness={quick!r}, stage="checked")
           for source in ({curious!r}, {curious.replace("if (found())", "if (!found())")!r})]
print([r.outcome for r in results], *[r.feedback for r in results])
"""
            given = {
                **os.environ,
                "KEVO_SECRET": "1",
                "HOME": scratch,
                "CPATH": scratch,
                "CPLUS_INCLUDE_PATH": scratch,
                "CXXFLAGS": "-DLEAK",
                "CXX": "/bin/false",
                "LD_PRELOAD": "",
                "LC_ALL": "C",
                "OMP_NUM_THREADS": "7",
                "PYTHONPATH": os.pathsep.join(sys.path),
            }
            said = subprocess.run(
                [sys.executable, "-c", program], cwd=scratch, env=given, capture_output=True, text=True, timeout=60
            )
            # The second program is the same, but for taking what was found for what was not: it would notice.
            self.assertTrue(said.stdout.startswith("['valid', 'incorrect']"), said.stdout + said.stderr)

    def test_the_sandbox_is_that_of_the_program(self):
        program = Path(kevo.__file__).parent / "libexec/kevo"
        if not program.exists():
            self.skipTest("the program kevo was not built")
        import json

        said = subprocess.run(
            [program, "eval", small, small.parent / "seed.cpp", "--json", "--set", "fitness.timing.full=0.04"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        there = json.loads(said.stdout)
        here = kevo.evaluate(small, seed, fitness=quick)
        self.assertEqual(here.context["sandbox"], there["context"]["sandbox"])
        self.assertEqual((here.protocol, here.device), (there["protocol"], there["device"]))

    def test_a_process_that_ignores_sigchld_is_told_so(self):
        program = f"""
import signal, kevo
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
try:
    kevo.evaluate({str(small)!r}, {seed!r}, fitness={quick!r}, stage="checked")
except kevo.Error as wrong:
    print(wrong.code, wrong.hint)
"""
        said = self.python(program)
        self.assertEqual(said.stdout, "environment set the signal to its default action (SIG_DFL)\n", said.stderr)

    def test_a_folder_that_is_gone_and_blocked_signals_do_not_matter(self):
        program = f"""
import os, signal, tempfile, kevo
gone = tempfile.mkdtemp(); os.chdir(gone); os.rmdir(gone); os.close(0)
signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 32)))
print(kevo.evaluate({str(small)!r}, {seed!r}, fitness={quick!r}, stage="checked").outcome)
"""
        said = self.python(program)
        self.assertEqual(said.stdout, "valid\n", said.stderr)


class Threads(unittest.TestCase):
    def test_two_threads_judge_two_tasks_without_disturbing_each_other(self):
        """Right and wrong programs of either task by turns: a mixed-up result would be seen. A candidate that crashes or
        hangs in one thread is nothing to the other."""
        thrice = (small.parent / "thrice.yaml", seed.replace("2.0f", "3.0f"))
        crashes = seed.replace("  for", "  __builtin_trap();\n  for")
        results = {}

        def judge(name, task, right, wrong):
            with kevo.evaluators(task, workers=1, fitness={**quick, "limits": {"call": 0.5, "first_call": 0.5}}) as judges:
                batch = [right, wrong, crashes, hangs, right + "// again"]
                results[name] = [judges.evaluate(source, stage="checked").outcome for source in batch]

        threads = [
            threading.Thread(target=judge, args=("twice", small, seed, thrice[1])),
            threading.Thread(target=judge, args=("thrice", thrice[0], thrice[1], seed)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = ["valid", "incorrect", "crashed", "timed_out", "valid"]
        self.assertEqual(results, {"twice": expected, "thrice": expected})

    def test_threads_share_evaluators(self):
        with kevo.evaluators(small, workers=2, fitness=quick) as judge:
            results = {}

            def work(name, source):
                results[name] = judge.evaluate(source, stage="timed_short").outcome

            sources = {"right": seed, "wrong": seed.replace("2.0f", "2.1f"), "broken": "no program"}
            threads = [threading.Thread(target=work, args=each) for each in sources.items()]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(results, {"right": "valid", "wrong": "incorrect", "broken": "build_failed"})


if __name__ == "__main__":
    main()
