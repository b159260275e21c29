"""Dataclasses as JSON and back, strictly: nothing is guessed, and what does not fit is named in one sentence."""

from typing import Any, TypeVar

import cattrs

from vigor.basics.errors import UserError

T = TypeVar("T")


def _strict(kinds: tuple[type, ...]) -> Any:
    def structure(value: Any, kind: type) -> Any:
        if type(value) not in kinds:
            raise ValueError(f"{value!r} is no {kind.__name__}")
        return kind(value)

    return structure


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind, allowed in {bool: (bool,), int: (int,), float: (int, float), str: (str,)}.items():
        converter.register_structure_hook(kind, _strict(allowed))
    return converter


CONVERTER = _converter()


def to_json(value: Any) -> Any:
    """Plain dicts, lists, numbers and words of a dataclass."""
    return CONVERTER.unstructure(value)


def from_json(kind: type[T], value: Any) -> T:
    """A dataclass of what `to_json` made of it; raises a UserError that names what does not fit."""
    try:
        return CONVERTER.structure(value, kind)
    except UserError:
        raise
    except Exception as error:
        raise UserError("; ".join(_sentences(error))) from None


def _sentences(error: Exception) -> list[str]:
    """Reasons that cattrs gives, each with the place it is about; the first three."""
    own = [inner for inner in getattr(error, "exceptions", [error]) if isinstance(inner, UserError)]
    if own:
        return [str(own[0])]
    return [item.replace("$.", "").replace(" @ $", "") for item in cattrs.transform_error(error)][:3]
