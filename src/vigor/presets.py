"""Settings by task: the project's own defaults, and those of the paper (appendix E)."""

from dataclasses import replace
from typing import Literal

from vigor.algorithm import Config
from vigor.density_ratio import DensityRatio
from vigor.errors import UserError

_NETWORKS = {
    "planar-reacher": DensityRatio(layers=2, width=32, kernel=5),
    "panda-reacher": DensityRatio(layers=3, width=64, kernel=7),
}
_COMPARED: dict[str, Literal["attained", "training"]] = {"panda-reacher": "training"}
_PAPER_SAMPLES = {"planar-reacher": 512, "panda-reacher": 1536}

TASKS = tuple(_NETWORKS)
NAMES = ("default", "paper")


def preset(task: str, name: str = "default") -> Config:
    """Settings for a task by name. A task that the package does not know has the planar reacher's networks."""
    networks = _NETWORKS.get(task, DensityRatio())
    default = Config(compared=_COMPARED.get(task, "attained"), density_ratio=networks)
    if name == "default":
        return default
    if name == "paper":
        return replace(
            default,
            iterations=301,
            surrogate="values",
            samples=_PAPER_SAMPLES.get(task, 512),
            compared="all",
        )
    raise UserError(f"there is no preset {name!r}; choose from {', '.join(NAMES)}")
