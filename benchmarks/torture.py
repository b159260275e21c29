"""Torture: kills, fuzzed files and words, tampered plans, a full disk; `python benchmarks/torture.py --minutes 30`.

Everything happens in a folder of its own and in processes that are forked from this one before it has begun to compute.
Whatever is drawn comes from the seed. `--out FILE` keeps the figures; the exit code is 1 if anything was found.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}  # To compile takes longest.

import numpy as np  # noqa: E402

import torture_fuzzing as fuzzing  # noqa: E402
from torture_kills import interrupted, killed_writer, train  # noqa: E402
from torture_processes import TASK, Findings, forked, many, said, table  # noqa: E402
from vigor.demonstrations import dataset  # noqa: E402


def prepare(folder: Path, run: Path | None) -> Path:
    """Files of every kind, as they should be."""
    pristine = folder / "pristine"
    pristine.mkdir()
    os.chdir(pristine)

    def make() -> None:
        from planned import planar

        if run is None:
            assert said(train(Path("run"))).code == 0
        else:
            assert said(["evaluate", str(run), "--task", TASK, "--samples", "2"]).code == 0
            shutil.copytree(run, "run", dirs_exist_ok=True)
        shutil.copytree("run", "begun", ignore=shutil.ignore_patterns("result.json", "plans", "figures"))
        planar().save("plan.json")
        assert said(["demos", "generate", TASK, "--out", "demos", "--contexts", "2", "--per-context", "3"]).code == 0
        _recorded()
        _benchmark()

    status = forked(make)
    assert status == 0, status
    return pristine


def _recorded() -> None:
    """Recordings and contexts in files of other kinds."""
    shown = dataset.load(Path("demos"))
    assert shown.recordings is not None
    Path("recorded/demonstrations").mkdir(parents=True)
    np.savetxt("recorded/contexts.csv", shown.contexts[:2], delimiter=",")
    for number, recording in enumerate(shown.recordings[:2]):
        np.savetxt(f"recorded/demonstrations/{shown.context_of[number]}_{'ab'[number]}.csv", recording, delimiter=",")
    np.savetxt("contexts.csv", shown.contexts[:2], delimiter=",")
    np.savez(
        "recorded.npz",
        contexts=shown.contexts,
        context_of=shown.context_of[:2],
        samples=np.concatenate(shown.recordings[:2]),
        lengths=np.array([len(item) for item in shown.recordings[:2]]),
    )
    joint = '<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/><axis xyz="0 0 1"/>'
    joint += '<origin xyz="0.5 0 0"/><limit lower="-3.1" upper="3.1" velocity="2.5" effort="1"/></joint>'
    links = "".join(f'<link name="l{i}"/>' for i in range(6))
    Path("arm.urdf").write_text(f'<robot name="arm">{links}{"".join(joint.format(i, i + 1) for i in range(5))}</robot>')


def _benchmark() -> None:
    """A benchmark with the run as its only row."""
    from vigor.experiments.cell import Cell, row
    from vigor.runs.run import load_setup

    result = json.loads(Path("run/result.json").read_text())
    facts = {"demonstrations": "generated", "device": "cpu", "seconds": 1.0, "together": 1}
    made = row(Cell(load_setup(Path("run"))), facts | {part: result[part] for part in ("train", "test")})
    Path("benchmark/cells").mkdir(parents=True)
    Path(f"benchmark/cells/{made['id']}.json").write_text(json.dumps(made))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--cases", type=int, default=20_000, help="most cases; kills are a tenth of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", type=Path, help="a finished run of examples/01_own_task.py, instead of a new one")
    parser.add_argument("--out", type=Path, help="file for the figures")
    options = parser.parse_args()
    options.run = options.run and options.run.resolve()
    options.out = options.out and options.out.resolve()
    warnings.simplefilter("ignore")  # That a program of threads is forked: it has none that count.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        findings = torture(Path(folder), options.minutes * 60, options.seed, options.cases, options.run)
        os.chdir("/")
    figures = {"minutes": options.minutes, "seed": options.seed, **findings.counts, "found": findings.found}
    print(table(figures))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(1 if findings.found else 0)


KINDS: tuple[tuple[str, Callable[[Path, int], Any]], ...] = (
    ("fuzzed files", fuzzing.fuzz_file),
    ("tampered plans", fuzzing.tamper),
    ("fuzzed files", fuzzing.fuzz_file),
    ("fuzzed words", fuzzing.fuzz_words),
    ("fuzzed files", fuzzing.fuzz_file),
)
"""Cases in their turn, with the names of their counts."""


def torture(folder: Path, seconds: float, seed: int, count: int, run: Path | None) -> Findings:
    """Everything, for so many seconds after what is needed has been made."""
    findings, pristine, first = Findings(), prepare(folder, run), seed * 10**6
    row = next((pristine / "benchmark" / "cells").iterdir()).name
    fuzzing.KINDS = tuple(kind._replace(file=kind.file.replace("ROW.json", row)) for kind in fuzzing.KINDS)
    if patient := count >= 1000:
        plain = ((f"as it is {number}", partial(fuzzing.as_it_is, pristine, number)) for number in fuzzing.AS_THEY_ARE)
        many(plain, time.monotonic() + 600, findings)
    begun, numbers = time.monotonic(), range(first, first + count)
    kinds = [KINDS[number % len(KINDS)] for number in numbers]
    cases = (
        (f"{name} {number}", partial(case, pristine, number))
        for number, (name, case) in zip(numbers, kinds, strict=True)
    )
    done = many(cases, begun + 0.6 * seconds, findings)
    findings.counts.update(name for name, _ in kinds[:done])
    number = first
    while time.monotonic() < begun + seconds and number < first + count // 10:
        number += 1
        if number % 4 == 0 and patient:
            interrupted(pristine, number, findings, begun + seconds, disk=number % 8 == 0)
        else:
            killed_writer(pristine, number, findings)
    return findings


if __name__ == "__main__":
    main()
