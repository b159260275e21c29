"""Torture: kills, fuzzed files and words, tampered plans, foreign programs, full disks.

python benchmarks/torture.py --minutes 8 --seed 1 --out FILE: everything happens in a folder of its own, and in
processes that are forked from this one before it has begun to compute. Whatever is drawn comes from the seed. `--out`
adds the figures to a file, so that pieces with different seeds make a long one; the exit code is 1 if there is a fault.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}  # To compile takes longest.

import torture_disks as disks  # noqa: E402
import torture_foreign as foreign  # noqa: E402
import torture_foreign_data  # noqa: E402, F401
import torture_foreign_robots  # noqa: E402, F401
import torture_fuzzing as fuzzing  # noqa: E402
from torture_kills import kill  # noqa: E402
from torture_kinds import prepare  # noqa: E402
from torture_plans import tamper  # noqa: E402
from torture_processes import Case, Findings, many, table  # noqa: E402

PARTS = ("files", "words", "plans", "kills", "disks", "foreign")
PATIENT = 1000
"""Cases from which a piece is no short one, which has no practice, no scenes, and nothing used as it is meant."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2.0, help="to prepare, and for all parts")
    parser.add_argument("--cases", type=int, default=10**6, help="most cases of each part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--run", type=Path, help="a finished run of examples/01_own_task.py, instead of a new one")
    parser.add_argument("--files", type=Path, help="folder of what is changed and read, made if it is not there")
    parser.add_argument("--out", type=Path, help="file that the figures are added to")
    options = parser.parse_args()
    options.run = options.run and options.run.resolve()
    options.out, options.files = (path and path.resolve() for path in (options.out, options.files))
    warnings.simplefilter("ignore")  # That a program of threads is forked: it has none that count.
    findings = Findings()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # What was tried until then counts.
    with tempfile.TemporaryDirectory() as folder, suppress(SystemExit):
        _try(Path(folder), options, findings)
    piece = {"seed": options.seed, "parts": list(options.parts), **findings.counts, "found": findings.found}
    print(table([piece]))
    if options.out:
        options.out.write_text(json.dumps([*_pieces(options.out), piece], indent=1) + "\n")
    sys.exit(1 if findings.found else 0)


def _try(folder: Path, options: argparse.Namespace, findings: Findings) -> None:
    """All parts, each as long as the others."""
    end = time.monotonic() + options.minutes * 60
    pristine = _prepared(folder, options)
    try:
        for number, part in enumerate(options.parts):
            due = time.monotonic() + (end - time.monotonic()) / (len(options.parts) - number)
            tried = {"kills": kills, "disks": full_disks, "foreign": programs}.get(part, partial(drawn, part))
            tried(pristine, options.seed * 10**6, options.cases, due, findings)
    finally:
        os.chdir("/")


def _prepared(folder: Path, options: argparse.Namespace) -> Path:
    """Files of every kind in a folder, made there or copied; task files are confirmed for this folder alone."""
    made = options.files or folder
    os.environ["XDG_STATE_HOME"] = f"{made}/state"
    if not (made / "pristine").exists():
        shutil.rmtree(made / "begun", ignore_errors=True)
        (made / "begun").mkdir(parents=True)
        prepare(made / "begun", options.run, options.cases >= PATIENT).rename(made / "pristine")
    if made != folder:
        shutil.copytree(made, folder, dirs_exist_ok=True)
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
    return folder / "pristine"


def _pieces(path: Path) -> list[dict[str, Any]]:
    """Pieces that a file of figures has already."""
    return json.loads(path.read_text()) if path.exists() else []


DRAWN: dict[str, tuple[str, Callable[[Path, int], Any]]] = {
    "files": ("fuzzed files", fuzzing.fuzz_file),
    "words": ("fuzzed words", fuzzing.fuzz_words),
    "plans": ("tampered plans", tamper),
}
"""Cases that are drawn, and the names of their counts, by the part."""


def drawn(part: str, pristine: Path, first: int, count: int, due: float, findings: Findings) -> None:
    """Fuzzed files, fuzzed words, or tampered plans; before the files, in a longer piece, everything as it is."""
    plain = fuzzing.plain(pristine) if part == "files" and count >= PATIENT else ()
    name, case = DRAWN[part]

    def cases() -> Iterator[tuple[str, str, Case]]:
        for words in plain:
            yield "right uses", " ".join(words[:2]), partial(fuzzing.as_it_is, pristine, words)
        for number in range(first, first + count):
            yield name, f"{name} {number}", partial(case, pristine, number)

    many(cases(), due, findings)


def kills(pristine: Path, first: int, count: int, due: float, findings: Findings) -> None:
    """Kills, as many commands as there is time for."""
    for number in range(first, first + count):
        if time.monotonic() > due:
            return
        kill(pristine, number, findings, due)


def full_disks(pristine: Path, first: int, count: int, due: float, findings: Findings) -> None:
    """A disk that is full at each of the first operations of a run; four seeds in a row begin at a quarter each."""
    begin = first // 10**6 * disks.FIRST // 4
    places = [1 + (begin + number) % disks.FIRST for number in range(min(count, disks.FIRST))]
    cases = (("full disks", f"full disk {at}", partial(disks.full_disk, pristine, at)) for at in places)
    many(cases, due, findings)


def programs(pristine: Path, first: int, count: int, due: float, findings: Findings) -> None:
    """Every way that we know to have a program run by opening something."""
    tries = [
        ("foreign programs", f"{way}", partial(foreign.attempt, pristine, way)) for way in list(foreign.WAYS)[:count]
    ]
    many(iter(tries), due, findings)


if __name__ == "__main__":
    main()
