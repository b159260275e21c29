"""Annotations of the core, enforced in tests alone: `--jaxtyping-packages` in pyproject.toml names the rooms.

Shapes are compared across a function's arguments and its result whenever it is called or traced.
"""

from collections.abc import Callable
from typing import Any

import jaxtyping
from beartype import BeartypeConf, beartype

jaxtyping.config.update("jaxtyping_remove_typechecker_stack", True)  # The message says it all.
_CONF = BeartypeConf(is_pep484_tower=True)
"""A whole number is a float too, as for mypy."""


def enforced(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that refuses what its annotations do not allow. Dataclasses are left alone: they refuse by sentences
    of their own, which tests look at."""
    return function if function.__name__ == "__init__" else beartype(function, conf=_CONF)
