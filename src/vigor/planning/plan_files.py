"""Files of plans: JSON, checked when it is read."""

import hashlib
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from cattrs.gen import make_dict_structure_fn, override

from vigor.basics import files
from vigor.basics.errors import Notice, UserError
from vigor.basics.serialisation import CONVERTER, changed, from_json, to_json
from vigor.basics.version import __version__
from vigor.demonstrations.dataset import check_size
from vigor.motion.shapes import Box, Sphere
from vigor.planning import skill_files, skills
from vigor.planning.constraints import begun, bounds
from vigor.planning.plans import Plan, Plans, Solution, of_situation
from vigor.tasks import SCENE_FILE, Task, load_stored, load_task

FORMAT, VERSION = "vigor-plan", 4


def save(plans: Plans, path: Path, new: bool = False) -> None:
    """Write plans as JSON. new: raise FileExistsError if there is such a file already."""
    files.write_json(path, sealed(to_json(plans)), new)


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Plans as a file has them: with a digest, by which what is changed later is noticed."""
    text = json.dumps(content, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"format": FORMAT, "version": VERSION, "digest": digest, **content}


def load(path: Path, task: Task | str | None = None) -> Plans:
    """Plans of a file, with their task, which is loaded unless it is given."""
    read = files.read_json(path)
    if not isinstance(read, dict) or read.pop("format", None) != FORMAT:
        raise UserError(f"{path} holds no plans; name a file that `vigor plan` wrote")
    if (version := read.pop("version", None)) != VERSION:
        raise UserError(f"{path} has version {version!s:.20}; this program reads version {VERSION}")
    digest = read.pop("digest", None)
    if digest != sealed(read)["digest"]:
        raise UserError(f"{path} is not as `vigor plan` wrote it: something in it was changed; plan again")
    try:
        plans = from_json(Plans, read)
    except UserError as error:
        raise UserError(f"{path} is damaged: {error}; plan again") from None
    if task is None:
        loaded = _stored(plans, path)
    else:
        loaded = load_task(task)
        if loaded.digest != plans.task_digest:
            said = (
                f"{loaded.origin or loaded.name} is not the task that {path} was planned for; it is used as you asked"
            )
            warnings.warn(said, Notice, stacklevel=2)
        if loaded.settle is not None:
            raise UserError(f"{path} needs its scene as the run has decided it; give --task RUN/{SCENE_FILE}")
    if plans.program != __version__:
        said = f"{path} was written by vigor {plans.program}, and this is {__version__}; margins are worked out anew"
        warnings.warn(said, Notice, stacklevel=2)
    try:
        loaded = begun(loaded, plans.constraints.start)
        _check(plans, loaded)
    except UserError as error:
        raise UserError(f"{path} is damaged: {error}; plan again") from None
    found = tuple(of_situation(plan, loaded, plans.constraints) for plan in plans.plans)
    return replace(plans, plans=found, loaded=loaded)


def _stored(plans: Plans, path: Path) -> Task:
    """The task that plans in a file refer to. Its copy is found in a run or a skill also where both were moved."""
    if not plans.task.endswith(skills.SUFFIX):
        return load_stored(plans.task, plans.task_digest, (Path(plans.run), path.parent.parent), path)
    for place in (Path(plans.task), path.resolve().parent.parent.with_suffix(skills.SUFFIX)):
        if place.is_file() and (skill := skill_files.load(place)).card.digest == plans.task_digest:
            return skill.task
    raise UserError(f"{path} needs the scene in the skill {plans.task}, which is not there or has changed; plan again")


def _check(plans: Plans, task: Task) -> None:
    """Refuse plans that do not fit their task."""
    bounds(task, plans.constraints)
    if not plans.plans:
        raise UserError("it has no contexts")
    for plan in plans.plans:
        if len(plan.context) != task.context_dimension:
            raise UserError(f"a context of {task.name} has {task.context_dimension} numbers, not {len(plan.context)}")
        check_size(np.array(plan.context), "the contexts")
        components = [solution.component for solution in plan.solutions]
        if not components or len(set(components)) < len(components):
            raise UserError("a context needs solutions of different components")
        for solution in (*plan.solutions, *plan.samples):
            if len(solution.movement) != task.promp.weights:
                count = len(solution.movement)
                raise UserError(f"a movement of {task.name} has {task.promp.weights} weights, not {count}")
            if solution.component not in components:
                raise UserError("a sample is of a component that has no solution")


# What is worked out when a file is read is left out, and what readers look for is listed by context.


def _plan_to_json(plan: Plan) -> dict[str, Any]:
    listed = {"predicted": "predicted", "success": "success", "distance": "distance", "weights": "weight"}
    return {
        "context": list(plan.context),
        **{name: [getattr(item, own) for item in plan.solutions] for name, own in listed.items()},
        "outside": plan.outside,
        "warning": plan.warning,
        "failure": plan.failure,
        "solutions": [to_json(item) for item in plan.solutions],
        "samples": [to_json(item) for item in plan.samples],
    }


def _plan_from_json(value: Any, kind: type[Plan]) -> Plan:
    if not isinstance(value, dict):
        raise ValueError("a plan is no object")
    listed = ("predicted", "success", "distance", "weights", "failure")
    kept = {name: part for name, part in value.items() if name not in listed}
    return _structure_plan(kept, kind)


def _shape_from_json(value: Any, kind: Any) -> Sphere | Box:
    shape: type[Sphere] | type[Box] = Sphere if isinstance(value, dict) and "radius" in value else Box
    return CONVERTER.structure(value, shape)


CONVERTER.register_structure_hook(Sphere | Box, _shape_from_json)
changed(Solution, situation=override(omit=True))
_structure_plan = make_dict_structure_fn(Plan, CONVERTER)
CONVERTER.register_structure_hook(Plan, _plan_from_json)
CONVERTER.register_unstructure_hook(Plan, _plan_to_json)
changed(Plans, loaded=override(omit=True), plans=override(rename="contexts"))
