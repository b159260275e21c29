"""The tasks of the package as a user's own, with settings that make `vigor train` fast and poor."""

from dataclasses import replace

from vigor.tasks import load_task

SETTINGS = {
    ("default", "vigor"): {
        "components": 2,
        "stall": 0,
        "samples": 20,
        "networks": 2,
        "width": 8,
        "layers": 1,
        "epochs": 12,
    }
}

PLANAR = replace(load_task("planar-reacher"), settings=SETTINGS)

_PUSHER = load_task("box-pusher")
PUSHER = replace(
    _PUSHER,
    settings=SETTINGS,
    sample_contexts=lambda rng, count: rng.uniform(-0.05, 0.05, (count, 3)),
    judge=replace(_PUSHER.judge, samples=1),
    display=replace(_PUSHER.display, pictures=None),
)
"""Contexts are drawn without simulation, and reports simulate nothing."""
