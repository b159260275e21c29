"""Fuzzing of `torture.py`: files of every kind and words of every command that nobody means, and tampered plans."""

import contextlib
import csv
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mutations import Mutation, mutate
from torture_processes import Said, commands, fault_of, said
from vigor.basics.contents import Contents
from vigor.demonstrations import dataset
from vigor.evaluation import policies
from vigor.experiments import store
from vigor.learning import invariants
from vigor.planning import plan_files
from vigor.planning.plans import Plans
from vigor.runs.run import Metric, Result
from vigor.runs.setup import Setup

JUNK = (
    *(
        "",
        " ",
        "x",
        "a b",
        "a\nb",
        "\x1b[2J",
        "@x",
        "..",
        "/dev/zero",
        "/proc/self/mem",
        "/nowhere/x",
        "-h1",
        "--help=x",
    ),
    *(
        "nan",
        "inf",
        "-1",
        "-0.0",
        "0",
        "1",
        "3",
        "1e9",
        "1e12",
        "1e400",
        "1e-400",
        "1_0",
        "\uff11",
        "9" * 18,
        "9" * 5000,
    ),
    *("sphere:nan,0,1", "sphere:1_0,0,1", "sphere:0,0,1", "box:0,0,0,0", "box:1"),
)
"""Words in place of an option's."""


class Kind(NamedTuple):
    """A kind of file, and the commands that read it."""

    file: str
    commands: tuple[tuple[str, ...], ...]
    read_as: Any = None
    """Type of its JSON."""
    contents: Contents | None = None
    """Description of its arrays."""


OPEN = commands("evaluate run --samples 2\nexport run CSV")
PLAN, RESUME = commands("plan run CONTEXT --out new.json"), commands("train --resume begun")
CHECK, IMPORT = commands("demos check demos --task TASK"), commands("demos import TASK recorded --out new")
EXPORT = commands("export plan.json CSV\nshow plan.json --out new.png")
URDF = commands("robot arm.urdf\nexport plan.json CSV --urdf arm.urdf --acceleration 9")
KINDS = (
    Kind("run/config.json", OPEN, Setup),
    Kind("run/result.json", PLAN + commands("suggest run"), Result),
    Kind("run/metrics.jsonl", commands("report run"), Metric),
    Kind("run/policies.npz", OPEN, None, policies.CONTENTS),
    Kind("run/ensembles.safetensors", PLAN),
    Kind("run/invariants.safetensors", OPEN, None, invariants.CONTENTS),
    Kind("begun/checkpoint.safetensors", RESUME),
    Kind("begun/config.json", RESUME, Setup),
    Kind("demos/demonstrations.json", CHECK, dataset.Header),
    Kind("demos/demonstrations.npz", CHECK, None, dataset.CONTENTS | dataset.RECORDED),
    Kind("plan.json", EXPORT),
    Kind("benchmark/cells/ROW.json", commands("report benchmark"), store.Finished),
    Kind("arm.urdf", URDF),
    Kind("contexts.csv", commands("plan run --contexts-file contexts.csv --out new.json")),
    Kind("recorded/contexts.csv", IMPORT),
    Kind("recorded/demonstrations/0_a.csv", IMPORT),
    Kind("recorded.npz", commands("demos import TASK recorded.npz --out new")),
)
COMMANDS = tuple(dict.fromkeys(command for kind in KINDS for command in kind.commands))
AS_THEY_ARE = range(len(COMMANDS))
OPTIONS = commands("""
    evaluate run --samples ?
    evaluate run --seed ?
    plan run --out new.json --context ? ? 1 0
    plan run CONTEXT --out new.json --keep-out ?
    plan run CONTEXT --out new.json --every ?
    plan run CONTEXT --out new.json --seconds ?
    plan run CONTEXT --out new.json --samples ?
    plan run CONTEXT --out ?
    plan run --contexts-file ? --out new.json
    plan ? CONTEXT
    export plan.json CSV --rate ?
    export plan.json CSV --seconds ?
    export plan.json CSV --context ?
    export plan.json CSV --solution ?
    export plan.json CSV --start-pose ? ? ? ? ?
    export plan.json CSV --urdf ?
    export plan.json CSV --pacing ?
    export plan.json --format ?
    export plan.json --format csv --out ?
    show plan.json --context ? --out new.png
    show ?
    robot ?
    robot arm.urdf --tool ? --base ?
    suggest run --count ?
    suggest run --seed ?
    report ?
    demos generate TASK --out new --contexts ?
    demos generate TASK --out new --per-context ?
    demos generate TASK --out ? --contexts 2
    demos import TASK ? --out new
    demos check ?
    demos show demos --task TASK --out ?
    train TASK SMALL --out new --test-contexts ?
    train TASK SMALL --out new --train-contexts ?
    train TASK SMALL --out new --seed ?
    train TASK SMALL --out new --demos ?
    train TASK SMALL --out new --descriptors ?
    train --resume ?
    train ? --method ?
    benchmark paper --workers ? --scheduler ?
    studio ? --port ?
    ?
    ? ?
""")
"""Commands with places for words."""


def fresh(pristine: Path) -> Path:
    """A copy of everything, as the working folder."""
    work = pristine.parent / "work"
    os.chdir(pristine.parent)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(pristine, work)
    os.chdir(work)
    return work


def as_it_is(pristine: Path, number: int) -> tuple[str, str] | None:
    """One of the commands with files that nobody has changed: were it refused, fuzzing would show nothing."""
    fresh(pristine)
    words = list(COMMANDS[number])
    end = said(words)
    return None if end.code in (0, 3) else ("right refusals", f"{words}: {end.error[-400:]}")


def fuzz_file(pristine: Path, seed: int) -> tuple[str, str] | None:
    """Change one file, and let a command read it."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    work = fresh(pristine)
    path = work / kind.file
    content = path.read_bytes()
    sealed = kind.file == "plan.json" and rng.random() < 0.7
    mutation = mutate(path, rng, Plans if sealed else kind.read_as, kind.contents)
    if sealed and path.is_file() and not path.is_symlink():
        _reseal(path)
    elif kind.file == "plan.json":
        mutation = mutation._replace(wrong=True)
    if path.is_file() and not path.is_symlink() and path.read_bytes() == content:
        mutation = Mutation(mutation.words, False)
    words = list(rng.choice(kind.commands))
    # Some files are not read by every command.
    read = mutation.wrong and not (kind.file == "plan.json" and "--urdf" in words)
    end = said(words)
    fault = fault_of(end, read and mutation.words != "gone")
    return fault and (fault, f"{kind.file}, {mutation.words}, {words[0]}: {end.error[-500:]}")


def _reseal(path: Path) -> None:
    """Let a changed plan carry the digest that belongs to it, as somebody would who knows how."""
    with contextlib.suppress(ValueError, AttributeError, RecursionError):
        read = json.loads(path.read_text())
        bare = {name: part for name, part in read.items() if name not in ("format", "version", "digest")}
        path.write_text(json.dumps(plan_files.sealed(bare)))


def fuzz_words(pristine: Path, seed: int) -> tuple[str, str] | None:
    """A command with words that nobody means."""
    rng = random.Random(seed)
    fresh(pristine)
    words = [rng.choice(JUNK) if word == "?" else word for word in rng.choice(OPTIONS)]
    end = said(words)
    fault = fault_of(end, False)
    return fault and (fault, f"{' '.join(words)[:200]!r}: {end.error[-500:]}")


def tamper(pristine: Path, seed: int) -> tuple[str, str] | None:
    """Export a plan that somebody has changed; whatever is written must hold every limit."""
    rng = random.Random(seed)
    work = pristine.parent / "tampered"
    work.mkdir(exist_ok=True)
    os.chdir(work)
    read = json.loads((pristine / "plan.json").read_text())
    solution = read["contexts"][0]["solutions"][0]
    for _ in range(rng.randint(1, 3)):
        way = rng.randrange(6)
        keep_out = read["constraints"]["keep_out"]
        if way == 0:
            at = rng.randrange(len(solution["movement"]))
            solution["movement"][at] = solution["movement"][at] * 10 ** rng.uniform(-1, 4) + rng.choice((0.0, 1.0))
        elif way == 1:
            keep_out[0] = {"centre": [rng.uniform(-3, 3), rng.uniform(-3, 3)], "radius": 10 ** rng.uniform(-2, 1)}
        elif way == 2:
            x, y = rng.uniform(-5, 5), rng.uniform(-5, 5)
            keep_out[1] = {"low": [x, y], "high": [x + 10 ** rng.uniform(-2, 1), y + 10 ** rng.uniform(-2, 1)]}
        elif way == 3:
            read["constraints"]["seconds"] = 10 ** rng.uniform(-3, 3)
        elif way == 4:
            solution["margins"], solution["violated"] = {}, None
        else:
            limit = rng.choice(("velocity", "acceleration"))
            read["constraints"]["robot"][limit] = [10 ** rng.uniform(-2, 2)] * 5
    Path("plan.json").write_text(json.dumps(read))
    _reseal(Path("plan.json"))
    Path("new.csv").unlink(missing_ok=True)
    end = said(["export", "plan.json", "--format", "csv", "--rate", "50", "--out", "new.csv"])
    fault = fault_of(end, False)
    if fault is None and end.code == 0 and (broken := _breaks(Path("new.csv"), read["constraints"])):
        fault, end = "tampered exports", Said(0, broken)
    return fault and (fault, f"seed {seed}: {end.error[-500:]}")


def _breaks(path: Path, limits: dict[str, Any]) -> str | None:
    """Faults of an exported movement, worked out with numpy alone."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    joints = limits["robot"]["joints"]
    columns = {
        part: np.array([[float(row[f"{joint}{part}"]) for joint in joints] for row in rows])
        for part in _parts(rows[0], joints)
    }
    if not all(np.all(np.isfinite(values)) for values in columns.values()):
        return "not finite"
    place, *others = columns.values()
    bounds = np.array(
        [
            [-np.inf if low is None else low, np.inf if high is None else high]
            for low, high in limits["robot"]["position"]
        ]
    )
    if np.any(place < bounds[:, 0] - 1e-6) or np.any(place > bounds[:, 1] + 1e-6):
        return "beyond a joint's limits"
    for name, values in zip(("velocity", "acceleration"), others, strict=False):
        if np.any(
            np.abs(values) > np.array([np.inf if most is None else most for most in limits["robot"][name]]) * 1.001
        ):
            return f"beyond the largest {name}"
    deepest = max(_depth(part, limits["keep_out"]) for part in np.array_split(place, 1 + len(place) // 500))
    return f"{deepest:.3g} m inside a keep-out" if deepest > 1e-6 else None


def _depth(place: np.ndarray, shapes: list[dict[str, Any]]) -> float:
    """Depth of the links of the planar reacher in a keep-out, with joints [T, 5]."""
    angles = np.cumsum(place, axis=1)
    ends = np.cumsum(np.stack([np.cos(angles), np.sin(angles)], axis=-1), axis=1)
    points = np.concatenate([np.zeros_like(ends[:, :1]), ends], axis=1)
    way = np.linspace(0.0, 1.0, 50)[:, None]
    along = points[:, :-1, None] + way * (points[:, 1:] - points[:, :-1])[:, :, None]
    deepest = -np.inf
    for shape in shapes:
        if "radius" in shape:
            depth = shape["radius"] - np.linalg.norm(along - np.array(shape["centre"]), axis=-1)
        else:
            depth = np.min(np.minimum(along - np.array(shape["low"]), np.array(shape["high"]) - along), axis=-1)
        deepest = max(deepest, float(np.max(depth)))
    return deepest


def _parts(row: dict[str, str], joints: list[str]) -> list[str]:
    """Endings of a joint's columns: place, then velocity, then acceleration."""
    return [name.removeprefix(joints[0]) for name in row if name.startswith(joints[0]) and name != "time"]
