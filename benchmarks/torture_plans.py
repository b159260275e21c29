"""Tampered plans of `torture.py`: whatever is exported of them is looked at with numpy alone."""

import csv
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np

from torture_kinds import seal_plan
from torture_processes import Said, fault_of, said


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
    seal_plan(Path("plan.json"))
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
