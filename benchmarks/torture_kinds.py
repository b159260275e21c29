"""Files of every kind for `torture.py`, as they should be, and the commands that read them."""

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recorded
import scenery
from planned import planar
from torture_processes import SMALL, TASK, commands, forked, said
from vigor.basics import contents
from vigor.basics.contents import Contents
from vigor.demonstrations import dataset
from vigor.evaluation import policies
from vigor.experiments import store
from vigor.learning import invariants, starts
from vigor.planning import plan_files, skill_files
from vigor.planning.plans import Plans
from vigor.planning.skills import Card
from vigor.practice import attempts
from vigor.practice.account import Account, Round
from vigor.runs.run import Metric, Result
from vigor.runs.setup import Setup
from vigor.tasks.scenes.files import Written
from vigor.tasks.scenes.scene import Scene

PREPARING = 3600.0
"""Most seconds of making files, also where others need the machine."""


class Kind(NamedTuple):
    """A kind of file, and the commands that read it."""

    file: str
    commands: tuple[tuple[str, ...], ...]
    read_as: Any = None
    """Type of its JSON."""
    contents: Contents | Callable[[Path], Contents] | None = None
    """Description of its arrays, or what finds it in the file."""
    seal: Callable[[Path], None] | None = None
    """Gives a changed file the digest that belongs to it, as somebody would who knows how."""


def train(folder: Path | str) -> list[str]:
    """Words that train a small run."""
    return ["train", TASK, *SMALL.split(), "--out", str(folder)]


# Digests


def seal_plan(path: Path) -> None:
    read = json.loads(path.read_text())
    bare = {name: part for name, part in read.items() if name not in ("format", "version", "digest")}
    path.write_text(json.dumps(plan_files.sealed(bare)))


def seal_skill(path: Path) -> None:
    import safetensors.numpy

    arrays, metadata = contents.read_tensors(path)
    metadata["digest"] = skill_files.digest_of(metadata.get("card", ""), arrays)
    path.write_bytes(safetensors.numpy.save(arrays, metadata))


def _skill_contents(path: Path) -> Contents:
    return skill_files.contents_of(skill_files.load(path).card)[0]


# Kinds

REPORT = commands("report run")
OPEN = commands("evaluate run --samples 2\nexport run CSV") + REPORT
PLAN, RESUME = commands("plan run CONTEXT --out new.json"), commands("train --resume begun")
CHECK, IMPORT = commands("demos check demos --task TASK"), commands("demos import TASK recorded --out new")
EXPORT = commands("export plan.json CSV\nshow plan.json --out new.png")
URDF = commands("robot arm.urdf\nexport plan.json CSV --urdf arm.urdf --acceleration 9")
SKILL = commands("inspect skill.vigor\nplan skill.vigor --task TASK CONTEXT --out new.json")
PACK = commands("pack run --out new.vigor")
PRACTISE = commands("practise run --contexts 2 --rounds 1 --samples 1 --out new")
GO_ON = commands("practise run --contexts 2 --rounds 1 --samples 1 --out practising")
SCENE = commands("demos import scene/small.toml scene/recorded --out new")
SCENE_RUN = commands("export scene_run CSV")
SCENE_SKILL = commands("inspect scene.vigor\nplan scene.vigor --context 0.4 0 0.1 0 --out new.json")
LEROBOT, BAG = commands("demos import POINT lerobot --out new"), commands("demos import POINT bag --out new")
SQLITE = commands("demos import POINT sqlite --out new")
ROBOMIMIC = commands("demos import POINT robomimic.hdf5 --out new")


def kinds(pristine: Path) -> tuple[Kind, ...]:
    """Every kind of file that there is."""
    row, bag, sqlite = (
        next((path.relative_to(pristine).as_posix() for path in sorted((pristine / folder).glob(name))), name)
        for folder, name in (("benchmark/cells", "*.json"), ("bag", "*.mcap"), ("sqlite", "*.db3"))
    )
    every = (
        Kind("run/config.json", OPEN, Setup),
        Kind("run/result.json", PLAN + PACK + REPORT + commands("suggest run"), Result),
        Kind("run/metrics.jsonl", REPORT, Metric),
        Kind("run/policies.npz", OPEN, None, policies.CONTENTS),
        Kind("run/ensembles.safetensors", PLAN + PACK),
        Kind("run/starts.safetensors", PLAN + PACK, None, starts.CONTENTS),
        Kind("run/invariants.safetensors", OPEN, None, invariants.CONTENTS),
        Kind("begun/checkpoint.safetensors", RESUME),
        Kind("begun/config.json", RESUME, Setup),
        Kind("demos/demonstrations.json", CHECK, dataset.Header),
        Kind("demos/demonstrations.npz", CHECK, None, dataset.CONTENTS | dataset.RECORDED),
        Kind("plan.json", EXPORT, Plans, None, seal_plan),
        Kind("skill.vigor", SKILL, Card, _skill_contents, seal_skill),
        Kind("scene.vigor", SCENE_SKILL, Card, _skill_contents, seal_skill),
        Kind("scene_run/scene.json", SCENE_RUN, Scene),
        Kind("scene/small.toml", SCENE, Written),
        Kind("scene/arm.urdf", SCENE),
        Kind("practised/practice.json", commands("report practised"), Account),
        Kind("practising/practice/settings.json", GO_ON),
        Kind("practising/practice/1/attempts.npz", GO_ON, None, attempts.CONTENTS),
        Kind("practising/practice/1/round.json", GO_ON, Round),
        Kind(row, commands("report benchmark"), store.Finished),
        Kind("arm.urdf", URDF),
        Kind("arm.xml", commands("robot arm.xml")),
        Kind("contexts.csv", commands("plan run --contexts-file contexts.csv --out new.json")),
        Kind("recorded/contexts.csv", IMPORT),
        Kind("recorded/demonstrations/0_a.csv", IMPORT),
        Kind("recorded.npz", commands("demos import TASK recorded.npz --out new")),
        Kind("lerobot/meta/info.json", LEROBOT),
        Kind("lerobot/data/chunk-000/file-000.parquet", LEROBOT),
        Kind(bag, BAG),
        Kind("bag/metadata.yaml", BAG),
        Kind(sqlite, SQLITE),
        Kind("robomimic.hdf5", ROBOMIMIC),
    )
    return tuple(kind for kind in every if (pristine / kind.file).exists())


# As they should be


def prepare(folder: Path, run: Path | None, scenes: bool) -> Path:
    """Folder with a file of every kind. run: a finished run of the example, instead of a new one; scenes: these too."""
    pristine = folder / "pristine"
    pristine.mkdir()
    os.chdir(pristine)
    status = forked(partial(_make, run, scenes), PREPARING)
    assert status == 0, status
    return pristine


def _make(run: Path | None, scenes: bool) -> None:
    if run is None:
        _do(*train("run"))
    else:
        _do("evaluate", str(run), "--task", TASK, "--samples", "2")
        shutil.copytree(run, "run", dirs_exist_ok=True)
    shutil.copytree("run", "begun", ignore=shutil.ignore_patterns("result.json", "plans", "figures"))
    planar().save("plan.json")
    _do("demos", "generate", TASK, "--out", "demos", "--contexts", "2", "--per-context", "3")
    _do("pack", "run", "--out", "skill.vigor")
    _tables()
    _robots()
    if scenes:
        _practise()
        _scene()
    _formats()
    _benchmark()


def _do(*words: str) -> None:
    end = said(list(words))
    assert end.code in (0, 3), end.error


def _tables() -> None:
    """Recordings and contexts in tables."""
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


def _robots() -> None:
    joint = '<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/><axis xyz="0 0 1"/>'
    joint += '<origin xyz="0.5 0 0"/><limit lower="-3.1" upper="3.1" velocity="2.5" effort="1"/></joint>'
    links = "".join(f'<link name="l{i}"/>' for i in range(6))
    Path("arm.urdf").write_text(f'<robot name="arm">{links}{"".join(joint.format(i, i + 1) for i in range(5))}</robot>')
    body = '<body name="b{0}" pos="0.5 0 0"><joint name="j{0}" axis="0 0 1" range="-3 3"/><geom size="0.1"/>'
    bodies = "".join(body.format(i) for i in range(3)) + "</body>" * 3
    Path("arm.xml").write_text(f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody></mujoco>')


def _practise() -> None:
    """A run that practised, and one that had nearly come to the end of it."""
    _do(*PRACTISE[0][:-1], "practised")
    shutil.copytree("practised/practice", "practising/practice")
    taken = shutil.ignore_patterns("practice", "practice.json", "report.html", "figures")
    shutil.copytree("practised", "practising/practice/1/run", ignore=taken)


def _scene() -> None:
    """A scene, a run of it, and its skill."""
    scenery.write(Path("scene"))
    scenery.record(Path("scene"), contexts=2, each=3)
    few = SMALL.replace("--test-contexts 2", "--test-contexts 1").split()
    _do("train", "scene/small.toml", "--demos", "scene/recorded", *few, "--out", "scene_run")
    _do("pack", "scene_run", "--out", "scene.vigor")


def _formats() -> None:
    """Recordings as other programs write them, as far as the libraries that do are there."""
    if find_spec("pyarrow"):
        recorded.lerobot(Path("lerobot"))
    if find_spec("h5py"):
        recorded.robomimic(Path("robomimic.hdf5"))
    if not find_spec("rosbags"):
        return
    times = np.arange(40) / 30
    for number, (name, storage) in enumerate((("bag", "mcap"), ("sqlite", "sqlite3"))):
        goal = recorded.goals(2)[0]
        values = recorded.gripped(goal, 40)
        states = [("/joint_states", ("x", "y", "claw"), 1.0 + times, values)]
        recorded.bag(Path(name), states, [("/goal", 1.0, (*goal, 0.0))], storage=storage, seed=number)


def _benchmark() -> None:
    """A benchmark with the run as its only row."""
    from vigor.experiments.cell import Cell, row
    from vigor.runs.run import load_setup

    result = json.loads(Path("run/result.json").read_text())
    facts = {"demonstrations": "generated", "device": "cpu", "seconds": 1.0, "together": 1}
    made = row(Cell(load_setup(Path("run"))), facts | {part: result[part] for part in ("train", "test")})
    Path("benchmark/cells").mkdir(parents=True)
    Path(f"benchmark/cells/{made['id']}.json").write_text(json.dumps(made))
