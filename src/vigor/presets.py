"""Settings by task: the project's own defaults, and those of the paper (appendix E)."""

from dataclasses import replace

from vigor.algorithm import Config
from vigor.density_ratio import DensityRatio
from vigor.errors import UserError

_NETWORKS = {
    "planar-reacher": DensityRatio(layers=2, width=32, kernel=5),
    "panda-reacher": DensityRatio(layers=3, width=64, kernel=7),
}
_PAPER_SAMPLES = {"planar-reacher": 512, "panda-reacher": 1536}

TASKS = tuple(_NETWORKS)
NAMES = ("default", "paper")


def preset(task: str, name: str = "default") -> Config:
    """Settings for a task by name. A task that the package does not know has the planar reacher's networks."""
    networks = _NETWORKS.get(task, DensityRatio())
    if name == "default":
        return Config(density_ratio=networks)
    if name == "paper":
        return replace(
            Config(density_ratio=networks),
            iterations=301,
            surrogate="values",
            samples=_PAPER_SAMPLES.get(task, 512),
            compared="all",
        )
    raise UserError(f"there is no preset {name!r}; choose from {', '.join(NAMES)}")
