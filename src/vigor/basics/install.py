"""The distribution's name, and the sentence that says which of its extras is missing."""

from vigor.basics.errors import UserError

DISTRIBUTION = "vigor-skills"
"""Name for pip. (On PyPI `vigor` is another package.)"""


def missing(need: str, extra: str) -> UserError:
    """The error that an extra is not installed: `missing("GAIL needs stable-baselines3", "baselines")`.

    Where the distribution is installed, from a checkout or from an index, the command adds the extra's packages to it.
    """
    return UserError(f'{need}; install it with: pip install "{DISTRIBUTION}[{extra}]"')
