"""Pages from templates: one HTML file with its style and its pictures inside, so that it opens without a network.

Whatever a template shows is escaped. Numbers are rounded here, by filters, and nowhere else in a page.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from vigor.basics import files

LARGEST = 2**25
"""Most bytes of a picture."""
TIMES = "\N{MULTIPLICATION SIGN}"
"""Sign between a value and how often it is there."""
NOTHING = "\N{EN DASH}"
"""Sign for a value that is not there."""
MANY = 6
"""Weights of components from which on only the largest are shown."""


@dataclass(frozen=True)
class Picture:
    """A PNG file and its caption."""

    path: Path
    caption: str

    @property
    def data(self) -> str:
        """The file's bytes in base64."""
        files.check_plain(self.path, LARGEST)
        return base64.b64encode(self.path.read_bytes()).decode("ascii")


def render(package: str, template: str, **values: Any) -> str:
    """HTML of a template in a package's folder `templates`; it may build on those of this package."""
    return _environment(package).get_template(template).render(**values)


@cache
def _environment(package: str) -> Environment:
    loader = ChoiceLoader([PackageLoader(name) for name in (package, __package__)])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"short": short, "fixed": fixed, "percent": percent, "moment": moment, "significant": significant}
    made.filters |= {"alike": alike, "largest": largest, "ranked": ranked, "factor": factor}
    return made


def short(value: Any) -> str:
    """Up to three decimals, all values of a list, three or more that are the same only once; words as they are."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        runs = [(one, len(list(run))) for one, run in groupby(map(short, value))]
        return ", ".join(f"{one} {TIMES}{count}" if count > 2 else ", ".join([one] * count) for one, count in runs)
    # The zero makes -0 positive.
    return f"{round(value, 3) + 0.0:g}" if isinstance(value, float) else _words(value)


def fixed(value: Any, decimals: int) -> str:
    """A number with that many decimals; words as they are."""
    return f"{value:.{decimals}f}" if isinstance(value, int | float) else _words(value)


def percent(value: Any) -> str:
    """A share in percent; words as they are."""
    if value in (0, 1):
        return f"{100 * value:.0f}%"
    return f"{100 * value:.1f}%" if isinstance(value, int | float) else _words(value)


def largest(shares: Sequence[Any]) -> str:
    """Shares in percent, of many the largest alone."""
    known = [100 * share if isinstance(share, int | float) else 0.0 for share in shares]
    if len(known) <= MANY:
        return ", ".join(f"{share:.0f}" for share in known)
    words = ", ".join(f"{share:.0f}" for share in sorted(known, reverse=True)[: MANY - 1])
    return f"{words} and {len(known) - MANY + 1} smaller"


def factor(ratio: float) -> str:
    """Two figures of how many times as much something is, up to a thousand times."""
    return f"{float(f'{ratio:.2g}'):g}" if ratio <= 1000 else "more than 1,000"


def alike(rates: Sequence[Any]) -> list[tuple[str, float, int]]:
    """Neighbouring rates that are the same in percent: their words, the share they stand for, and how many they are."""
    known = [(f"{100 * one:.0f}", float(one)) if isinstance(one, int | float) else (short(one), 0.0) for one in rates]
    runs = [list(run) for _, run in groupby(known, key=lambda one: one[0])]
    return [(*run[0], len(run)) for run in runs]


def ranked(values: Any, best: str) -> Any:
    """Numbers from the "highest" or the "lowest" on; all else as it is."""
    if not isinstance(values, list) or not all(isinstance(one, int | float) for one in values):
        return values
    return sorted(values, reverse=best == "highest")


def significant(value: Any, scale: Any = 0.0) -> str:
    """Three figures of a number that count, none of less than a thousandth of a scale; words as they are."""
    if not isinstance(value, int | float):
        return _words(value)
    tiny = isinstance(scale, int | float) and abs(value) < 1e-3 * abs(scale)
    return "0" if tiny else f"{value:.3g}"


def moment(date: Any) -> str:
    """A date in ISO 8601 up to its minute."""
    return _words(date)[:16].replace("T", " ")


def _words(value: Any) -> str:
    return NOTHING if value is None else str(value)
