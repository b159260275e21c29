"""Processes of `torture.py`: forked before anything is computed, with limits, and watched.

What went wrong in them is kept in `Findings`.
"""

import contextlib
import io
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from vigor.cli import main as cli
from vigor.reports import figures

TASK = f"{Path(__file__).parents[1] / 'examples' / '01_own_task.py'}:TASK"
SMALL = """--train-contexts 2 --test-contexts 2 --demos-per-context 3 --iterations 12 --components 2 --samples 20
--networks 2 --width 8 --layers 1 --epochs 12"""
SECONDS, MEGABYTES = 60.0, 1024
"""Most time of one input, and most memory of its process."""


def commands(text: str) -> tuple[tuple[str, ...], ...]:
    """Commands, a line each."""
    known = {"TASK": TASK, "SMALL": SMALL, "CONTEXT": "--context 0.4 0 1 0", "CSV": "--format csv --out new.csv"}
    lines = [" ".join(known.get(word, word) for word in line.split()) for line in text.strip().splitlines()]
    return tuple(tuple(line.split()) for line in lines)


@dataclass
class Findings:
    """Figures of what was tried, and everything that was found."""

    counts: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def fault(self, kind: str, words: str) -> None:
        self.counts[kind] += 1
        self.found.append(f"{kind}: {words}")
        print(self.found[-1], file=sys.stderr, flush=True)


class Said(NamedTuple):
    """End of a command."""

    code: Any
    error: str
    """Everything on stderr, or the traceback of an error that is no sentence."""


def said(words: list[str]) -> Said:
    """Words of a command. It ends with a code, or with a traceback that the user would see."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main(words)
        code: Any = 0
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        return Said("traceback", traceback.format_exc())
    if "\x1b" in out.getvalue() + err.getvalue():
        return Said("traceback", "a terminal would obey what it prints")
    return Said(code, err.getvalue())


def fault_of(end: Said, wrong: bool) -> str | None:
    """Fault of how a command ended; wrong: what it read must not be accepted."""
    if end.code == "traceback" or end.code not in (0, 1, 2, 3):
        return "tracebacks"
    if end.code == 2 and not all(line.startswith("vigor: ") for line in end.error.strip().splitlines() or [""]):
        return "tracebacks"
    return "wrong acceptances" if wrong and end.code in (0, 3) else None


# Processes


def forked(work: Callable[[], None], seconds: float = 10 * SECONDS) -> int:
    """Wait status of a process that does some work, and is killed should it take too long."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _begin()
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(70)
        os._exit(0)
    due = time.monotonic() + seconds
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > due:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -1
        time.sleep(0.01)
    return found[1]


def _begin() -> None:
    """Limits of a process, which may harm nothing but itself."""
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Figures are made and files of them written, but not drawn, which takes longer than everything else.
    save, empty = figures.save, Figure((0.1, 0.1))
    figures.save = lambda figure, path: save(empty, path)


Case = Callable[[], tuple[str, str] | None]
"""Something to try, which returns the kind of fault it has found and what it is, in words."""


def many(cases: Iterator[tuple[str, Case]], due: float, findings: Findings) -> int:
    """Number of cases done until a moment, one after the other in a process, a new one after one that hangs."""
    done, listed = 0, list(cases)
    while done < len(listed) and time.monotonic() < due:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            _begin()
            _work_through(listed[done:], writing, due)
        os.close(writing)
        try:
            for fault in _answers(reading, child):
                if fault is not None:
                    findings.fault(fault[0], f"{listed[done][0]}: {fault[1]}")
                done += 1
            status = os.waitpid(child, 0)[1]
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            findings.fault("hangs", listed[done][0])
            done, status = done + 1, 0
        os.close(reading)
        if status:
            findings.fault("tracebacks", f"{listed[done][0]}: the process died with status {status}")
            done += 1
    return done


def _answers(reading: int, child: int) -> Iterator[Any]:
    """Lines of JSON from a process, until it ends, or computes or sleeps for too long between two of them."""
    rest, begun, computed = b"", time.monotonic(), _computed(child)
    while time.monotonic() < begun + 10 * SECONDS and _computed(child) < computed + SECONDS:
        if not select.select([reading], [], [], 1.0)[0]:
            continue
        if not (read := os.read(reading, 65536)):
            return
        *lines, rest = (rest + read).split(b"\n")
        yield from map(json.loads, lines)
        begun, computed = time.monotonic(), _computed(child)
    raise TimeoutError


def _computed(process: int) -> float:
    """Seconds that a process has computed, however many others share the machine."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work_through(cases: list[tuple[str, Case]], writing: int, due: float) -> None:
    with os.fdopen(writing, "w") as answers:
        for _, case in cases:
            # What is compiled stays in memory; a new process begins without it.
            if time.monotonic() > due or _megabytes() > 0.6 * MEGABYTES:
                break
            try:
                fault = case()
            except BaseException:
                fault = ("tracebacks", traceback.format_exc()[-600:])
            if fault is None and _megabytes() > MEGABYTES:
                fault = ("memory", f"{_megabytes()} MB")
            answers.write(json.dumps(fault) + "\n")
            answers.flush()
    os._exit(0)


def _megabytes() -> int:
    """Most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# Figures

TRIED = {
    "fuzzed files": "changed files that a command read",
    "fuzzed words": "commands with words that nobody means",
    "tampered plans": "changed plans with a digest of their own that were to be exported",
    "kills": "kills at an operation on files",
    "full disks": "full disks from an operation on",
    "runs compared": "runs that were killed or had no room, and ended",
}
"""Trials in words, by the name of their count."""
FAULTS = {
    "right refusals": "commands refused though nothing was changed",
    "tracebacks": "tracebacks, or sentences of more than a line",
    "hangs": f"commands that computed for more than {SECONDS:.0f} seconds, or did nothing for long",
    "memory": f"processes with more than {MEGABYTES} MB",
    "wrong acceptances": "files accepted that do not fit their description",
    "tampered exports": "exports into a keep-out, beyond a limit, or not finite",
    "changed results": "runs that came out otherwise than one left alone",
    "files damaged": "commands that could not be repeated after a kill",
    "leftovers": "runs with something left of a kill",
}
"""Faults in words, likewise."""


def table(figures: Mapping[str, Any]) -> str:
    """Figures as a table in Markdown."""
    tried = [f"| {words} | {figures.get(name, 0):,} |" for name, words in TRIED.items()]
    found = [f"| {words} | {figures.get(name, 0):,} |" for name, words in FAULTS.items()]
    return "\n".join(["| tried | |", "| --- | --- |", *tried, "| **found** | |", *found]) + "\n"
