"""Data in and plans out, as a user has them: python benchmarks/data.py [SKILL ...] --out docs/results/data.json.

Recordings are laid out as LeRobot and ROS write them, and imported in a process of their own; a plan goes out as a data
set and as a bag, and is read again; a data set of an arm is learned from and planned with; hostile files of every
format are opened (`hostile.py`); the first plan of every skill is made in a new process, with an empty cache of
compiled programs and with a full one. Times are those until a command says its first line and until its end, with the
load of the machine before it. `--parts` measures some of these again, and leaves the others as they are in the file.
"""

import argparse
import json
import os
import resource
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]

import hostile  # noqa: E402
import recorded  # noqa: E402
import vigor  # noqa: E402
from planned import planar  # noqa: E402
from vigor.demonstrations.formats import lerobot, rosbag  # noqa: E402
from vigor.demonstrations.formats.episodes import Reading  # noqa: E402
from vigor.planning import skill_files  # noqa: E402

POINT = f"{ROOT / 'tests' / 'recorded.py'}:POINTED"
EPISODES, STEPS, RATE = 200, 300, 30


def command(*words: str, cache: Path | None = None) -> dict[str, float]:
    """Seconds of a command in a new process, until the first line that it says and until its end, and of its cores."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    environment |= {"XDG_CACHE_HOME": str(cache)} if cache else {}
    load, before, begun = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    arguments = [sys.executable, "-m", "vigor", *words]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        said = time.monotonic() - begun
        process.stdout.read()
        process.wait()
        errors.seek(0)
        assert process.returncode in (0, 3), errors.read()
    seconds, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    times = {"said": said, "seconds": seconds, "cpu_s": computed, "load": load}
    return {name: round(value, 2) for name, value in times.items()}


def imported(folder: Path, version: str) -> dict[str, Any]:
    """Import of a data set."""
    recorded.lerobot(folder / version, version, EPISODES, steps=STEPS, fps=RATE)
    words = ("demos", "import", POINT, str(folder / version), "--out", str(folder / f"{version} imported"))
    return {"format": f"LeRobot {version}", "episodes": EPISODES, "steps": STEPS} | command(*words)


def returned(folder: Path) -> list[dict[str, Any]]:
    """Largest difference between a plan's trajectory and what is read from its data set, and from its bag."""
    trajectory = planar()[0].solutions[0].trajectory(RATE)
    rows = []
    for kind, read in (("lerobot", lerobot.read), ("mcap", rosbag.read)):
        trajectory.save(folder / kind, kind)
        found = read(folder / kind, Reading(pause=0.0))
        order = [[name.removesuffix(".pos") for name in found.columns].index(name) for name in trajectory.joints]
        far = float(np.max(np.abs(found.episodes[0].values[:, order] - trajectory.positions)))
        rows.append({"format": kind, "samples": len(trajectory.times), "difference": far})
    return rows


def bagged(folder: Path, storage: str) -> dict[str, Any]:
    """States of a bag of two topics with shuffled joints and a clock that jumps, and how many are read."""
    rng = np.random.default_rng(0)
    times, states = np.arange(2000) / 50, np.cumsum(rng.normal(0, 0.01, (2000, 3)), axis=0)
    sent = times + 10_000.0 + 3600.0 * (times > 10) - 7000.0 * (times > 25)
    topics = [("/arm", ("x", "y"), times, states[:, :2]), ("/hand", ("claw",), times, states[:, 2:])]
    recorded.bag(folder / f"{storage} bag", topics, storage=storage, sent=sent)
    found = rosbag.read(folder / f"{storage} bag", Reading(pause=0.0))
    values = found.episodes[0].values[:, [found.columns.index(name) for name in ("x", "y", "claw")]]
    same = len(values) == len(states) and bool(np.allclose(values, states, atol=1e-9))
    jumps = sum("jumps 2 times" in note for note in found.notes)
    return {"format": storage, "states": len(states), "read": len(values), "same": same, "clocks said to jump": jumps}


def planned(folder: Path, path: Path) -> list[dict[str, Any]]:
    """First plans of a skill."""
    skill = skill_files.load(path)
    context = [f"{number:.6f}" for number in skill.contexts[0] + 1e-3]
    rows = []
    for cache in ("empty", "full"):
        words = ("plan", str(path), "--context", *context, "--out", str(folder / f"{path.stem} {cache}.json"))
        told = command(*words, cache=folder / path.stem)
        rows.append({"skill": skill.card.task, "MB": round(path.stat().st_size / 1e6, 2), "cache": cache} | told)
    return rows


def led(folder: Path) -> list[dict[str, Any]]:
    """From a LeRobot folder of 30 episodes to a plan: both commands that a user types.

    The arm is an SO-101 in degrees, with a gripper from 0 to 100; its recordings are generated, as example 06 says.
    """
    example = runpy.run_path(str(ROOT / "examples" / "06_pick_and_place.py"))
    scene, rng = folder / "pick.toml", np.random.default_rng(300)
    told = example["SCENE"].read_text(encoding="utf-8")
    scene.write_text(told.replace('channel = "gripper"', 'channel = "gripper"\nrange = [0, 100]'), encoding="utf-8")
    robot = vigor.load_task(str(example["SCENE"])).arm.robot
    places = np.repeat([example["context"](rng) for _ in range(6)], 5, axis=0)
    states = [example["demonstration"](robot, place, rng) for place in places]
    motors = tuple(f"{joint}.pos" for joint in (*robot.joints, "gripper"))
    in_degrees = [np.column_stack([np.degrees(state[:, :-1]), 100 * state[:, -1]]) for state in states]
    recorded.data_set(folder / "episodes", "v3.0", in_degrees, motors, places)
    run, context = folder / "run", [f"{number:.3f}" for number in example["context"](rng)]
    words = ("train", str(scene), "--demos", str(folder / "episodes"), "--unit", "deg", "--out", str(run))
    trained = {"command": "train", "episodes": len(states)} | command(*words)
    result = json.loads((run / "result.json").read_text())
    trained |= {part: result[part]["success_mixture"] for part in ("train", "test")}
    planned = command("plan", str(run), "--context", *context, "--out", str(folder / "plan.json"))
    (plan,) = vigor.Plans.load(folder / "plan.json")
    holding = sum(solution.holds for solution in plan.solutions)
    return [trained, {"command": "plan", "solutions": len(plan), "holding": holding} | planned]


def main() -> None:
    parts: dict[str, Callable[[Path, Sequence[Path]], Any]] = {
        "imported": lambda folder, _: [imported(folder, version) for version in ("v3.0", "v2.1")],
        "returned": lambda folder, _: returned(folder),
        "bags": lambda folder, _: [bagged(folder, storage) for storage in ("mcap", "sqlite3")],
        "two commands": lambda folder, _: led(folder),
        "hostile": lambda _folder, _skills: [hostile.opened(name) for name in hostile.FILES],
        "help": lambda _folder, _skills: command("--help"),
        "first plans": lambda folder, skills: [row for path in skills for row in planned(folder, path)],
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skills", type=Path, nargs="*")
    parser.add_argument("--parts", nargs="+", choices=parts, default=tuple(parts))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "data.json")
    asked = parser.parse_args()
    found = json.loads(asked.out.read_text()) if asked.out.exists() else {}
    for part in asked.parts:
        with tempfile.TemporaryDirectory() as name:
            found[part] = parts[part](Path(name), asked.skills)
        print(json.dumps({part: found[part]}, indent=1), flush=True)
        asked.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
