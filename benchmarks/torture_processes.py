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
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from vigor import api  # noqa: F401  What commands import, for all that are forked.
from vigor.cli import main as cli
from vigor.reports import figures

ROOT = Path(__file__).parents[1]
TASK = f"{ROOT / 'examples' / '01_own_task.py'}:TASK"
POINT = f"{ROOT / 'tests' / 'recorded.py'}:POINTED"
"""A task for recordings in formats of others."""
SMALL = """--train-contexts 2 --test-contexts 2 --demos-per-context 3 --iterations 12 --components 2 --samples 20
--networks 2 --width 8 --layers 1 --epochs 12"""
BATCH = 2000
"""Most cases of one process."""
SECONDS, MEGABYTES = 60.0, 1024
"""Most time of one input, and most memory of a process that had begun with it."""
WARM = 3000
"""Megabytes of compiled programs that a process may have gathered before another takes over."""


def commands(text: str) -> tuple[tuple[str, ...], ...]:
    """Commands, a line each."""
    known = {
        "TASK": TASK,
        "POINT": POINT,
        "SMALL": SMALL,
        "CONTEXT": "--context 0.4 0 1 0",
        "CSV": "--format csv --out new.csv",
    }
    lines = [" ".join(known.get(word, word) for word in line.split()) for line in text.strip().splitlines()]
    return tuple(tuple(line.split()) for line in lines)


@dataclass
class Findings:
    """Figures of what was tried, and everything that was found."""

    counts: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def fault(self, kind: str, words: str) -> None:
        self.counts[kind] += 1
        # The whole is for whoever looks on; the begin of it, with its seed, is enough to find it again.
        print(f"{kind}: {words}", file=sys.stderr, flush=True)
        self.found.append(f"{kind}: {words.replace(str(ROOT), '')[:120].partition(chr(10))[0]}")


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
    with _ended(child):
        while not (found := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > due:
                _kill(child)
                return -1
            time.sleep(0.01)
    return found[1]


@contextlib.contextmanager
def _ended(child: int) -> Iterator[None]:
    """Kills a process where this one is told to end, before its files are removed."""
    try:
        yield
    except SystemExit:
        _kill(child)
        raise


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _begin() -> None:
    """Limits of a process, which may harm nothing but itself."""
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Figures are made and files of them written, but not drawn, which takes longer than everything else.
    save, empty = figures.save, Figure((0.1, 0.1))
    figures.save = lambda figure, path: save(empty, path)


Case = Callable[[], tuple[str, str] | None]
"""Something to try, which returns the kind of fault it has found and what it is, in words."""


def many(cases: Iterator[tuple[str, str, Case]], due: float, findings: Findings) -> None:
    """Try cases until a moment, one after the other in a process that is warm, a new one after one that hangs.

    cases: name of their count, name of each, and what is to be tried.
    """
    waiting: deque[tuple[str, str, Case]] = deque()
    while time.monotonic() < due:
        waiting.extend(islice(cases, BATCH - len(waiting)))
        if not waiting:
            return
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            _begin()
            _work_through([case for _, _, case in waiting], writing, due)
        os.close(writing)
        try:
            with _ended(child):
                for fault in _answers(reading, child):
                    count, name, _ = waiting.popleft()
                    findings.counts[count] += 1
                    if fault is not None:
                        findings.fault(fault[0], f"{name}: {fault[1]}")
                status = os.waitpid(child, 0)[1]
        except TimeoutError:
            _kill(child)
            findings.fault("hangs", waiting.popleft()[1])
            status = 0
        os.close(reading)
        if status:
            findings.fault("tracebacks", f"{waiting.popleft()[1]}: the process died with status {status}")


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


def _work_through(cases: list[Case], writing: int, due: float) -> None:
    begun = _memory("VmRSS")
    with os.fdopen(writing, "w") as answers:
        for case in cases:
            # What is compiled stays in memory; a new process begins without it.
            if time.monotonic() > due or (before := _memory("VmRSS")) > begun + WARM:
                break
            Path("/proc/self/clear_refs").write_text("5")  # The most that was taken counts from here.
            try:
                fault = case()
            except BaseException:
                fault = ("tracebacks", traceback.format_exc()[-600:])
            taken = begun + _memory("VmHWM") - before
            if fault is None and taken > MEGABYTES:
                fault = ("memory", f"{taken} MB")
            answers.write(json.dumps(fault) + "\n")
            answers.flush()
    os._exit(0)


def _memory(name: str) -> int:
    """Megabytes of this process: VmRSS now, or VmHWM at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) // 1024


# Figures

TRIED = {
    "right uses": "commands with files that nobody has changed",
    "fuzzed files": "changed files that a command read",
    "fuzzed words": "commands with words that nobody means",
    "tampered plans": "changed plans with a digest of their own that were to be exported",
    "foreign programs": "ways to have a program run by opening what somebody else has made",
    "kills": "kills of commands at an operation on files",
    "commands compared": "commands that were killed at each of their operations, and ended",
    "runs compared": "runs and practice that were killed again and again, and ended",
    "studios compared": "folders of the studio likewise",
    "benchmarks compared": "benchmarks likewise",
    "full disks": "runs whose disk was full from an operation on, one for each, and ended later",
}
"""Trials in words, by the name of their count."""
FAULTS = {
    "right refusals": "commands refused though nothing was changed",
    "tracebacks": "tracebacks, or sentences of more than a line",
    "hangs": f"commands that computed for more than {SECONDS:.0f} seconds, or did nothing for long",
    "memory": f"commands that would have taken a new process to more than {MEGABYTES} MB",
    "wrong acceptances": "files accepted that do not fit their description",
    "tampered exports": "exports into a keep-out, beyond a limit, or not finite",
    "programs run": "programs run",
    "changed results": "runs or benchmarks that came out otherwise than those left alone",
    "files damaged": "files that were neither whole nor as before after a kill, or commands that could not be repeated",
    "leftovers": "runs with something left of a kill",
}
"""Faults in words, likewise."""


def table(pieces: Sequence[Mapping[str, Any]]) -> str:
    """Figures of some pieces, added up, as a table in Markdown."""

    def lines(names: Mapping[str, str]) -> list[str]:
        return [f"| {words} | {sum(piece.get(name, 0) for piece in pieces):,} |" for name, words in names.items()]

    return "\n".join(["| tried | |", "| --- | --- |", *lines(TRIED), "| **found** | |", *lines(FAULTS)]) + "\n"
